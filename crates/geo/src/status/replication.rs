//! The replication lag of PostgreSQL standbys.

use db::{Conn, Tx, error};
use diesel::{
    QueryableByName, RunQueryDsl as _, sql_query,
    sql_types::{BigInt, Bool, Nullable},
};
use kernel::Result;

const NOUN: &str = "Replication";

/// The replication slots of a primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct Slots {
    #[diesel(sql_type = BigInt)]
    pub count: i64,
    /// Those from which a standby reads at the moment.
    #[diesel(sql_type = BigInt)]
    pub used: i64,
    /// The most bytes of the log that are kept for one of them.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub max_retained_wal_bytes: Option<i64>,
}

/// The replication role of a PostgreSQL server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct Standing {
    #[diesel(sql_type = Bool)]
    pub is_standby: bool,
    /// Of a standby that has replayed something.
    #[diesel(sql_type = Nullable<BigInt>)]
    pub lag_seconds: Option<i64>,
}

impl Standing {
    /// Where the clock of the standby is behind that of the primary, its newest transaction is of the future: no lag.
    fn without_future(self) -> Self {
        Self { lag_seconds: self.lag_seconds.map(|seconds| seconds.max(0)), ..self }
    }
}

const SLOTS: &str = "SELECT count(*) AS count, count(*) FILTER (WHERE active) AS used, \
     CAST(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) AS bigint) AS max_retained_wal_bytes \
     FROM pg_replication_slots";

// A standby that has replayed all it received lags by nothing, however long ago the last change was.
const STANDING: &str = "SELECT pg_is_in_recovery() AS is_standby, CASE \
     WHEN NOT pg_is_in_recovery() THEN NULL \
     WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 \
     ELSE CAST(floor(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())) AS bigint) \
     END AS lag_seconds";

/// `None` where the database has no such thing, or the server is a standby itself.
///
/// # Errors
/// When the database cannot be read.
pub fn slots(tx: &mut Tx<'_>) -> Result<Option<Slots>> {
    if standing(tx)?.is_none_or(|standing| standing.is_standby) {
        return Ok(None);
    }
    match &mut tx.conn {
        Conn::Sqlite(_) => Ok(None),
        Conn::Postgres(conn) => sql_query(SLOTS).get_result(*conn).map(Some).map_err(error(NOUN)),
    }
}

/// `None` where the database has no standbys.
///
/// # Errors
/// When the database cannot be read.
pub fn standing(tx: &mut Tx<'_>) -> Result<Option<Standing>> {
    match &mut tx.conn {
        Conn::Sqlite(_) => Ok(None),
        Conn::Postgres(conn) => {
            let found: Standing = sql_query(STANDING).get_result(*conn).map_err(error(NOUN))?;
            Ok(Some(found.without_future()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Standing;

    #[test]
    fn a_clock_that_is_behind_makes_no_negative_lag() {
        for (measured, shown) in [(Some(-7), Some(0)), (Some(0), Some(0)), (Some(7), Some(7))] {
            let standing = Standing { is_standby: true, lag_seconds: measured };
            assert_eq!(standing.without_future().lag_seconds, shown);
        }
        let unknown = Standing { is_standby: true, lag_seconds: None };
        assert_eq!(unknown.without_future(), unknown);
    }
}
