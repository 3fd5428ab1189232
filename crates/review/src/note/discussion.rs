//! Notes that answer each other.

use db::Tx;
use kernel::{Error, Result};

use super::{
    model::{Discussion, NoteType},
    rules::has_threads,
    store::NoteStore as _,
};
use crate::item::Item;

/// The name of a new discussion: 40 hexadecimal digits that nobody can guess.
pub(crate) fn fresh() -> String {
    hex::encode(rand::random::<[u8; 20]>())
}

/// Values that a reply takes from its discussion.
pub(super) struct DiscussionContext {
    pub(super) id: String,
    pub(super) note_type: Option<NoteType>,
    pub(super) position: Option<String>,
    pub(super) commit_id: Option<String>,
    pub(super) internal: bool,
    pub(super) is_resolved: bool,
}

impl DiscussionContext {
    /// A discussion of the note's own.
    pub(super) fn individual() -> Self {
        Self {
            id: fresh(),
            note_type: None,
            position: None,
            commit_id: None,
            internal: false,
            is_resolved: false,
        }
    }
}

/// Makes a discussion ready for one more note: a plain comment becomes the first of a thread.
pub(super) fn enter(
    tx: &mut Tx<'_>,
    item: &Item,
    thread: &Discussion,
) -> Result<DiscussionContext> {
    let refused = || Error::bad_request().because("Discussion can not be replied to.");
    let first = thread.notes.first().ok_or_else(|| Error::not_found("Discussion"))?;
    if first.is_system || !has_threads(item.id.kind) {
        return Err(refused());
    }
    if first.note_type.is_none() {
        tx.save_note_type(first.id, NoteType::Discussion)?;
    }
    Ok(DiscussionContext {
        id: thread.id.clone(),
        note_type: Some(first.note_type.unwrap_or(NoteType::Discussion)),
        position: first.position.clone(),
        commit_id: first.commit_id.clone(),
        internal: first.internal,
        is_resolved: thread.is_resolved(),
    })
}
