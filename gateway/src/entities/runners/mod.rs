//! Runners.

pub mod allowed_agents;
pub mod job_payload;
pub mod runner;
pub mod runner_job;
