//! Jobs on their way to a runner that may have hung up.

use ci::job::{Job, queue::give_back};
use kernel::ids::JobId;
use tokio::runtime::Handle;

use crate::Forge;

/// As long as it lives nobody else takes the job here. Where it goes without a word, the next one who waits is told.
pub(super) struct JobReservation {
    forge: Forge,
    job: JobId,
    is_settled: bool,
}

impl JobReservation {
    /// `None` where the job is handed over to somebody else.
    pub(super) fn new(forge: &Forge, job: JobId) -> Option<Self> {
        let is_new = forge.handing_over.add(job);
        is_new.then(|| Self { forge: forge.clone(), job, is_settled: false })
    }

    pub(super) fn job(&self) -> JobId {
        self.job
    }

    /// The job does not wait any more.
    pub(super) fn mark_taken(mut self) {
        self.is_settled = true;
    }
}

impl Drop for JobReservation {
    fn drop(&mut self) {
        self.forge.handing_over.remove(self.job);
        if !self.is_settled {
            self.forge.bell.ring(self.job);
        }
    }
}

/// A job that has begun for a runner which does not know it yet. Where the runner has hung up, the job waits again.
pub(super) struct StartedJob {
    forge: Forge,
    job: JobId,
    is_heard: bool,
}

impl StartedJob {
    pub(super) fn new(forge: Forge, job: &Job) -> Self {
        Self { forge, job: job.id, is_heard: false }
    }

    /// The runner is told now.
    pub(super) fn confirm(mut self) {
        self.is_heard = true;
    }
}

impl Drop for StartedJob {
    fn drop(&mut self) {
        if self.is_heard {
            return;
        }
        let (forge, job) = (self.forge.clone(), self.job);
        let given_back = async move {
            match forge.db.write(move |tx| give_back(tx, job)).await {
                Ok(()) => tracing::info!(%job, "a runner hung up before it was given its job"),
                Err(cause) => tracing::error!(error = %cause, %job, "a job runs for nobody"),
            }
        };
        // When the program ends, the sweep finds the job.
        if Handle::try_current().is_ok() {
            kernel::task::spawn(given_back);
        }
    }
}
