//! Results of deliveries, collected until a batch is written.

use std::sync::{Mutex, PoisonError};

use admin::{
    delivery::{Delivery, NewLog},
    hook::Outcome,
};
use kernel::ids::HookId;

/// The result of a delivery.
#[derive(Clone, Debug)]
pub(in crate::webhook) enum Conclusion {
    Sent {
        delivery: Delivery,
        /// The hook, where its answers decide whether it goes on being told.
        guarded: Option<HookId>,
        outcome: Outcome,
        log: Option<Box<NewLog>>,
    },
    /// Nothing is to be sent.
    Finished(Delivery),
    /// It is left as it was, for who has a place for it.
    Left(Delivery),
}

impl Conclusion {
    pub(in crate::webhook) fn delivery(&self) -> &Delivery {
        match self {
            Self::Sent { delivery, .. } | Self::Finished(delivery) | Self::Left(delivery) => {
                delivery
            }
        }
    }
}

/// Conclusions that are to be written down.
#[derive(Debug, Default)]
pub(in crate::webhook) struct Conclusions {
    waiting: Mutex<Vec<Conclusion>>,
    /// Held by whoever writes; meanwhile others gather.
    pub(in crate::webhook) turn: tokio::sync::Mutex<()>,
}

impl Conclusions {
    pub(in crate::webhook) fn take(&self) -> Vec<Conclusion> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(in crate::webhook) fn add(&self, one: Conclusion) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(one);
    }
}
