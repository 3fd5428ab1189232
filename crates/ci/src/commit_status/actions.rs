//! Reporting how far a check is, and reading what was reported.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    ids::PipelineId,
    page::{Page, PageRequest},
};

use super::faults::StatusFields;
use crate::{
    Event, Status,
    job::{Job, JobKind, JobStore as _, NewJob, StatusFilter, Step},
    pipeline::{
        NewPipeline, Pipeline, PipelineRef, PipelineStore as _, Source, actions::ensure_shown,
        advance,
    },
    policy::{ReadCommitStatuses, ReportCommitStatus},
    ports::{Projects, Refs},
};

/// Where all statuses are that others report, behind whatever runs here.
const STAGE: &str = "external";
const STAGE_POSITION: i64 = 1_000_000;

kernel::text_enum! {
    /// The state that an external service reports.
    pub enum ExternalState {
        Pending = "pending",
        Running = "running",
        Success = "success",
        Failed = "failed",
        Canceled = "canceled",
        Skipped = "skipped",
    }
}

/// A reported commit status.
#[derive(Clone, Debug)]
pub struct Report {
    pub sha: String,
    /// The branch or tag that was named.
    pub place: Option<PipelineRef>,
    /// The one that counts where none was named and no pipeline is found: a branch with the commit.
    pub fallback: Option<PipelineRef>,
    pub state: ExternalState,
    pub name: String,
    pub target_url: Option<String>,
    pub description: Option<String>,
    pub coverage: Option<f64>,
    pub pipeline: Option<PipelineId>,
}

/// A page of what was reported of a commit, or is done for it.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadCommitStatuses>,
    projects: &impl Projects,
    filter: &StatusFilter,
    page: PageRequest,
) -> Result<Page<Job>> {
    ensure_shown(tx, projects, grant.who(), grant.project())?;
    tx.commit_statuses(grant.project(), filter, page)
}

/// Writes down how far a check is, in the pipeline of its commit, which is made where there is none.
///
/// # Errors
/// `Forbidden` where the branch or tag is protected from the caller or the pipeline is archived, `BadRequest` where what is reported cannot follow
/// what was reported before, `BadRequest` for an address, text, branch or coverage that is none.
pub fn report(
    tx: &mut Tx<'_>,
    grant: &Grant<ReportCommitStatus>,
    refs: &impl Refs,
    report: Report,
) -> Result<Job> {
    let told = StatusFields {
        name: &report.name,
        target_url: report.target_url.as_deref(),
        description: report.description.as_deref(),
        ref_name: report.place.as_ref().map(|place| place.name.as_str()),
        coverage: report.coverage,
    };
    told.check()?;
    tx.lock_pipelines(grant.project())?;
    let (pipeline, place) = pipeline_for(tx, grant, refs, &report)?;
    let user = grant.user()?;
    let open = tx.find_open_status(pipeline.id, &report.name, &place.name, user)?;
    let job = match open {
        Some(job) => job,
        None => begin(tx, grant, &pipeline, &place, &report)?,
    };
    let before = job.status;
    let job = moved(tx, job, report)?;
    tx.keep_job(&job)?;
    tx.emit(Event::StatusChanged {
        project: job.project_id,
        pipeline: job.pipeline_id,
        job: job.id,
        sha: job.sha.clone(),
        name: job.name.clone(),
        before,
        status: job.status,
    })?;
    advance(tx, pipeline.id)?;
    Ok(job)
}

/// The pipeline that a report belongs to, with the branch or tag that it is about.
fn pipeline_for(
    tx: &mut Tx<'_>,
    grant: &Grant<ReportCommitStatus>,
    refs: &impl Refs,
    report: &Report,
) -> Result<(Pipeline, PipelineRef)> {
    let project = grant.project();
    let named = report.place.as_ref();
    let found = match (report.pipeline, named) {
        // One of another commit, branch or tag counts as none: the report gets a pipeline of its own.
        (Some(id), _) => tx.find_pipeline(project, id)?.filter(|pipeline| {
            let of_ref = named.is_none_or(|place| place.name == pipeline.ref_name);
            pipeline.sha == report.sha && of_ref
        }),
        (None, Some(place)) => tx.newest_pipeline_of_ref(project, &place.name, &report.sha)?,
        (None, None) => tx.newest_pipeline(project, &report.sha)?,
    };
    let place = match (named, &found) {
        (_, Some(pipeline)) => pipeline.place(),
        (Some(place), None) => place.clone(),
        (None, None) => {
            report.fallback.clone().ok_or_else(|| Error::not_found("References for commit"))?
        }
    };
    let guarded = refs.guarded(tx, grant.who(), project, &place)?;
    let archived = match &found {
        Some(pipeline) => pipeline.is_archived(refs.archived_before(tx)?),
        None => false,
    };
    if archived || !guarded.open {
        return Err(Error::forbidden());
    }
    let pipeline = match found {
        Some(pipeline) => pipeline,
        None => {
            let (source, user) = (Source::External, grant.actor().id);
            let new = NewPipeline::of(project, &report.sha, place.clone(), source, user);
            tx.insert_pipeline(&NewPipeline { protected: guarded.protected, ..new })?
        }
    };
    Ok((pipeline, place))
}

/// A new status takes the place of those of its name.
fn begin(
    tx: &mut Tx<'_>,
    grant: &Grant<ReportCommitStatus>,
    pipeline: &Pipeline,
    place: &PipelineRef,
    report: &Report,
) -> Result<Job> {
    let new = NewJob {
        kind: JobKind::External,
        stage: STAGE,
        stage_position: STAGE_POSITION,
        name: report.name.clone(),
        ref_name: place.name.clone(),
        user: grant.actor().id,
    };
    let job = tx.insert_job(pipeline, &new)?;
    tx.retire_older_jobs(&job)?;
    Ok(job)
}

/// The status as far as it is reported, with what was told of it.
fn moved(tx: &Tx<'_>, job: Job, report: Report) -> Result<Job> {
    let now = Some(tx.now);
    let mut job = Job {
        target_url: report.target_url.or(job.target_url),
        description: report.description.or(job.description),
        coverage: report.coverage.or(job.coverage),
        ..job
    };
    match report.state {
        ExternalState::Pending => {
            job.status = job.status.after(Step::Enqueue)?;
            job.queued_at = now;
        }
        ExternalState::Running => {
            if let Ok(pending) = job.status.after(Step::Enqueue) {
                job.status = pending;
                job.queued_at = now;
            }
            job.status = job.status.after(Step::Run)?;
            job.started_at = now;
        }
        ExternalState::Success => job.status = job.status.after(Step::Succeed)?,
        ExternalState::Failed => {
            job.status = job.status.after(Step::Drop)?;
            job.failure_reason = Some("api_failure".to_owned());
        }
        ExternalState::Canceled => job.status = job.status.after(Step::Cancel)?,
        ExternalState::Skipped => job.status = job.status.after(Step::Skip)?,
    }
    let finished = matches!(job.status, Status::Success | Status::Failed | Status::Canceled);
    job.finished_at = if finished { now } else { job.finished_at };
    Ok(Job { updated_at: tx.now, ..job })
}
