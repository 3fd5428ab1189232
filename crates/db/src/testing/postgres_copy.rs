//! Databases of a PostgreSQL cluster that tests use one after the other.
//!
//! A copy of the template takes longer than most tests, and so do connections that know no table yet. So a test gives its
//! database back with its connections, and the next one gets both with the rows of the template.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use diesel::{
    Connection, PgConnection, QueryResult, QueryableByName, RunQueryDsl,
    connection::SimpleConnection,
    dsl::sql,
    select, sql_query,
    sql_types::{BigInt, Text},
};

use super::key_of;
use crate::{Database, Location};

/// So many tests share a database: deleted rows stay in its files.
const USES: u32 = 40;
/// So many databases wait for the end of what uses them still; beyond that they are dropped.
const MOST_WAITING: usize = 4;

/// A database of the cluster. With the value it goes to the next test, or is dropped: a thousand of them would fill a disk
/// before the program that made them ends.
pub(super) struct PostgresCopy {
    cluster: String,
    name: String,
    uses: u32,
}

/// The databases of this process that wait for a test.
static WAITING: Mutex<Vec<PostgresCopy>> = Mutex::new(Vec::new());
/// Connections that nobody holds, by the names of their databases: of all that are in use or wait for a test.
static PARKED: LazyLock<Mutex<HashMap<String, Vec<PgConnection>>>> = LazyLock::new(Mutex::default);

fn parking() -> MutexGuard<'static, HashMap<String, Vec<PgConnection>>> {
    PARKED.lock().unwrap_or_else(PoisonError::into_inner)
}

fn waiting() -> MutexGuard<'static, Vec<PostgresCopy>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn name_of(url: &str) -> String {
    key_of(url).to_string_lossy().into_owned()
}

/// Keeps the connections of a pool that ends, if they lead to a database of a test.
pub(crate) fn park(url: &str, connections: impl Iterator<Item = PgConnection>) {
    if let Some(parked) = parking().get_mut(&name_of(url)) {
        parked.extend(connections);
    }
}

/// A connection to the same database that a pool has left.
pub(crate) fn parked(url: &str) -> Option<PgConnection> {
    parking().get_mut(&name_of(url))?.pop()
}

impl PostgresCopy {
    pub(super) fn new(cluster: &str) -> Self {
        while let Some(copy) = Self::idle() {
            if let Some(copy) = copy.reset() {
                return copy;
            }
        }
        Self::create(cluster)
    }

    /// The newest of the waiting databases to which nobody is connected.
    fn idle() -> Option<Self> {
        let mut waiting = waiting();
        let at = waiting.iter().rposition(Self::is_idle)?;
        Some(waiting.remove(at))
    }

    /// Whether all its connections are parked.
    fn is_idle(&self) -> bool {
        const ALL: &str =
            "(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database())";
        let mut parking = parking();
        let Some(connections) = parking.get_mut(&self.name) else { return false };
        let parked = i64::try_from(connections.len()).ok();
        let all = connections
            .last_mut()
            .and_then(|conn| select(sql::<BigInt>(ALL)).get_result::<i64>(conn).ok());
        all.is_some() && all == parked
    }

    /// The database as the template is; nothing if more than rows was changed.
    fn reset(mut self) -> Option<Self> {
        let is_reset = parked(&self.name).is_some_and(|mut conn| {
            let reset = conn.batch_execute("SELECT pristine.reset()");
            park(&self.name, std::iter::once(conn));
            reset.is_ok()
        });
        self.uses = if is_reset { self.uses + 1 } else { USES };
        is_reset.then_some(self)
    }

    #[expect(clippy::expect_used, reason = "tests may stop when their set-up fails")]
    fn create(cluster: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        static TEMPLATE: LazyLock<Mutex<Option<String>>> = LazyLock::new(Mutex::default);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("forgeway_test_{}_{number}", std::process::id());
        let made = on_cluster(cluster, |conn| {
            let template = {
                let mut made = TEMPLATE.lock().unwrap_or_else(PoisonError::into_inner);
                made.get_or_insert_with(|| postgres_template(cluster, conn)).clone()
            };
            conn.batch_execute(&format!(
                "CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy"
            ))
        });
        made.expect("a copy of the template");
        parking().insert(name.clone(), Vec::new());
        Self { cluster: cluster.to_owned(), name, uses: 1 }
    }

    pub(super) fn url(&self) -> String {
        url_of(&self.cluster, &self.name)
    }

    /// What cannot be dropped is left to whoever started the cluster.
    fn remove(&self) {
        drop(parking().remove(&self.name));
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let _ = on_cluster(&self.cluster, |conn| conn.batch_execute(&drop));
    }
}

impl Drop for PostgresCopy {
    fn drop(&mut self) {
        if self.uses >= USES {
            return self.remove();
        }
        let copy = Self { cluster: self.cluster.clone(), name: self.name.clone(), uses: self.uses };
        let oldest = {
            let mut waiting = waiting();
            // The newest is at the end, and is the first to be taken.
            waiting.push(copy);
            (waiting.len() > MOST_WAITING).then(|| waiting.remove(0))
        };
        if let Some(mut oldest) = oldest {
            oldest.uses = USES;
        }
    }
}

/// Works on a connection to the cluster. Those nobody uses are kept, or else two would be opened for each test.
fn on_cluster(
    cluster: &str,
    work: impl FnOnce(&mut PgConnection) -> QueryResult<()>,
) -> QueryResult<()> {
    static IDLE: Mutex<Vec<PgConnection>> = Mutex::new(Vec::new());
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = idle().pop();
    let mut conn = match kept {
        Some(conn) => conn,
        None => PgConnection::establish(cluster)
            .map_err(|away| diesel::result::Error::QueryBuilderError(away.into()))?,
    };
    work(&mut conn)?;
    idle().push(conn);
    Ok(())
}

#[expect(clippy::expect_used, reason = "tests may stop when their set-up fails")]
fn postgres_template(cluster: &str, conn: &mut PgConnection) -> String {
    let name = format!("forgeway_template_{}", std::process::id());
    remove_leftovers(conn);
    conn.batch_execute(&format!("DROP DATABASE IF EXISTS {name}")).expect("the old template goes");
    conn.batch_execute(&format!("CREATE DATABASE {name}")).expect("the template is made");
    let url = url_of(cluster, &name);
    drop(
        Database::open(&Location::Postgres(url.clone()), Arc::default())
            .expect("the template is migrated"),
    );
    let mut template = PgConnection::establish(&url).expect("the template answers");
    template.batch_execute(include_str!("reset.sql")).expect("the template knows its state");
    name
}

/// Drops the databases of programs that have ended. Those of others have connections, and stay.
fn remove_leftovers(conn: &mut PgConnection) {
    let all = sql_query(
        "SELECT datname::text AS name FROM pg_database WHERE datname ~ '^forgeway_(test|template)_'",
    );
    for Leftover { name } in all.load(conn).unwrap_or_default() {
        let process = name.split('_').nth(2).unwrap_or_default();
        let has_ended =
            Path::new("/proc/self").exists() && !Path::new("/proc").join(process).exists();
        if has_ended {
            let _ = conn.batch_execute(&format!("DROP DATABASE {name}"));
        }
    }
}

#[derive(QueryableByName)]
struct Leftover {
    #[diesel(sql_type = Text)]
    name: String,
}

#[expect(clippy::expect_used, reason = "tests may stop when their set-up fails")]
fn url_of(cluster: &str, database: &str) -> String {
    let (server, _) = cluster.rsplit_once('/').expect("a URL that ends in a database name");
    format!("{server}/{database}")
}
