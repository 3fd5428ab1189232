//! SQLite: quick reads inline on the asking thread, longer ones through a pool, all writes through one thread that
//! commits them in groups.

use std::{
    cell::RefCell,
    collections::{HashMap, hash_map::Entry},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    thread::JoinHandle,
};

use diesel::{
    Connection, SqliteConnection,
    connection::SimpleConnection,
    r2d2::{ConnectionManager, CustomizeConnection, Pool},
};
use kernel::{Error, Result};
use tokio::sync::{Semaphore, mpsc};

use crate::tx::register_lower;

/// How many writes share one commit.
const GROUP: usize = 64;
/// How many writes may wait before a further one has to.
const QUEUE: usize = 4096;

/// Answers the caller of a write, once the commit is known to have succeeded or failed.
type Reply = Box<dyn FnOnce(bool) + Send>;
pub(crate) type Work = Box<dyn FnOnce(&mut SqliteConnection) -> Reply + Send>;

pub(crate) struct Sqlite {
    path: PathBuf,
    serial: u64,
    pool: Pool<ConnectionManager<SqliteConnection>>,
    /// Keeps no more threads waiting than there are connections.
    pub(crate) readers: Semaphore,
    writer: Option<mpsc::Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

thread_local! {
    /// One reading connection per thread and database, for reads that are over before a thread switch would be.
    static INLINE: RefCell<HashMap<u64, SqliteConnection>> = RefCell::default();
}

#[derive(Debug)]
struct Prepare(PathBuf);

impl CustomizeConnection<SqliteConnection, diesel::r2d2::Error> for Prepare {
    fn on_acquire(
        &self,
        conn: &mut SqliteConnection,
    ) -> std::result::Result<(), diesel::r2d2::Error> {
        prepare(conn, &self.0).map_err(diesel::r2d2::Error::QueryError)
    }
}

/// The order matters: the busy time-out comes first, so that the switch to WAL waits for others.
fn prepare(conn: &mut SqliteConnection, path: &Path) -> diesel::QueryResult<()> {
    conn.batch_execute(
        "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
         PRAGMA cache_size = -8192; PRAGMA mmap_size = 1073741824; PRAGMA foreign_keys = ON; \
         PRAGMA temp_store = MEMORY;",
    )?;
    register_lower(conn, |text: Option<String>| text.map(|text| text.to_lowercase()))?;
    watch(conn, path);
    Ok(())
}

/// Tests count what is asked of a database.
#[cfg(feature = "testing")]
fn watch(conn: &mut SqliteConnection, path: &Path) {
    crate::testing::watch(conn, path);
}

#[cfg(not(feature = "testing"))]
fn watch(_: &mut SqliteConnection, _: &Path) {}

pub(crate) fn connect(path: &Path) -> Result<SqliteConnection> {
    let mut conn = SqliteConnection::establish(&path.to_string_lossy()).map_err(Error::internal)?;
    prepare(&mut conn, path).map_err(Error::internal)?;
    Ok(conn)
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let mut conn = connect(path)?;
        crate::migrations::run_sqlite(&mut conn)?;
        let readers = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        let size = u32::try_from(readers).unwrap_or(2);
        let pool = Pool::builder()
            .max_size(size)
            .min_idle(Some(0))
            .test_on_check_out(false)
            .connection_customizer(Box::new(Prepare(path.to_owned())))
            .build(ConnectionManager::new(path.to_string_lossy()))
            .map_err(Error::internal)?;
        let (sender, receiver) = mpsc::channel(QUEUE);
        let again = path.to_owned();
        let thread = std::thread::Builder::new()
            .name("database-writer".to_owned())
            .spawn(move || write_in_groups(conn, &again, receiver))
            .map_err(Error::internal)?;
        Ok(Self {
            path: path.to_owned(),
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            pool,
            readers: Semaphore::new(readers),
            writer: Some(sender),
            thread: Some(thread),
        })
    }

    /// Runs `work` on this thread's own connection.
    pub(crate) fn inline<T>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T>,
    ) -> Result<T> {
        INLINE.with_borrow_mut(|connections| {
            let conn = match connections.entry(self.serial) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(connect(&self.path)?),
            };
            work(conn)
        })
    }

    /// Runs `work` on a pooled connection, in one snapshot. Blocks.
    pub(crate) fn pooled<T>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T>,
    ) -> Result<T> {
        let mut conn = self.pool.get().map_err(Error::internal)?;
        conn.transaction(|conn| work(conn).map_err(crate::error::Failed)).map_err(|failed| failed.0)
    }

    pub(crate) fn writer(&self) -> Result<&mpsc::Sender<Work>> {
        self.writer.as_ref().ok_or_else(|| Error::Unavailable("shutting down".to_owned()))
    }

    /// Copies the whole database, as it is at one moment, to `target`.
    pub(crate) fn copy_to(&self, target: &Path) -> Result<()> {
        use diesel::{RunQueryDsl, sql_query, sql_types::Text};
        let mut conn = connect(&self.path)?;
        sql_query("VACUUM INTO $1")
            .bind::<Text, _>(target.to_string_lossy().into_owned())
            .execute(&mut conn)
            .map_err(Error::internal)?;
        Ok(())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        self.writer = None;
        if let Some(thread) = self.thread.take() {
            // A writer that failed has already answered everybody who waited.
            drop(thread.join());
        }
    }
}

fn write_in_groups(mut conn: SqliteConnection, path: &Path, mut queue: mpsc::Receiver<Work>) {
    while let Some(first) = queue.blocking_recv() {
        let mut group = vec![first];
        while group.len() < GROUP {
            match queue.try_recv() {
                Ok(work) => group.push(work),
                Err(_) => break,
            }
        }
        let mut replies = Vec::with_capacity(group.len());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            conn.immediate_transaction(|conn| {
                for work in group {
                    replies.push(work(conn));
                }
                diesel::QueryResult::Ok(())
            })
        }));
        let done = match outcome {
            Ok(Ok(())) => true,
            Ok(Err(cause)) => {
                tracing::error!(error = %cause, "a group of writes was not committed");
                false
            }
            // The connection is inside a transaction that nobody will end: a new one rolls it back.
            Err(_) => {
                tracing::error!("a write panicked; its group was rolled back");
                match connect(path) {
                    Ok(fresh) => conn = fresh,
                    Err(cause) => tracing::error!(error = %cause, "cannot reopen the database"),
                }
                false
            }
        };
        for reply in replies {
            reply(done);
        }
    }
}
