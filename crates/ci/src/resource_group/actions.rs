//! Who of a resource group runs, and looking at groups.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    ids::{JobId, PipelineId, ResourceGroupId},
    page::{Page, PageRequest},
};

use super::{ProcessMode, ResourceGroup, ResourceGroupStore as _};
use crate::{
    Event, Status,
    event::JobMove,
    job::{Job, MotionStore as _, Step},
    pipeline::advance_others,
    policy::{ChangeResourceGroups, ReadResourceGroups},
};

/// Lets the next job of a group go on, where no other one runs, and announces it; returns which and of which pipeline.
pub(crate) fn hand_on(tx: &mut Tx<'_>, id: ResourceGroupId) -> Result<Option<(JobId, PipelineId)>> {
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

/// Hands on groups whose holder is gone or has ended without giving them back; so many at most. Returns whether there may
/// be more.
pub fn free_stuck(tx: &mut Tx<'_>, most: i64) -> Result<bool> {
    let stuck = tx.stuck_groups(most)?;
    let more = i64::try_from(stuck.len()).is_ok_and(|found| found >= most);
    for group in stuck {
        tx.set_holder(group, None)?;
        let next = hand_on(tx, group)?;
        advance_others(tx, next.map(|(_, pipeline)| pipeline).into_iter().collect())?;
    }
    Ok(more)
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
    hand_on(tx, id)
}

pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadResourceGroups>,
    page: PageRequest,
) -> Result<Page<ResourceGroup>> {
    tx.resource_groups(grant.project(), page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadResourceGroups>,
    key: &str,
) -> Result<ResourceGroup> {
    tx.find_resource_group(grant.project(), key)?.ok_or(Error::Missing)
}

/// Jobs that wait for the group or will do so.
pub fn upcoming(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadResourceGroups>,
    key: &str,
    page: PageRequest,
) -> Result<Page<Job>> {
    let group = read(tx, grant, key)?;
    tx.upcoming_jobs(&group, page)
}

pub fn set_mode(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeResourceGroups>,
    key: &str,
    mode: Option<ProcessMode>,
) -> Result<ResourceGroup> {
    let reader = grant.also()?;
    let group = read(tx, &reader, key)?;
    if let Some(mode) = mode {
        tx.set_process_mode(group.id, mode)?;
        // In another order somebody may be next who waited for others.
        let next = hand_on(tx, group.id)?;
        advance_others(tx, next.map(|(_, pipeline)| pipeline).into_iter().collect())?;
    }
    read(tx, &reader, key)
}
