//! How long something is thought to take, and how long it took.

mod duration;

pub use duration::{human, parse};
