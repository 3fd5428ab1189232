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
    if is_standby(conn)? {
        return ensure_whole_copy(conn).map(|()| Vec::new());
    }
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

/// Whether the database copies another one, and can be read only.
fn is_standby(conn: &mut PgConnection) -> Result<bool> {
    let standing =
        diesel::select(diesel::dsl::sql::<diesel::sql_types::Bool>("pg_is_in_recovery()"));
    diesel::RunQueryDsl::get_result(standing, conn).map_err(Error::internal)
}

/// Refuses the copy of a database that another version of Forgeway made: its primary brings it up to date.
fn ensure_whole_copy(conn: &mut PgConnection) -> Result<()> {
    use diesel::{RunQueryDsl, dsl::sql, select, sql_types::BigInt};
    let known =
        MigrationSource::<diesel::pg::Pg>::migrations(&POSTGRES).map_err(Error::internal)?;
    let known: Vec<String> =
        known.iter().map(|migration| migration.name().version().to_string()).collect();
    // Versions are digits alone.
    let list = known.iter().map(|version| format!("'{version}'")).collect::<Vec<_>>().join(", ");
    let count = |condition: &str| {
        sql::<BigInt>(&format!(
            "(SELECT COUNT(*) FROM __diesel_schema_migrations WHERE {condition})"
        ))
    };
    let counts =
        (count(&format!("version IN ({list})")), count(&format!("version NOT IN ({list})")));
    let (run, foreign): (i64, i64) = select(counts).get_result(conn).map_err(Error::internal)?;
    match usize::try_from(run) == Ok(known.len()) && foreign == 0 {
        true => Ok(()),
        false => Err(Error::unavailable(
            "it is a standby of a database that another version of Forgeway made: run the same version here as on its \
             primary",
        )),
    }
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
