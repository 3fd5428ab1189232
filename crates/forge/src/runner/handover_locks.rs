//! Locks of jobs that are being assigned to a runner.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use kernel::ids::JobId;

/// Jobs that are being handed over, so that no two runners are prepared for one.
#[derive(Debug, Default)]
pub struct HandoverLocks(Mutex<HashSet<JobId>>);

impl HandoverLocks {
    fn jobs(&self) -> MutexGuard<'_, HashSet<JobId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn all(&self) -> HashSet<JobId> {
        self.jobs().clone()
    }

    /// False where it is handed over already.
    pub(super) fn add(&self, job: JobId) -> bool {
        self.jobs().insert(job)
    }

    pub(super) fn remove(&self, job: JobId) {
        self.jobs().remove(&job);
    }
}
