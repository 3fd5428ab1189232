//! Runners: their protocol, and looking after them.

mod administration;
mod built_in;
mod job_artifacts;
mod job_requests;
mod program;
mod registration;
mod reports;
mod runner_jobs;
mod upstream;
