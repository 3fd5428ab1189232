//! Subscriptions: what they can be to, and how their answers reach clients.
//!
//! A subscription is fed by the facts of the outbox, which [`feed`] reads as they become final, whichever server of the
//! installation wrote them. Each fact that concerns a subscription is answered for the caller as they stand then: the
//! credential is looked up again, and what it may not see any more is told to nobody.

mod connection;
mod events;
mod fact;
pub(crate) mod feed;
mod message;
mod socket;
mod topics;

use graphql::Registry;

use super::context::Context;

pub(super) use events::{answer as answer_events, wants as wants_events};
pub(super) use socket::{answer as answer_socket, is_upgrade};

pub(super) fn register(registry: &mut Registry<Context>) {
    topics::register(registry);
}
