//! Pipelines, jobs, variables, schedules and triggers.

mod auto_cancel;
mod bridges;
mod ci_lint;
mod commit_statuses;
mod jobs;
mod limits;
mod merge_request_pipelines;
mod pipeline_creation;
mod pipeline_schedules;
mod pipeline_validation;
mod pipelines;
mod public_jobs;
mod remote_includes;
mod resource_groups;
mod sweeps;
mod triggers;
mod variables;
