//! Groups.

use kernel::access::SignedIn;
use org::{
    access::{IdOrPath, locate_group},
    namespace::{self, GroupDetails, actions::NewGroup, store::NamespaceStore},
    policy::{AdminGroup, ReadGroup, RemoveGroup},
    settings::store::SettingsStore,
};

use super::group_params::{ChangeGroup, CreateGroup, GroupParams};
use crate::{
    app::App,
    entities::group::GroupDetailEntity,
    error::ApiResult,
    extract::Call,
    present::{Accepted, Created, Json},
    routes,
};

routes! { "Groups" at "/groups";
    POST   ""      => create : SignedIn,
    GET    "/{id}" => show   : ReadGroup,
    PUT    "/{id}" => update : AdminGroup,
    DELETE "/{id}" => remove : RemoveGroup,
}

async fn show(app: App, call: Call<ReadGroup>) -> ApiResult<Json<GroupDetailEntity>> {
    let id = call.grant.group();
    let found =
        app.db.peek(move |tx| Ok((tx.namespace(id)?, tx.settings()?.default_branch_protection)));
    let (group, protection) = found.await?;
    Ok(Json(GroupDetailEntity::new(&app.urls, &group, protection)))
}

async fn create(
    app: App,
    call: Call<SignedIn, (CreateGroup, GroupParams)>,
) -> ApiResult<Created<GroupDetailEntity>> {
    let (grant, (given, more)) = (call.grant, call.params);
    let made = app.db.write(move |tx| {
        let parent = match given.parent_id {
            None => None,
            Some(id) => {
                let (_, who) = locate_group(tx, grant.actor(), &IdOrPath::Id(id.0))?;
                Some((tx.namespace(id)?, who))
            }
        };
        let (name, path) = (given.name, given.path);
        let new = NewGroup { name, path, parent, visibility: given.visibility };
        let change = |details: &mut GroupDetails| more.apply(details);
        let group = namespace::actions::create(tx, &grant, &new, change)?;
        Ok((group, tx.settings()?.default_branch_protection))
    });
    let (group, protection) = made.await?;
    Ok(Created(GroupDetailEntity::new(&app.urls, &group, protection)))
}

async fn update(
    app: App,
    call: Call<AdminGroup, (ChangeGroup, GroupParams)>,
) -> ApiResult<Json<GroupDetailEntity>> {
    let (grant, (given, more)) = (call.grant, call.params);
    let changed = app.db.write(move |tx| {
        let change = |details: &mut GroupDetails| {
            given.apply(details);
            more.apply(details);
        };
        let group = namespace::actions::update(tx, &grant, change)?;
        Ok((group, tx.settings()?.default_branch_protection))
    });
    let (group, protection) = changed.await?;
    Ok(Json(GroupDetailEntity::new(&app.urls, &group, protection)))
}

async fn remove(app: App, call: Call<RemoveGroup>) -> ApiResult<Accepted> {
    let since = call.unmodified_since();
    app.db.write(move |tx| namespace::actions::remove(tx, &call.grant, since)).await?;
    Ok(Accepted)
}
