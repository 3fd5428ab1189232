//! How far a standby is behind: `crates/geo/src/status/replication.rs`

use std::time::{Duration, Instant};

use db::{Conn, Database, each_backend, error};
use diesel::{RunQueryDsl as _, sql_query};
use geo::status::replication::{self, Slots, Standing};
use kernel::error::Kind;

use super::server::Server;

fn run(database: &Database, sql: &'static str) {
    let done = database.write_blocking(move |tx| {
        each_backend!(tx, |conn| sql_query(sql).execute(conn).map_err(error("Row")))
    });
    done.expect("the statement runs");
}

/// On a standby, where no transaction can write.
fn try_there(database: &Database, sql: &'static str) -> bool {
    let done = database.read_blocking(move |tx| match &mut tx.conn {
        Conn::Postgres(conn) => sql_query(sql).execute(*conn).map_err(error("Row")),
        Conn::Sqlite(_) => Ok(0),
    });
    done.is_ok()
}

/// Tries until it succeeds: a standby is behind.
fn run_there(database: &Database, sql: &'static str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !try_there(database, sql) {
        assert!(Instant::now() < deadline, "{sql}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn standing(database: &Database) -> Standing {
    let found = database.read_blocking(replication::standing);
    found.expect("it can be read").expect("PostgreSQL has a standing")
}

/// Waits until a standby is as it should be.
fn eventually(database: &Database, is_so: impl Fn(Standing) -> bool) -> Standing {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let found = standing(database);
        if is_so(found) || Instant::now() > deadline {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_standby_lags_until_it_has_replayed_what_it_received() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(server) = Server::primary(folder.path()) else { return };
    let primary = server.database();
    run(&primary, "SELECT pg_create_physical_replication_slot('copy')");
    let of_primary = Standing { is_standby: false, lag_seconds: None };
    assert_eq!(standing(&primary), of_primary);
    let copy = server.standby("copy");
    let standby = copy.database();
    let level = Standing { is_standby: true, lag_seconds: Some(0) };
    assert_eq!(eventually(&standby, |found| found == level), level);

    let slots = primary.read_blocking(replication::slots).expect("slots");
    assert!(matches!(slots, Some(Slots { count: 1, used: 1, max_retained_wal_bytes: Some(_) })));
    assert_eq!(standby.read_blocking(replication::slots).expect("no slots"), None);
    let write = standby.write_blocking(|tx| db::outbox::open_cursor(tx, "x"));
    assert_eq!(write.expect_err("no write").kind, Kind::Forbidden);
    // A standby knows how old its newest transaction is once it has replayed one.
    run(&primary, "CREATE TABLE first (id bigint)");
    run_there(&standby, "SELECT 1 FROM first");
    run_there(&standby, "SELECT pg_wal_replay_pause()");
    run(&primary, "CREATE TABLE later (id bigint)");
    let behind = eventually(&standby, |found| found.lag_seconds > Some(0));
    assert!(behind.lag_seconds > Some(0), "{behind:?}");
    run_there(&standby, "SELECT pg_wal_replay_resume()");
    assert_eq!(eventually(&standby, |found| found == level), level);
}
