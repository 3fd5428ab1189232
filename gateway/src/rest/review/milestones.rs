//! Milestones of projects and of groups. What both have is written once, for either kind of grant.

use entities::review::milestone::MilestoneEntity;
use forge::ports::review::OrgHierarchy;
use kernel::{Ability, Grant};
use review::{
    ManageGrant, Milestones, ReadGrant,
    milestone::actions,
    policy::{ManageGroupMilestones, ManageMilestones, ReadGroupMilestones, ReadMilestones},
};

use super::milestone_params::{ChangeMilestone, CreateMilestone, ListMilestones, OneMilestone};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Created, EmptyOk, Json, NoContent, PagedList},
    routes,
};

routes! { "Milestones" at "";
    GET    "/projects/{id}/milestones"                        => list    : ReadMilestones,
    GET    "/projects/{id}/milestones/{milestone_id}"         => show    : ReadMilestones,
    POST   "/projects/{id}/milestones"                        => create  : ManageMilestones,
    PUT    "/projects/{id}/milestones/{milestone_id}"         => update  : ManageMilestones,
    DELETE "/projects/{id}/milestones/{milestone_id}"         => remove  : ManageMilestones,
    POST   "/projects/{id}/milestones/{milestone_id}/promote" => promote : ManageMilestones,
    GET    "/groups/{id}/milestones"                          => list    : ReadGroupMilestones,
    GET    "/groups/{id}/milestones/{milestone_id}"           => show    : ReadGroupMilestones,
    POST   "/groups/{id}/milestones"                          => create  : ManageGroupMilestones,
    PUT    "/groups/{id}/milestones/{milestone_id}"           => update  : ManageGroupMilestones,
    DELETE "/groups/{id}/milestones/{milestone_id}"           => remove  : ManageGroupMilestones,
}

async fn list<A: Ability>(
    app: App,
    call: Call<A, ListMilestones>,
) -> ApiResult<PagedList<MilestoneEntity>>
where
    Grant<A>: ReadGrant<Milestones>,
{
    let (grant, page, urls) = (call.grant, call.page, app.urls.clone());
    let of_ancestors = call.params.include_parent_milestones;
    let filter = call.params.into();
    let found = app.db.read(move |tx| {
        let milestones = actions::list(tx, &grant, &OrgHierarchy, filter, of_ancestors, page)?;
        milestones.try_map_all(|milestones| MilestoneEntity::all(tx, &urls, milestones))
    });
    Ok(PagedList(found.await?))
}

async fn show<A: Ability>(app: App, call: Call<A, OneMilestone>) -> ApiResult<Json<MilestoneEntity>>
where
    Grant<A>: ReadGrant<Milestones>,
{
    let (grant, id, urls) = (call.grant, call.params.milestone_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let milestone = actions::read(tx, &grant, id)?;
        MilestoneEntity::one(tx, &urls, milestone)
    });
    Ok(Json(shown.await?))
}

async fn create<A: Ability>(
    app: App,
    call: Call<A, CreateMilestone>,
) -> ApiResult<Created<MilestoneEntity>>
where
    Grant<A>: ManageGrant<Milestones>,
{
    let (grant, new, urls) = (call.grant, call.params.into(), app.urls.clone());
    let made = app.db.write(move |tx| {
        let milestone = actions::create(tx, &grant, &OrgHierarchy, new)?;
        MilestoneEntity::one(tx, &urls, milestone)
    });
    Ok(Created(made.await?))
}

async fn update<A: Ability>(
    app: App,
    call: Call<A, (OneMilestone, ChangeMilestone)>,
) -> ApiResult<Json<MilestoneEntity>>
where
    Grant<A>: ManageGrant<Milestones>,
{
    let (grant, (one, change), urls) = (call.grant, call.params, app.urls.clone());
    let changed = app.db.write(move |tx| {
        let milestone =
            actions::update(tx, &grant, &OrgHierarchy, one.milestone_id, change.into())?;
        MilestoneEntity::one(tx, &urls, milestone)
    });
    Ok(Json(changed.await?))
}

async fn remove<A: Ability>(app: App, call: Call<A, OneMilestone>) -> ApiResult<NoContent>
where
    Grant<A>: ManageGrant<Milestones>,
{
    let (since, id) = (call.unmodified_since(), call.params.milestone_id);
    app.db.write(move |tx| actions::remove(tx, &call.grant, id, since)).await?;
    Ok(NoContent)
}

async fn promote(app: App, call: Call<ManageMilestones, OneMilestone>) -> ApiResult<EmptyOk> {
    let (grant, id) = (call.grant, call.params.milestone_id);
    app.db.write(move |tx| actions::promote(tx, &grant, &OrgHierarchy, id)).await?;
    Ok(EmptyOk)
}
