//! Runners: their protocol, and looking after them.

mod administration;
mod archives;
mod artifact_attacks;
mod artifact_downloads;
mod built_in;
mod faults;
pub(crate) mod job_artifacts;
mod job_logs;
mod job_requests;
mod job_token_scope;
mod job_tokens;
mod job_tokens_elsewhere;
mod job_triggers;
mod limits;
mod places;
mod predefined;
pub(crate) mod program;
mod registration;
mod reports;
mod request_queue;
mod runner_jobs;
mod upstream;
