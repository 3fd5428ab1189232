//! Calls of runners about a running job.

use bytes::Bytes;
use ci::{
    Status,
    job::{
        End, Job, JobToken, QueueStore as _, SpecStore as _, progress::finish_unarchived,
        token::authenticate,
    },
    log::{AppendResult, LogStore as _},
};
use kernel::{Error, Result, Ts, error::Kind, ids::JobId};
use org::project::store::ProjectStore as _;
use time::Duration;

use super::logs;
use crate::{Forge, pipeline, settings::archived_before};

/// That a job is being done is written down when the last time that it was is so long ago.
const EVERY: Duration = Duration::minutes(1);

/// The reasons for a failure that runners may give.
pub const FAILURE_REASONS: [&str; 27] = [
    "unknown_failure",
    "script_failure",
    "api_failure",
    "stuck_or_timeout_failure",
    "runner_system_failure",
    "missing_dependency_failure",
    "runner_unsupported",
    "stale_schedule",
    "job_execution_timeout",
    "archived_failure",
    "unmet_prerequisites",
    "scheduler_failure",
    "data_integrity_failure",
    "forward_deployment_failure",
    "user_blocked",
    "project_deleted",
    "ci_quota_exceeded",
    "no_matching_runner",
    "trace_size_exceeded",
    "builds_disabled",
    "environment_creation_failure",
    "deployment_rejected",
    "protected_environment_failure",
    "secrets_provider_not_found",
    "failed_outdated_deployment_job",
    "ip_restriction_failure",
    "pipeline_loop_detected",
];

/// A job whose token was shown, and whether it may still be told anything.
#[derive(Clone, Debug)]
pub struct ShownJob {
    pub job: Job,
    /// Whether its project is being deleted.
    is_orphaned: bool,
    now: Ts,
}

impl ShownJob {
    /// Why a runner is to stop; `None` while the job runs.
    pub fn refusal(&self) -> Option<&'static str> {
        match self.job.status {
            _ if self.is_orphaned => Some("Project has been deleted!"),
            _ if self.job.erased_at.is_some() => Some("Job has been erased!"),
            Status::Running => None,
            _ => Some("Job is not running"),
        }
    }
}

/// The job whose token is shown.
///
/// # Errors
/// `Forbidden` where there is no such job, or the token is another one's.
pub async fn shown_job(forge: &Forge, id: JobId, token: &JobToken) -> Result<ShownJob> {
    let token = token.clone();
    let found = forge.db.peek(move |tx| {
        let job = authenticate(tx, id, &token)?;
        let is_orphaned = tx.find_project(job.project_id)?.is_none();
        Ok(ShownJob { job, is_orphaned, now: tx.now })
    });
    let shown = found.await?;
    if shown.job.status.is_complete() {
        logs::close(forge, &shown.job).await?;
    }
    Ok(shown)
}

/// Notes that somebody does the job, without writing each time.
async fn record_sign_of_life(forge: &Forge, shown: &ShownJob) -> Result<()> {
    if shown.job.updated_at.plus(EVERY) > shown.now {
        return Ok(());
    }
    let id = shown.job.id;
    forge.db.write(move |tx| tx.touch_job(id)).await
}

/// The result of appending to a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogResult {
    Kept(u64),
    /// The log ends here.
    Elsewhere(u64),
    /// It would be longer than logs may be: the job has failed.
    TooLong,
}

/// A piece of the log of a job that runs. With `debug` only developers may see the log.
pub async fn write_log(
    forge: &Forge,
    shown: &ShownJob,
    start: u64,
    piece: Bytes,
    debug: bool,
) -> Result<LogResult> {
    let id = shown.job.id;
    let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
    if logs::is_too_long(forge, start.saturating_add(length)).await? {
        end(forge, &shown.job, End::failed("trace_size_exceeded")).await?;
        return Ok(LogResult::TooLong);
    }
    if debug && start == 0 {
        forge.db.write(move |tx| tx.restrict_log(id)).await?;
        forge.followers.changed(id);
    }
    let appended = logs::append(forge, &shown.job, start, piece).await?;
    record_sign_of_life(forge, shown).await?;
    Ok(match appended {
        AppendResult::Kept(length) => LogResult::Kept(length),
        AppendResult::Elsewhere(length) => LogResult::Elsewhere(length),
    })
}

/// A runner's report about a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    Running,
    Success,
    Failed { reason: Option<String>, exit_code: Option<i64> },
}

/// The result of a runner's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportResult {
    /// With how the job is now.
    Kept(Status),
    /// The log lacks something that the runner has sent.
    LogIncomplete,
}

/// Takes down how a job goes. Where it ended, its log is on the disk before that is said. `size` is how much log the
/// runner has sent.
pub async fn report(
    forge: &Forge,
    shown: &ShownJob,
    report: Report,
    size: Option<u64>,
) -> Result<ReportResult> {
    let ended = match report {
        Report::Running => {
            record_sign_of_life(forge, shown).await?;
            return Ok(ReportResult::Kept(Status::Running));
        }
        Report::Success => End::Success,
        Report::Failed { reason, exit_code } => {
            let known = reason.filter(|reason| FAILURE_REASONS.contains(&reason.as_str()));
            End::Failed {
                reason: known.unwrap_or_else(|| FAILURE_REASONS[0].to_owned()),
                exit_code,
            }
        }
    };
    // What was not written when the server ended is sent again.
    if let Some(size) = size
        && size > logs::length(forge, &shown.job).await?
        && !logs::is_too_long(forge, size).await?
    {
        return Ok(ReportResult::LogIncomplete);
    }
    let job = end(forge, &shown.job, ended).await?;
    Ok(ReportResult::Kept(job.status))
}

/// Ends a job: first its log is safe, then it counts as ended.
async fn end(forge: &Forge, job: &Job, end: End) -> Result<Job> {
    let (id, spec) = (job.id, job.spec_id);
    let pattern = match spec {
        Some(spec) => forge.db.peek(move |tx| Ok(tx.spec(spec)?.coverage)).await?,
        None => None,
    };
    let (length, coverage) = logs::complete(forge, job, pattern).await?;
    let ended = forge.db.write(move |tx| {
        if let Some(coverage) = coverage {
            tx.set_coverage(id, coverage)?;
        }
        tx.complete_log(id, i64::try_from(length).unwrap_or(i64::MAX))?;
        let archived_before = archived_before(tx)?;
        finish_unarchived(tx, id, end, archived_before)
    });
    match ended.await {
        Ok(job) => {
            pipeline::run_now(forge, job.pipeline_id).await;
            Ok(job)
        }
        // It was ended otherwise in this moment.
        Err(refused) if refused.is_whole(Kind::BadRequest) => Err(Error::forbidden()),
        Err(failure) => Err(failure),
    }
}
