//! A database of its own for each test, copied from a template that was migrated once.

pub mod facts;
mod postgres_copy;
pub mod rows;

use std::{
    collections::HashMap,
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use diesel::{
    Connection, PgConnection, SqliteConnection,
    connection::{Instrumentation, InstrumentationEvent},
};
use kernel::{Clock, Result, Ts};

use self::postgres_copy::PostgresCopy;
pub(crate) use self::postgres_copy::{park, parked};
use crate::{Database, Location, Tx, commit_number};

/// Names the PostgreSQL cluster that tests use; without it they use SQLite.
pub const URL: &str = "FORGEWAY_TEST_DATABASE_URL";

/// A database that disappears with the value, and that nobody has opened yet.
pub struct DatabaseCopy {
    pub location: Location,
    folder: Option<tempfile::TempDir>,
    _copy: Option<PostgresCopy>,
}

/// A database that is open, and disappears with the value.
pub struct TestDatabase {
    pub db: Database,
    copy: DatabaseCopy,
}

/// The moment at which every test begins.
pub fn start() -> Ts {
    Ts::from_unix(1_767_225_600)
}

/// Runs a test in one transaction of a database of its own.
#[expect(clippy::unwrap_used, reason = "the test has failed then")]
pub fn transaction(body: impl Fn(&mut Tx<'_>) -> Result<()> + Clone + Send + 'static) {
    TestDatabase::new().db.write_blocking(body).unwrap();
}

impl DatabaseCopy {
    /// A migrated, empty database.
    #[expect(
        clippy::disallowed_methods,
        clippy::expect_used,
        reason = "tests may stop when their set-up fails"
    )]
    pub fn new() -> Self {
        if let Ok(cluster) = std::env::var(URL) {
            let copy = PostgresCopy::new(&cluster);
            let location = Location::Postgres(copy.url());
            return Self { location, folder: None, _copy: Some(copy) };
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("forgeway.sqlite3");
        std::fs::write(&file, &*SQLITE_TEMPLATE).expect("a copy of the template");
        Self { location: Location::File(file), folder: Some(folder), _copy: None }
    }

    /// One that somebody else made, and that stays.
    pub fn at(location: Location) -> Self {
        Self { location, folder: None, _copy: None }
    }

    /// The folder of a SQLite database.
    pub fn folder(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.path().to_owned())
    }
}

impl Default for DatabaseCopy {
    fn default() -> Self {
        Self::new()
    }
}

impl TestDatabase {
    /// A migrated, empty database with a clock that stands still at [`start`].
    pub fn new() -> Self {
        Self::with_clock(Arc::new(Clock::fixed(start())))
    }

    #[expect(clippy::expect_used, reason = "tests may stop when their set-up fails")]
    pub fn with_clock(clock: Arc<Clock>) -> Self {
        let copy = DatabaseCopy::new();
        let db = Database::open(&copy.location, clock).expect("the test's database opens");
        Self { db, copy }
    }
}

impl Deref for TestDatabase {
    type Target = DatabaseCopy;

    fn deref(&self) -> &DatabaseCopy {
        &self.copy
    }
}

/// What SQLite databases were asked since somebody began to listen, by their files.
static HEARD: LazyLock<Mutex<HashMap<PathBuf, Vec<String>>>> = LazyLock::new(Mutex::default);

struct QueryRecorder(PathBuf);

impl Instrumentation for QueryRecorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        let InstrumentationEvent::StartQuery { query, .. } = event else { return };
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(heard) = heard.get_mut(&self.0) {
            heard.push(query.to_string());
        }
    }
}

/// The same for PostgreSQL, by the name of the database.
pub(crate) fn watched(mut conn: PgConnection, url: &str) -> PgConnection {
    conn.set_instrumentation(QueryRecorder(key_of(url)));
    conn
}

fn key_of(url: &str) -> PathBuf {
    let name = url.rsplit('/').next().unwrap_or(url);
    name.split('?').next().unwrap_or(name).into()
}

pub(crate) fn watch(conn: &mut SqliteConnection, path: &Path) {
    conn.set_instrumentation(QueryRecorder(path.to_owned()));
}

impl DatabaseCopy {
    /// The statements of all connections since the last call, those aside that begin and end transactions. Nothing on
    /// PostgreSQL, and nothing the first time.
    pub fn statements(&self) -> Vec<String> {
        let Location::File(path) = &self.location else { return Vec::new() };
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = heard.insert(path.clone(), Vec::new()).unwrap_or_default();
        all.retain(|sql| {
            let about_rows = ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"];
            // Each group of writes is counted, however many share it.
            let of_group = sql.contains("total_changes") || sql.contains(commit_number::SUBJECT);
            !of_group && about_rows.iter().any(|verb| sql.trim_start().starts_with(verb))
        });
        all
    }
}

impl DatabaseCopy {
    /// What went over the wire to PostgreSQL and back since the last call, transactions' begin and end included. Nothing
    /// on SQLite, and nothing the first time.
    pub fn round_trips(&self) -> Vec<String> {
        let Location::Postgres(url) = &self.location else { return Vec::new() };
        let mut heard = HEARD.lock().unwrap_or_else(PoisonError::into_inner);
        heard.insert(key_of(url), Vec::new()).unwrap_or_default()
    }
}

impl Default for TestDatabase {
    fn default() -> Self {
        Self::new()
    }
}

#[expect(clippy::expect_used, reason = "tests may stop when their set-up fails")]
static SQLITE_TEMPLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("template.sqlite3");
    drop(
        Database::open(&Location::File(file.clone()), Arc::default())
            .expect("the template is migrated"),
    );
    std::fs::read(file).expect("the template is readable")
});
