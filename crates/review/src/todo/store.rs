//! To-dos in the database.

use db::{OneOf as _, Tx, each_backend, error, schema::todos};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{NoteId, TodoId, UserId},
};

use super::{Todo, TodoAction, TodoState, TodoStep};
use crate::item::{Item, ItemId, ItemKind};

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
    /// Somebody is done with everything.
    fn finish_todos_of(&mut self, user: UserId) -> Result<()>;
    /// Somebody is done with something that is asked of them.
    fn finish_todo(&mut self, user: UserId, id: TodoId) -> Result<()>;
    /// Somebody is not done with these after all.
    fn restore_todos(&mut self, user: UserId, ids: &[TodoId]) -> Result<()>;
    /// What is asked of somebody about these items of a kind, newest first.
    fn todos_about(&mut self, user: UserId, kind: ItemKind, ids: &[i64]) -> Result<Vec<Todo>>;
    /// Those of these that are asked of somebody, newest first.
    fn todos_by_id(&mut self, user: UserId, ids: &[TodoId]) -> Result<Vec<Todo>>;
    /// What is asked of somebody.
    fn find_todo(&mut self, user: UserId, id: TodoId) -> Result<Option<Todo>>;
    /// A note is gone: nobody is asked to look at it.
    fn delete_todos_of_note(&mut self, note: NoteId) -> Result<()>;
}

/// Takes the step of being done in those of these rows where it leads on.
macro_rules! finish {
    ($tx:expr, $rows:expr) => {{
        let from = TodoState::Pending;
        let Some(to) = from.after(TodoStep::Finish) else { return Ok(()) };
        let rows = $rows.filter(todos::state.eq(from));
        let rows = diesel::update(rows).set((todos::state.eq(to), todos::updated_at.eq($tx.now)));
        each_backend!($tx, |conn| rows.execute(conn).map_err(error("Todo")))?;
        Ok(())
    }};
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
            todos::project_id.eq(item.project()),
            todos::namespace_id.eq(item.home.group()),
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
        let of_item = todos::item_kind.eq(item.kind).and(todos::item_id.eq(item.id));
        finish!(self, todos::table.filter(todos::user_id.eq(user)).filter(of_item))
    }

    fn finish_todos_of(&mut self, user: UserId) -> Result<()> {
        finish!(self, todos::table.filter(todos::user_id.eq(user)))
    }

    fn finish_todo(&mut self, user: UserId, id: TodoId) -> Result<()> {
        finish!(self, todos::table.filter(todos::user_id.eq(user)).filter(todos::id.eq(id)))
    }

    fn restore_todos(&mut self, user: UserId, ids: &[TodoId]) -> Result<()> {
        let from = TodoState::Done;
        let Some(to) = from.after(TodoStep::Restore) else { return Ok(()) };
        let rows = todos::table
            .filter(todos::user_id.eq(user).and(todos::id.one_of(ids)))
            .filter(todos::state.eq(from));
        let rows = diesel::update(rows).set((todos::state.eq(to), todos::updated_at.eq(self.now)));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Todo")))?;
        Ok(())
    }

    fn todos_about(&mut self, user: UserId, kind: ItemKind, ids: &[i64]) -> Result<Vec<Todo>> {
        let about = todos::table
            .filter(todos::user_id.eq(user))
            .filter(todos::item_kind.eq(kind).and(todos::item_id.one_of(ids)))
            .order(todos::id.desc());
        each_backend!(self, |conn| about
            .select(Todo::as_select())
            .load(conn)
            .map_err(error("Todo")))
    }

    fn todos_by_id(&mut self, user: UserId, ids: &[TodoId]) -> Result<Vec<Todo>> {
        let these = todos::table
            .filter(todos::user_id.eq(user).and(todos::id.one_of(ids)))
            .order(todos::id.desc());
        each_backend!(self, |conn| these
            .select(Todo::as_select())
            .load(conn)
            .map_err(error("Todo")))
    }

    fn find_todo(&mut self, user: UserId, id: TodoId) -> Result<Option<Todo>> {
        let own = todos::table.filter(todos::user_id.eq(user)).filter(todos::id.eq(id));
        each_backend!(self, |conn| own
            .select(Todo::as_select())
            .first(conn)
            .optional()
            .map_err(error("Todo")))
    }

    fn delete_todos_of_note(&mut self, note: NoteId) -> Result<()> {
        let rows = diesel::delete(todos::table.filter(todos::note_id.eq(note)));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Todo")))?;
        Ok(())
    }
}
