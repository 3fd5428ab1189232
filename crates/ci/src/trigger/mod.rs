//! Tokens with which other programs make pipelines of a project.

pub mod actions;
mod model;
mod store;

pub use model::{Trigger, TriggerToken};
pub use store::TriggerStore;
