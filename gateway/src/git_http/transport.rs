//! The state that clones and pushes share: queue slots, active pushes and the hook socket.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use repo::git::hook::Hooks;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Refusal, kind::Kind, pushes::Pushes};

/// How long a request waits for its turn.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Clones and pushes of one repository at once, so that a popular one leaves places for the others.
const PER_REPOSITORY: usize = 8;

pub struct Transport {
    pub(super) pushes: Pushes,
    pub(super) hooks: OnceLock<Hooks>,
    queues: Mutex<HashMap<Kind, Arc<Semaphore>>>,
}

impl Transport {
    pub(crate) fn new() -> Self {
        Self { pushes: Pushes::default(), hooks: OnceLock::new(), queues: Mutex::default() }
    }

    /// Where the hooks are; nowhere before [`listen`](super::listen()).
    pub(super) fn hooks(&self) -> Result<&Hooks, Refusal> {
        self.hooks.get().ok_or(Refusal::Busy)
    }

    /// The program that puts large files into archives; none before [`listen`](super::listen()).
    pub fn large_files(&self) -> Option<PathBuf> {
        self.hooks.get().map(Hooks::large_files)
    }

    /// Waits for a place among those who use the same repository.
    pub(super) async fn place(&self, kind: Kind) -> Result<OwnedSemaphorePermit, Refusal> {
        let queue = {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            // Held by nobody but this table: everybody has gone.
            queues.retain(|_, queue| Arc::strong_count(queue) > 1);
            let queue = queues.entry(kind);
            Arc::clone(queue.or_insert_with(|| Arc::new(Semaphore::new(PER_REPOSITORY))))
        };
        match tokio::time::timeout(PATIENCE, queue.acquire_owned()).await {
            Ok(Ok(place)) => Ok(place),
            Ok(Err(_)) | Err(_) => Err(Refusal::Busy),
        }
    }
}
