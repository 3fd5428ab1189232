//! Connections to PostgreSQL, kept for those who come next. While the server does not answer, everybody is told so at
//! once: nobody waits for what others already know.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use diesel::{
    Connection as _, ConnectionResult, PgConnection, connection::SimpleConnection as _,
    r2d2::R2D2Connection as _,
};
use kernel::{Error, Result};
use tokio::{
    pin, select,
    sync::{Notify, Semaphore, SemaphorePermit},
    time::sleep,
};

/// A connection that answered so lately is used without asking first whether it still does: that would be one more
/// round trip for every read.
const FRESH: Duration = Duration::from_secs(1);
/// A connection is not kept longer, and with it go the statements that it has prepared.
const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// Whoever has no connection by then is told to come back.
const PATIENCE: Duration = Duration::from_secs(10);
/// So long nobody tries again to reach a server that was just out of reach.
const PAUSE: Duration = Duration::from_millis(250);
const AWAY: &str = "the database does not answer";

/// How every connection is set. Many ask at once, so a question that other processes help with takes their time from other
/// questions, and starting them takes longer than most answers. Compiling a question takes seconds, and happens wherever
/// the planner takes a hierarchy for larger than it is.
const SESSION: &str = "SET max_parallel_workers_per_gather = 0; SET jit = off";

/// How soon a server counts as gone that says nothing at all. libpq takes nothing below two seconds.
const LIMITS: [(&str, u32); 5] = [
    ("connect_timeout", 2),
    ("keepalives_idle", 10),
    ("keepalives_interval", 3),
    ("keepalives_count", 3),
    ("tcp_user_timeout", 10_000),
];

/// Whether the database server answers.
#[derive(Default)]
struct Reachability {
    /// When it last failed to; nothing while it answers.
    failed: Mutex<Option<Instant>>,
    lost: Notify,
}

impl Reachability {
    fn failed(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_away(&self) -> bool {
        self.failed().is_some_and(|at| at.elapsed() < PAUSE)
    }

    fn note(&self, answers: bool) {
        *self.failed() = (!answers).then(Instant::now);
        if !answers {
            self.lost.notify_waiters();
        }
    }
}

/// Connections to one database, of which those nobody uses are kept. All lanes share them: a connection that has read answers a
/// write sooner than a new one, which knows no table yet.
pub(crate) struct ConnectionPool {
    url: String,
    idle: Mutex<Vec<IdleConnection>>,
    reachability: Reachability,
}

/// So many connections of a pool at most.
pub(crate) struct Lane {
    pool: Arc<ConnectionPool>,
    places: Semaphore,
}

struct IdleConnection {
    conn: PgConnection,
    born: Instant,
    seen: Instant,
}

/// The reason for which a connection attempt failed.
pub(crate) enum Failure {
    Plain(Error),
    /// The connection is gone, whoever ended it.
    Ended(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Plain(cause) => cause,
            Failure::Ended(cause) => Self::out_of_reach(cause),
        }
    }
}

impl Lane {
    pub(crate) fn new(pool: &Arc<ConnectionPool>, size: usize) -> Self {
        Self { pool: Arc::clone(pool), places: Semaphore::new(size) }
    }

    /// Waits for a place, but not for a server that is away.
    pub(crate) async fn place(&self) -> Result<SemaphorePermit<'_>> {
        if let Ok(place) = self.places.try_acquire() {
            return Ok(place);
        }
        let reachability = &self.pool.reachability;
        let lost = reachability.lost.notified();
        pin!(lost);
        lost.as_mut().enable();
        if reachability.is_away() {
            return Err(Error::out_of_reach(AWAY));
        }
        select! {
            place = self.places.acquire() => place.map_err(Error::internal),
            () = lost => Err(Error::out_of_reach(AWAY)),
            () = sleep(PATIENCE) => Err(Error::out_of_reach("every connection to the database is in use")),
        }
    }

    /// Works on a connection. Blocks.
    pub(crate) fn lend(
        &self,
        work: &mut dyn FnMut(&mut PgConnection) -> Result<()>,
    ) -> Result<(), Failure> {
        self.pool.lend(work)
    }
}

impl ConnectionPool {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: with_limits(url),
            idle: Mutex::default(),
            reachability: Reachability::default(),
        }
    }

    fn lend(&self, work: &mut dyn FnMut(&mut PgConnection) -> Result<()>) -> Result<(), Failure> {
        let mut kept = self.take().map_err(Failure::Plain)?;
        match work(&mut kept.conn) {
            Err(cause) if cause.is_ours() && kept.conn.ping().is_err() => {
                // Those beside it were most likely ended with it.
                self.idle().clear();
                Err(Failure::Ended(cause))
            }
            done => {
                self.keep(kept);
                done.map_err(Failure::Plain)
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<IdleConnection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Result<IdleConnection> {
        loop {
            let Some(mut kept) = self.idle().pop() else { return self.connect() };
            if kept.seen.elapsed() < FRESH || kept.conn.ping().is_ok() {
                return Ok(kept);
            }
        }
    }

    fn connect(&self) -> Result<IdleConnection> {
        if self.reachability.is_away() {
            return Err(Error::out_of_reach(AWAY));
        }
        let opened =
            establish(&self.url).map_err(Error::out_of_reach).and_then(|conn| self.prepared(conn));
        self.reachability.note(opened.is_ok());
        opened
    }

    /// Keeps a connection that was opened for something else.
    pub(crate) fn adopt(&self, conn: PgConnection) -> Result<()> {
        let prepared = self.prepared(conn)?;
        self.keep(prepared);
        Ok(())
    }

    fn prepared(&self, mut conn: PgConnection) -> Result<IdleConnection> {
        conn.batch_execute(SESSION).map_err(Error::out_of_reach)?;
        #[cfg(feature = "testing")]
        let conn = crate::testing::watched(conn, &self.url);
        let now = Instant::now();
        Ok(IdleConnection { conn, born: now, seen: now })
    }

    fn keep(&self, mut kept: IdleConnection) {
        if !kept.conn.is_broken() && kept.born.elapsed() < LIFETIME {
            kept.seen = Instant::now();
            self.idle().push(kept);
        }
    }
}

/// A new connection with our limits. Tests get one that an earlier one has left.
pub(crate) fn establish(url: &str) -> ConnectionResult<PgConnection> {
    #[cfg(feature = "testing")]
    if let Some(conn) = crate::testing::parked(url) {
        return Ok(conn);
    }
    PgConnection::establish(url)
}

#[cfg(feature = "testing")]
impl Drop for ConnectionPool {
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        let connections = idle.drain(..).map(|kept| kept.conn);
        crate::testing::park(&self.url, connections);
    }
}

/// The address with our limits, where it names none of its own.
pub(crate) fn with_limits(url: &str) -> String {
    let mut url = url.to_owned();
    for (name, value) in LIMITS {
        if !url.contains(&format!("{name}=")) {
            let sign = if url.contains('?') { '&' } else { '?' };
            url.push_str(&format!("{sign}{name}={value}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Instant};

    use kernel::{Error, error::Kind};

    use super::{ConnectionPool, FRESH, Failure, Lane, with_limits};

    /// Nobody listens on that port.
    const NOWHERE: &str = "postgres://forgeway@127.0.0.1:1/forgeway";

    /// Not the caller's fault, and none of the program either.
    fn is_away(refused: &Error) -> bool {
        refused.kind == Kind::Unavailable && refused.is_ours()
    }

    #[test]
    fn an_address_keeps_its_own_limits() {
        let plain = with_limits(NOWHERE);
        assert!(plain.starts_with(&format!("{NOWHERE}?connect_timeout=2&")), "{plain}");
        let own = with_limits("postgres://db/x?connect_timeout=30");
        assert!(own.starts_with("postgres://db/x?connect_timeout=30&keepalives_idle"), "{own}");
    }

    #[test]
    fn a_server_that_is_away_is_told_at_once() {
        let lane = Lane::new(&Arc::new(ConnectionPool::new(NOWHERE)), 1);
        let before = Instant::now();
        for _ in 0..100 {
            let refused: Error = lane.lend(&mut |_| Ok(())).err().map(Failure::into).unwrap();
            assert!(is_away(&refused), "{refused:?}");
        }
        assert!(before.elapsed() < 10 * FRESH);
    }

    #[tokio::test]
    async fn nobody_waits_for_a_server_that_is_away() {
        let pool = Arc::new(ConnectionPool::new(NOWHERE));
        let lane = Lane::new(&pool, 1);
        let _only = lane.place().await.unwrap();
        let (waiting, ()) = tokio::join!(lane.place(), async { pool.reachability.note(false) });
        assert!(waiting.is_err_and(|refused| is_away(&refused)));
        assert!(lane.place().await.is_err_and(|refused| is_away(&refused)));
    }
}
