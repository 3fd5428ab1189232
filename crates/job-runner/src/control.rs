//! Cancellation and timeout of a running job.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Reasons for which a job stops early. A later one outranks an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Interrupt {
    /// Somebody cancelled it: what comes after the script still runs.
    Canceled,
    /// This program ends.
    RunnerStopped,
    /// The server takes no more of it.
    Aborted,
}

/// The place where a job's threads meet: interrupts arrive here, and waits end here.
#[derive(Debug, Default)]
pub(crate) struct Control {
    interrupt: Mutex<Option<Interrupt>>,
    changed: Condvar,
}

impl Control {
    fn lock(&self) -> MutexGuard<'_, Option<Interrupt>> {
        self.interrupt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn interrupt(&self, interrupt: Interrupt) {
        let mut state = self.lock();
        *state = (*state).max(Some(interrupt));
        self.changed.notify_all();
    }

    pub(crate) fn interrupted(&self) -> Option<Interrupt> {
        *self.lock()
    }

    /// The interrupt, when it is at least as strong as `least`.
    pub(crate) fn at_least(&self, least: Interrupt) -> Option<Interrupt> {
        self.interrupted().filter(|interrupt| *interrupt >= least)
    }

    /// Lets whoever waits look again.
    pub(crate) fn wake(&self) {
        let _state = self.lock();
        self.changed.notify_all();
    }

    /// Waits until `done` holds for the interrupt of that moment, or the time has come. Returns whether it holds.
    pub(crate) fn wait_until(
        &self,
        until: Option<Instant>,
        mut done: impl FnMut(Option<Interrupt>) -> bool,
    ) -> bool {
        let mut state = self.lock();
        loop {
            if done(*state) {
                return true;
            }
            let Some(until) = until else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let Some(left) = until.checked_duration_since(Instant::now()) else { return false };
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits for a time, or until the job is to stop at once.
    pub(crate) fn pause(&self, time: Duration) {
        self.wait_until(Instant::now().checked_add(time), |state| {
            state >= Some(Interrupt::RunnerStopped)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stronger_interrupt_stays() {
        let control = Control::default();
        control.interrupt(Interrupt::Aborted);
        control.interrupt(Interrupt::Canceled);
        assert_eq!(control.interrupted(), Some(Interrupt::Aborted));
        assert_eq!(control.at_least(Interrupt::Canceled), Some(Interrupt::Aborted));
    }

    #[test]
    fn a_cancelled_job_still_finishes_after_its_script() {
        let control = Control::default();
        control.interrupt(Interrupt::Canceled);
        assert_eq!(control.at_least(Interrupt::RunnerStopped), None);
    }

    #[test]
    fn a_wait_ends_when_its_time_has_come() {
        let control = Control::default();
        assert!(!control.wait_until(Some(Instant::now()), |state| state.is_some()));
    }
}
