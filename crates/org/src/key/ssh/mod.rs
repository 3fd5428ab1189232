//! SSH keys: whose they are, and what they may be used for.

pub mod actions;
pub mod event;
pub mod model;
pub mod store;

pub use event::Event;
pub use model::{SshKey, Usage};
