//! What is told to webhooks and integrations: facts, what of them is still to be sent, and what was.

mod fan_out;
mod log;
mod model;
mod queue;

pub use log::{DeliveryLog, INTERNAL_ERROR, LogStore, NewLog, StatusFilter};
pub use model::{Delivery, HookEvent, NewEvent, Receiver};
pub use queue::{BusyReceivers, DeliveryQueue};
