//! Runners.

pub mod job_payload;
pub mod runner;
pub mod runner_job;
