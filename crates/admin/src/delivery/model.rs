//! A fact as receivers are told it, and a row for each of them.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{HookDeliveryId, HookEventId, HookId, IntegrationId, ProjectId},
};

use crate::flags::Flag;

/// Somebody who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    Hook(HookId),
    Integration(IntegrationId),
}

impl Receiver {
    /// Reads what [`Display`](std::fmt::Display) writes.
    pub(super) fn parse(name: &str) -> Option<Self> {
        match name.split_at_checked(1)? {
            ("h", id) => id.parse().ok().map(|id| Self::Hook(HookId(id))),
            ("i", id) => id.parse().ok().map(|id| Self::Integration(IntegrationId(id))),
            _ => None,
        }
    }
}

impl std::fmt::Display for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hook(id) => write!(f, "h{id}"),
            Self::Integration(id) => write!(f, "i{id}"),
        }
    }
}

/// A fact that is announced.
#[derive(Clone, Debug)]
pub struct NewEvent {
    pub trigger: Flag,
    /// As the header names it, `Push Hook`.
    pub header: &'static str,
    pub project: Option<ProjectId>,
    /// What happened to one object is told in order.
    pub object: String,
    pub payload: String,
    /// What is to be added before it is sent.
    pub gaps: Option<String>,
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::hook_events, check_for_backend(db::AnyBackend))]
pub struct HookEvent {
    pub id: HookEventId,
    pub uuid: String,
    pub trigger_name: Flag,
    pub header: String,
    pub project_id: Option<ProjectId>,
    pub payload: String,
    pub gaps: Option<String>,
    pub created_at: Ts,
}

/// A fact that one receiver is still to be told.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::hook_deliveries, check_for_backend(db::AnyBackend))]
pub struct Delivery {
    pub id: HookDeliveryId,
    pub event_id: HookEventId,
    pub hook_id: Option<HookId>,
    pub integration_id: Option<IntegrationId>,
    pub lane: String,
    pub idempotency_key: String,
    pub attempts: i32,
    pub run_at: Ts,
    pub locked_until: Option<Ts>,
    pub created_at: Ts,
}
