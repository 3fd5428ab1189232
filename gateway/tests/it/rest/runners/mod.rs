//! Runners: their protocol, and looking after them.

mod administration;
mod archives;
mod artifact_attacks;
mod artifact_downloads;
mod job_artifacts;
mod job_logs;
mod job_requests;
mod program;
mod registration;
mod reports;
mod runner_jobs;
mod upstream;
