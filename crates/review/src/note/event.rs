//! Events of notes.

use kernel::ids::{NoteId, ProjectId, UserId};
use serde::Serialize;

use super::Note;
use crate::item::ItemKind;

/// A fact about a note.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    NoteCreated(Fact),
    NoteUpdated(Fact),
    NoteDeleted(Fact),
}

/// Which note, of which item, and whose doing it is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Fact {
    pub note: NoteId,
    pub project: Option<ProjectId>,
    pub item_kind: ItemKind,
    pub item: i64,
    pub internal: bool,
    pub user: UserId,
}

impl Fact {
    pub(crate) fn new(note: &Note, user: UserId) -> Self {
        Self {
            note: note.id,
            project: note.project_id,
            item_kind: note.item_kind,
            item: note.item_id,
            internal: note.internal,
            user,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::NoteCreated(_) => "note.created",
            Self::NoteUpdated(_) => "note.updated",
            Self::NoteDeleted(_) => "note.deleted",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        let (Self::NoteCreated(fact) | Self::NoteUpdated(fact) | Self::NoteDeleted(fact)) = self;
        fact.project
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
