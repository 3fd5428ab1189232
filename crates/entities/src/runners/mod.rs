//! Runners.

pub mod allowed_agents;
pub mod job_payload;
mod release_step;
pub mod runner;
pub mod runner_job;
