//! The job that a waiting runner is woken for. It goes to the next one if the runner goes away.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use kernel::ids::JobId;
use tokio::sync::Notify;

use super::{Mailbox, QueuedJob};

/// The place of a waiting runner, which receives the job it is woken for.
#[derive(Debug, Default)]
pub(super) struct Seat {
    notify: Notify,
    is_woken: AtomicBool,
    arrival: Mutex<Option<QueuedJob>>,
}

impl Seat {
    fn arrival(&self) -> std::sync::MutexGuard<'_, Option<QueuedJob>> {
        self.arrival.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, arrival: QueuedJob) {
        *self.arrival() = Some(arrival);
    }

    pub(super) fn has_job(&self) -> bool {
        self.arrival().is_some()
    }

    pub(super) fn wake(&self) {
        self.is_woken.store(true, Ordering::Release);
        self.notify.notify_one();
    }
}

/// A job offered to a waiting runner. Dropping it offers the job to the next one.
#[derive(Debug)]
pub struct Assignment<'m> {
    mailbox: &'m Mailbox,
    seat: Arc<Seat>,
}

impl<'m> Assignment<'m> {
    pub(super) fn new(mailbox: &'m Mailbox) -> Self {
        Self { mailbox, seat: Arc::default() }
    }

    pub(super) fn seat(&self) -> &Arc<Seat> {
        &self.seat
    }

    pub(super) async fn woken(&self) {
        self.seat.notify.notified().await;
    }

    pub(super) fn was_woken(&self) -> bool {
        self.seat.is_woken.load(Ordering::Acquire)
    }

    /// Somebody else answers for this job from now on.
    pub fn leave(&self, job: JobId) {
        self.seat.arrival().take_if(|own| own.job == job);
    }

    /// Jobs were looked for, and this one taken. Where it is another one than the runner was woken for, that one is
    /// handed on.
    pub fn done(self, taken: Option<JobId>) {
        let mut arrival = self.seat.arrival();
        if taken.is_none_or(|taken| arrival.as_ref().is_some_and(|own| own.job == taken)) {
            *arrival = None;
        }
    }
}

impl Drop for Assignment<'_> {
    fn drop(&mut self) {
        self.mailbox.state().leave(&self.seat);
        let left = self.seat.arrival().take();
        if let Some(arrival) = left {
            self.mailbox.announce(&[arrival]);
        }
    }
}
