//! A note, and the discussions that notes are part of.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{NoteId, ProjectId, UserId},
};

use crate::item::ItemKind;

kernel::text_enum! {
    /// The type of a note that is more than a plain comment.
    pub enum NoteType {
        /// Of a thread.
        Discussion = "DiscussionNote",
        /// Of a thread about a line of a diff.
        Diff = "DiffNote",
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::notes, check_for_backend(db::AnyBackend))]
pub struct Note {
    pub id: NoteId,
    pub item_kind: ItemKind,
    pub item_id: i64,
    pub project_id: Option<ProjectId>,
    /// Notes with the same one answer each other.
    pub discussion: String,
    pub note_type: Option<NoteType>,
    pub body: String,
    pub author_id: UserId,
    /// Tells what happened to the item; nobody wrote it.
    pub is_system: bool,
    /// For members from Reporter on, and its author.
    pub internal: bool,
    /// A place in a diff, as JSON.
    pub position: Option<String>,
    pub commit_id: Option<String>,
    pub resolved_by_id: Option<UserId>,
    pub resolved_at: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Note {
    /// Whether a thread with it can be settled: those of merge requests.
    pub fn is_resolvable(&self) -> bool {
        self.item_kind == ItemKind::MergeRequest && self.note_type.is_some() && !self.is_system
    }

    pub fn is_resolved(&self) -> bool {
        self.resolved_at.is_some()
    }
}

/// Notes that answer each other, oldest first.
#[derive(Clone, Debug)]
pub struct Discussion {
    pub id: String,
    pub notes: Vec<Note>,
}

impl Discussion {
    /// Whether it is a single note to which nobody has replied.
    pub fn is_individual(&self) -> bool {
        self.notes.iter().all(|note| note.note_type.is_none())
    }

    pub fn is_resolvable(&self) -> bool {
        self.notes.iter().any(Note::is_resolvable)
    }

    pub fn is_resolved(&self) -> bool {
        self.is_resolvable()
            && self.notes.iter().filter(|note| note.is_resolvable()).all(Note::is_resolved)
    }
}
