//! A bridge follows the pipeline that it made.

use db::Tx;
use kernel::{
    Result,
    ids::{JobId, PipelineId},
};

use super::state::{Strategy, status_after};
use crate::{
    Status,
    job::{End, Job, JobStore as _, SpecStore as _, dependents::reset_dependents, progress},
    pipeline::{Pipeline, PipelineStore as _, advance_others},
    resource_group::next_job::{release, start_next_job},
};

fn strategy(tx: &mut Tx<'_>, bridge: &Job) -> Result<Strategy> {
    let Some(spec) = bridge.spec_id else { return Ok(Strategy::Start) };
    let trigger = tx.spec(spec)?.options.trigger;
    Ok(match trigger.and_then(|trigger| trigger.strategy).as_deref() {
        Some("mirror") => Strategy::Mirror,
        Some(_) => Strategy::Depend,
        None => Strategy::Start,
    })
}

/// The pipeline of a bridge is there.
pub fn downstream_made(tx: &mut Tx<'_>, bridge: JobId) -> Result<()> {
    let job = tx.job(bridge)?;
    match strategy(tx, &job)? {
        Strategy::Start if !job.status.is_complete() => {
            progress::finish(tx, bridge, End::Success).map(drop)
        }
        Strategy::Start | Strategy::Depend | Strategy::Mirror => Ok(()),
    }
}

/// The bridge of a pipeline that went on goes on, too, where it waits for it; returns the pipelines that have to go on
/// therefore: that of the bridge, and those that get its resource.
pub(crate) fn follow_downstream(
    tx: &mut Tx<'_>,
    downstream: &Pipeline,
    before: Status,
) -> Result<Vec<PipelineId>> {
    let Some(parent) = downstream.parent_job_id.filter(|_| downstream.status != before) else {
        return Ok(Vec::new());
    };
    let Some(bridge) = tx.find_any_job(parent)? else { return Ok(Vec::new()) };
    let strategy = strategy(tx, &bridge)?;
    if strategy == Strategy::Start {
        return Ok(Vec::new());
    }
    let bridge = progress::lock_job(tx, parent)?;
    if bridge.retried {
        return Ok(Vec::new());
    }
    let now = tx.now;
    let after = if before.is_complete() && !downstream.status.is_complete() {
        revived(&bridge, strategy)
    } else {
        let status = status_after(strategy, bridge.status, downstream.status);
        status.map(|status| moved(&bridge, status, now))
    };
    match after {
        Some(after) => keep_moved(tx, &bridge, &after),
        None => Ok(Vec::new()),
    }
}

/// Keeps a bridge that has moved; returns the pipelines that have to go on therefore.
pub(super) fn keep_moved(tx: &mut Tx<'_>, before: &Job, after: &Job) -> Result<Vec<PipelineId>> {
    progress::save_job(tx, after)?;
    if !after.status.is_complete() && before.status.is_complete() {
        let (at, user) = ((after.project_id, after.pipeline_id), after.user_id);
        reset_dependents(tx, at, &[after.id], user)?;
    }
    let mut others = vec![after.pipeline_id];
    if let Some(group) = after.resource_group_id {
        let next = match after.status.is_complete() {
            true => release(tx, group, &[after.id])?,
            false => start_next_job(tx, group)?,
        };
        others.extend(next.map(|(_, pipeline)| pipeline));
    }
    Ok(others)
}

/// A bridge that begins once more though its pipeline is there takes the status of that one, where it mirrors it: nothing
/// else may move it any more.
pub fn follow_again(tx: &mut Tx<'_>, id: JobId) -> Result<()> {
    let Some(bridge) = tx.find_any_job(id)? else { return Ok(()) };
    if strategy(tx, &bridge)? != Strategy::Mirror {
        return Ok(());
    }
    let bridge = progress::lock_job(tx, id)?;
    let downstream = tx.pipelines_of_bridges(&[id])?.pop();
    let Some(downstream) = downstream.filter(|_| bridge.status == Status::Pending) else {
        return Ok(());
    };
    let Some(status) = status_after(Strategy::Mirror, bridge.status, downstream.status) else {
        return Ok(());
    };
    let after = moved(&bridge, status, tx.now);
    let others = keep_moved(tx, &bridge, &after)?;
    advance_others(tx, others)
}

/// Something in its pipeline runs again: the bridge waits for it once more, and for its resource where it shares one.
fn revived(bridge: &Job, strategy: Strategy) -> Option<Job> {
    let status = match bridge.resource_group_id {
        Some(_) => Status::WaitingForResource,
        None => Status::Pending,
    };
    let ended = match bridge.status {
        Status::Failed | Status::Canceled => true,
        Status::Skipped => strategy == Strategy::Mirror,
        _ => false,
    };
    ended.then(|| Job { status, failure_reason: None, finished_at: None, ..bridge.clone() })
}

/// A bridge with another status, as its pipeline gave it.
pub(super) fn moved(bridge: &Job, status: Status, now: kernel::Ts) -> Job {
    let waits = matches!(status, Status::Pending | Status::Manual);
    Job {
        status,
        failure_reason: (status == Status::Failed).then(|| "unknown_failure".to_owned()),
        started_at: if waits { bridge.started_at } else { bridge.started_at.or(Some(now)) },
        finished_at: status.is_finished().then_some(now),
        ..bridge.clone()
    }
}
