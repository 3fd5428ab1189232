//! Custom attributes of groups, projects and users.

use db::Tx;
use entities::org::custom_attribute::CustomAttributeEntity;
use kernel::{Grant, access::Administrate};
use org::custom_attribute::{
    CustomAttribute,
    actions::{self, AttributeOwner},
    store::CustomAttributeStore,
};

use super::custom_attribute_params::entities;

fn all(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    of: &AttributeOwner,
) -> kernel::Result<Vec<CustomAttributeEntity>> {
    let of = actions::find(tx, grant, of)?;
    Ok(entities(tx.custom_attributes(of)?))
}

fn one(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    of: &AttributeOwner,
    key: &str,
) -> kernel::Result<CustomAttributeEntity> {
    let of = actions::find(tx, grant, of)?;
    Ok(tx.custom_attribute(of, key)?.into())
}

fn keep(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    of: &AttributeOwner,
    note: CustomAttribute,
) -> kernel::Result<CustomAttributeEntity> {
    let of = actions::find(tx, grant, of)?;
    actions::set(tx, grant, of, &note)?;
    Ok(note.into())
}

fn forget(
    tx: &mut Tx<'_>,
    grant: &Grant<Administrate>,
    of: &AttributeOwner,
    key: &str,
) -> kernel::Result<()> {
    let of = actions::find(tx, grant, of)?;
    actions::remove(tx, grant, of, key)
}

/// The four endpoints of one place. `$named` says what its `id` names.
macro_rules! notes { (
    $(#[$doc:meta])* $place:ident at $base:literal $(, also [$scope:ident])?;
    $id:ty => |$given:ident| $named:expr
) => {
    $(#[$doc])*
    pub mod $place {
        use entities::org::custom_attribute::CustomAttributeEntity;
        use kernel::access::Administrate;
        use org::custom_attribute::{CustomAttribute, actions::AttributeOwner};

        use crate::{app::App, error::ApiResult, extract::Call, params, present::{Json, NoContent}, routes};

        routes! { "Custom attributes" at $base $(, also [$scope])?;
            GET    ""       => list   : Administrate,
            GET    "/{key}" => show   : Administrate,
            PUT    "/{key}" => set    : Administrate,
            DELETE "/{key}" => remove : Administrate,
        }

        params! { struct OneHolder { id: $id } }
        params! { struct OneNote { id: $id, key: String } }
        params! { struct Note { id: $id, key: String, value: String } }

        fn named($given: $id) -> AttributeOwner {
            $named
        }

        async fn list(
            app: App,
            call: Call<Administrate, OneHolder>,
        ) -> ApiResult<Json<Vec<CustomAttributeEntity>>> {
            let (grant, of) = (call.grant, named(call.params.id));
            Ok(Json(app.db.read(move |tx| super::all(tx, &grant, &of)).await?))
        }

        async fn show(
            app: App,
            call: Call<Administrate, OneNote>,
        ) -> ApiResult<Json<CustomAttributeEntity>> {
            let (grant, OneNote { id, key }) = (call.grant, call.params);
            Ok(Json(app.db.read(move |tx| super::one(tx, &grant, &named(id), &key)).await?))
        }

        async fn set(
            app: App,
            call: Call<Administrate, Note>,
        ) -> ApiResult<Json<CustomAttributeEntity>> {
            let (grant, Note { id, key, value }) = (call.grant, call.params);
            let note = CustomAttribute { key, value };
            Ok(Json(app.db.write(move |tx| super::keep(tx, &grant, &named(id), note)).await?))
        }

        async fn remove(app: App, call: Call<Administrate, OneNote>) -> ApiResult<NoContent> {
            let (grant, OneNote { id, key }) = (call.grant, call.params);
            app.db.write(move |tx| super::forget(tx, &grant, &named(id), &key)).await?;
            Ok(NoContent)
        }
    }
} }

notes! {
    /// Of groups.
    of_groups at "/groups/{id}/custom_attributes";
    String => |id| AttributeOwner::Group(org::access::IdOrPath::parse(&id))
}
notes! {
    /// Of projects.
    of_projects at "/projects/{id}/custom_attributes";
    String => |id| AttributeOwner::Project(org::access::IdOrPath::parse(&id))
}
notes! {
    /// Of people.
    of_users at "/users/{id}/custom_attributes", also [ReadUser];
    kernel::ids::UserId => |id| AttributeOwner::User(id)
}
