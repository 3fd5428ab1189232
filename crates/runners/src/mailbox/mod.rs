//! Runners that ask for a job while there is none: each has a cursor, a word that changes whenever a job becomes pending
//! that it could take. Who shows the present one is asked to wait, in memory alone.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kernel::ids::RunnerId;
use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use crate::matching::{Home, Taker};

/// A cursor counts no longer than this: what else may let a runner take a job that it could not take before (a project
/// that switches runners on, a tag of the group) is found at the latest then.
const LIFETIME: Duration = Duration::from_secs(600);
/// Who has not asked for so long is forgotten.
const FORGET: Duration = Duration::from_secs(3600);
/// So many runners are known before those are looked for that may be forgotten.
const MANY: usize = 1024;

/// The program that asks: runners that share one wait together, since it may have few hands to ask with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process(pub String);

/// A job that became pending.
#[derive(Clone, Debug)]
pub struct Arrival {
    pub home: Arc<Home>,
    pub tags: Vec<String>,
    pub protected: bool,
}

#[derive(Debug)]
struct Known {
    taker: Arc<Taker>,
    cursor: String,
    since: Instant,
    asked: Instant,
    processes: HashSet<Process>,
}

#[derive(Debug)]
struct Waiting {
    runner: RunnerId,
    process: Process,
    wake: Arc<Notify>,
}

#[derive(Debug, Default)]
struct State {
    known: HashMap<RunnerId, Known>,
    /// Who waits longest comes first.
    waiting: Vec<Waiting>,
    /// Whether the server stops, so that nobody is to wait any more.
    closed: bool,
}

/// All runners that ask here.
#[derive(Debug, Default)]
pub struct Mailbox(Mutex<State>);

fn fresh() -> String {
    hex::encode(rand::random::<[u8; 16]>())
}

impl Mailbox {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cursor of a runner that asks, and what it takes from now on. To be read before jobs are looked for: what
    /// arrives meanwhile changes it.
    pub fn cursor(&self, taker: &Taker, process: &Process) -> String {
        let now = Instant::now();
        let mut state = self.state();
        if state.known.len() >= MANY {
            state.known.retain(|_, known| known.asked + FORGET > now);
        }
        let known = state.known.entry(taker.runner).or_insert_with(|| Known {
            taker: Arc::new(taker.clone()),
            cursor: fresh(),
            since: now,
            asked: now,
            processes: HashSet::new(),
        });
        if known.since + LIFETIME <= now || *known.taker != *taker {
            (known.cursor, known.since) = (fresh(), now);
            known.taker = Arc::new(taker.clone());
        }
        known.asked = now;
        if known.processes.len() >= MANY {
            known.processes.clear();
        }
        known.processes.insert(process.clone());
        known.cursor.clone()
    }

    /// Waits while the cursor of a runner is this one, but no longer than `hold`. True where it is another one by then.
    pub async fn wait(
        &self,
        runner: RunnerId,
        process: &Process,
        cursor: &str,
        hold: Duration,
    ) -> bool {
        let wake = Arc::new(Notify::new());
        {
            let mut state = self.state();
            if state.known.get(&runner).is_none_or(|known| known.cursor != cursor) {
                return true;
            }
            if state.closed {
                return false;
            }
            let waiting = Waiting { runner, process: process.clone(), wake: Arc::clone(&wake) };
            state.waiting.push(waiting);
        }
        // Who hangs up does not stay in the list.
        let _place = Place { mailbox: self, wake: Arc::clone(&wake) };
        let woken = timeout(hold, wake.notified()).await.is_ok();
        woken && self.state().known.get(&runner).is_none_or(|known| known.cursor != cursor)
    }

    /// Jobs have become pending: the runners that could take them are told, and as many of them wake as there are jobs.
    pub fn announce(&self, arrivals: &[Arrival]) {
        let mut state = self.state();
        let mut waking: Vec<Arc<Notify>> = Vec::new();
        for arrival in arrivals {
            let takers = state.renew(|taker| {
                taker.serves(&arrival.home) && taker.takes(&arrival.tags, arrival.protected)
            });
            state.wake_for(&takers, &mut waking);
        }
        drop(state);
        waking.iter().for_each(|wake| wake.notify_one());
    }

    /// A runner was changed or is gone.
    pub fn forget(&self, runner: RunnerId) {
        let mut state = self.state();
        state.known.remove(&runner);
        let gone = state.waiting.extract_if(.., |waiting| waiting.runner == runner);
        let waking: Vec<Arc<Notify>> = gone.map(|waiting| waiting.wake).collect();
        drop(state);
        waking.iter().for_each(|wake| wake.notify_one());
    }

    /// The server stops: who waits is told that there is nothing, and nobody waits any more.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.iter().for_each(|waiting| waiting.wake.notify_one());
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }
}

impl State {
    /// Gives new cursors to those that fit.
    fn renew(&mut self, fits: impl Fn(&Taker) -> bool) -> HashSet<RunnerId> {
        let mut renewed = HashSet::new();
        for (id, known) in self.known.iter_mut().filter(|(_, known)| fits(&known.taker)) {
            (known.cursor, known.since) = (fresh(), Instant::now());
            renewed.insert(*id);
        }
        renewed
    }

    /// Takes one out of the list who waits and could take the job. Where none does, those are let go that wait beside one
    /// of the same process, so that it can ask for that one.
    fn wake_for(&mut self, takers: &HashSet<RunnerId>, waking: &mut Vec<Arc<Notify>>) {
        let first = self.waiting.iter().position(|waiting| takers.contains(&waiting.runner));
        let released: HashSet<Process> = match first {
            Some(first) => {
                let woken = self.waiting.remove(first);
                waking.push(woken.wake);
                HashSet::from([woken.process])
            }
            None => {
                let known = takers.iter().filter_map(|runner| self.known.get(runner));
                known.flat_map(|known| known.processes.iter().cloned()).collect()
            }
        };
        let others = self.waiting.extract_if(.., |waiting| {
            released.contains(&waiting.process) && !takers.contains(&waiting.runner)
        });
        waking.extend(others.map(|waiting| waiting.wake));
    }
}

/// A place among those who wait.
struct Place<'m> {
    mailbox: &'m Mailbox,
    wake: Arc<Notify>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.mailbox.state();
        state.waiting.retain(|waiting| !Arc::ptr_eq(&waiting.wake, &self.wake));
    }
}

#[cfg(test)]
mod tests;
