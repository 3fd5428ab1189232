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
use kernel::{Error, Result, ids::JobId, page::PageRequest};

use super::job_params::{JobVariable, Statuses, pairs};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, cursor_of, no_keyset, read_cursor, unreadable_cursor},
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
    pub struct ListJobs: keyset {
        /// Statuses of which any must match.
        scope: Option<Statuses>,
        /// `keyset`: pages are found by `cursor` or `id_before`, whose value the link to the next page has.
        pagination: Option<String>,
        /// With `keyset` only `id`.
        order_by: Option<String>,
        /// With `keyset` only `desc`.
        sort: Option<String>,
        /// Opaque; from the link to the next page.
        cursor: Option<String>,
        /// Only jobs with a smaller ID.
        id_before: Option<JobId>,
    }
}

impl ListJobs {
    fn is_keyset(&self) -> bool {
        let named = self.pagination.as_deref() == Some("keyset");
        named || self.cursor.is_some() || self.id_before.is_some()
    }

    /// The job behind which a page of such a list begins.
    fn before(&self) -> Result<Option<JobId>> {
        let other = |given: &Option<String>, only: &str| {
            given.as_deref().is_some_and(|given| !given.is_empty() && given != only)
        };
        if other(&self.order_by, "id") || other(&self.sort, "desc") {
            return Err(no_keyset());
        }
        let Some(cursor) = &self.cursor else { return Ok(self.id_before) };
        let [id] = read_cursor(cursor, ["id"])?;
        let id = JobId(id.parse().ok().ok_or_else(unreadable_cursor)?);
        Ok(Some(self.id_before.map_or(id, |before| before.min(id))))
    }
}

async fn list(
    app: App,
    call: Call<ReadJobs, ListJobs>,
) -> ApiResult<Either<PagedList<JobEntity>, KeysetList<JobEntity>>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let keyset = params.is_keyset();
    let before = if keyset { params.before()? } else { None };
    let filter = JobFilter {
        kind: JobKind::Build,
        statuses: params.scope.map(|scope| scope.0).unwrap_or_default(),
        retried: true,
        before,
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
    Ok(Json(shown.items.into_iter().next().ok_or(Error::missing())?))
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
