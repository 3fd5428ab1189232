//! Webhooks and integrations at work: what happened becomes a payload and a row for each receiver in the transaction that
//! made it true, and is sent from there, in order, at least once.

pub mod actions;
mod announce;
mod announcer;
mod audience;
mod circular_job;
mod courier;
mod dispatch;
mod gaps;
mod jira;
mod letters;
mod missing_data;
mod occasion;
mod payload;
mod request;
mod retention;
mod rules;
mod system_events;
mod tree_removal;
mod trial;

pub(crate) use announce::on_event;
pub(crate) use announcer::Announcer;
pub(crate) use circular_job::send_circular;
pub use courier::Courier;
pub use dispatch::run;
pub(crate) use retention::{ForgetDeliveries, forget_deliveries};
pub use rules::{OutgoingRule, OutgoingRules};
