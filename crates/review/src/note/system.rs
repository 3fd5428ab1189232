//! System notes about changes of an item: `closed`, `changed title from …`.

use db::{Tx, each_backend, error, schema::notes};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

use crate::item::Item;

/// Tells that somebody did something to an item.
pub fn write_system_note(tx: &mut Tx<'_>, item: &Item, author: UserId, body: &str) -> Result<()> {
    write(tx, item, author, body, None)
}

/// As [`write_system_note`], for those alone who may read what it speaks of: for every sentence that names another item.
pub fn write_system_note_about(
    tx: &mut Tx<'_>,
    item: &Item,
    author: UserId,
    body: &str,
    about: &Item,
) -> Result<()> {
    write(tx, item, author, body, Some(about))
}

fn write(
    tx: &mut Tx<'_>,
    item: &Item,
    author: UserId,
    body: &str,
    about: Option<&Item>,
) -> Result<()> {
    let row = (
        notes::item_kind.eq(item.id.kind),
        notes::item_id.eq(item.id.id),
        notes::project_id.eq(item.project()),
        notes::discussion.eq(super::discussion::fresh()),
        notes::body.eq(body),
        notes::author_id.eq(author),
        notes::is_system.eq(true),
        notes::internal.eq(false),
        notes::source_kind.eq(about.map(|about| about.id.kind)),
        notes::source_id.eq(about.map(|about| about.id.id)),
        notes::source_project_id.eq(about.and_then(Item::project)),
        notes::created_at.eq(tx.now),
        notes::updated_at.eq(tx.now),
    );
    let row = diesel::insert_into(notes::table).values(row);
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Note")))?;
    Ok(())
}
