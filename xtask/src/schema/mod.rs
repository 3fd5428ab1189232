//! `crates/db/src/schema.rs` is written from the migrations, and both databases must come out of them alike.

mod compare;
mod model;
mod postgres;
mod render;
mod sqlite;

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};
use clap::Args;
use diesel::Connection as _;

use crate::{
    migrate::{self, Connection, Database},
    postgres::{Cluster, Durability},
    workspace::root,
};
pub(crate) use model::Table;

#[derive(Args)]
pub(crate) struct Options {
    /// Write nothing; fail when the file is stale or the two databases disagree
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.check {
        let note = check()?;
        println!("{}", note.unwrap_or_else(|| "schema.rs and both databases agree".to_owned()));
        return Ok(());
    }
    let tables = from_sqlite()?;
    std::fs::write(file(), render::text(&tables)?)?;
    println!("{} tables", tables.len());
    Ok(())
}

/// Runs both folders of migrations up, down and up again; answers why a part was left out.
pub(crate) fn check() -> Result<Option<String>> {
    same_names()?;
    let tables = from_sqlite()?;
    let written = std::fs::read_to_string(file()).unwrap_or_default();
    ensure!(
        written == render::text(&tables)?,
        "crates/db/src/schema.rs is stale: run `cargo xtask schema`"
    );
    let Some(cluster) = Cluster::start(Durability::Relaxed)? else {
        return Ok(Some(
            "PostgreSQL's half was left out: no server found on PATH or in /usr/lib/postgresql"
                .to_owned(),
        ));
    };
    let differences = compare::differences(&tables, &from_postgres(&cluster)?);
    if differences.is_empty() {
        return Ok(None);
    }
    bail!("the two databases differ:\n{}", differences.join("\n"));
}

pub(crate) fn file() -> PathBuf {
    root().join("crates/db/src/schema.rs")
}

fn same_names() -> Result<()> {
    let (sqlite, postgres) =
        (migrate::names(Database::Sqlite)?, migrate::names(Database::Postgres)?);
    ensure!(sqlite == postgres, "migrations/sqlite and migrations/postgres hold different names");
    for database in [Database::Sqlite, Database::Postgres] {
        for name in &sqlite {
            for script in ["up.sql", "down.sql"] {
                let path = database.folder().join(name).join(script);
                ensure!(path.is_file(), "{} is missing", crate::workspace::shown(&path));
            }
        }
    }
    Ok(())
}

fn from_sqlite() -> Result<Vec<Table>> {
    let mut connection = Connection::Sqlite(diesel::SqliteConnection::establish(":memory:")?);
    migrated(&mut connection)
}

fn from_postgres(cluster: &Cluster) -> Result<Vec<Table>> {
    let mut connection = Connection::open(&cluster.create("schema_check")?)?;
    migrated(&mut connection)
}

/// Up, down to nothing, up again: what a rolled back release relies on.
fn migrated(connection: &mut Connection) -> Result<Vec<Table>> {
    connection.up()?;
    connection.down_all()?;
    let left = tables(connection)?;
    ensure!(left.is_empty(), "reverting all migrations leaves the table {}", left[0].name);
    connection.up()?;
    tables(connection)
}

/// The tables that a migrated database has.
pub(crate) fn tables(connection: &mut Connection) -> Result<Vec<Table>> {
    match connection {
        Connection::Sqlite(connection) => sqlite::tables(connection),
        Connection::Postgres(connection) => postgres::tables(connection),
    }
}
