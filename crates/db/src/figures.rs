//! Metrics of transactions: waiting time and duration.

use std::time::Instant;

use metrics::{Histogram, histogram};

/// The three ways to the database.
#[derive(Clone, Copy)]
pub(crate) enum AccessPath {
    Peek,
    Read,
    Write,
}

impl AccessPath {
    fn waits(self) -> Histogram {
        match self {
            Self::Peek => histogram!("forgeway_database_wait_seconds", "way" => "peek"),
            Self::Read => histogram!("forgeway_database_wait_seconds", "way" => "read"),
            Self::Write => histogram!("forgeway_database_wait_seconds", "way" => "write"),
        }
    }

    fn takes(self) -> Histogram {
        match self {
            Self::Peek => histogram!("forgeway_database_seconds", "way" => "peek"),
            Self::Read => histogram!("forgeway_database_seconds", "way" => "read"),
            Self::Write => histogram!("forgeway_database_seconds", "way" => "write"),
        }
    }
}

/// Somebody who waits for the database.
#[derive(Clone, Copy)]
pub(crate) struct DatabaseWait(AccessPath, Instant);

/// A transaction that runs; its end is measured when this is dropped.
pub(crate) struct DatabaseUse(AccessPath, Instant);

impl DatabaseWait {
    pub(crate) fn new(way: AccessPath) -> Self {
        Self(way, Instant::now())
    }

    pub(crate) fn over(self) -> DatabaseUse {
        let now = Instant::now();
        self.0.waits().record(now.duration_since(self.1).as_secs_f64());
        DatabaseUse(self.0, now)
    }
}

impl DatabaseUse {
    /// For a read that waits for nobody.
    pub(crate) fn at_once(way: AccessPath) -> Self {
        Self(way, Instant::now())
    }
}

impl Drop for DatabaseUse {
    fn drop(&mut self) {
        self.0.takes().record(self.1.elapsed().as_secs_f64());
    }
}
