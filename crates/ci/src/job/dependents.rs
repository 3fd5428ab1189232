//! Jobs that come after others.

use std::collections::HashSet;

use db::Tx;
use kernel::{
    Result,
    ids::{JobId, PipelineId},
};

use super::{Member, MotionStore as _, Step};
use crate::{
    Status,
    process::{Row, dependents},
};

/// Those that were skipped or could be played, since these jobs had ended, wait for them again.
pub(crate) fn reset_dependents(
    tx: &mut Tx<'_>,
    pipeline: PipelineId,
    alive: &[JobId],
) -> Result<()> {
    let members = tx.members(pipeline)?;
    let rows = members.iter().map(Member::row).collect::<Result<Vec<Row>>>()?;
    let alive: HashSet<JobId> = alive.iter().copied().collect();
    let found = dependents(&rows, &alive);
    let ids: Vec<JobId> = found.into_iter().map(|index| rows[index].id).collect();
    if ids.is_empty() {
        return Ok(());
    }
    tx.move_jobs(&ids, Step::Process, Status::Created)
}
