//! The database as everybody uses it: `peek`, `read`, `write`.

use std::{
    cell::Cell,
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use diesel::{Connection, PgConnection};
use kernel::{Clock, Error, Result, error::Kind, event::Event, task::spawn_blocking};
use tokio::sync::{oneshot, watch};

use crate::{
    Conn, LostCommits, Tx, cause,
    error::TransactionError,
    figures::{AccessPath, DatabaseUse, DatabaseWait},
    migrations,
    piece::{AnyPiece, Piece, Step},
    pool::Failure,
    postgres::Postgres,
    retry,
    sqlite::{Sqlite, Work},
    stamp,
    tx::CommitHooks,
};

/// The location of the database.
#[derive(Clone, Debug)]
pub enum Location {
    /// A SQLite file, made when it is not there.
    File(PathBuf),
    /// `postgres://…`
    Postgres(String),
}

impl fmt::Display for Location {
    /// Never shows the password of a URL.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "SQLite {}", path.display()),
            Self::Postgres(url) => {
                let shown = url.rsplit_once('@').map_or(url.as_str(), |(_, host)| host);
                write!(f, "PostgreSQL {}", shown.trim_start_matches("postgres://"))
            }
        }
    }
}

/// Hears every fact before the transaction that announced it commits.
pub type Listener = Box<dyn Fn(&mut Tx<'_>, &dyn Event) -> Result<()> + Send + Sync>;

/// An open database. Cheap to clone.
#[derive(Clone)]
pub struct Database(Arc<Inner>);

struct Inner {
    backend: Backend,
    /// Whether the last write found no room.
    full: AtomicBool,
    clock: Arc<Clock>,
    listener: OnceLock<Listener>,
    /// Grows with each transaction of this process that announced something.
    announced: watch::Sender<u64>,
}

enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Database {
    /// Opens the database and brings it up to date.
    pub fn open(location: &Location, clock: Arc<Clock>) -> Result<Self> {
        let backend = match location {
            Location::File(path) => Backend::Sqlite(Sqlite::open(path)?),
            Location::Postgres(url) => Backend::Postgres(Postgres::open(url)?),
        };
        Ok(Self(Arc::new(Inner {
            backend,
            clock,
            full: AtomicBool::default(),
            listener: OnceLock::new(),
            announced: watch::Sender::default(),
        })))
    }

    /// Sets who hears facts inside their transaction. The first one stays.
    pub fn listen(
        &self,
        listener: impl Fn(&mut Tx<'_>, &dyn Event) -> Result<()> + Send + Sync + 'static,
    ) {
        self.0.listener.get_or_init(|| Box::new(listener));
    }

    /// Changes whenever a transaction of this process has announced something. Other processes write to the outbox, too.
    pub fn announcements(&self) -> watch::Receiver<u64> {
        self.0.announced.subscribe()
    }

    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    pub fn is_sqlite(&self) -> bool {
        matches!(self.0.backend, Backend::Sqlite(_))
    }

    /// Durable commits that were found to be missing when a SQLite file was opened.
    pub fn loss(&self) -> Option<LostCommits> {
        match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.loss,
            Backend::Postgres(_) => None,
        }
    }

    /// How many migrations this binary brings.
    pub fn known_migrations() -> usize {
        migrations::known()
    }

    /// A read that ends within microseconds: one or a few rows by an index. On SQLite it runs at once on the calling
    /// thread, so it must never scan.
    pub async fn peek<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    ) -> Result<T> {
        match &self.0.backend {
            Backend::Sqlite(sqlite) => {
                let mut piece = Piece::new(work);
                self.peek_piece(sqlite, &mut piece)?;
                piece.answer()
            }
            Backend::Postgres(_) => self.read_by(AccessPath::Peek, work).await,
        }
    }

    fn peek_piece(&self, sqlite: &Sqlite, piece: &mut dyn AnyPiece) -> Result<()> {
        let _running = DatabaseUse::at_once(AccessPath::Peek);
        let now = self.0.clock.now();
        sqlite.inline(&mut |conn| piece.finish(&mut Tx::new(Conn::Sqlite(conn), now)))
    }

    /// Any other read, off the async threads. Where PostgreSQL ended the connection it is done once more on a new one.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    ) -> Result<T> {
        self.read_by(AccessPath::Read, work).await
    }

    async fn read_by<T: Send + 'static, F>(&self, way: AccessPath, work: F) -> Result<T>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    {
        Piece::<F, T>::answer_of(self.read_piece(way, Piece::boxed(work)).await?)
    }

    /// Gives the piece back with its answer.
    async fn read_piece(
        &self,
        way: AccessPath,
        mut piece: Box<dyn AnyPiece>,
    ) -> Result<Box<dyn AnyPiece>> {
        let waiting = DatabaseWait::new(way);
        let _place = match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.readers.acquire().await.map_err(Error::internal)?,
            Backend::Postgres(postgres) => postgres.readers.place().await?,
        };
        let this = self.clone();
        let done = spawn_blocking(move || {
            let _running = waiting.over();
            match this.attempt(&mut |tx| piece.attempt(tx)) {
                // Nothing came of the first one, and nothing but its connection was at fault.
                Err(Failure::Ended(_)) => this.attempt(&mut |tx| piece.finish(tx))?,
                done => done?,
            }
            Ok(piece)
        });
        done.await.map_err(Error::internal)?
    }

    /// As [`read`](Self::read), for callers that may block. It is done once.
    pub fn read_blocking<T>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T>) -> Result<T> {
        let mut piece = Piece::new(work);
        self.attempt(&mut |tx| piece.once(tx))?;
        piece.answer()
    }

    fn attempt(&self, step: Step<'_>) -> Result<(), Failure> {
        let now = self.0.clock.now();
        match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite
                .pooled(&mut |conn| step(&mut Tx::new(Conn::Sqlite(conn), now)))
                .map_err(Failure::Plain),
            Backend::Postgres(postgres) => {
                postgres.readers.lend(&mut |conn| step(&mut Tx::new(Conn::Postgres(conn), now)))
            }
        }
    }

    /// One transaction. Answers only after the commit is durable; an error leaves nothing behind, but for one: where the
    /// connection ended while PostgreSQL was committing, nobody knows. What PostgreSQL takes back for the sake of another
    /// transaction is done again, and so is what lost its connection before that: `work` does nothing but what a
    /// transaction takes back.
    pub async fn write<T: Send + 'static, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    {
        Piece::<F, T>::answer_of(self.write_piece(Piece::boxed(work)).await?)
    }

    /// Whether rows can be written, as the last write showed; after one that found no room a small one is tried.
    pub async fn has_room(&self) -> bool {
        const PROBE: &str = "room";
        !self.0.full.load(Ordering::Relaxed)
            || self.write(|tx| stamp::keep(tx, PROBE, tx.now.unix())).await.is_ok()
    }

    async fn write_piece(&self, piece: Box<dyn AnyPiece>) -> Result<Box<dyn AnyPiece>> {
        let done = self.write_once(piece).await;
        match &done {
            Err(failure) if failure.kind == Kind::Full => {
                self.0.full.store(true, Ordering::Relaxed);
            }
            Ok(_) if self.0.full.load(Ordering::Relaxed) => {
                self.0.full.store(false, Ordering::Relaxed);
            }
            _ => {}
        }
        done
    }

    async fn write_once(&self, piece: Box<dyn AnyPiece>) -> Result<Box<dyn AnyPiece>> {
        let cause = cause::current();
        match &self.0.backend {
            Backend::Sqlite(sqlite) => {
                let (work, answer) = self.queued(piece, cause);
                sqlite
                    .writer()?
                    .send(work)
                    .await
                    .map_err(|refused| Error::internal(refused.to_string()))?;
                answer.await.map_err(Error::internal)?
            }
            Backend::Postgres(postgres) => {
                let waiting = DatabaseWait::new(AccessPath::Write);
                let _place = postgres.writers.place().await?;
                let this = self.clone();
                spawn_blocking(move || this.write_postgres(piece, waiting, cause.as_ref()))
                    .await
                    .map_err(Error::internal)?
            }
        }
    }

    /// As [`write`](Self::write), for callers outside of async code.
    pub fn write_blocking<T: Send + 'static, F>(&self, work: F) -> Result<T>
    where
        F: FnOnce(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
    {
        let piece = Piece::boxed(work);
        let piece = match &self.0.backend {
            Backend::Sqlite(sqlite) => {
                let (work, answer) = self.queued(piece, cause::current());
                sqlite
                    .writer()?
                    .blocking_send(work)
                    .map_err(|refused| Error::internal(refused.to_string()))?;
                answer.blocking_recv().map_err(Error::internal)?
            }
            Backend::Postgres(_) => {
                let cause = cause::current();
                self.write_postgres(piece, DatabaseWait::new(AccessPath::Write), cause.as_ref())
            }
        };
        Piece::<F, T>::answer_of(piece?)
    }

    /// Copies a SQLite database, as it is at one moment, while it is in use.
    pub fn copy_to(&self, target: &Path) -> Result<()> {
        match &self.0.backend {
            Backend::Sqlite(sqlite) => sqlite.copy_to(target),
            Backend::Postgres(_) => {
                Err(Error::unavailable("use pg_dump for a PostgreSQL database"))
            }
        }
    }

    fn queued(
        &self,
        mut piece: Box<dyn AnyPiece>,
        cause: Option<Arc<str>>,
    ) -> (Work, oneshot::Receiver<Result<Box<dyn AnyPiece>>>) {
        let (answer, receiver) = oneshot::channel();
        let inner = self.0.clone();
        let waiting = DatabaseWait::new(AccessPath::Write);
        let work: Work = Box::new(move |conn| {
            let running = waiting.over();
            // A savepoint: an error here undoes this piece of work and leaves the rest of its group alone.
            let outcome = conn.transaction(|conn| {
                let run = inner.run(Conn::Sqlite(conn), cause, &mut |tx| piece.finish(tx));
                run.map_err(TransactionError)
            });
            Box::new(move |committed| {
                drop(running);
                let outcome = match (outcome, committed) {
                    (Ok(_), Err(why)) => Err(Error::internal(why)),
                    (Ok(afterwards), Ok(())) => {
                        afterwards.into_iter().for_each(|work| work());
                        Ok(piece)
                    }
                    (Err(failed), _) => Err(failed.0),
                };
                // Nobody waits any more when the caller went away; the work is done all the same.
                drop(answer.send(outcome));
            })
        });
        (work, receiver)
    }

    fn write_postgres(
        &self,
        mut piece: Box<dyn AnyPiece>,
        waiting: DatabaseWait,
        cause: Option<&Arc<str>>,
    ) -> Result<Box<dyn AnyPiece>> {
        let Backend::Postgres(postgres) = &self.0.backend else {
            return Err(Error::internal("not a PostgreSQL database"));
        };
        let _running = waiting.over();
        // Whether everything was done, so that what is left is to commit it.
        let done = Cell::new(false);
        let mut attempt = || {
            postgres.writers.lend(&mut |conn| {
                retry::until_kept(&mut || {
                    done.set(false);
                    let in_it = |conn: &mut PgConnection| {
                        let own = cause.cloned();
                        let run =
                            self.0.run(Conn::Postgres(conn), own, &mut |tx| piece.attempt(tx));
                        let afterwards = run.map_err(TransactionError)?;
                        done.set(true);
                        Ok(afterwards)
                    };
                    let afterwards =
                        conn.transaction(in_it).map_err(|failed: TransactionError| failed.0)?;
                    afterwards.into_iter().for_each(|work| work());
                    Ok(())
                })
            })
        };
        match attempt() {
            Err(Failure::Ended(_)) if !done.get() => attempt()?,
            outcome => outcome?,
        }
        Ok(piece)
    }
}

impl Inner {
    /// With what is to be done once the transaction is durable.
    fn run(&self, conn: Conn<'_>, cause: Option<Arc<str>>, step: Step<'_>) -> Result<CommitHooks> {
        let mut tx = Tx { cause, ..Tx::new(conn, self.clock.now()) };
        step(&mut tx)?;
        if !tx.facts.is_empty() {
            let announced = self.announced.clone();
            tx.after_commit(move || announced.send_modify(|count| *count = count.wrapping_add(1)));
        }
        while let Some(fact) = tx.facts.pop_front() {
            if let Some(listener) = self.listener.get() {
                listener(&mut tx, &*fact)?;
            }
        }
        Ok(tx.afterwards)
    }
}
