//! The lock that orders changes of roles.

use db::{Conn, Tx, error};
use diesel::{prelude::*, sql_query};
use kernel::Result;

/// Arbitrary, and nobody else's.
const LOCK: i64 = 4_207_001;

/// Lets nobody else change causes of roles before this transaction ends. Roles are worked out from what others have
/// committed, so on PostgreSQL two who change causes at once would each miss the other's. Whoever changes addresses,
/// too, asks for it first, so that nobody waits for somebody who waits for them.
pub fn lock_access_projection(tx: &mut Tx<'_>) -> Result<()> {
    match &mut tx.conn {
        // There is one writer.
        Conn::Sqlite(_) => {}
        Conn::Postgres(conn) => {
            let lock = sql_query(format!("SELECT pg_advisory_xact_lock({LOCK})"));
            lock.execute(*conn).map_err(error("Member"))?;
        }
    }
    Ok(())
}
