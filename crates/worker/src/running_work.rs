//! Work that is being done in this process, so that others can wait for its end.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

/// The keys of work that was taken and is not over yet. Cheap to clone; workers that share one wait for each other.
#[derive(Clone, Debug, Default)]
pub struct RunningWork(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    pieces: Mutex<Pieces>,
    ended: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Pieces {
    next: u64,
    keys: HashMap<u64, String>,
}

/// A piece of work is under way until this is dropped, also where its transaction fails.
#[derive(Debug)]
pub(crate) struct RunningGuard {
    of: RunningWork,
    piece: u64,
}

impl RunningWork {
    fn pieces(&self) -> MutexGuard<'_, Pieces> {
        self.0.pieces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be said in the transaction that takes the work: whoever finds it taken finds it here.
    pub(crate) fn begin(&self, key: Option<&str>) -> RunningGuard {
        let mut pieces = self.pieces();
        let piece = pieces.next;
        pieces.next += 1;
        if let Some(key) = key {
            pieces.keys.insert(piece, key.to_owned());
        }
        drop(pieces);
        RunningGuard { of: self.clone(), piece }
    }

    /// The pieces that are under way under one of these keys, or under one that continues it after a colon.
    pub(crate) fn under(&self, keys: &[String]) -> HashSet<u64> {
        let is_under = |key: &str| {
            keys.iter().filter_map(|asked| key.strip_prefix(asked.as_str())).any(is_nothing_or_more)
        };
        let pieces = self.pieces();
        let found = pieces.keys.iter().filter(|(_, key)| is_under(key));
        found.map(|(piece, _)| *piece).collect()
    }

    /// Waits until these pieces are over.
    pub(crate) async fn over(&self, pieces: &HashSet<u64>) {
        let mut ended = self.0.ended.subscribe();
        while pieces.iter().any(|piece| self.pieces().keys.contains_key(piece)) {
            if ended.changed().await.is_err() {
                return;
            }
        }
    }

    /// How many wait for something to end. For tests.
    pub fn waiting(&self) -> usize {
        self.0.ended.receiver_count()
    }
}

fn is_nothing_or_more(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(':')
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.of.pieces().keys.remove(&self.piece);
        self.of.0.ended.send_replace(());
    }
}
