//! Groups.

use kernel::{Ability, Grant, access::Group, access::SignedIn, ids::NamespaceId};
use org::{
    access::{IdOrPath, locate_group},
    namespace::{
        self, GroupDetails, Namespace, actions::NewGroup, detail, removal::Removal,
        store::NamespaceStore,
    },
    policy::{AdminGroup, ReadGroup, RemoveGroup},
};

use super::group_params::{ChangeGroup, CreateGroup, GroupParams, RemoveGroupParams, ShowGroup};
use crate::{
    app::App,
    compose::avatars::{self, Owner},
    entities::group::GroupDetailEntity,
    error::ApiResult,
    extract::{Call, Change, Upload},
    present::{Accepted, Created, Json},
    routes,
};

routes! { "Groups" at "/groups";
    POST   ""              => create  : SignedIn,
    GET    "/{id}"         => show    : ReadGroup,
    PUT    "/{id}"         => update  : AdminGroup,
    DELETE "/{id}"         => remove  : RemoveGroup,
    POST   "/{id}/restore" => restore : RemoveGroup,
}

/// A group without its projects, as answers to a change show it.
pub(super) async fn changed<A: Ability>(
    app: &App,
    grant: &Grant<A>,
    group: Namespace,
) -> ApiResult<GroupDetailEntity> {
    let actor = grant.actor();
    let found = app.db.peek(move |tx| detail::plain(tx, actor, group)).await?;
    Ok(GroupDetailEntity::new(&app.urls, &found))
}

/// A group as it is read; owners are told what runners register with.
async fn read<A: Ability<Scope = Group>>(
    app: &App,
    grant: &Grant<A>,
    want: ShowGroup,
) -> ApiResult<GroupDetailEntity> {
    let (id, actor) = (grant.group(), grant.actor());
    let found = app.db.read(move |tx| {
        let group = tx.namespace(id)?;
        let found = match want.with_projects {
            true => detail::with_projects(tx, actor, group)?,
            false => detail::plain(tx, actor, group)?,
        };
        let notes = match want.with_custom_attributes {
            true => detail::notes(tx, actor, id)?,
            false => None,
        };
        Ok(detail::Detail { notes, ..found })
    });
    let entity = GroupDetailEntity::new(&app.urls, &found.await?);
    Ok(if grant.also::<AdminGroup>().is_ok() { entity.for_owner() } else { entity })
}

async fn show(app: App, call: Call<ReadGroup, ShowGroup>) -> ApiResult<Json<GroupDetailEntity>> {
    Ok(Json(read(&app, &call.grant, call.params).await?))
}

async fn create(
    app: App,
    call: Call<SignedIn, (CreateGroup, GroupParams)>,
) -> ApiResult<Created<GroupDetailEntity>> {
    let (grant, (given, more)) = (call.grant.clone(), call.params);
    let picture = match &more.avatar {
        Change::Set(file) => Some(file.clone()),
        Change::Keep | Change::Clear => None,
    };
    let picture_fault = picture.as_ref().and_then(avatars::fault);
    let made = app.db.write(move |tx| {
        let parent = match given.parent_id {
            None => None,
            Some(id) => {
                let (_, who) = locate_group(tx, grant.actor(), &IdOrPath::Id(id.0))?;
                Some((tx.namespace(id)?, who))
            }
        };
        let (name, path) = (given.name, given.path);
        let new = NewGroup { name, path, parent, visibility: given.visibility, picture_fault };
        let change = |details: &mut GroupDetails| more.apply(details);
        namespace::actions::create(tx, &grant, &new, change)
    });
    let mut group = made.await?;
    if let Some(file) = picture {
        let (id, name) = (group.id, keep_picture(&app, group.id, file).await?);
        group = app.db.write(move |tx| namespace::actions::set_avatar(tx, id, name)).await?;
    }
    Ok(Created(changed(&app, &call.grant, group).await?))
}

async fn keep_picture(app: &App, group: NamespaceId, file: Upload) -> ApiResult<String> {
    Ok(avatars::keep(app, Owner::Group(group), file).await?)
}

async fn update(
    app: App,
    call: Call<AdminGroup, (ChangeGroup, GroupParams)>,
) -> ApiResult<Json<GroupDetailEntity>> {
    let (grant, (given, more)) = (call.grant.clone(), call.params);
    let id = grant.group();
    let avatar = match &more.avatar {
        Change::Keep => None,
        Change::Clear => Some(None),
        Change::Set(file) => {
            avatars::ensure(file)?;
            Some(Some(keep_picture(&app, id, file.clone()).await?))
        }
    };
    let repainted = avatar.is_some();
    let changed = app.db.write(move |tx| {
        let change = |details: &mut GroupDetails| {
            given.apply(details);
            more.apply(details);
            if let Some(avatar) = avatar {
                details.avatar = avatar;
            }
        };
        namespace::actions::update(tx, &grant, change)
    });
    let group = changed.await?;
    if repainted {
        avatars::tidy(&app, Owner::Group(id), group.avatar).await?;
    }
    let want = ShowGroup { with_custom_attributes: false, with_projects: true };
    Ok(Json(read(&app, &call.grant, want).await?))
}

async fn remove(app: App, call: Call<RemoveGroup, RemoveGroupParams>) -> ApiResult<Accepted> {
    let how = Removal {
        permanently: call.params.permanently_remove,
        full_path: call.params.full_path.clone(),
        unless_newer: call.unmodified_since(),
    };
    let grant = call.grant;
    app.db.write(move |tx| namespace::removal::remove(tx, &grant, &how)).await?;
    Ok(Accepted)
}

async fn restore(app: App, call: Call<RemoveGroup>) -> ApiResult<Created<GroupDetailEntity>> {
    let grant = call.grant.clone();
    let group = app.db.write(move |tx| namespace::removal::restore(tx, &grant)).await?;
    Ok(Created(changed(&app, &call.grant, group).await?))
}
