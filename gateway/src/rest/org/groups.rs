//! Groups.

use entities::org::group::GroupDetailEntity;
use forge::files::{
    Upload,
    avatars::{self, Owner, StagedAvatar},
};
use kernel::{Ability, Grant, access::Group, access::SignedIn};
use org::{
    access::{IdOrPath, locate_group},
    namespace::{self, GroupDetails, Namespace, actions::NewGroup, detail, removal::Removal},
    policy::{AdminGroup, ReadGroup, RemoveGroup},
};
use review::issue::open_count::{BESIDE_PROJECTS, OpenIssues};

use super::{
    group_params::{ChangeGroup, CreateGroup, GroupParams, RemoveGroupParams, ShowGroup},
    projects::add_related,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change},
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
    Ok(GroupDetailEntity::new(&app.urls, &found, &OpenIssues::default()))
}

/// A group as it is read; owners are told what runners register with.
async fn read<A: Ability<Scope = Group>>(
    app: &App,
    grant: &Grant<A>,
    want: ShowGroup,
) -> ApiResult<GroupDetailEntity> {
    let (id, actor) = (grant.group(), grant.actor());
    let found = app.db.read(move |tx| {
        let beside = want.with_projects.then_some(BESIDE_PROJECTS);
        let (found, open) = detail::read(tx, actor, id, beside)?;
        let notes = match want.with_custom_attributes {
            true => detail::notes(tx, actor, id)?,
            false => None,
        };
        Ok((detail::Detail { notes, ..found }, OpenIssues::beside(open)))
    });
    let (found, open) = found.await?;
    let mut entity = GroupDetailEntity::new(&app.urls, &found, &open);
    add_related(app, entity.projects_mut().collect()).await?;
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
    let picture_fault = match &more.avatar {
        Change::Set(file) => avatars::fault(file),
        Change::Keep | Change::Clear => None,
    };
    let picture = match picture_fault {
        None => staged(&app, &more.avatar).await?,
        Some(_) => None,
    };
    let made = app.db.write(move |tx| {
        let parent = match given.parent_id {
            None => None,
            Some(id) => {
                let (_, who) = locate_group(tx, grant.actor(), &IdOrPath::Id(id.0))?;
                Some((id, who))
            }
        };
        let (name, path) = (given.name, given.path);
        let new = NewGroup { name, path, parent, visibility: given.visibility, picture_fault };
        let change = |details: &mut GroupDetails| more.apply(details);
        let group = namespace::actions::create(tx, &grant, &new, change)?;
        let Some(picture) = picture else { return Ok(group) };
        let group = namespace::actions::set_avatar(tx, group.id, picture.name.clone())?;
        picture.commit(tx, Owner::Group(group.id))?;
        Ok(group)
    });
    Ok(Created(changed(&app, &call.grant, made.await?).await?))
}

async fn staged(app: &App, given: &Change<Upload>) -> ApiResult<Option<StagedAvatar>> {
    match given {
        Change::Set(file) => Ok(Some(avatars::stage(app, file.clone()).await?)),
        Change::Keep | Change::Clear => Ok(None),
    }
}

async fn update(
    app: App,
    call: Call<AdminGroup, (ChangeGroup, GroupParams)>,
) -> ApiResult<Json<GroupDetailEntity>> {
    let (grant, (given, more)) = (call.grant.clone(), call.params);
    let id = grant.group();
    let picture = staged(&app, &more.avatar).await?;
    let repainted = !matches!(more.avatar, Change::Keep);
    let changed = app.db.write(move |tx| {
        let change = |details: &mut GroupDetails| {
            given.apply(details);
            more.apply(details);
            if repainted {
                details.avatar = picture.as_ref().map(|picture| picture.name.clone());
            }
        };
        let group = namespace::actions::update(tx, &grant, change)?;
        if let Some(picture) = picture {
            picture.commit(tx, Owner::Group(id))?;
        }
        Ok(group)
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
