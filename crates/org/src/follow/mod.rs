//! Users who follow other users.

pub mod actions;

pub use actions::{FollowCounts, counts};
