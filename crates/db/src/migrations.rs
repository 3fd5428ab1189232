//! The migrations, embedded in the binary, and how they are run.

use diesel::{PgConnection, SqliteConnection, migration::MigrationSource};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};
use kernel::{Error, Result};

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// Brings a SQLite file up to date; returns the names of what was run.
pub(crate) fn run_sqlite(conn: &mut SqliteConnection) -> Result<Vec<String>> {
    let run = conn.run_pending_migrations(SQLITE).map_err(Error::Internal)?;
    Ok(run.iter().map(ToString::to_string).collect())
}

/// Brings a PostgreSQL database up to date; one process at a time does it.
pub(crate) fn run_postgres(conn: &mut PgConnection) -> Result<Vec<String>> {
    use diesel::{RunQueryDsl, sql_query};
    const LOCK: i64 = 7_304_201_518;
    sql_query(format!("SELECT pg_advisory_lock({LOCK})")).execute(conn).map_err(Error::internal)?;
    let run = conn
        .run_pending_migrations(POSTGRES)
        .map(|run| run.iter().map(ToString::to_string).collect())
        .map_err(Error::Internal);
    sql_query(format!("SELECT pg_advisory_unlock({LOCK})"))
        .execute(conn)
        .map_err(Error::internal)?;
    run
}

/// How many migrations this binary knows, for a readiness check.
pub(crate) fn known() -> usize {
    MigrationSource::<diesel::sqlite::Sqlite>::migrations(&SQLITE).map_or(0, |all| all.len())
}
