//! Node statuses: replication and verification progress.

pub mod actions;
mod counts;
mod figures;
mod model;
pub mod replication;
mod store;

pub use figures::{Counters, FIGURES, Figure, is_counter};
pub use model::{NodeStatus, STALE_AFTER};
pub use store::StatusStore;
