//! Iterations: spans of days in which a group works, one after the other in a cadence.

pub mod actions;
pub mod list;
mod model;
mod store;

pub use model::{Cadence, Iteration, IterationState};
pub use store::IterationStore;
