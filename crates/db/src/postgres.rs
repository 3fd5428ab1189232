//! PostgreSQL: a small pool for reads, a larger one for writes, both used from blocking threads.

use diesel::{
    Connection, PgConnection,
    r2d2::{ConnectionManager, Pool, PooledConnection},
};
use kernel::{Error, Result};
use tokio::sync::Semaphore;

type Manager = ConnectionManager<PgConnection>;

/// Measured: few readers keep the slowest answers short, many writers share the server's group commit.
const READERS: u32 = 4;
const WRITERS: u32 = 16;

pub(crate) struct Postgres {
    read: Pool<Manager>,
    write: Pool<Manager>,
    pub(crate) readers: Semaphore,
    pub(crate) writers: Semaphore,
}

fn pool(url: &str, size: u32) -> Result<Pool<Manager>> {
    Pool::builder()
        .max_size(size)
        .min_idle(Some(0))
        .test_on_check_out(true)
        .build(Manager::new(url))
        .map_err(Error::internal)
}

impl Postgres {
    pub(crate) fn open(url: &str) -> Result<Self> {
        let mut conn = PgConnection::establish(url).map_err(Error::internal)?;
        crate::migrations::run_postgres(&mut conn)?;
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
