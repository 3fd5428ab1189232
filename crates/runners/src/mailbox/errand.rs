//! What a runner is woken for: a job that is handed on where the runner goes away without it.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use kernel::ids::JobId;
use tokio::sync::Notify;

use super::{Arrival, Mailbox};

/// Where a runner waits, and is given the job that it is woken for.
#[derive(Debug, Default)]
pub(super) struct Seat {
    notify: Notify,
    is_woken: AtomicBool,
    arrival: Mutex<Option<Arrival>>,
}

impl Seat {
    fn arrival(&self) -> std::sync::MutexGuard<'_, Option<Arrival>> {
        self.arrival.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, arrival: Arrival) {
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

/// The way of a runner from its seat to a job. Whoever drops it without a word hands the job on to the next one who waits.
#[derive(Debug)]
pub struct Errand<'m> {
    mailbox: &'m Mailbox,
    seat: Arc<Seat>,
}

impl<'m> Errand<'m> {
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

impl Drop for Errand<'_> {
    fn drop(&mut self) {
        self.mailbox.state().leave(&self.seat);
        let left = self.seat.arrival().take();
        if let Some(arrival) = left {
            self.mailbox.announce(&[arrival]);
        }
    }
}
