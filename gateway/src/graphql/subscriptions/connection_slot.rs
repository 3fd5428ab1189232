//! The place that a connection takes among those that may be open.

use resolvers::subscriptions::feed::{SubscriberSlot, Subscribers};

use crate::app::App;

/// A handle on the application that gives access to its subscriber slots.
#[derive(Clone)]
pub(super) struct AppHandle(pub(super) App);

impl AsRef<Subscribers> for AppHandle {
    fn as_ref(&self) -> &Subscribers {
        &self.0.subscribers
    }
}

/// One of the limited number of subscriber slots.
pub(super) type ConnectionSlot = SubscriberSlot<AppHandle>;
