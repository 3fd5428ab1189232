//! Rebases that are under way here.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::ids::MergeRequestId;

/// The merge requests whose branches are being moved onto their targets.
#[derive(Clone, Debug, Default)]
pub struct Rebases(Arc<Mutex<HashSet<MergeRequestId>>>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Underway {
    all: Rebases,
    id: MergeRequestId,
}

impl Rebases {
    /// `None` where it is under way already.
    pub fn begin(&self, id: MergeRequestId) -> Option<Underway> {
        self.all().insert(id).then(|| Underway { all: self.clone(), id })
    }

    pub fn has(&self, id: MergeRequestId) -> bool {
        self.all().contains(&id)
    }

    fn all(&self) -> MutexGuard<'_, HashSet<MergeRequestId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.all.all().remove(&self.id);
    }
}
