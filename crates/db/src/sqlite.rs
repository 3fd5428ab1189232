//! SQLite: quick reads inline on the asking thread, longer ones through a pool, all writes through one thread that
//! commits them in groups.

use std::{
    cell::RefCell,
    collections::{HashMap, hash_map::Entry},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
};

use diesel::{
    Connection, SqliteConnection, connection::SimpleConnection, r2d2::R2D2Connection as _,
};
use kernel::{Error, Result};
use tokio::sync::{Semaphore, mpsc};

use crate::{
    commit_number::{self, LostCommits, Note},
    tx::register_lower,
};

/// How many writes share one commit.
const GROUP: usize = 64;
/// How many writes may wait before a further one has to.
const QUEUE: usize = 4096;

/// Answers the caller of a write, once the commit is known to have succeeded, or why it failed.
type Reply = Box<dyn FnOnce(Result<(), String>) + Send>;
pub(crate) type Work = Box<dyn FnOnce(&mut SqliteConnection) -> Reply + Send>;

/// A function that runs on a connection and keeps its result to itself.
type ConnectionFn<'a> = &'a mut dyn FnMut(&mut SqliteConnection) -> Result<()>;

pub(crate) struct Sqlite {
    path: PathBuf,
    pub(crate) loss: Option<LostCommits>,
    serial: u64,
    idle: Mutex<Vec<SqliteConnection>>,
    /// Keeps no more threads waiting than there are connections.
    pub(crate) readers: Semaphore,
    writer: Option<mpsc::Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

thread_local! {
    /// One reading connection per thread and database, for reads that are over before a thread switch would be.
    static INLINE: RefCell<HashMap<u64, SqliteConnection>> = RefCell::default();
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
    let opened = SqliteConnection::establish(&path.to_string_lossy());
    let mut conn = opened.map_err(Error::out_of_reach)?;
    prepare(&mut conn, path).map_err(|cause| {
        // SQLite does not say that there are too many open files, only that it has not got this one.
        if cause.to_string().contains("unable to open") {
            Error::out_of_reach(cause)
        } else {
            Error::internal(cause)
        }
    })?;
    Ok(conn)
}

impl Sqlite {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(1);
        let mut conn = connect(path)?;
        crate::migrations::run_sqlite(&mut conn)?;
        let loss = commit_number::check(&mut conn, path)?;
        if let Some(LostCommits { noted, there }) = loss {
            tracing::error!(
                commits = noted.saturating_sub(there),
                "the database lacks commits that were durable: its write-ahead log was cut or removed, or an older copy \
                 was put in its place; `forgeway doctor` says what to do"
            );
        }
        let readers = std::thread::available_parallelism().map_or(2, usize::from).max(2);
        let (sender, receiver) = mpsc::channel(QUEUE);
        let again = path.to_owned();
        let thread = std::thread::Builder::new()
            .name("database-writer".to_owned())
            .spawn(move || write_in_groups(conn, &again, receiver))
            .map_err(Error::internal)?;
        Ok(Self {
            path: path.to_owned(),
            loss,
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            idle: Mutex::default(),
            readers: Semaphore::new(readers),
            writer: Some(sender),
            thread: Some(thread),
        })
    }

    /// Runs `work` on this thread's own connection.
    pub(crate) fn inline(&self, work: ConnectionFn<'_>) -> Result<()> {
        INLINE.with_borrow_mut(|connections| {
            let conn = match connections.entry(self.serial) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(connect(&self.path)?),
            };
            work(conn)
        })
    }

    /// Runs `work` on a pooled connection, in one snapshot. Blocks.
    pub(crate) fn pooled(&self, work: ConnectionFn<'_>) -> Result<()> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let mut conn = known.map_or_else(|| connect(&self.path), Ok)?;
        let done = conn.transaction(|conn| work(conn).map_err(crate::error::TransactionError));
        if !conn.is_broken() {
            idle().push(conn);
        }
        done.map_err(|failed| failed.0)
    }

    pub(crate) fn writer(&self) -> Result<&mpsc::Sender<Work>> {
        self.writer.as_ref().ok_or_else(|| Error::unavailable("shutting down"))
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
    let note = Note::open(path);
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
                let before = commit_number::changes(conn)?;
                for work in group {
                    replies.push(work(conn));
                }
                match commit_number::changes(conn)? == before {
                    true => diesel::QueryResult::Ok(None),
                    false => commit_number::next(conn).map(Some),
                }
            })
        }));
        let done = match outcome {
            Ok(Ok(number)) => {
                number.into_iter().for_each(|number| note.keep(number));
                Ok(())
            }
            Ok(Err(cause)) => {
                tracing::error!(error = %cause, "a group of writes was not committed");
                Err(format!("the transaction was not committed: {cause}"))
            }
            Err(_) => {
                tracing::error!("a write panicked; its group was rolled back");
                Err("the transaction was not committed".to_owned())
            }
        };
        // Inside a transaction that nobody will end: a new connection rolls it back.
        if done.is_err() && conn.is_broken() {
            match connect(path) {
                Ok(fresh) => conn = fresh,
                Err(cause) => tracing::error!(error = %cause, "cannot reopen the database"),
            }
        }
        for reply in replies {
            reply(done.clone());
        }
    }
}
