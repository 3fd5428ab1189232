//! Reassigns what a removed user did to the ghost user.

use db::{
    Tx, each_backend, error,
    schema::{commit_notes, push_events, releases},
};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

/// Pushes, releases and comments become the heir's. Without an heir the comments go, and nobody made the rest: what moved
/// stays written down.
pub fn reassign(tx: &mut Tx<'_>, from: UserId, heir: Option<UserId>) -> Result<()> {
    let pushed = diesel::update(push_events::table.filter(push_events::user_id.eq(from)))
        .set(push_events::user_id.eq(heir));
    each_backend!(tx, |conn| pushed.execute(conn).map_err(error("Event")))?;
    let released = diesel::update(releases::table.filter(releases::author_id.eq(from)))
        .set(releases::author_id.eq(heir));
    each_backend!(tx, |conn| released.execute(conn).map_err(error("Release")))?;
    let said = commit_notes::table.filter(commit_notes::author_id.eq(from));
    match heir {
        Some(heir) => each_backend!(tx, |conn| diesel::update(said)
            .set(commit_notes::author_id.eq(heir))
            .execute(conn)
            .map_err(error("Note"))),
        None => {
            each_backend!(tx, |conn| diesel::delete(said).execute(conn).map_err(error("Note")))
        }
    }?;
    Ok(())
}
