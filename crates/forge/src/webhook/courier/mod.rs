//! The HTTP clients and request slots that all deliveries share.

mod batch_size;
mod conclusions;
mod hosts;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use kernel::{
    Error, Result, Ts,
    ids::{NamespaceId, ProjectId, UserId},
    task::spawn_blocking,
};
use outbound::{Answer, Client, FetchError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

pub(super) use self::conclusions::{Conclusion, Conclusions};
use self::{batch_size::BatchSize, hosts::Hosts};
use super::{request::Request, rules::OutgoingRules};

/// Requests under way at once.
const IN_FLIGHT: usize = 64;
/// Deliveries in memory: under way, waiting for a place, or being written down.
const TAKEN: usize = 256;
/// So often somebody may have something sent for one project or group in a minute.
const MOST_STARTS: usize = 5;
const START_WINDOW: time::Duration = time::Duration::minutes(1);
/// Seconds after which there may be a place again.
const PLACE_WAIT: u64 = 10;

/// The HTTP clients and limits that all deliveries share.
#[derive(Debug)]
pub struct Courier {
    pub(crate) wake: Arc<Notify>,
    pub rules: OutgoingRules,
    pub(super) web: Client,
    pub(super) system: Client,
    pub(super) in_flight: Arc<Semaphore>,
    pub(super) taken: Arc<Semaphore>,
    pub(super) hosts: Hosts,
    pub(super) batch_size: BatchSize,
    pub(super) conclusions: Conclusions,
    /// When somebody had something sent from a project or group in the last minute.
    starts: Mutex<HashMap<Starter, VecDeque<Ts>>>,
}

/// What came of a request.
#[derive(Debug)]
pub(crate) struct SendResult {
    pub(crate) answer: std::result::Result<Answer, FetchError>,
    /// Seconds, also where there was no answer.
    pub(crate) duration: f64,
}

/// Somebody, and for which project or group they had something sent.
pub(super) type Starter = (Option<ProjectId>, Option<NamespaceId>, UserId);

impl Courier {
    pub(crate) fn new(rules: OutgoingRules, wake: Arc<Notify>) -> Self {
        Self {
            wake,
            web: rules.web().client(),
            system: rules.system().client(),
            rules,
            in_flight: Arc::new(Semaphore::new(IN_FLIGHT)),
            taken: Arc::new(Semaphore::new(TAKEN)),
            hosts: Hosts::default(),
            batch_size: BatchSize::default(),
            conclusions: Conclusions::default(),
            starts: Mutex::default(),
        }
    }

    /// Counts that somebody has something sent; refuses whoever has done so often enough.
    pub(super) fn start(&self, starter: Starter, now: Ts) -> Result<()> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        starts.retain(|_, moments| {
            moments.retain(|moment| moment.plus(START_WINDOW) > now);
            !moments.is_empty()
        });
        let moments = starts.entry(starter).or_default();
        if moments.len() >= MOST_STARTS {
            return Err(Error::too_many(START_WINDOW.whole_seconds().unsigned_abs()));
        }
        moments.push_back(now);
        Ok(())
    }

    /// Places for a request that somebody waits for: one of all, and one at its host.
    pub(super) fn places(&self, request: &Request) -> Result<[OwnedSemaphorePermit; 2]> {
        let none = |_none| Error::too_many(PLACE_WAIT);
        let place = Arc::clone(&self.in_flight).try_acquire_owned().map_err(none)?;
        let at_host = self.hosts.host(&request.host()).sending;
        let at_host = at_host.try_acquire_owned().map_err(none)?;
        Ok([place, at_host])
    }

    /// Sends a request on a thread that may block.
    pub(crate) async fn send(self: &Arc<Self>, request: Arc<Request>) -> Result<SendResult> {
        if request.is_too_large() {
            return Ok(SendResult { answer: Err(FetchError::TooLarge), duration: 0.0 });
        }
        let courier = Arc::clone(self);
        let sent = spawn_blocking(move || {
            let begun = Instant::now();
            let client = if request.is_system { &courier.system } else { &courier.web };
            let answer = client.send(&request.post());
            SendResult { answer, duration: begun.elapsed().as_secs_f64() }
        });
        sent.await.map_err(Error::internal)
    }
}
