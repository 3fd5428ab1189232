//! Users who follow other users.

pub mod actions;

pub use actions::{Follows, counts};
