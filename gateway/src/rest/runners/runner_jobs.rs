//! The jobs that a runner took, and the job of a job token.

use std::{collections::HashMap, sync::Arc};

use ci::{
    Status,
    job::{Job, RunnerJobFilter},
};
use entities::{
    ci::{
        job::{JobBasicEntity, JobEntity},
        job_records::{present_across, present_one},
    },
    runners::{
        allowed_agents::AllowedAgentsEntity, runner::RunnerProjectEntity,
        runner_job::RunnerJobEntity,
    },
};
use forge::runner::jobs;
use kernel::{
    Actor, Error, Standing,
    access::{Anyone, Project, ProjectFacts},
    ids::{ProjectId, RunnerId},
    page::Page,
};
use org::{
    access::{IdOrPath, locate_project},
    project::store::ProjectStore as _,
    runner_places::job_homes,
};
use runners::policy::UseRunners;

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Caller, Sort},
    param_enums, params,
    present::{Json, PagedList},
    routes,
};

routes! { "Jobs of runners" at "/runners/{runner_id}/jobs";
    GET "" => list : UseRunners,
}

/// What a job may ask with its token.
pub(crate) mod of_token {
    use super::{Anyone, show, show_agents};

    crate::routes! { "Job of a token" at "/job", any scope;
        GET ""                => show        : Anyone also JobToken,
        GET "/allowed_agents" => show_agents : Anyone also JobToken,
    }
}

kernel::text_enum! {
    pub enum RunnerJobOrder { Id = "id" }
}
param_enums! { RunnerJobOrder }

params! {
    pub struct ListRunnerJobs: paged {
        runner_id: RunnerId,
        status: Option<Status>,
        order_by: RunnerJobOrder = RunnerJobOrder::Id,
        sort: Sort = Sort::Desc,
    }
}

async fn list(
    app: App,
    call: Call<UseRunners, ListRunnerJobs>,
) -> ApiResult<PagedList<RunnerJobEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let actor = grant.actor();
    let RunnerJobOrder::Id = params.order_by;
    let filter = RunnerJobFilter {
        statuses: params.status.into_iter().collect(),
        projects: None,
        descending: params.sort == Sort::Desc,
    };
    let read = app.db.read(move |tx| {
        let (runner, jobs) = jobs::list(tx, &grant, params.runner_id, &filter, page)?;
        let projects = projects(tx, &jobs)?;
        Ok((runner.ip_address, jobs, projects))
    });
    let (address, jobs, projects) = read.await?;
    let found = present_across(&app, actor, jobs, JobBasicEntity::new).await?;
    let with_project = |(job, facts): (JobBasicEntity, Arc<ProjectFacts>)| {
        let project = projects.get(&facts.id)?.clone();
        Some(RunnerJobEntity::new(job, project, address.clone()))
    };
    let items = found.items.into_iter().filter_map(with_project).collect();
    Ok(PagedList(Page { items, total: found.total }))
}

fn projects(
    tx: &mut db::Tx<'_>,
    jobs: &Page<Job>,
) -> kernel::Result<HashMap<ProjectId, RunnerProjectEntity>> {
    let mut ids: Vec<ProjectId> = jobs.items.iter().map(|job| job.project_id).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = tx.projects_by_id(&ids)?;
    Ok(found.into_iter().map(|project| (project.id, project.into())).collect())
}

params! {
    pub struct ShowJobOfToken {
        /// Token of a running job. Not needed if the header `JOB-TOKEN` or a bearer token has it.
        job_token: Option<String>,
        token: Option<String>,
    }
}

/// The job that showed its token.
fn job_of(caller: &Caller) -> kernel::Result<Arc<Job>> {
    match (&caller.job, &caller.user) {
        (Some(job), _) => Ok(Arc::clone(job)),
        // Whoever is known otherwise has no job.
        (None, Some(_)) => Err(Error::not_found("Job")),
        (None, None) => Err(Error::unauthenticated()),
    }
}

/// The project of a job, and how whoever it runs for stands there.
async fn home(app: &App, actor: Actor, job: &Job) -> ApiResult<(Project, Standing)> {
    let project = IdOrPath::Id(job.project_id.0);
    let found = app.db.read(move |tx| match locate_project(tx, actor, &project) {
        Err(gone) if gone.is_gone() => Err(Error::unauthenticated()),
        found => found,
    });
    Ok(found.await?)
}

async fn show(app: App, call: Call<Anyone, ShowJobOfToken>) -> ApiResult<Json<JobEntity>> {
    let (job, actor) = (job_of(&call.caller)?, call.grant.actor());
    let (project, _) = home(&app, actor, &job).await?;
    Ok(Json(present_one(&app, &project.0, actor, Job::clone(&job), JobEntity::new).await?))
}

async fn show_agents(
    app: App,
    call: Call<Anyone, ShowJobOfToken>,
) -> ApiResult<Json<AllowedAgentsEntity>> {
    let (job, user) = (job_of(&call.caller)?, Arc::clone(call.caller.user()?));
    let (project, who) = home(&app, call.grant.actor(), &job).await?;
    let id = project.0.id;
    let homes = app.db.read(move |tx| job_homes(tx, &[id])).await?;
    let groups = homes.into_iter().flat_map(|home| home.groups).collect();
    Ok(Json(AllowedAgentsEntity::new(&job, groups, &user, who.level)))
}
