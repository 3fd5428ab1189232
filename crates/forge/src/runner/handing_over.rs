//! Which jobs are being handed over.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use kernel::ids::JobId;

use super::Bell;

/// Jobs that are being handed over, so that no two runners are prepared for one.
#[derive(Debug, Default)]
pub struct HandingOver(Mutex<HashSet<JobId>>);

/// As long as it lives nobody else takes the job here. Where it goes without a word, the next one who waits is told.
pub(super) struct Reserved<'h> {
    all: &'h HandingOver,
    bell: &'h Bell,
    job: JobId,
    is_settled: bool,
}

impl HandingOver {
    pub(super) fn all(&self) -> HashSet<JobId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn reserve<'h>(&'h self, job: JobId, bell: &'h Bell) -> Option<Reserved<'h>> {
        let new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(job);
        // Made only where it is new: a reservation that is dropped ends.
        new.then(|| Reserved { all: self, bell, job, is_settled: false })
    }
}

impl Reserved<'_> {
    /// The job does not wait any more.
    pub(super) fn settle(mut self) {
        self.is_settled = true;
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.all.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.job);
        if !self.is_settled {
            self.bell.ring(self.job);
        }
    }
}
