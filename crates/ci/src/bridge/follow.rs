//! A bridge follows the pipeline that it made.

use db::Tx;
use kernel::{
    Result,
    ids::{JobId, PipelineId},
};

use super::step_of;
use crate::{
    Status,
    job::{End, Job, JobStore as _, SpecStore as _, Step, dependents::reset_dependents, progress},
    pipeline::Pipeline,
    resource_group::next_job::{release, start_next_job},
};

/// Whether a bridge is done when its pipeline is there, or when that one is done, or whether it takes the status of a
/// pipeline that it did not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    Start,
    Depend,
    Mirror,
}

fn strategy(tx: &mut Tx<'_>, bridge: &Job) -> Result<Strategy> {
    let Some(spec) = bridge.spec_id else { return Ok(Strategy::Start) };
    let trigger = tx.spec(spec)?.options.trigger;
    let waits = trigger.is_some_and(|trigger| trigger.strategy.is_some());
    Ok(if waits { Strategy::Depend } else { Strategy::Start })
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
        revived(&bridge)
    } else {
        step_of(strategy, downstream.status).and_then(|step| stepped(&bridge, step, now))
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
        reset_dependents(tx, (after.project_id, after.pipeline_id), &[after.id])?;
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

/// Something in its pipeline runs again: the bridge waits for it once more, and for its resource where it shares one.
fn revived(bridge: &Job) -> Option<Job> {
    let status = match bridge.resource_group_id {
        Some(_) => Status::WaitingForResource,
        None => Status::Pending,
    };
    let ended = matches!(bridge.status, Status::Failed | Status::Canceled);
    ended.then(|| Job { status, failure_reason: None, finished_at: None, ..bridge.clone() })
}

pub(super) fn stepped(bridge: &Job, step: Step, now: kernel::Ts) -> Option<Job> {
    let status = bridge.status.after(step).ok()?;
    let reason = (step == Step::Drop).then(|| "unknown_failure".to_owned());
    Some(Job {
        status,
        failure_reason: reason,
        started_at: bridge.started_at.or(Some(now)),
        finished_at: status.is_finished().then_some(now),
        ..bridge.clone()
    })
}
