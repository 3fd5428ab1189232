//! Environments and what is deployed to them.

pub mod approval;
pub mod deployment;
pub mod environment;
pub mod event;
pub mod freeze_period;
pub mod policy;
pub mod ports;
pub mod protection;

pub use event::Event;
