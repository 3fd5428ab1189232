//! Counting of requests by key, with a rule that may change while the server runs.

use std::{
    hash::Hash,
    num::NonZeroU32,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DashMapStateStore,
};

use super::Refusal;
use crate::metrics;

type Rate<K> = RateLimiter<K, DashMapStateStore<K>, DefaultClock, StateInformationMiddleware>;

/// So many requests in so long a time; none is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) most: u32,
    pub(super) interval: Duration,
}

impl Rule {
    pub(super) fn per_minute(most: u32) -> Self {
        Self { most, interval: Duration::from_secs(60) }
    }

    fn quota(self) -> Option<Quota> {
        let most = NonZeroU32::new(self.most)?;
        // A span of less than a nanosecond for each is no limit.
        Some(Quota::with_period(self.interval / most.get())?.allow_burst(most))
    }
}

struct Active<K: Hash + Eq + Clone> {
    rate: Rate<K>,
    rule: Rule,
}

/// One limit; it may be off.
pub(super) struct Limiter<K: Hash + Eq + Clone> {
    name: &'static str,
    active: RwLock<Option<Arc<Active<K>>>>,
}

impl<K: Hash + Eq + Clone> Limiter<K> {
    pub(super) fn new(name: &'static str, rule: Rule) -> Self {
        let limiter = Self { name, active: RwLock::default() };
        limiter.follow(rule);
        limiter
    }

    /// Counts by another rule from now on. Under the same rule, what was counted stays.
    pub(super) fn follow(&self, rule: Rule) {
        if self.active().map(|active| active.rule).unwrap_or_default() == rule {
            return;
        }
        let active = rule.quota().map(|quota| {
            let rate = RateLimiter::dashmap(quota).with_middleware();
            Arc::new(Active { rate, rule })
        });
        *self.active.write().unwrap_or_else(PoisonError::into_inner) = active;
    }

    fn active(&self) -> Option<Arc<Active<K>>> {
        self.active.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn is_on(&self) -> bool {
        self.active().is_some()
    }

    pub(super) fn check(&self, key: &K) -> Result<(), Refusal> {
        let Some(active) = self.active() else { return Ok(()) };
        match active.rate.check_key(key) {
            Ok(_) => Ok(()),
            Err(until) => {
                metrics::refused(self.name);
                let wait = until.wait_time_from(DefaultClock::default().now());
                Err(Refusal {
                    name: self.name,
                    limit: until.quota().burst_size().get(),
                    wait_seconds: whole_seconds(wait),
                    interval: active.rule.interval,
                    text: None,
                })
            }
        }
    }

    /// Forgets who has been quiet for long enough to have the whole quota again.
    pub(super) fn forget_the_quiet(&self) {
        if let Some(active) = self.active() {
            active.rate.retain_recent();
        }
    }
}

/// Rounded up: who waits so long is not refused again.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}
