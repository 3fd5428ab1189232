//! Whose turn it is to write `packed-refs`: the writers of this process get to it in the order in which they came, so
//! that none of many looks for its lock in vain until its patience ends.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{Mutex as Queue, OwnedMutexGuard},
    time::timeout,
};

use crate::git::RepoPath;

/// The queues of repositories in which somebody waits or writes.
static QUEUES: Mutex<BTreeMap<PathBuf, Weak<Queue<()>>>> = Mutex::new(BTreeMap::new());

/// Lets the next one write when it is dropped.
pub(super) type WriteTurn = OwnedMutexGuard<()>;

/// Nothing when those before take longer than `patience`.
pub(super) async fn take(repo: &RepoPath, patience: Duration) -> Option<WriteTurn> {
    timeout(patience, queue_of(repo).lock_owned()).await.ok()
}

fn queue_of(repo: &RepoPath) -> Arc<Queue<()>> {
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    queues.retain(|_, queue| queue.strong_count() > 0);
    let place = repo.as_path();
    if let Some(queue) = queues.get(place).and_then(Weak::upgrade) {
        return queue;
    }
    let queue = Arc::new(Queue::new(()));
    queues.insert(place.to_owned(), Arc::downgrade(&queue));
    queue
}
