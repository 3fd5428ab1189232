//! Runners: registration, which jobs they take, and how they wait for jobs.

pub mod event;
pub mod mailbox;
pub mod manager;
pub mod matching;
pub mod policy;
pub mod ports;
pub mod runner;

pub use event::Event;
