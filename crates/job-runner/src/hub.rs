//! The state that the pollers of a process share: job limits, running jobs, and shutdown.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::control::{Control, Interrupt};

/// The stage of a shutdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    #[default]
    Running,
    /// No new jobs; those that run are waited for.
    Draining,
    /// Jobs that run are stopped.
    Stopping,
}

#[derive(Debug, Default)]
struct State {
    level: Level,
    /// Permits given out.
    busy: usize,
    busy_of: HashMap<usize, usize>,
    jobs: HashMap<u64, Arc<Control>>,
    next: u64,
    /// How many jobs have ended.
    ended: u64,
    pollers: usize,
}

#[derive(Debug)]
pub(crate) struct Hub {
    concurrent: usize,
    state: Mutex<State>,
    changed: Condvar,
}

/// The right to do one job.
#[derive(Debug)]
pub(crate) struct JobPermit {
    hub: Arc<Hub>,
    runner: usize,
}

impl Drop for JobPermit {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        state.busy = state.busy.saturating_sub(1);
        if let Some(busy) = state.busy_of.get_mut(&self.runner) {
            *busy = busy.saturating_sub(1);
        }
        self.hub.changed.notify_all();
    }
}

/// A job counts as running while this lives.
#[derive(Debug)]
pub(crate) struct RunningJob {
    hub: Arc<Hub>,
    key: u64,
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        state.jobs.remove(&self.key);
        state.ended += 1;
        drop(state);
        self.hub.changed.notify_all();
    }
}

impl Hub {
    pub(crate) fn new(concurrent: usize, pollers: usize) -> Arc<Self> {
        let state = Mutex::new(State { pollers, ..State::default() });
        Arc::new(Self { concurrent, state, changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes one level further.
    pub(crate) fn raise(&self) {
        let mut state = self.lock();
        state.level = match state.level {
            Level::Running => Level::Draining,
            _ => Level::Stopping,
        };
        if state.level == Level::Stopping {
            state.jobs.values().for_each(|job| job.interrupt(Interrupt::RunnerStopped));
        }
        self.changed.notify_all();
    }

    /// Waits for a time; false when it is time to stop.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.lock();
        while state.level == Level::Running {
            let Some(left) = until.checked_duration_since(Instant::now()) else { return true };
            if left.is_zero() {
                return true;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Waits until one more job may run; `None` when it is time to stop. `limit` is that of the runner, 0 for none.
    pub(crate) fn acquire(self: &Arc<Self>, runner: usize, limit: usize) -> Option<JobPermit> {
        let mut state = self.lock();
        loop {
            if state.level > Level::Running {
                return None;
            }
            let own = state.busy_of.get(&runner).copied().unwrap_or_default();
            if state.busy < self.concurrent && (limit == 0 || own < limit) {
                state.busy += 1;
                *state.busy_of.entry(runner).or_default() += 1;
                return Some(JobPermit { hub: Arc::clone(self), runner });
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether a request for a job may be held open by the server: nobody else must wait for its permit meanwhile.
    pub(crate) fn may_hold(&self) -> bool {
        let state = self.lock();
        self.concurrent.saturating_sub(state.busy) + 1 >= state.pollers
    }

    pub(crate) fn register(self: &Arc<Self>, job: &Arc<Control>) -> RunningJob {
        let mut state = self.lock();
        let key = state.next;
        state.next += 1;
        if state.level == Level::Stopping {
            job.interrupt(Interrupt::RunnerStopped);
        }
        state.jobs.insert(key, Arc::clone(job));
        RunningJob { hub: Arc::clone(self), key }
    }

    pub(crate) fn poller_ended(&self) {
        let mut state = self.lock();
        state.pollers = state.pollers.saturating_sub(1);
        self.changed.notify_all();
    }

    /// Waits until so many jobs have ended; false when the time was up before.
    pub(crate) fn wait_for_jobs(&self, number: u64, patience: Duration) -> bool {
        let waits = |state: &mut State| state.ended < number;
        let waited = self.changed.wait_timeout_while(self.lock(), patience, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Waits until nothing more will happen: all pollers have given up, or it is time to stop, and no job runs. Returns
    /// whether stopping was asked for.
    pub(crate) fn wait_for_end(&self) -> bool {
        let mut state = self.lock();
        // A request that is held open is given up; a job that it brought in this moment is found by the server's sweep.
        while !(state.jobs.is_empty() && (state.pollers == 0 || state.level > Level::Running)) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.level > Level::Running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_jobs_run_than_allowed() {
        let hub = Hub::new(2, 1);
        let first = hub.acquire(0, 0);
        let second = hub.acquire(0, 0);
        assert!(first.is_some() && second.is_some());
        drop(first);
        assert!(hub.acquire(0, 0).is_some());
    }

    #[test]
    fn whoever_waits_for_a_permit_stops_with_the_program() {
        let hub = Hub::new(1, 1);
        let _only = hub.acquire(0, 0);
        let own = Arc::clone(&hub);
        let waiting = std::thread::spawn(move || own.acquire(0, 0).is_none());
        hub.raise();
        assert!(waiting.join().unwrap());
    }

    #[test]
    fn a_second_signal_stops_jobs() {
        let hub = Hub::new(1, 1);
        let job = Arc::new(Control::default());
        let _registered = hub.register(&job);
        hub.raise();
        assert_eq!(job.interrupted(), None);
        hub.raise();
        assert_eq!(job.interrupted(), Some(Interrupt::RunnerStopped));
    }

    #[test]
    fn a_request_is_not_held_while_another_runner_needs_the_permit() {
        let hub = Hub::new(1, 2);
        let _first = hub.acquire(0, 0);
        assert!(!hub.may_hold());
        let alone = Hub::new(1, 1);
        let _first = alone.acquire(0, 0);
        assert!(alone.may_hold());
    }
}
