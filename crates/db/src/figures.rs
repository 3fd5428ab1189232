//! Metrics of transactions: waiting time and duration.

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use metrics::{Histogram, histogram};

/// The three ways to the database.
#[derive(Clone, Copy)]
pub(crate) enum AccessPath {
    Peek,
    Read,
    Write,
}

/// The histograms of one way.
struct PathHistograms {
    wait: Histogram,
    duration: Histogram,
}

struct Histograms {
    peek: PathHistograms,
    read: PathHistograms,
    write: PathHistograms,
}

static HISTOGRAMS: OnceLock<Histograms> = OnceLock::new();

/// Looks the histograms of the database up once, in the recorder of metrics that is installed. Before that, each
/// transaction looks up its own, which takes longer than counting.
pub fn register_metrics() {
    HISTOGRAMS.get_or_init(|| Histograms {
        peek: AccessPath::Peek.look_up(),
        read: AccessPath::Read.look_up(),
        write: AccessPath::Write.look_up(),
    });
}

impl AccessPath {
    fn look_up(self) -> PathHistograms {
        let name = match self {
            Self::Peek => "peek",
            Self::Read => "read",
            Self::Write => "write",
        };
        PathHistograms {
            wait: histogram!("forgeway_database_wait_seconds", "way" => name),
            duration: histogram!("forgeway_database_seconds", "way" => name),
        }
    }

    fn record(self, seconds: Duration, into: fn(&PathHistograms) -> &Histogram) {
        let record = |all: &PathHistograms| into(all).record(seconds.as_secs_f64());
        match (HISTOGRAMS.get(), self) {
            (Some(all), Self::Peek) => record(&all.peek),
            (Some(all), Self::Read) => record(&all.read),
            (Some(all), Self::Write) => record(&all.write),
            (None, _) => record(&self.look_up()),
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
        self.0.record(now.duration_since(self.1), |all| &all.wait);
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
        self.0.record(self.1.elapsed(), |all| &all.duration);
    }
}
