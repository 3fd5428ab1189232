//! Read access to items.

use db::Tx;
use kernel::{Ability as _, AccessLevel, Error, Result, Standing};

use super::{Item, ItemKind, ItemStore};
use crate::policy::{ReadEpicNotes, ReadIssues, ReadMergeRequests};

/// Whether somebody who stands so in its project may read an item.
pub fn is_readable_by(tx: &mut Tx<'_>, who: &Standing, item: &Item) -> Result<bool> {
    let in_general = match item.id.kind {
        ItemKind::Issue => who.visible && ReadIssues::allows(who),
        ItemKind::MergeRequest => who.visible && ReadMergeRequests::allows(who),
        ItemKind::Epic => who.visible && ReadEpicNotes::allows(who),
    };
    if in_general && item.id.kind == ItemKind::Epic {
        return Ok(!item.confidential || who.is(AccessLevel::Reporter));
    }
    if !in_general || !item.confidential || who.is(AccessLevel::Reporter) {
        return Ok(in_general);
    }
    let Some(user) = who.actor.id else { return Ok(false) };
    Ok(item.author == user || tx.is_assigned(item.id, user)?)
}

/// What may not be read is not there.
///
/// # Errors
/// `NotFound` for those who may not read the item.
pub fn ensure_readable(tx: &mut Tx<'_>, who: &Standing, item: &Item) -> Result<()> {
    if is_readable_by(tx, who, item)? { Ok(()) } else { Err(Error::missing()) }
}
