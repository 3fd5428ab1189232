//! Those who follow logs while jobs write them. They are told that there is something to see; nobody asks the database for it.

use std::{
    any::Any,
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use db::Tx;
use kernel::{
    Error, Result,
    ids::{JobId, PipelineId},
};
use tokio::sync::watch;

use crate::slots::SlotOwner;

/// Followers of all logs together.
const MOST: usize = 1_000;
/// Of these, followers that one person or address has.
const MOST_OF_ONE: usize = 50;
/// Seconds after which it is worth to try again.
const LATER: u64 = 30;

/// What followers are told. Only changes matter, so one who is slow misses nothing by hearing the last of them alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pulse {
    /// Grows with each piece of the log.
    pieces: u64,
    /// Grows when the job went on, or when somebody else may see its log than before.
    pub(super) facts: u64,
}

#[derive(Debug)]
struct LogSubject {
    pipeline: PipelineId,
    sender: watch::Sender<Pulse>,
    followers: usize,
}

#[derive(Debug, Default)]
struct State {
    logs: HashMap<JobId, LogSubject>,
    /// How many each has.
    own: HashMap<SlotOwner, usize>,
    followers: usize,
    is_closed: bool,
}

/// All followers of this server.
#[derive(Clone, Debug, Default)]
pub struct LogFollowers(Arc<Mutex<State>>);

/// Somebody's place among the followers of a log, given back when it is dropped.
#[derive(Debug)]
pub(super) struct FollowerSlot {
    all: LogFollowers,
    job: JobId,
    who: SlotOwner,
    pub(super) pulse: watch::Receiver<Pulse>,
}

impl LogFollowers {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place.
    ///
    /// # Errors
    /// `TooMany` where all places are taken, `Unavailable` where the server is about to stop.
    pub(super) fn follow(
        &self,
        job: JobId,
        pipeline: PipelineId,
        who: SlotOwner,
    ) -> Result<FollowerSlot> {
        let mut state = self.state();
        if state.is_closed {
            return Err(Error::out_of_reach("the server stops"));
        }
        let own = state.own.get(&who).copied().unwrap_or_default();
        if state.followers >= MOST || own >= MOST_OF_ONE {
            return Err(Error::too_many(LATER));
        }
        state.followers += 1;
        *state.own.entry(who).or_default() += 1;
        let new = || LogSubject { pipeline, sender: watch::Sender::default(), followers: 0 };
        let followed = state.logs.entry(job).or_insert_with(new);
        followed.followers += 1;
        let pulse = followed.sender.subscribe();
        Ok(FollowerSlot { all: self.clone(), job, who, pulse })
    }

    /// There is more of a log.
    pub(super) fn grew(&self, job: JobId) {
        if let Some(followed) = self.state().logs.get(&job) {
            followed.sender.send_modify(|pulse| pulse.pieces += 1);
        }
    }

    /// What is known of a job has changed, so that its followers look it up.
    pub(super) fn changed(&self, job: JobId) {
        if let Some(followed) = self.state().logs.get(&job) {
            followed.sender.send_modify(|pulse| pulse.facts += 1);
        }
    }

    fn pipeline_changed(&self, pipeline: PipelineId) {
        for followed in self.state().logs.values().filter(|one| one.pipeline == pipeline) {
            followed.sender.send_modify(|pulse| pulse.facts += 1);
        }
    }

    /// Hears, inside of a transaction, which jobs end or go.
    pub(crate) fn on_event(&self, tx: &mut Tx<'_>, fact: &dyn Any) {
        let (all, pipeline, jobs) = match fact.downcast_ref() {
            Some(ci::Event::JobsMoved { jobs, .. }) => {
                let ended = jobs.iter().filter(|one| one.status.is_complete());
                (self.clone(), None, ended.map(|one| one.job).collect())
            }
            Some(ci::Event::JobErased { job, .. }) => (self.clone(), None, vec![*job]),
            Some(ci::Event::PipelineRemoved { pipeline, .. }) => {
                (self.clone(), Some(*pipeline), Vec::new())
            }
            _ => return,
        };
        if pipeline.is_some() || !jobs.is_empty() {
            tx.after_commit(move || {
                jobs.into_iter().for_each(|job| all.changed(job));
                pipeline.into_iter().for_each(|pipeline| all.pipeline_changed(pipeline));
            });
        }
    }

    /// Sends everybody away: the server stops.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        // Whoever waits hears that nobody will ever say anything.
        state.logs.clear();
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.state().followers
    }
}

impl Drop for FollowerSlot {
    fn drop(&mut self) {
        let mut state = self.all.state();
        state.followers = state.followers.saturating_sub(1);
        if let Some(own) = state.own.get_mut(&self.who) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                state.own.remove(&self.who);
            }
        }
        if let Some(followed) = state.logs.get_mut(&self.job) {
            followed.followers = followed.followers.saturating_sub(1);
            if followed.followers == 0 {
                state.logs.remove(&self.job);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::ids::{JobId, PipelineId, UserId};

    use super::{LogFollowers, MOST, MOST_OF_ONE};
    use crate::slots::SlotOwner;

    const LOG: (JobId, PipelineId) = (JobId(1), PipelineId(2));

    #[test]
    fn nobody_has_all_places_and_each_is_given_back() {
        let all = LogFollowers::default();
        let follow = |user: i64| all.follow(LOG.0, LOG.1, SlotOwner::User(UserId(user)));

        let own: Vec<_> = (0..MOST_OF_ONE).map(|_| follow(1).unwrap()).collect();
        assert!(follow(1).is_err_and(|refused| refused.retry_after().is_some()));
        let others: Vec<_> = (MOST_OF_ONE..MOST)
            .map(|place| follow(2 + i64::try_from(place / MOST_OF_ONE).unwrap()).unwrap())
            .collect();
        assert!(follow(1_000).is_err_and(|refused| refused.retry_after().is_some()));
        drop((own, others));
        assert_eq!(all.count(), 0);
        assert!(all.state().logs.is_empty() && all.state().own.is_empty());
    }

    #[test]
    fn a_follower_hears_of_its_own_log_alone_and_of_the_end() {
        let all = LogFollowers::default();
        let mut following = all.follow(LOG.0, LOG.1, SlotOwner::Address(None)).unwrap();
        all.grew(JobId(9));
        all.pipeline_changed(PipelineId(9));
        assert!(!following.pulse.has_changed().unwrap());

        all.grew(LOG.0);
        assert!(following.pulse.has_changed().unwrap());
        let before = following.pulse.borrow_and_update().facts;
        all.pipeline_changed(LOG.1);
        assert_eq!(following.pulse.borrow_and_update().facts, before + 1);
        all.close();
        assert!(following.pulse.has_changed().is_err());
        assert!(all.follow(LOG.0, LOG.1, SlotOwner::Address(None)).is_err());
    }
}
