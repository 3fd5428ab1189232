//! A project's jobs.

use ci::{
    job::{JobFilter, JobKind, actions},
    policy::{ReadJobs, UpdateJobs, UpdatePipelines},
};
use db::Tx;
use entities::ci::{
    job::{BridgeEntity, JobEntity},
    job_records::{present_list, present_one},
};
use forge::{
    pipeline::control,
    ports::ci::{Projects, Refs},
    runner::removal,
    settings::is_archived,
};
use kernel::{Error, ids::JobId, page::PageRequest};

use super::job_params::{JobVariable, Statuses, pairs};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, CursorPage, cursor_of},
    params,
    present::{Created, Either, Json, KeysetList, PagedList},
    routes,
};

routes! { "Jobs" at "/projects/{id}/jobs";
    GET  ""                 => list   : ReadJobs also JobToken,
    GET  "/{job_id}"        => show   : ReadJobs,
    POST "/{job_id}/cancel" => cancel : UpdateJobs,
    POST "/{job_id}/retry"  => retry  : UpdateJobs,
    POST "/{job_id}/play"   => play   : UpdateJobs,
    POST "/{job_id}/erase"  => erase  : UpdatePipelines,
}

params! {
    pub struct ListJobs {
        /// Statuses of which any must match.
        scope: Option<Statuses>,
        /// Only jobs with a smaller ID.
        id_before: Option<JobId>,
    }
}

async fn list(
    app: App,
    call: Call<ReadJobs, (ListJobs, CursorPage)>,
) -> ApiResult<Either<PagedList<JobEntity>, KeysetList<JobEntity>>> {
    let (grant, page, (params, pages)) = (call.grant, call.page, call.params);
    let (keyset, last) = (pages.is_keyset(), pages.last_id()?.map(JobId));
    let filter = JobFilter {
        kind: JobKind::Build,
        statuses: params.scope.map(|scope| scope.0).unwrap_or_default(),
        retried: true,
        before: last.into_iter().chain(params.id_before).min(),
        after: None,
        oldest_first: false,
    };
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let page = if keyset { PageRequest { page: 1, ..page } } else { page };
    let list = move |tx: &mut Tx<'_>| actions::list(tx, &grant, &Projects, &filter, page);
    let shown = present_list(&app, &facts, actor, JobEntity::new, list).await?;
    Ok(match keyset {
        true => Either::Right(KeysetList::of_page(shown, "cursor", |last| {
            cursor_of([("id", last.basic.id.to_string())])
        })),
        false => Either::Left(PagedList(shown)),
    })
}

params! {
    pub struct OneJob {
        job_id: JobId,
    }
}

async fn show(app: App, call: Call<ReadJobs, OneJob>) -> ApiResult<Json<JobEntity>> {
    let (grant, id) = (call.grant, call.params.job_id);
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let read = move |tx: &mut Tx<'_>| {
        Ok(PageRequest::default().slice(vec![actions::read(tx, &grant, &Projects, id)?]))
    };
    let shown = present_list(&app, &facts, actor, JobEntity::new, read).await?;
    Ok(Json(shown.items.into_iter().next().ok_or_else(Error::missing)?))
}

async fn cancel(app: App, call: Call<UpdateJobs, OneJob>) -> ApiResult<Created<JobEntity>> {
    let (grant, id) = (call.grant, call.params.job_id);
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let job = app.db.write(move |tx| actions::cancel(tx, &grant, &Refs, id)).await?;
    Ok(Created(present_one(&app, &facts, actor, job, JobEntity::new).await?))
}

async fn retry(
    app: App,
    call: Call<UpdateJobs, OneJob>,
) -> ApiResult<Either<Created<JobEntity>, Created<BridgeEntity>>> {
    let (grant, id) = (call.grant, call.params.job_id);
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let job = control::retry_job(&app, grant, id).await?;
    Ok(match job.kind {
        JobKind::Bridge => {
            Either::Right(Created(present_one(&app, &facts, actor, job, BridgeEntity::new).await?))
        }
        JobKind::Build | JobKind::External => {
            Either::Left(Created(present_one(&app, &facts, actor, job, JobEntity::new).await?))
        }
    })
}

params! {
    pub struct PlayJob {
        job_id: JobId,
        /// Additional variables for this job.
        job_variables_attributes: Option<Vec<JobVariable>>,
    }
}

async fn play(
    app: App,
    call: Call<UpdateJobs, PlayJob>,
) -> ApiResult<Either<Json<JobEntity>, Json<BridgeEntity>>> {
    let (grant, params) = (call.grant, call.params);
    let (facts, actor, id) = (grant.facts().clone(), grant.actor(), params.job_id);
    let variables = pairs(params.job_variables_attributes.unwrap_or_default())?;
    let job = control::play_job(&app, grant, id, variables).await?;
    Ok(match job.kind {
        JobKind::Bridge => {
            Either::Right(Json(present_one(&app, &facts, actor, job, BridgeEntity::new).await?))
        }
        JobKind::Build | JobKind::External => {
            Either::Left(Json(present_one(&app, &facts, actor, job, JobEntity::new).await?))
        }
    })
}

async fn erase(app: App, call: Call<UpdatePipelines, OneJob>) -> ApiResult<Created<JobEntity>> {
    let (grant, id) = (call.grant, call.params.job_id);
    let (facts, actor) = (grant.facts().clone(), grant.actor());
    let job = app.db.write(move |tx| {
        if is_archived(tx, grant.project(), id)? {
            return Err(Error::forbidden().in_this_state("Job is not erasable!"));
        }
        actions::erase(tx, &grant, &Refs, id)
    });
    let job = job.await?;
    removal::run_now(&app, &job).await?;
    Ok(Created(present_one(&app, &facts, actor, job, JobEntity::new).await?))
}
