//! Migrations: two folders, the same names in both, plain SQL.

use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, ensure};
use clap::{Args, Subcommand};
use diesel::{Connection as _, PgConnection, SqliteConnection};
use diesel_migrations::{FileBasedMigrations, MigrationHarness};
use time::{OffsetDateTime, macros::format_description};

use crate::workspace::{self, root};

#[derive(Subcommand)]
pub(crate) enum Task {
    /// Make the pair of folders for a new migration
    New {
        /// What it does, in words joined by `_`
        name: String,
    },
    /// Apply what is pending
    Up(Target),
    /// Revert the newest one
    Down(Target),
    /// List which are applied
    Status(Target),
}

#[derive(Args)]
pub(crate) struct Target {
    /// A postgres:// address or an SQLite file; default `FORGEWAY_DATABASE_URL`, else the file of a server started here
    #[arg(long)]
    database: Option<String>,
}

/// The two databases the product runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    pub(crate) fn folder(self) -> PathBuf {
        root().join("migrations").join(self.name())
    }
}

/// A connection on which migrations run.
pub(crate) enum Connection {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Connection {
    pub(crate) fn open(address: &str) -> Result<Self> {
        Ok(if address.starts_with("postgres://") || address.starts_with("postgresql://") {
            Self::Postgres(PgConnection::establish(address)?)
        } else {
            Self::Sqlite(SqliteConnection::establish(address)?)
        })
    }

    /// Applies everything that is pending; answers the names applied.
    pub(crate) fn up(&mut self) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(connection) => up(connection, Database::Sqlite),
            Self::Postgres(connection) => up(connection, Database::Postgres),
        }
    }

    /// Reverts the newest applied migration.
    pub(crate) fn down(&mut self) -> Result<String> {
        match self {
            Self::Sqlite(connection) => down(connection, Database::Sqlite),
            Self::Postgres(connection) => down(connection, Database::Postgres),
        }
    }

    /// Reverts all of them.
    pub(crate) fn down_all(&mut self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.revert_all_migrations(source(Database::Sqlite)?),
            Self::Postgres(connection) => {
                connection.revert_all_migrations(source(Database::Postgres)?)
            }
        }
        .map_err(failed)?;
        Ok(())
    }

    fn pending(&mut self) -> Result<Vec<String>> {
        match self {
            Self::Sqlite(connection) => pending(connection, Database::Sqlite),
            Self::Postgres(connection) => pending(connection, Database::Postgres),
        }
    }
}

pub(crate) fn run(task: &Task) -> Result<()> {
    match task {
        Task::New { name } => create(name),
        Task::Up(target) => {
            for name in target.open()?.up()? {
                println!("applied {name}");
            }
            Ok(())
        }
        Task::Down(target) => {
            println!("reverted {}", target.open()?.down()?);
            Ok(())
        }
        Task::Status(target) => status(target),
    }
}

/// The names of a database's migrations, oldest first.
pub(crate) fn names(database: Database) -> Result<Vec<String>> {
    let folder = database.folder();
    let entries = std::fs::read_dir(&folder).with_context(|| workspace::shown(&folder))?;
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.path().is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the name of a new file carries the moment a developer made it"
)]
fn create(name: &str) -> Result<()> {
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    ensure!(plain && !name.is_empty(), "a migration's name is made of a-z, 0-9 and _");
    let moment = OffsetDateTime::now_utc()
        .format(format_description!("[year][month][day][hour][minute][second]"))?;
    for database in [Database::Sqlite, Database::Postgres] {
        let folder = database.folder().join(format!("{moment}_{name}"));
        std::fs::create_dir_all(&folder)?;
        for file in ["up.sql", "down.sql"] {
            std::fs::write(folder.join(file), "")?;
            println!("{}", workspace::shown(&folder.join(file)));
        }
    }
    Ok(())
}

fn status(target: &Target) -> Result<()> {
    let mut connection = target.open()?;
    let database = match connection {
        Connection::Sqlite(_) => Database::Sqlite,
        Connection::Postgres(_) => Database::Postgres,
    };
    let pending = connection.pending()?;
    for name in names(database)? {
        let state = if pending.contains(&name) { "pending" } else { "applied" };
        println!("{state}  {name}");
    }
    Ok(())
}

impl Target {
    fn open(&self) -> Result<Connection> {
        let address =
            self.database.clone().or_else(|| workspace::environment("FORGEWAY_DATABASE_URL"));
        Connection::open(address.as_deref().unwrap_or(DEFAULT_FILE))
    }
}

const DEFAULT_FILE: &str = "forgeway-data/forgeway.sqlite3";

fn source(database: Database) -> Result<FileBasedMigrations> {
    Ok(FileBasedMigrations::from_path(database.folder())?)
}

fn up<B: diesel::backend::Backend>(
    connection: &mut impl MigrationHarness<B>,
    database: Database,
) -> Result<Vec<String>> {
    let applied = connection.run_pending_migrations(source(database)?).map_err(failed)?;
    Ok(applied.iter().map(ToString::to_string).collect())
}

fn down<B: diesel::backend::Backend>(
    connection: &mut impl MigrationHarness<B>,
    database: Database,
) -> Result<String> {
    Ok(connection.revert_last_migration(source(database)?).map_err(failed)?.to_string())
}

fn pending<B: diesel::backend::Backend>(
    connection: &mut impl MigrationHarness<B>,
    database: Database,
) -> Result<Vec<String>> {
    let waiting = connection.pending_migrations(source(database)?).map_err(failed)?;
    Ok(waiting.iter().map(|migration| migration.name().to_string()).collect())
}

fn failed(error: Box<dyn std::error::Error + Send + Sync>) -> anyhow::Error {
    anyhow!(error)
}
