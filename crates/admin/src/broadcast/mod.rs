//! Broadcast messages: what administrators tell everybody for some time.

pub mod actions;
mod model;
mod store;

pub use model::{BroadcastMessage, BroadcastType};
pub use store::BroadcastStore;
