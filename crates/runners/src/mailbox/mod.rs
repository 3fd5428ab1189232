//! Long polling for jobs, in memory alone. Each runner has a cursor that changes whenever a job becomes pending that it
//! could take; a request with the current cursor waits.

mod assignment;

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use kernel::{
    Ts,
    ids::{JobId, RunnerId},
};
use tokio::time::{Instant, timeout};

pub use assignment::Assignment;

use self::assignment::Seat;
use crate::matching::{JobMatcher, QueueProject};

/// A cursor counts no longer than this: what else may let a runner take a job that it could not take before (a project
/// that switches runners on, a tag of the group) is found at the latest then.
const LIFETIME: Duration = Duration::from_secs(600);
/// Runners that have not polled for so long are forgotten.
const FORGET: Duration = Duration::from_secs(3600);
/// A runner that has not asked for so long does not keep others of its process from waiting.
const ASKS_AGAIN: Duration = Duration::from_secs(120);
/// So many runners are known before those are looked for that may be forgotten.
const MANY: usize = 1024;

/// The program that asks: runners that share one wait together, since it may have few hands to ask with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process(pub String);

/// A job that became pending.
#[derive(Clone, Debug)]
pub struct QueuedJob {
    pub job: JobId,
    pub home: Arc<QueueProject>,
    pub tags: Vec<String>,
    pub protected: bool,
}

#[derive(Debug)]
struct KnownRunner {
    taker: Arc<JobMatcher>,
    cursor: String,
    since: Instant,
    asked: Instant,
    /// Whether there may be a job for it: until it asks and there is none.
    is_wanted: bool,
    /// Who asks for it, and since when they have nothing to do.
    processes: HashMap<Process, Instant>,
}

impl KnownRunner {
    fn record_call(&mut self, process: &Process, now: Instant) {
        self.asked = now;
        if self.processes.len() >= MANY {
            self.processes.clear();
        }
        self.processes.entry(process.clone()).or_insert(now);
    }
}

#[derive(Debug)]
struct IdleRunner {
    runner: RunnerId,
    process: Process,
    /// Since when it has nothing to do.
    idle: Instant,
    seat: Arc<Seat>,
}

#[derive(Debug, Default)]
struct State {
    known: HashMap<RunnerId, KnownRunner>,
    waiting: Vec<IdleRunner>,
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
    pub fn cursor(&self, taker: &JobMatcher, process: &Process) -> String {
        let now = Instant::now();
        let mut state = self.state();
        if state.known.len() >= MANY {
            state.known.retain(|_, known| known.asked + FORGET > now);
        }
        let known = state.known.entry(taker.runner).or_insert_with(|| KnownRunner {
            taker: Arc::new(taker.clone()),
            cursor: fresh(),
            since: now,
            asked: now,
            is_wanted: true,
            processes: HashMap::new(),
        });
        if known.since + LIFETIME <= now || *known.taker != *taker {
            (known.cursor, known.since) = (fresh(), now);
            known.taker = Arc::new(taker.clone());
        }
        known.record_call(process, now);
        known.cursor.clone()
    }

    /// The runner of this token, where it asks once more with its present cursor: all that is known of it still holds. At the
    /// moment `at` its token may have expired.
    pub fn unchanged(
        &self,
        token_digest: &str,
        process: &Process,
        cursor: &str,
        at: Ts,
    ) -> Option<RunnerId> {
        let now = Instant::now();
        let mut state = self.state();
        let mut all = state.known.iter_mut();
        let (runner, known) = all.find(|(_, known)| known.cursor == cursor)?;
        let is_expired = known.taker.token_expires_at.is_some_and(|end| end <= at);
        let holds = known.taker.active && !is_expired && known.since + LIFETIME > now;
        if !holds || known.taker.token_digest != token_digest {
            return None;
        }
        known.record_call(process, now);
        Some(*runner)
    }

    /// There was no job for a runner that showed this cursor.
    pub fn found_none(&self, runner: RunnerId, cursor: &str) {
        if let Some(known) = self.state().known.get_mut(&runner)
            && known.cursor == cursor
        {
            known.is_wanted = false;
        }
    }

    /// A runner got a job, and there may be more for it.
    pub fn got_job(&self, runner: RunnerId, process: &Process) {
        if let Some(known) = self.state().known.get_mut(&runner) {
            known.is_wanted = true;
            known.processes.insert(process.clone(), Instant::now());
        }
    }

    /// Waits while the cursor of a runner is this one, but no longer than `hold`, and not while there may be a job for
    /// another runner of the process. `None` where there is nothing to look for.
    pub async fn wait(
        &self,
        runner: RunnerId,
        process: &Process,
        cursor: &str,
        hold: Duration,
    ) -> Option<Assignment<'_>> {
        let errand = Assignment::new(self);
        {
            let mut state = self.state();
            let known = state.known.get(&runner).filter(|known| known.cursor == cursor);
            let Some(known) = known else { return Some(errand) };
            if state.is_wanted_elsewhere(runner, process) {
                return None;
            }
            if state.closed {
                return None;
            }
            let idle = known.processes.get(process).copied().unwrap_or(known.asked);
            let seat = Arc::clone(errand.seat());
            state.waiting.push(IdleRunner { runner, process: process.clone(), idle, seat });
        }
        // Who hangs up does not stay in the list, and hands on what it was woken for.
        drop(timeout(hold, errand.woken()).await);
        let mut state = self.state();
        let has_job = state.leave(errand.seat());
        let is_current = state.known.get(&runner).is_some_and(|known| known.cursor == cursor);
        drop(state);
        (has_job || (errand.was_woken() && !is_current)).then_some(errand)
    }

    /// Jobs have become pending: the runners that could take them are told, and as many of them wake as there are jobs.
    pub fn announce(&self, arrivals: &[QueuedJob]) {
        let mut state = self.state();
        let mut waking: Vec<Arc<Seat>> = Vec::new();
        for arrival in arrivals {
            let takers = state.renew_cursors(|taker| {
                taker.serves(&arrival.home) && taker.takes(&arrival.tags, arrival.protected)
            });
            state.wake_for(arrival, &takers, &mut waking);
        }
        drop(state);
        waking.iter().for_each(|seat| seat.wake());
    }

    /// A runner was changed or is gone.
    pub fn forget(&self, runner: RunnerId) {
        let mut state = self.state();
        state.known.remove(&runner);
        let gone = state.waiting.extract_if(.., |waiting| waiting.runner == runner);
        let waking: Vec<Arc<Seat>> = gone.map(|waiting| waiting.seat).collect();
        drop(state);
        waking.iter().for_each(|seat| seat.wake());
    }

    /// The server stops: who waits is told that there is nothing, and nobody waits any more.
    pub fn close(&self) {
        let mut state = self.state();
        state.closed = true;
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.iter().for_each(|waiting| waiting.seat.wake());
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }
}

impl State {
    /// Whether there may be a job for another runner of the process, which cannot ask while this one waits.
    fn is_wanted_elsewhere(&self, runner: RunnerId, process: &Process) -> bool {
        let now = Instant::now();
        self.known.iter().any(|(id, known)| {
            *id != runner
                && known.is_wanted
                && known.asked + ASKS_AGAIN > now
                && known.processes.contains_key(process)
        })
    }

    /// Takes a seat out of the list; true where a job was put on it.
    fn leave(&mut self, seat: &Arc<Seat>) -> bool {
        self.waiting.retain(|waiting| !Arc::ptr_eq(&waiting.seat, seat));
        seat.has_job()
    }

    /// Gives new cursors to those that fit.
    fn renew_cursors(&mut self, fits: impl Fn(&JobMatcher) -> bool) -> HashSet<RunnerId> {
        let mut renewed = HashSet::new();
        for (id, known) in self.known.iter_mut().filter(|(_, known)| fits(&known.taker)) {
            (known.cursor, known.since) = (fresh(), Instant::now());
            renewed.insert(*id);
        }
        renewed
    }

    /// Takes the one out of the list who waits, could take the job and has had nothing to do for longest. Where none
    /// does, those are let go that wait beside one of the same process, so that it can ask for that one.
    fn wake_for(
        &mut self,
        arrival: &QueuedJob,
        takers: &HashSet<RunnerId>,
        waking: &mut Vec<Arc<Seat>>,
    ) {
        let able = self.waiting.iter().enumerate();
        let able = able.filter(|(_, waiting)| takers.contains(&waiting.runner));
        let first = able.min_by_key(|(_, waiting)| waiting.idle).map(|(position, _)| position);
        let released: HashSet<Process> = match first {
            Some(first) => {
                let woken = self.waiting.remove(first);
                woken.seat.put(arrival.clone());
                waking.push(woken.seat);
                HashSet::from([woken.process])
            }
            None => {
                let mut released = HashSet::new();
                for runner in takers {
                    let Some(known) = self.known.get_mut(runner) else { continue };
                    known.is_wanted = true;
                    released.extend(known.processes.keys().cloned());
                }
                released
            }
        };
        let others = self.waiting.extract_if(.., |waiting| {
            released.contains(&waiting.process) && !takers.contains(&waiting.runner)
        });
        waking.extend(others.map(|waiting| waiting.seat));
    }
}

#[cfg(test)]
mod tests;
