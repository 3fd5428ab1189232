//! Deliveries with all that they are made of.

use std::collections::HashMap;

use admin::{
    delivery::{Delivery, DeliveryQueue as _, HookEvent},
    hook::{Hook, HookStore as _},
    integration::{Integration, IntegrationStore as _},
};
use db::Tx;
use kernel::{
    Result, Ts,
    ids::{HookEventId, HookId, IntegrationId},
};
use tokio::sync::OnceCell;

/// A fact, and the same with what git says: read once for all of its receivers.
#[derive(Debug)]
pub(super) struct SharedEvent {
    pub(super) row: HookEvent,
    pub(super) complete: OnceCell<HookEvent>,
}

impl From<HookEvent> for SharedEvent {
    fn from(row: HookEvent) -> Self {
        Self { row, complete: OnceCell::new() }
    }
}

/// Deliveries with all that they are made of.
#[derive(Debug)]
pub(super) struct DeliveryContext {
    pub(super) deliveries: Vec<Delivery>,
    pub(super) events: HashMap<HookEventId, SharedEvent>,
    pub(super) hooks: HashMap<HookId, Hook>,
    pub(super) integrations: HashMap<IntegrationId, Integration>,
    /// When all of this was read.
    pub(super) read_at: Ts,
}

impl DeliveryContext {
    pub(super) fn load(tx: &mut Tx<'_>, deliveries: Vec<Delivery>) -> Result<Self> {
        let events: Vec<_> = deliveries.iter().map(|one| one.event_id).collect();
        let hooks: Vec<_> = deliveries.iter().filter_map(|one| one.hook_id).collect();
        let others: Vec<_> = deliveries.iter().filter_map(|one| one.integration_id).collect();
        Ok(Self {
            events: tx.events_with(&events)?.into_iter().map(|row| (row.id, row.into())).collect(),
            hooks: tx.hooks_with(&hooks)?.into_iter().map(|row| (row.id, row)).collect(),
            integrations: tx
                .integrations_with(&others)?
                .into_iter()
                .map(|row| (row.id, row))
                .collect(),
            read_at: tx.now,
            deliveries,
        })
    }
}
