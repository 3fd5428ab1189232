//! PostgreSQL: a small pool for reads, a larger one for writes, both used from blocking threads.

use std::time::{Duration, Instant};

use diesel::{
    Connection, PgConnection, QueryableByName, RunQueryDsl,
    connection::SimpleConnection,
    r2d2::{ConnectionManager, Error as PoolError, ManageConnection, Pool, PooledConnection},
    sql_query,
    sql_types::Text,
};
use kernel::{Error, Result};
use tokio::sync::Semaphore;

/// Measured: few readers keep the slowest answers short, many writers share the server's group commit.
const READERS: u32 = 4;
const WRITERS: u32 = 16;

/// A connection that answered so lately is used without asking first whether it still does: that would be one more
/// round trip for every read.
const FRESH: Duration = Duration::from_secs(1);

/// Many ask at once, so a question that other processes help with takes their time from other questions, and starting
/// them takes longer than most answers.
const ALONE: &str = "SET max_parallel_workers_per_gather = 0";

pub(crate) struct Postgres {
    read: Pool<Manager>,
    write: Pool<Manager>,
    pub(crate) readers: Semaphore,
    pub(crate) writers: Semaphore,
}

#[derive(Debug)]
pub(crate) struct Manager(ConnectionManager<PgConnection>);

/// A connection, and when it was last known to work.
pub(crate) struct Kept {
    pub(crate) conn: PgConnection,
    seen: Instant,
}

impl ManageConnection for Manager {
    type Connection = Kept;
    type Error = PoolError;

    fn connect(&self) -> std::result::Result<Kept, PoolError> {
        let mut conn = self.0.connect()?;
        conn.batch_execute(ALONE).map_err(PoolError::QueryError)?;
        Ok(Kept { conn, seen: Instant::now() })
    }

    fn is_valid(&self, kept: &mut Kept) -> std::result::Result<(), PoolError> {
        if kept.seen.elapsed() < FRESH {
            return Ok(());
        }
        self.0.is_valid(&mut kept.conn)?;
        kept.seen = Instant::now();
        Ok(())
    }

    fn has_broken(&self, kept: &mut Kept) -> bool {
        self.0.has_broken(&mut kept.conn)
    }
}

fn pool(url: &str, size: u32) -> Result<Pool<Manager>> {
    Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .test_on_check_out(true)
        .build(Manager(ConnectionManager::new(url)))
        .map_err(Error::internal)
}

#[derive(QueryableByName)]
struct Setting {
    #[diesel(sql_type = Text)]
    lc_messages: String,
}

/// That two transactions waited for each other is told in words alone, and understood in English.
fn warn_of_language(conn: &mut PgConnection) -> Result<()> {
    let setting: Setting =
        sql_query("SHOW lc_messages").get_result(conn).map_err(Error::internal)?;
    let language = setting.lc_messages;
    if !["C", "POSIX", "en", ""]
        .iter()
        .any(|known| language.split(['_', '.']).next() == Some(known))
    {
        tracing::warn!(
            %language,
            "PostgreSQL speaks another language than English, so transactions that waited for each other fail instead of \
             being done again: ALTER DATABASE … SET lc_messages = 'C' mends that"
        );
    }
    Ok(())
}

impl Postgres {
    pub(crate) fn open(url: &str) -> Result<Self> {
        let mut conn = PgConnection::establish(url).map_err(Error::internal)?;
        crate::migrations::run_postgres(&mut conn)?;
        warn_of_language(&mut conn)?;
        Ok(Self {
            read: pool(url, READERS)?,
            write: pool(url, WRITERS)?,
            readers: Semaphore::new(READERS.try_into().map_err(Error::internal)?),
            writers: Semaphore::new(WRITERS.try_into().map_err(Error::internal)?),
        })
    }

    pub(crate) fn reader(&self) -> Result<PooledConnection<Manager>> {
        self.read.get().map_err(Error::internal)
    }

    pub(crate) fn writer(&self) -> Result<PooledConnection<Manager>> {
        self.write.get().map_err(Error::internal)
    }
}
