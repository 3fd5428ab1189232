//! Pipelines and jobs: what is checked for a commit, and how it ended.

pub mod archive;
pub mod artifact;
pub mod bridge;
pub mod commit_status;
pub mod config;
mod coverage;
pub mod event;
pub mod job;
pub mod job_files;
pub mod job_token_scope;
pub mod log;
pub mod pipeline;
pub mod policy;
pub mod ports;
pub mod process;
pub mod reassign;
pub mod report;
pub mod resource_group;
pub mod schedule;
pub mod sealed;
mod status;
pub mod trigger;
pub mod variable;

pub use event::Event;
pub use status::{Outcome, Status, StatusScope, composite, has_warnings};
