//! Runners: their protocol, and looking after them.

mod administration;
mod job_artifacts;
mod job_requests;
mod job_token_scope;
mod job_tokens;
mod job_tokens_elsewhere;
mod program;
mod registration;
mod reports;
mod request_queue;
mod runner_jobs;
mod upstream;
