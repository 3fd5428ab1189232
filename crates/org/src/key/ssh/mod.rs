//! SSH keys: whose they are, and what they may be used for.

pub mod actions;
pub mod model;
pub mod store;

pub use model::{SshKey, Usage};
