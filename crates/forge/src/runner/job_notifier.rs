//! Tells runners that wait of jobs that become pending, once that is certain.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use ci::{
    Status,
    job::{JobKind, PendingJob, QueueStore as _, SpecStore as _},
};
use db::{Database, Tx};
use kernel::{
    Result,
    ids::{JobId, ProjectId},
};
use org::runner_places::job_homes;
use runners::mailbox::{Mailbox, QueuedJob};
use std::any::Any;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::queue::home;

/// Where the database cannot be asked which jobs wait, it is asked again after so long.
const AGAIN: Duration = Duration::from_secs(1);

/// Those who wait, and the way to them.
#[derive(Debug)]
pub struct JobNotifier {
    pub mailbox: Arc<Mailbox>,
    sender: UnboundedSender<Vec<JobId>>,
    receiver: Mutex<Option<UnboundedReceiver<Vec<JobId>>>>,
    /// Whether anybody ever waited here.
    is_heard: Arc<AtomicBool>,
}

impl Default for JobNotifier {
    fn default() -> Self {
        let (sender, receiver) = unbounded_channel();
        Self {
            mailbox: Arc::default(),
            sender,
            receiver: Mutex::new(Some(receiver)),
            is_heard: Arc::default(),
        }
    }
}

impl JobNotifier {
    /// Hears, inside of a transaction, what may give runners something to do.
    pub(crate) fn on_event(&self, tx: &mut Tx<'_>, fact: &dyn Any) {
        let jobs: Vec<JobId> = match fact.downcast_ref() {
            Some(ci::Event::JobsMoved { jobs, .. }) => {
                let waits = jobs
                    .iter()
                    .filter(|job| job.status == Status::Pending && job.kind == JobKind::Build);
                waits.map(|job| job.job).collect()
            }
            _ => Vec::new(),
        };
        if !jobs.is_empty() {
            let (sender, is_heard) = (self.sender.clone(), Arc::clone(&self.is_heard));
            tx.after_commit(move || {
                // Asked now: who began to wait while this was written has not seen these jobs.
                if is_heard.load(Ordering::Acquire) {
                    // Nobody listens any more when the program ends.
                    drop(sender.send(jobs));
                }
            });
        }
        if let Some(runners::Event::RunnerChanged { runner }) = fact.downcast_ref() {
            let (mailbox, runner) = (Arc::clone(&self.mailbox), *runner);
            tx.after_commit(move || mailbox.forget(runner));
        }
    }

    /// A job that was to be handed over may still wait.
    pub(super) fn ring(&self, job: JobId) {
        if self.is_heard.load(Ordering::Acquire) {
            // Nobody listens any more when the program ends.
            drop(self.sender.send(vec![job]));
        }
    }

    /// From now on runners that wait are told. To be called by whoever is about to let one wait.
    pub(super) fn listen(&self, db: &Database) {
        if self.is_heard.swap(true, Ordering::AcqRel) {
            return;
        }
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(receiver) = receiver {
            kernel::task::spawn(announce(db.clone(), Arc::clone(&self.mailbox), receiver));
        }
    }
}

async fn announce(
    db: Database,
    mailbox: Arc<Mailbox>,
    mut receiver: UnboundedReceiver<Vec<JobId>>,
) {
    while let Some(mut jobs) = receiver.recv().await {
        while let Ok(more) = receiver.try_recv() {
            jobs.extend(more);
        }
        let jobs: Arc<[JobId]> = jobs.into();
        loop {
            let asked = Arc::clone(&jobs);
            match db.read(move |tx| arrivals(tx, &asked)).await {
                Ok(arrivals) => break mailbox.announce(&arrivals),
                // Nobody who waits would look for these jobs before long.
                Err(cause) => tracing::error!(error = %cause, "runners were not told of jobs yet"),
            }
            tokio::time::sleep(AGAIN).await;
        }
    }
}

/// Those of these jobs that wait.
fn arrivals(tx: &mut Tx<'_>, jobs: &[JobId]) -> Result<Vec<QueuedJob>> {
    let jobs: Vec<PendingJob> = tx.still_waiting(jobs)?;
    let mut projects: Vec<ProjectId> = jobs.iter().map(|job| job.project_id).collect();
    projects.sort_unstable();
    projects.dedup();
    let homes: HashMap<ProjectId, Arc<_>> =
        job_homes(tx, &projects)?.into_iter().map(|of| (of.project, Arc::new(home(of)))).collect();
    let specs: Vec<_> = jobs.iter().filter_map(|job| job.spec_id).collect();
    let tags = tx.tags_of(&specs)?;
    let arrival = |job: &PendingJob| {
        let home = Arc::clone(homes.get(&job.project_id)?);
        let tags = job.spec_id.and_then(|spec| tags.get(&spec)).cloned().unwrap_or_default();
        Some(QueuedJob { job: job.id, home, tags, protected: job.protected })
    };
    Ok(jobs.iter().filter_map(arrival).collect())
}
