//! Which jobs are being handed over.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use kernel::ids::JobId;

/// Jobs that are being handed over, so that no two runners are prepared for one.
#[derive(Debug, Default)]
pub struct HandingOver(Mutex<HashSet<JobId>>);

/// As long as it lives nobody else takes the job here.
pub(super) struct Reserved<'h> {
    all: &'h HandingOver,
    job: JobId,
}

impl HandingOver {
    pub(super) fn all(&self) -> HashSet<JobId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn reserve(&self, job: JobId) -> Option<Reserved<'_>> {
        let new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(job);
        new.then_some(Reserved { all: self, job })
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.job);
    }
}
