//! Deliveries to webhooks and integrations: the queue and the log.

mod chain;
mod fan_out;
mod log;
mod model;
mod queue;

pub use chain::SYSTEM_HEADER;
pub use log::{DeliveryLog, INTERNAL_ERROR, LogStore, NewLog, OVERSIZE_DATA, StatusFilter};
pub use model::{Delivery, HookEvent, NewEvent, Receiver};
pub use queue::{BusyReceivers, DeliveryQueue};
