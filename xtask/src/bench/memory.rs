//! The server's memory around a piece of work.

use std::{
    fmt, fs,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};

use crate::server::{self, Server};

const LOOK_EVERY: Duration = Duration::from_millis(10);
/// How long the memory may take to go back.
const REST: Duration = Duration::from_secs(3);
/// Parts of a second in which Linux counts the time of processes.
const TICKS: f64 = 100.0;

/// Resident memory without mapped files, in MiB.
pub(super) struct Memory {
    before: f64,
    most: f64,
    after: f64,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { before, most, after } = self;
        write!(f, "{before:.0} MiB before, {most:.0} at most, {after:.0} afterwards")
    }
}

/// Does some work while the server's memory is looked at.
pub(super) fn around<T>(server: &Server, work: impl FnOnce() -> Result<T>) -> Result<(T, Memory)> {
    let resident = || server::resident(server.id()).map(|(_, own)| own);
    let before = resident()?;
    let (over, most) = (AtomicBool::new(false), Mutex::new(before));
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                if let Ok(now) = resident() {
                    let mut most = most.lock().unwrap_or_else(PoisonError::into_inner);
                    *most = most.max(now);
                }
                thread::sleep(LOOK_EVERY);
            }
        });
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })?;
    thread::sleep(REST);
    let most = most.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((done, Memory { before, most, after: resident()? }))
}

/// Seconds of processor time that a server has used.
pub(super) fn processor_seconds(server: &Server) -> Result<f64> {
    let text = fs::read_to_string(format!("/proc/{}/stat", server.id()))?;
    // The name in brackets may hold blanks.
    let (_, fields) = text.rsplit_once(") ").context("an unknown form of /proc/…/stat")?;
    let used = fields.split(' ').skip(11).take(2).map(str::parse::<f64>);
    Ok(used.sum::<Result<f64, _>>()? / TICKS)
}
