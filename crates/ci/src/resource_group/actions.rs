//! Use cases of resource groups, and recovery of groups that are stuck.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    page::{Page, PageRequest},
};

use super::{
    ProcessMode, ResourceGroup, ResourceGroupStore as _, hand_over::hand_on,
    next_job::start_next_job,
};
use crate::{
    job::{Job, JobStore as _},
    pipeline::advance_others,
    policy::{ChangeResourceGroups, ReadResourceGroups},
};

/// Hands on groups whose holder is gone or has ended without giving them back; so many at most. Returns whether there may
/// be more.
pub fn free_stuck(tx: &mut Tx<'_>, most: i64) -> Result<bool> {
    let stuck = tx.stuck_groups(most)?;
    let more = i64::try_from(stuck.len()).is_ok_and(|found| found >= most);
    hand_on(tx, stuck)?;
    Ok(more)
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
    tx.find_resource_group(grant.project(), key)?.ok_or_else(Error::missing)
}

/// The job that may run now, if any.
pub fn current(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadResourceGroups>,
    key: &str,
) -> Result<Option<Job>> {
    match read(tx, grant, key)?.holder_id {
        Some(holder) => tx.find_any_job(holder),
        None => Ok(None),
    }
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
        let next = start_next_job(tx, group.id)?;
        advance_others(tx, next.map(|(_, pipeline)| pipeline).into_iter().collect())?;
    }
    read(tx, &reader, key)
}
