//! Running schedules: those that are due are found by an index, and each run is claimed once, however many servers look.

use db::Tx;
use kernel::{
    Error, Faults, Grant, Result, Ts,
    ids::{PipelineScheduleId, UserId},
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::{Schedule, ScheduleStore as _, Timing};
use crate::{pipeline::PipelineRef, policy::CreatePipelines, ports::Refs};

/// Schedules claimed in one transaction.
const AT_ONCE: i64 = 100;

/// Queues a run for every schedule that is due.
#[derive(Debug, Serialize, Deserialize)]
pub struct RunDueSchedules {}

impl Job for RunDueSchedules {
    const KIND: &'static str = "ci.run_due_schedules";
    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

/// Creates the pipeline of one run of a schedule.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunSchedule {
    pub schedule: PipelineScheduleId,
    /// The user who started the run by hand; the owner when `None`.
    pub by: Option<UserId>,
    /// Tells this run from all others, so that it creates one pipeline even when it is done once more after a crash.
    /// `None` for one that an older version queued.
    #[serde(default)]
    pub run: Option<i64>,
}

impl RunSchedule {
    fn new(schedule: PipelineScheduleId, by: Option<UserId>) -> Self {
        Self { schedule, by, run: Some(rand::random()) }
    }
}

impl Job for RunSchedule {
    const KIND: &'static str = "ci.run_schedule";
}

/// Queues a run now, with the permissions of the caller.
pub fn play(
    tx: &mut Tx<'_>,
    grant: &Grant<CreatePipelines>,
    refs: &impl Refs,
    id: PipelineScheduleId,
    place: &PipelineRef,
) -> Result<()> {
    let schedule = tx.schedule(grant.project(), id)?;
    let guarded = refs.guarded(tx, grant.who(), grant.project(), place)?;
    if guarded.protected && !guarded.open {
        return Err(Error::forbidden());
    }
    tx.enqueue(&RunSchedule::new(schedule.id, Some(grant.user()?)))
}

/// A schedule that is due, and when it is due next.
#[derive(Clone, Debug)]
pub struct DueRun {
    schedule: Schedule,
    next: Option<Ts>,
}

/// Schedules that are due. Runs that were missed count as one.
///
/// # Errors
/// When the database cannot be read.
pub fn due_runs(tx: &mut Tx<'_>) -> Result<Vec<DueRun>> {
    let (due, now) = (tx.due_schedules(AT_ONCE)?, tx.now);
    let run = |schedule: Schedule| DueRun { next: next_run(&schedule, now), schedule };
    Ok(due.into_iter().map(run).collect())
}

/// Claims schedules that are due and queues their runs. Returns whether more may be due.
///
/// # Errors
/// When the database cannot be written.
pub fn queue_runs(tx: &mut Tx<'_>, due: &[DueRun]) -> Result<bool> {
    for DueRun { schedule, next } in due {
        if tx.advance_schedule(schedule, *next)? {
            tx.enqueue(&RunSchedule::new(schedule.id, None))?;
        }
    }
    Ok(i64::try_from(due.len()).is_ok_and(|many| many >= AT_ONCE))
}

/// Returns the next run; `None` when the time zone no longer exists or the date never occurs again.
pub(super) fn next_run(schedule: &Schedule, now: Ts) -> Option<Ts> {
    let faults = &mut Faults::default();
    Timing::read(&schedule.cron, &schedule.cron_timezone, faults)?.next(now)
}
