//! Runners: who does the jobs of whom, and how they are told of them.

pub mod event;
pub mod mailbox;
pub mod manager;
pub mod matching;
pub mod policy;
pub mod ports;
pub mod runner;

pub use event::Event;
