//! Runners: their protocol, and looking after them.

mod administration;
mod job_artifacts;
mod job_requests;
pub(crate) mod program;
mod registration;
mod reports;
mod runner_jobs;
mod upstream;
