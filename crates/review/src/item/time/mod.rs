//! How long something is thought to take, and how long it took.

pub mod actions;
mod duration;
pub mod event;
mod store;

pub use duration::{human, parse};
pub use store::{Spent, TimeStats, TimeStore};
