//! Transactions that PostgreSQL took back for the sake of others are done again.

use std::{thread, time::Duration};

use diesel::result::{DatabaseErrorKind, Error as Sql};
use kernel::{Error, Result};

/// So often altogether. Whoever loses each time is told to come back.
const TRIES: u32 = 5;
/// The first pause; each is twice the one before, and anything up to that, so that two who met do not meet again.
const PAUSE: Duration = Duration::from_millis(8);

/// Runs a whole transaction until it is kept, or fails by a fault of its own.
pub(crate) fn until_kept(transaction: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    let mut tries = 1;
    loop {
        let failure = match transaction() {
            Err(failure) if gave_way(&failure) => failure,
            done => return done,
        };
        if tries == TRIES {
            tracing::warn!(%failure, "a transaction gave way to others each time");
            return Err(Error::gave_way());
        }
        let longest = PAUSE * 2_u32.pow(tries - 1);
        thread::sleep(longest.mul_f64(rand::random::<f64>()));
        tries += 1;
    }
}

/// Whether somebody else went first, so that the same may well succeed now.
fn gave_way(failure: &Error) -> bool {
    match failure.cause().and_then(|cause| cause.downcast_ref()) {
        Some(Sql::DatabaseError(DatabaseErrorKind::SerializationFailure, _)) => true,
        // For deadlocks there is no kind, only the server's words, which are English: see `Postgres::open`.
        Some(Sql::DatabaseError(DatabaseErrorKind::Unknown, told)) => {
            told.message().contains("deadlock detected")
        }
        _ => false,
    }
}
