//! Jobs of a project of which only one runs at a time.

use ci::{
    policy::{ChangeResourceGroups, ReadResourceGroups},
    resource_group::{ProcessMode, actions},
};
use entities::ci::{
    job::JobBasicEntity,
    job_records::{present, present_one},
    resource_group::ResourceGroupEntity,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    param_enums, params,
    present::{Json, PagedList},
    routes,
};

routes! { "Resource groups" at "/projects/{id}/resource_groups";
    GET ""                     => list     : ReadResourceGroups,
    GET "/{key}"               => show     : ReadResourceGroups,
    PUT "/{key}"               => update   : ChangeResourceGroups,
    GET "/{key}/current_job"   => current  : ReadResourceGroups,
    GET "/{key}/upcoming_jobs" => upcoming : ReadResourceGroups,
}

param_enums! { ProcessMode }

async fn list(
    app: App,
    call: Call<ReadResourceGroups, OnlyPage>,
) -> ApiResult<PagedList<ResourceGroupEntity>> {
    let (grant, page) = (call.grant, call.page);
    let groups = app.db.read(move |tx| actions::list(tx, &grant, page)).await?;
    Ok(PagedList(groups.map(ResourceGroupEntity::from)))
}

params! {
    pub struct OneResourceGroup {
        key: String,
    }
}

async fn show(
    app: App,
    call: Call<ReadResourceGroups, OneResourceGroup>,
) -> ApiResult<Json<ResourceGroupEntity>> {
    let (grant, key) = (call.grant, call.params.key);
    let group = app.db.read(move |tx| actions::read(tx, &grant, &key)).await?;
    Ok(Json(group.into()))
}

params! {
    pub struct UpdateResourceGroup {
        key: String,
        /// Order in which waiting jobs run.
        process_mode: Option<ProcessMode>,
    }
}

async fn update(
    app: App,
    call: Call<ChangeResourceGroups, UpdateResourceGroup>,
) -> ApiResult<Json<ResourceGroupEntity>> {
    let (grant, params) = (call.grant, call.params);
    let (key, mode) = (params.key, params.process_mode);
    let group = app.db.write(move |tx| actions::set_mode(tx, &grant, &key, mode)).await?;
    Ok(Json(group.into()))
}

async fn current(
    app: App,
    call: Call<ReadResourceGroups, OneResourceGroup>,
) -> ApiResult<Json<Option<JobBasicEntity>>> {
    let (grant, key) = (call.grant, call.params.key);
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let job = app.db.read(move |tx| actions::current(tx, &grant, &key)).await?;
    // While no job runs there is nothing to show, which is no failure.
    Ok(Json(match job {
        Some(job) => Some(present_one(&app, &facts, actor, job, JobBasicEntity::new).await?),
        None => None,
    }))
}

async fn upcoming(
    app: App,
    call: Call<ReadResourceGroups, (OneResourceGroup, OnlyPage)>,
) -> ApiResult<PagedList<JobBasicEntity>> {
    let (grant, page, key) = (call.grant, call.page, call.params.0.key);
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let jobs = app.db.read(move |tx| actions::upcoming(tx, &grant, &key, page)).await?;
    Ok(PagedList(present(&app, &facts, actor, jobs, JobBasicEntity::new).await?))
}
