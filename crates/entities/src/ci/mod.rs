//! Pipelines, jobs, variables, schedules and triggers.

pub mod ci_lint;
pub mod commit_status;
pub mod job;
pub mod job_records;
pub mod job_token_scope;
pub mod pipeline;
pub mod pipeline_schedule;
pub mod resource_group;
pub mod test_report;
pub mod trigger;
pub mod variable;
