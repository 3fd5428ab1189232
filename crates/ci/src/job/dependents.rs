//! Jobs that come after others.

use std::collections::HashSet;

use db::Tx;
use kernel::{
    Result,
    ids::{JobId, PipelineId, ProjectId, UserId},
};

use super::{Member, MotionStore as _, Step};
use crate::{
    Event, Status,
    event::JobMove,
    process::{Row, dependents},
};

/// Those that were skipped or could be played, since these jobs had ended, wait for them again, and will run for whoever
/// lets these run.
pub(crate) fn reset_dependents(
    tx: &mut Tx<'_>,
    (project, pipeline): (ProjectId, PipelineId),
    alive: &[JobId],
    user: Option<UserId>,
) -> Result<()> {
    let members = tx.members(pipeline)?;
    let rows = members.iter().map(Member::row).collect::<Result<Vec<Row>>>()?;
    let alive: HashSet<JobId> = alive.iter().copied().collect();
    let found = dependents(&rows, &alive);
    let found: Vec<&Member> = found.into_iter().filter_map(|index| members.get(index)).collect();
    revive(tx, (project, pipeline), &found, user)
}

/// Lets jobs wait for others again. They do not run for whoever they were made for: nobody gets something done with the
/// rights of somebody else who wants it no more.
pub(crate) fn revive(
    tx: &mut Tx<'_>,
    (project, pipeline): (ProjectId, PipelineId),
    jobs: &[&Member],
    user: Option<UserId>,
) -> Result<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let ids: Vec<JobId> = jobs.iter().map(|member| member.id).collect();
    tx.move_jobs(&ids, Step::Process, Status::Created)?;
    tx.assign_jobs(&ids, user)?;
    let moved =
        |member: &&Member| JobMove { job: member.id, kind: member.kind, status: Status::Created };
    let jobs = jobs.iter().map(moved).collect();
    tx.emit(Event::JobsMoved { project, pipeline, jobs })
}
