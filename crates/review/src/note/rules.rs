//! Permissions and limits for notes.

use kernel::{AccessLevel, Error, Result, Standing, values::length_fault};

use super::model::Note;
use crate::item::{Item, ItemKind, ParticipationGrant};

const LONGEST: usize = 1_000_000;
const LONGEST_COMMIT_NAME: usize = 255;

/// Whether somebody may say that something was said at another time.
pub(super) fn may_date(who: &Standing) -> bool {
    who.is(AccessLevel::Owner)
}

/// Members alone speak where the discussion is locked.
pub(crate) fn ensure_unlocked(item: &Item, who: &Standing) -> Result<()> {
    match item.locked && !who.is(AccessLevel::Guest) {
        true => Err(Error::forbidden()),
        false => Ok(()),
    }
}

pub(super) fn ensure_changeable<G: ParticipationGrant>(
    item: &Item,
    note: &Note,
    grant: &G,
) -> Result<()> {
    let own = grant.actor().id == Some(note.author_id);
    if note.is_system || !(own || grant.who().is(AccessLevel::Maintainer)) {
        return Err(Error::forbidden());
    }
    ensure_unlocked(item, grant.who())
}

/// What is blank or endless is not said.
pub(crate) fn ensure_sayable(body: &str) -> Result<()> {
    if body.trim().is_empty() {
        return Err(Error::bad_request().because("Note {:note=>[\"can't be blank\"]}"));
    }
    if let Some(text) = length_fault(body, LONGEST) {
        return Err(Error::bad_request().because(format!("Note {{:note=>[{text:?}]}}")));
    }
    Ok(())
}

/// A thread may name what is no commit, but nothing endless.
pub(super) fn ensure_commit_name(name: Option<&str>) -> Result<()> {
    match name.and_then(|name| length_fault(name, LONGEST_COMMIT_NAME)) {
        None => Ok(()),
        Some(text) => Err(Error::bad_request().because(format!("Note {{:commit_id=>[{text:?}]}}"))),
    }
}

/// Whether notes of this kind of item may become threads.
pub(crate) fn has_threads(kind: ItemKind) -> bool {
    matches!(kind, ItemKind::Issue | ItemKind::MergeRequest | ItemKind::Epic)
}
