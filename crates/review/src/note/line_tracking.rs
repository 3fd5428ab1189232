//! Threads about lines follow their lines into new versions of a merge request.

use db::{Tx, each_backend, error, schema::notes};
use diesel::prelude::*;
use kernel::{Result, ids::NoteId};

use super::{
    NewRow, NoteStore as _, NoteType,
    position::{Position, Refs},
};
use crate::{item::Item, merge_request::MergeRequest};

/// A thread about a line.
#[derive(Clone, Debug)]
pub struct LineThread {
    pub discussion: String,
    pub position: Position,
}

/// The line of a thread after a push.
#[derive(Clone, Debug)]
pub enum LineOutcome {
    Moved(Box<Position>),
    /// It was changed, or is not in the diff any more.
    Outdated,
}

/// The threads whose lines are those of another version.
pub fn behind(tx: &mut Tx<'_>, row: &MergeRequest, refs: &Refs) -> Result<Vec<LineThread>> {
    let item = row.item();
    let first = diesel::dsl::min(notes::id).assume_not_null();
    let firsts = notes::table
        .filter(notes::item_kind.eq(item.id.kind).and(notes::item_id.eq(item.id.id)))
        .filter(notes::note_type.eq(NoteType::Diff).assume_not_null())
        .group_by(notes::discussion)
        .select(first);
    let ids: Vec<NoteId> = each_backend!(tx, |conn| firsts.load(conn).map_err(error("Note")))?;
    let threads = tx.notes_by_id(&ids)?.into_iter().filter_map(|note| {
        let position: Position = serde_json::from_str(note.position.as_deref()?).ok()?;
        let thread = LineThread { discussion: note.discussion, position };
        (thread.position.head_sha != refs.head).then_some(thread)
    });
    Ok(threads.collect())
}

/// Keeps where the lines of threads are now. Where one is gone, that is told in its thread, which is settled if the
/// project wants that.
pub fn keep(
    tx: &mut Tx<'_>,
    row: &MergeRequest,
    traced: &[(LineThread, LineOutcome)],
    resolve_outdated: bool,
) -> Result<()> {
    let item = row.item();
    for (thread, traced) in traced {
        match traced {
            LineOutcome::Moved(position) => move_to(tx, &item, thread, position)?,
            LineOutcome::Outdated => outdate(tx, &item, thread, resolve_outdated)?,
        }
    }
    tx.count_unresolved_threads(item.id)?;
    Ok(())
}

fn move_to(tx: &mut Tx<'_>, item: &Item, thread: &LineThread, to: &Position) -> Result<()> {
    let text = serde_json::to_string(to).map_err(kernel::Error::internal)?;
    let rows = notes::table
        .filter(notes::discussion.eq(&thread.discussion))
        .filter(notes::item_kind.eq(item.id.kind).and(notes::item_id.eq(item.id.id)))
        .filter(notes::note_type.eq(NoteType::Diff).assume_not_null());
    let rows = diesel::update(rows).set(notes::position.eq(text));
    each_backend!(tx, |conn| rows.execute(conn).map_err(error("Note")))?;
    Ok(())
}

const CHANGED: &str = "changed this line in a later version of the diff";

fn outdate(tx: &mut Tx<'_>, item: &Item, thread: &LineThread, resolve: bool) -> Result<()> {
    let said = tx.notes_of_discussion(item.id, &thread.discussion)?;
    if said.iter().any(|note| note.is_system) {
        return Ok(());
    }
    let row = NewRow {
        discussion: &thread.discussion,
        note_type: None,
        body: CHANGED,
        author: item.author,
        is_system: true,
        internal: said.iter().any(|note| note.internal),
        position: None,
        commit_id: None,
        resolved_by: None,
        source: None,
        at: tx.now,
    };
    tx.insert_note(item, &row)?;
    if resolve {
        let open = said.iter().filter(|note| note.is_resolvable() && !note.is_resolved());
        let open: Vec<NoteId> = open.map(|note| note.id).collect();
        tx.save_resolved(&open, Some(item.author))?;
    }
    Ok(())
}
