//! The choice of the next job of a resource group.

use db::Tx;
use kernel::{
    Result,
    ids::{JobId, PipelineId, ResourceGroupId},
};

use super::ResourceGroupStore as _;
use crate::{
    Event, Status,
    event::JobMove,
    job::{MotionStore as _, Step},
};

/// Lets the next job of a group go on, where no other one runs, and announces it; returns which and of which pipeline.
pub(crate) fn start_next_job(
    tx: &mut Tx<'_>,
    id: ResourceGroupId,
) -> Result<Option<(JobId, PipelineId)>> {
    let Some(group) = tx.hold_resource_group(id)?.filter(|group| group.holder_id.is_none()) else {
        return Ok(None);
    };
    let Some((job, kind, pipeline)) = tx.next_in_group(&group)? else { return Ok(None) };
    tx.set_holder(id, Some(job))?;
    let status = Status::WaitingForResource.after(Step::Grant)?;
    tx.move_jobs(&[job], Step::Grant, status)?;
    let jobs = vec![JobMove { job, kind, status }];
    tx.emit(Event::JobsMoved { project: group.project_id, pipeline, jobs })?;
    Ok(Some((job, pipeline)))
}

/// A job has ended: the next one may go on.
pub(crate) fn release(
    tx: &mut Tx<'_>,
    id: ResourceGroupId,
    ended: &[JobId],
) -> Result<Option<(JobId, PipelineId)>> {
    let Some(group) = tx.hold_resource_group(id)? else { return Ok(None) };
    if group.holder_id.is_some_and(|holder| !ended.contains(&holder)) {
        return Ok(None);
    }
    tx.set_holder(id, None)?;
    start_next_job(tx, id)
}
