//! Periodic work on jobs: starting delayed ones, and failing stuck or silent ones.

use std::sync::Arc;

use ci::{
    job::{JobStore as _, QueueStore as _, progress, queue::refuse},
    resource_group::actions::free_stuck,
};
use db::Tx;
use kernel::{Result, ids::JobId};
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::Job;

use crate::{
    Forge,
    runner::{active_takers, without_runner},
    settings::archived_before,
};

/// So many jobs change in one transaction.
const AT_ONCE: i64 = 100;
/// A job waits so long for a runner that could take it.
const RUNNER_WAIT: Duration = Duration::hours(1);

/// Lets delayed jobs begin whose time has come.
#[derive(Debug, Serialize, Deserialize)]
pub struct StartDelayedJobs {}

impl Job for StartDelayedJobs {
    const KIND: &'static str = "job.start_delayed";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

/// Fails what waited or ran for too long, and hands resources on that nobody gave back.
#[derive(Debug, Serialize, Deserialize)]
pub struct DropStaleJobs {}

impl Job for DropStaleJobs {
    const KIND: &'static str = "job.drop_stale";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

pub(crate) async fn start_delayed_jobs(forge: Forge, _: StartDelayedJobs) -> Result<()> {
    loop {
        let due = forge.db.read(|tx| tx.jobs_due(AT_ONCE)).await?;
        if !all_or_each(&forge, due, progress::start_due).await? {
            return Ok(());
        }
    }
}

pub(crate) async fn drop_stale_jobs(forge: Forge, _: DropStaleJobs) -> Result<()> {
    loop {
        let stale = forge.db.read(|tx| progress::stale(tx, AT_ONCE)).await?;
        let drop = |tx: &mut Tx<'_>, stale: &[(JobId, &'static str)]| {
            let archived_before = archived_before(tx)?;
            progress::drop_stale(tx, stale, archived_before)
        };
        if !all_or_each(&forge, stale, drop).await? {
            break;
        }
    }
    drop_stuck_jobs(&forge).await?;
    while forge.db.write(|tx| free_stuck(tx, AT_ONCE)).await? {}
    Ok(())
}

/// Fails what waits though no runner could take it.
async fn drop_stuck_jobs(forge: &Forge) -> Result<()> {
    let refuse_all = |tx: &mut Tx<'_>, jobs: &[JobId]| {
        let archived_before = archived_before(tx)?;
        jobs.iter().try_for_each(|id| {
            refuse(tx, *id, "stuck_or_timeout_failure", archived_before).map(drop)
        })
    };
    let takers = Arc::new(forge.db.read(active_takers).await?);
    let mut behind = JobId(0);
    loop {
        let takers = Arc::clone(&takers);
        let found = forge.db.read(move |tx| {
            let then = tx.now.plus(-RUNNER_WAIT);
            let waiting = tx.waiting_since(then, behind, AT_ONCE)?;
            Ok((waiting.last().map(|job| job.id), without_runner(tx, &takers, &waiting)?))
        });
        let (last, stuck) = found.await?;
        let Some(last) = last else { return Ok(()) };
        behind = last;
        all_or_each(forge, stuck, refuse_all).await?;
    }
}

/// Changes jobs in one transaction, or, where that fails, each in its own: one that cannot be changed holds up no other.
/// Tells whether it is worth to look for more.
async fn all_or_each<T: Copy + std::fmt::Debug + Send + 'static>(
    forge: &Forge,
    jobs: Vec<T>,
    change: impl Fn(&mut Tx<'_>, &[T]) -> Result<()> + Copy + Send + 'static,
) -> Result<bool> {
    let full = i64::try_from(jobs.len()).is_ok_and(|found| found >= AT_ONCE);
    let all = jobs.clone();
    let Err(failure) = forge.db.write(move |tx| change(tx, &all)).await else { return Ok(full) };
    if failure.is_of_machine() {
        return Err(failure);
    }
    let mut changed = false;
    for job in jobs {
        match forge.db.write(move |tx| change(tx, &[job])).await {
            Ok(()) => changed = true,
            Err(failure) => tracing::error!(?job, %failure, "a job cannot be changed"),
        }
    }
    Ok(full && changed)
}
