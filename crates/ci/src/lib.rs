//! Pipelines and jobs: what is checked for a commit, and how it ended.

pub mod commit_status;
pub mod config;
pub mod event;
pub mod heirs;
pub mod job;
pub mod junit;
pub mod pipeline;
pub mod policy;
pub mod ports;
mod status;

pub use event::Event;
pub use status::{Extent, Outcome, Status, composite, has_warnings};
