//! Updates of a job's state by its runner.

use db::Tx;
use kernel::{Result, Ts, error::Kind, ids::JobId};

use super::{
    Job, JobStore as _, MotionStore as _, SpecStore as _, Step,
    dependents::reset_dependents,
    rules::{self, is_archived},
};
use crate::{
    Event, Status,
    event::JobMove,
    pipeline::{PipelineStore as _, advance, advance_others},
    resource_group::next_job::{release, start_next_job},
};

/// The final result of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Success,
    Failed { reason: String, exit_code: Option<i64> },
    Canceled,
}

impl End {
    pub fn failed(reason: &str) -> Self {
        Self::Failed { reason: reason.to_owned(), exit_code: None }
    }

    fn step(&self) -> Step {
        match self {
            Self::Success => Step::Succeed,
            Self::Failed { .. } => Step::Drop,
            Self::Canceled => Step::Cancel,
        }
    }
}

/// A job whose pipeline is locked, so that nobody else moves it before the transaction ends.
pub(crate) fn lock_job(tx: &mut Tx<'_>, id: JobId) -> Result<Job> {
    let job = tx.job(id)?;
    tx.hold_pipeline(job.pipeline_id)?;
    tx.job(id)
}

/// Somebody runs a job.
pub fn run(tx: &mut Tx<'_>, id: JobId, runner: Option<i64>) -> Result<Job> {
    let job = lock_job(tx, id)?;
    let status = job.status.after(Step::Run)?;
    let (runner_id, started_at) = (runner.or(job.runner_id), Some(tx.now));
    let job = Job { status, runner_id, started_at, ..job };
    save_job(tx, &job)?;
    advance(tx, job.pipeline_id)?;
    tx.job(id)
}

/// A job has ended. What it gave back goes to the next one, and its pipeline goes on; where it failed and says so, another
/// one takes its place.
///
/// # Errors
/// `BadRequest` where it had ended before, or never began.
pub fn finish(tx: &mut Tx<'_>, id: JobId, end: End) -> Result<Job> {
    finish_unarchived(tx, id, end, None)
}

/// As [`finish`]. A job that was made until `archived_before` is archived: nothing takes its place by itself.
pub fn finish_unarchived(
    tx: &mut Tx<'_>,
    id: JobId,
    end: End,
    archived_before: Option<Ts>,
) -> Result<Job> {
    let job = lock_job(tx, id)?;
    let archived = is_archived(&job, archived_before);
    let job = Job { status: job.status.after(end.step())?, finished_at: Some(tx.now), ..job };
    let (job, again) = match end {
        End::Failed { reason, exit_code } => failed(tx, job, reason, exit_code)?,
        End::Success | End::Canceled => (job, false),
    };
    save_job(tx, &job)?;
    if again && !archived {
        let made = tx.clone_jobs(&[id], job.user_id)?;
        // Nobody has to let it begin once more.
        if let Some(made) = made.first().filter(|_| job.is_action()) {
            let made = tx.job(*made)?;
            enqueue(tx, made)?;
        }
    }
    after_end(tx, &[job])?;
    tx.job(id)
}

/// With the reason, and whether it is tried again.
fn failed(
    tx: &mut Tx<'_>,
    job: Job,
    reason: String,
    exit_code: Option<i64>,
) -> Result<(Job, bool)> {
    let spec = match job.spec_id {
        Some(spec) => tx.spec(spec)?,
        None => super::JobSpec::default(),
    };
    let again = rules::is_tried_again(&job, &spec, &reason, exit_code);
    let allow_failure = job.allow_failure || rules::is_allowed(&spec, exit_code);
    Ok((Job { failure_reason: Some(reason), allow_failure, ..job }, again))
}

/// What follows from the end of jobs of one pipeline.
pub(crate) fn after_end(tx: &mut Tx<'_>, ended: &[Job]) -> Result<()> {
    let ids: Vec<JobId> = ended.iter().map(|job| job.id).collect();
    let mut groups: Vec<_> = ended.iter().filter_map(|job| job.resource_group_id).collect();
    groups.sort_unstable();
    groups.dedup();
    let mut others = Vec::new();
    for group in groups {
        others.extend(release(tx, group, &ids)?.map(|(_, pipeline)| pipeline));
    }
    let Some(first) = ended.first() else { return Ok(()) };
    advance(tx, first.pipeline_id)?;
    others.retain(|other| *other != first.pipeline_id);
    advance_others(tx, others)
}

/// Keeps and announces where a job is now.
pub(crate) fn save_job(tx: &mut Tx<'_>, job: &Job) -> Result<()> {
    tx.keep_job(job)?;
    let moved = JobMove { job: job.id, kind: job.kind, status: job.status };
    let (project, pipeline) = (job.project_id, job.pipeline_id);
    tx.emit(Event::JobsMoved { project, pipeline, jobs: vec![moved] })
}

/// Lets delayed jobs begin, as far as they still wait for their time.
pub fn start_due(tx: &mut Tx<'_>, due: &[JobId]) -> Result<()> {
    for id in due {
        let job = lock_job(tx, *id)?;
        if job.status == Status::Scheduled {
            enqueue(tx, job)?;
        }
    }
    Ok(())
}

/// Lets a job begin that waited for a person or its time, and its pipeline go on.
pub(super) fn enqueue(tx: &mut Tx<'_>, job: Job) -> Result<()> {
    let step = if job.resource_group_id.is_some() { Step::AwaitResource } else { Step::Enqueue };
    let status = job.status.after(step)?;
    let queued_at = if step == Step::Enqueue { Some(tx.now) } else { None };
    let job = Job { status, queued_at, scheduled_at: None, ..job };
    save_job(tx, &job)?;
    reset_dependents(tx, (job.project_id, job.pipeline_id), &[job.id], job.user_id)?;
    let mut others = Vec::new();
    if let Some(group) = job.resource_group_id {
        let next = start_next_job(tx, group)?;
        others.extend(next.map(|(_, pipeline)| pipeline).filter(|other| *other != job.pipeline_id));
    }
    advance(tx, job.pipeline_id)?;
    advance_others(tx, others)
}

/// What waited or ran for too long, so many at most of each kind, with the reason for which it fails.
pub fn stale(tx: &mut Tx<'_>, most: i64) -> Result<Vec<(JobId, &'static str)>> {
    let found = tx.stale_jobs(most)?.into_iter();
    Ok(found.flat_map(|(ids, reason)| ids.into_iter().map(move |id| (id, reason))).collect())
}

/// What waited or ran for too long fails for a reason, unless somebody else moved it meanwhile. Jobs that were made until
/// `archived_before` are archived.
pub fn drop_stale(
    tx: &mut Tx<'_>,
    stale: &[(JobId, &'static str)],
    archived_before: Option<Ts>,
) -> Result<()> {
    for (id, reason) in stale {
        match finish_unarchived(tx, *id, End::failed(reason), archived_before) {
            Err(failure) if !failure.is_whole(Kind::BadRequest) => return Err(failure),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}
