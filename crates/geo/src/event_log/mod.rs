//! The log of what happened, in the order of commits, and how far each secondary has read it.
//!
//! The log is the outbox (see [`db::outbox`]): facts are written in the transaction that makes them true, and reach a
//! standby with it. The cursor of a secondary keeps facts from being forgotten before it has dealt with them, within
//! the bound that the outbox sets.

use db::{Tx, outbox};
use kernel::{Result, Ts, ids::GeoNodeId};

/// A fact in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventMark {
    pub id: i64,
    pub at: Ts,
}

/// The position of a reader in the event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CursorMark {
    /// What the cursor is called; see [`cursor_name`].
    pub name: String,
    /// The last fact that was dealt with; nothing before the first one.
    pub last: Option<EventMark>,
    /// Since when facts are gone that were not read: the reader has to compare everything.
    pub gap_since: Option<Ts>,
}

/// What the cursor of a node is called.
pub fn cursor_name(node: GeoNodeId) -> String {
    format!("geo-{node}")
}

/// The newest fact. A reader is given it once no older transaction is under way.
///
/// # Errors
/// When the database cannot be read.
pub fn last_event(tx: &mut Tx<'_>) -> Result<Option<EventMark>> {
    let last = outbox::last(tx)?;
    Ok(last.map(|event| EventMark { id: event.id, at: event.created_at }))
}

/// All cursors by name.
///
/// # Errors
/// When the database cannot be read.
pub fn cursors(tx: &mut Tx<'_>) -> Result<Vec<CursorMark>> {
    let all = outbox::cursors(tx)?;
    Ok(all.into_iter().map(mark).collect())
}

/// The cursor of a node; nothing where it has none.
///
/// # Errors
/// When the database cannot be read.
pub fn cursor(tx: &mut Tx<'_>, node: GeoNodeId) -> Result<Option<CursorMark>> {
    Ok(outbox::cursor(tx, &cursor_name(node))?.map(mark))
}

fn mark(cursor: outbox::EventCursor) -> CursorMark {
    let last = cursor.event_at.map(|at| EventMark { id: cursor.event_id, at });
    CursorMark { last, gap_since: cursor.gap_since, name: cursor.name }
}

/// Keeps the facts from now on for a secondary that was added.
///
/// # Errors
/// When the database cannot be written.
pub fn open(tx: &mut Tx<'_>, node: GeoNodeId) -> Result<()> {
    outbox::open_cursor(tx, &cursor_name(node))
}

/// Keeps no facts any more for a node that was removed.
///
/// # Errors
/// When the database cannot be written.
pub fn close(tx: &mut Tx<'_>, node: GeoNodeId) -> Result<()> {
    outbox::close_cursor(tx, &cursor_name(node))
}

/// Notes the last fact that a secondary reports to have dealt with. Its cursor never goes back; one that the node does
/// not have yet begins at the end of the log.
///
/// # Errors
/// When the database cannot be written.
pub fn advance(tx: &mut Tx<'_>, node: GeoNodeId, event_id: i64) -> Result<()> {
    open(tx, node)?;
    outbox::advance(tx, &cursor_name(node), event_id)
}

#[cfg(test)]
mod tests {
    use db::testing::transaction;
    use kernel::{
        Result,
        event::Event,
        ids::{GeoNodeId, ProjectId},
    };

    use super::{advance, close, cursor, cursors, last_event, open};

    struct TestEvent;

    impl Event for TestEvent {
        fn kind(&self) -> &'static str {
            "test.told"
        }
        fn project(&self) -> Option<ProjectId> {
            None
        }
        fn payload(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn a_node_has_a_cursor_from_when_it_was_added_until_it_is_removed() {
        let test = db::testing::TestDatabase::new();
        let node = GeoNodeId(7);
        let told = test.db.write_blocking(|tx| (0..3).try_for_each(|_| tx.emit(TestEvent)));
        told.unwrap();
        let done: Result<()> = test.db.write_blocking(move |tx| {
            let last = last_event(tx)?.unwrap();
            open(tx, node)?;
            let begun = cursor(tx, node)?.unwrap();
            advance(tx, node, last.id - 2)?;
            assert_eq!(cursors(tx)?, [begun]);
            close(tx, node)?;
            assert!(cursors(tx)?.is_empty());
            Ok(())
        });
        done.unwrap();
    }

    #[test]
    fn a_report_opens_the_cursor_that_a_node_lacks() {
        transaction(|tx| {
            advance(tx, GeoNodeId(1), 5)?;
            assert_eq!(cursor(tx, GeoNodeId(1))?.unwrap().last, None);
            Ok(())
        });
    }
}
