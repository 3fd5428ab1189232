//! Copies of an installation at other places: the nodes, their status, and what passes between them.

pub mod credential;
pub mod event_log;
pub mod node;
pub mod policy;
pub mod ports;
pub mod request;
pub mod role;
pub mod sealed;
pub mod status;

pub use role::{Identity, Role};
