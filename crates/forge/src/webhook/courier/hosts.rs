//! Places at the hosts of receivers: few requests to one host at once, and few deliveries that wait for it in memory,
//! so that a slow host takes no places from the others.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use admin::delivery::{BusyReceivers, Delivery};
use kernel::ids::{HookId, IntegrationId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests under way to one host.
const TO_ONE_HOST: usize = 4;
/// Deliveries of one host that were taken: under way, or waiting for their turn.
const TAKEN_OF_HOST: usize = 16;
/// Hosts that are remembered although nothing is under way to them.
const MOST_HOSTS: usize = 1_024;

/// The hook or the integration that a delivery is for.
type ReceiverId = (Option<HookId>, Option<IntegrationId>);

/// One host.
#[derive(Clone, Debug)]
pub(in crate::webhook) struct Host {
    pub(in crate::webhook) sending: Arc<Semaphore>,
    taken: Arc<Semaphore>,
}

impl Default for Host {
    fn default() -> Self {
        Self {
            sending: Arc::new(Semaphore::new(TO_ONE_HOST)),
            taken: Arc::new(Semaphore::new(TAKEN_OF_HOST)),
        }
    }
}

impl Host {
    fn is_idle(&self) -> bool {
        self.sending.available_permits() == TO_ONE_HOST
            && self.taken.available_permits() == TAKEN_OF_HOST
    }

    /// Whether its receivers are left out until some of what was taken is done.
    fn is_full(&self) -> bool {
        self.taken.available_permits() < TAKEN_OF_HOST / 2
    }
}

/// All hosts to which something is under way.
#[derive(Debug, Default)]
pub(in crate::webhook) struct Hosts {
    hosts: Mutex<HashMap<String, Host>>,
    /// The hosts of receivers for which there was no place.
    busy: Mutex<HashMap<ReceiverId, String>>,
}

impl Hosts {
    pub(in crate::webhook) fn host(&self, name: &str) -> Host {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() > MOST_HOSTS {
            hosts.retain(|_, host| !host.is_idle());
        }
        hosts.entry(name.to_owned()).or_default().clone()
    }

    /// A place for a delivery that was taken; nothing where enough of them wait for the host.
    pub(in crate::webhook) fn take(
        &self,
        name: &str,
        delivery: &Delivery,
    ) -> Option<(Host, OwnedSemaphorePermit)> {
        let host = self.host(name);
        match Arc::clone(&host.taken).try_acquire_owned() {
            Ok(place) => Some((host, place)),
            Err(_full) => {
                self.note_busy(name, delivery);
                None
            }
        }
    }

    /// Has the deliveries of a receiver left out while its host is full.
    pub(in crate::webhook) fn note_busy(&self, name: &str, delivery: &Delivery) {
        let receiver = (delivery.hook_id, delivery.integration_id);
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.insert(receiver, name.to_owned());
    }

    /// Receivers whose hosts are still full.
    pub(in crate::webhook) fn busy(&self) -> BusyReceivers {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.retain(|_, host| self.host(host).is_full());
        BusyReceivers {
            hooks: busy.keys().filter_map(|(hook, _)| *hook).collect(),
            integrations: busy.keys().filter_map(|(_, integration)| *integration).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use admin::delivery::Delivery;
    use kernel::{
        Ts,
        ids::{HookDeliveryId, HookEventId, HookId},
    };

    use super::{Hosts, TAKEN_OF_HOST};

    fn delivery(hook: i64) -> Delivery {
        Delivery {
            id: HookDeliveryId(1),
            event_id: HookEventId(1),
            hook_id: Some(HookId(hook)),
            integration_id: None,
            lane: String::new(),
            idempotency_key: String::new(),
            attempts: 0,
            run_at: Ts(0),
            locked_until: None,
            created_at: Ts(0),
        }
    }

    #[test]
    fn receivers_of_a_full_host_are_left_out_until_half_of_it_is_done() {
        let (hosts, one) = (Hosts::default(), delivery(1));
        let mut taken: Vec<_> =
            (0..TAKEN_OF_HOST).map(|_| hosts.take("a", &one).unwrap()).collect();
        assert!(hosts.busy().hooks.is_empty(), "nobody was turned away");
        assert!(hosts.take("a", &delivery(2)).is_none());
        assert!(hosts.take("b", &delivery(3)).is_some(), "another host has its own places");
        assert_eq!(hosts.busy().hooks, [HookId(2)]);
        taken.truncate(TAKEN_OF_HOST / 2 + 1);
        assert_eq!(hosts.busy().hooks, [HookId(2)]);
        taken.pop();
        assert!(hosts.busy().hooks.is_empty());
    }
}
