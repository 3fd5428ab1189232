//! The jobs that a runner took, and the job of a job token.

use std::{collections::HashMap, sync::Arc};

use ci::{
    Status,
    job::{Job, JobToken, RunnerJobFilter, token::running_job},
};
use forge::{runner::jobs, user::standing::person_in_project};
use kernel::{
    Error,
    access::{Anyone, ProjectFacts},
    ids::{ProjectId, RunnerId},
    page::Page,
};
use org::{access::IdOrPath, project::store::ProjectStore as _};
use runners::policy::UseRunners;

use crate::{
    app::App,
    entities::{
        ci::{
            job::{JobBasicEntity, JobEntity},
            job_records::{present_across, present_one},
        },
        runners::{runner::RunnerProjectEntity, runner_job::RunnerJobEntity},
    },
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::{Json, Listed},
    routes,
};

routes! { "Jobs of runners" at "/runners/{runner_id}/jobs";
    GET "" => list : UseRunners,
}

/// What a job may ask with its token.
pub(crate) mod of_token {
    use super::{Anyone, show};

    crate::routes! { "Job of a token" at "/job", any scope;
        GET "" => show : Anyone,
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
) -> ApiResult<Listed<RunnerJobEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let actor = grant.actor();
    let RunnerJobOrder::Id = params.order_by;
    let filter = RunnerJobFilter {
        status: params.status,
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
    Ok(Listed(Page { items, total: found.total }))
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
        /// Token of a job that runs, unless the header `JOB-TOKEN` or a bearer has it.
        job_token: Option<String>,
        token: Option<String>,
    }
}

/// The token that is shown: as a bearer or a personal token where it looks like one of a job.
fn shown(call: &Call<Anyone, ShowJobOfToken>) -> Option<JobToken> {
    let bearer = call.header("Authorization").and_then(|text| {
        let (kind, token) = text.split_once(' ')?;
        kind.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let others = [bearer, call.header("PRIVATE-TOKEN")].into_iter().flatten();
    let mut others = others.filter(|text| text.starts_with(JobToken::PREFIX));
    let params = [&call.params.job_token, &call.params.token];
    let given = params.into_iter().find_map(|param| param.as_deref());
    let found = given.or(call.header("JOB-TOKEN")).or_else(|| others.next());
    found.filter(|text| !text.is_empty()).map(JobToken::given)
}

async fn show(app: App, call: Call<Anyone, ShowJobOfToken>) -> ApiResult<Json<JobEntity>> {
    let Some(token) = shown(&call) else {
        // Whoever is known otherwise has no job.
        return Err(match call.caller.user {
            Some(_) => Error::NotFound("Job").into(),
            None => Error::Unauthenticated.into(),
        });
    };
    let found = app.db.read(move |tx| {
        let job = running_job(tx, &token)?.ok_or(Error::Unauthenticated)?;
        let user = job.user_id.ok_or(Error::Unauthenticated)?;
        let person = person_in_project(tx, user, &IdOrPath::Id(job.project_id.0))?;
        Ok((job, person.ok_or(Error::Unauthenticated)?))
    });
    let (job, person) = found.await?;
    let actor = person.user.actor();
    Ok(Json(present_one(&app, &person.facts, actor, job, JobEntity::new).await?))
}
