//! Subscriptions: what they can be to, and the facts that feed them.
//!
//! A subscription is fed by the facts of the outbox, which [`feed`] reads as they become final, whichever server of the
//! installation wrote them. Each fact that concerns a subscription is answered for the caller as they stand then: the
//! credential is looked up again, and what it may not see any more is told to nobody.

pub mod fact;
pub mod feed;
mod topics;

use graphql::Registry;

use super::context::Context;

pub(super) fn register(registry: &mut Registry<Context>) {
    topics::register(registry);
}
