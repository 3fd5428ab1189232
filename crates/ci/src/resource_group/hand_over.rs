//! Groups that go from their holder to the next job.

use db::Tx;
use kernel::{
    Result,
    ids::{PipelineId, ResourceGroupId},
};

use super::{ResourceGroupStore as _, next_job::start_next_job};
use crate::pipeline::advance_others;

/// Takes groups from whoever holds them: the next jobs may go on.
pub(super) fn hand_on(tx: &mut Tx<'_>, groups: Vec<ResourceGroupId>) -> Result<()> {
    let mut others = Vec::new();
    for group in groups {
        tx.set_holder(group, None)?;
        others.extend(start_next_job(tx, group)?.map(|(_, pipeline)| pipeline));
    }
    advance_others(tx, others)
}

/// A pipeline is about to go, of which nothing goes on any more: what its jobs hold still goes to the next ones.
pub(crate) fn release_all(tx: &mut Tx<'_>, pipeline: PipelineId) -> Result<()> {
    let held = tx.groups_held_in(pipeline)?;
    hand_on(tx, held)
}
