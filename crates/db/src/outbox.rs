//! The facts that transactions announced, for those who tell them on.

use diesel::prelude::*;
use kernel::{Result, Ts};

use crate::{Tx, each_backend, error, schema::outbox};

/// Forgets what was announced before a moment, at most so many facts, the oldest first. The answer is how many.
///
/// # Errors
/// When the database cannot be written.
pub fn forget(tx: &mut Tx<'_>, before: Ts, most: i64) -> Result<usize> {
    let oldest = outbox::table.order(outbox::id).limit(most);
    let oldest = oldest.select((outbox::id, outbox::created_at));
    each_backend!(tx, |conn| {
        let oldest: Vec<(i64, Ts)> = oldest.load(conn).map_err(error("Event"))?;
        // They are older the smaller their ids are.
        let Some((last, _)) = oldest.iter().rev().find(|(_, at)| *at < before) else {
            return Ok(0);
        };
        let gone = diesel::delete(outbox::table.filter(outbox::id.le(last)));
        gone.execute(conn).map_err(error("Event"))
    })
}
