//! The migrations, embedded in the binary, and how they are run.

use std::collections::HashSet;

use diesel::{
    PgConnection, SqliteConnection,
    backend::Backend,
    migration::{Migration, MigrationSource},
};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use kernel::{Error, Result};

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Brings a SQLite file up to date; returns the names of what was run.
pub(crate) fn run_sqlite(conn: &mut SqliteConnection) -> Result<Vec<String>> {
    ensure_known(conn, &SQLITE)?;
    let run = conn.run_pending_migrations(SQLITE).map_err(Error::internal)?;
    Ok(run.iter().map(ToString::to_string).collect())
}

/// Brings a PostgreSQL database up to date; one process at a time does it.
pub(crate) fn run_postgres(conn: &mut PgConnection) -> Result<Vec<String>> {
    use diesel::{RunQueryDsl, sql_query};
    const LOCK: i64 = 7_304_201_518;
    sql_query(format!("SELECT pg_advisory_lock({LOCK})")).execute(conn).map_err(Error::internal)?;
    let run = ensure_known(conn, &POSTGRES).and_then(|()| {
        let run = conn.run_pending_migrations(POSTGRES).map_err(Error::internal)?;
        Ok(run.iter().map(ToString::to_string).collect())
    });
    sql_query(format!("SELECT pg_advisory_unlock({LOCK})"))
        .execute(conn)
        .map_err(Error::internal)?;
    run
}

/// Refuses a database that a newer binary has brought further: what this one does not know it would break.
fn ensure_known<DB: Backend>(
    conn: &mut impl MigrationHarness<DB>,
    all: &impl MigrationSource<DB>,
) -> Result<()> {
    let known = all.migrations().map_err(Error::internal)?;
    let known: HashSet<String> =
        known.iter().map(|migration| migration.name().version().to_string()).collect();
    let applied = conn.applied_migrations().map_err(Error::internal)?;
    let mut applied = applied.iter().map(ToString::to_string);
    match applied.find(|version| !known.contains(version)) {
        None => Ok(()),
        Some(version) => Err(Error::unavailable(format!(
            "it was made by a newer version of Forgeway (this one does not know its migration {version}); start that \
             version again, or restore a backup into an empty folder"
        ))),
    }
}

/// How many migrations this binary knows, for a readiness check.
pub(crate) fn known() -> usize {
    MigrationSource::<diesel::sqlite::Sqlite>::migrations(&SQLITE).map_or(0, |all| all.len())
}
