//! A to-do.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{NamespaceId, NoteId, ProjectId, TodoId, UserId},
};

use super::{TodoAction, TodoState};
use crate::item::{ItemId, ItemKind};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::todos, check_for_backend(db::AnyBackend))]
pub struct Todo {
    pub id: TodoId,
    pub user_id: UserId,
    /// Whose doing it is that somebody is asked.
    pub author_id: UserId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub item_kind: ItemKind,
    pub item_id: i64,
    pub note_id: Option<NoteId>,
    pub action: TodoAction,
    pub state: TodoState,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Todo {
    pub fn item(&self) -> ItemId {
        ItemId { kind: self.item_kind, id: self.item_id }
    }
}
