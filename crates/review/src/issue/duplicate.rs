//! Issues that say what another one says already.

use db::Tx;
use kernel::{Result, Standing, error::Kind};

use super::{
    Issue,
    link::{
        LinkType,
        actions::{create as relate, named},
    },
    steps::close_for_successor,
    store,
};
use crate::{note::write_system_note_about, ports::Forge};

/// Closes an issue for another one that the caller may read, and lets each lead to the other. Where the caller may not
/// manage both they are not related beyond that.
pub fn mark(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    who: &Standing,
    issue: &Issue,
    original: &Issue,
) -> Result<Issue> {
    let by = who.actor.user()?;
    let mut new = issue.clone();
    new.duplicated_to_id = Some(original.id);
    new.updated_at = tx.now;
    let (kept, _) = store::keep(tx, &new)?;
    let there = named(tx, forge, &kept, original)?;
    let told = format!("marked this issue as a duplicate of {there}");
    write_system_note_about(tx, &kept.item(), by, &told, &original.item())?;
    let target = (original.project_id, original.iid);
    match relate(tx, forge, who, &kept, target, LinkType::RelatesTo) {
        Err(failure) if failure.is_ours() => return Err(failure),
        // The other one is not the caller's to manage.
        Err(refused) if refused.kind != Kind::Conflict => {}
        Ok(_) | Err(_) => {
            let here = named(tx, forge, original, &kept)?;
            let told = format!("marked {here} as a duplicate of this issue");
            write_system_note_about(tx, &original.item(), by, &told, &kept.item())?;
        }
    }
    close_for_successor(tx, &kept, issue, by)
}
