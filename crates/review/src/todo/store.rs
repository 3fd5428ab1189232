//! To-dos in the database.

use db::{Tx, each_backend, error, schema::todos};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{NoteId, UserId},
};

use super::{TodoAction, TodoState};
use crate::item::{Item, ItemId};

pub trait TodoStore {
    /// Asks somebody to look at an item, unless that is asked of them already. Whether a to-do was made.
    fn raise_todo(
        &mut self,
        item: &Item,
        user: UserId,
        author: UserId,
        action: TodoAction,
        note: Option<NoteId>,
    ) -> Result<bool>;
    /// Somebody acted on an item: what they were asked about it is done.
    fn finish_todos(&mut self, item: ItemId, user: UserId) -> Result<()>;
    /// A note is gone: nobody is asked to look at it.
    fn delete_todos_of_note(&mut self, note: NoteId) -> Result<()>;
}

impl TodoStore for Tx<'_> {
    fn raise_todo(
        &mut self,
        item: &Item,
        user: UserId,
        author: UserId,
        action: TodoAction,
        note: Option<NoteId>,
    ) -> Result<bool> {
        let same = todos::table
            .filter(todos::item_kind.eq(item.id.kind).and(todos::item_id.eq(item.id.id)))
            .filter(todos::user_id.eq(user).and(todos::action.eq(action)))
            .filter(todos::state.eq(TodoState::Pending))
            .select(todos::id);
        let known: Option<i64> =
            each_backend!(self, |conn| same.first(conn).optional().map_err(error("Todo")))?;
        if known.is_some() {
            return Ok(false);
        }
        let row = (
            todos::user_id.eq(user),
            todos::author_id.eq(author),
            todos::project_id.eq(item.project),
            todos::item_kind.eq(item.id.kind),
            todos::item_id.eq(item.id.id),
            todos::note_id.eq(note),
            todos::action.eq(action),
            todos::state.eq(TodoState::Pending),
            todos::created_at.eq(self.now),
            todos::updated_at.eq(self.now),
        );
        let row = diesel::insert_into(todos::table).values(row);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Todo")))?;
        Ok(true)
    }

    fn finish_todos(&mut self, item: ItemId, user: UserId) -> Result<()> {
        let pending = todos::table
            .filter(todos::item_kind.eq(item.kind).and(todos::item_id.eq(item.id)))
            .filter(todos::user_id.eq(user).and(todos::state.eq(TodoState::Pending)));
        let done = (todos::state.eq(TodoState::Done), todos::updated_at.eq(self.now));
        let done = diesel::update(pending).set(done);
        each_backend!(self, |conn| done.execute(conn).map_err(error("Todo")))?;
        Ok(())
    }

    fn delete_todos_of_note(&mut self, note: NoteId) -> Result<()> {
        let rows = diesel::delete(todos::table.filter(todos::note_id.eq(note)));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Todo")))?;
        Ok(())
    }
}
