//! Runners.

pub mod job_payload;
pub mod runner;
