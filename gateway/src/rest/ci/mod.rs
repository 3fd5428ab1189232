//! Pipelines, jobs, variables, schedules and triggers.

use crate::resources;

pub mod job_params;
pub mod variable_params;

resources! {
    ci_lint,
    commit_statuses,
    job_artifacts,
    job_token_scope,
    job_traces,
    jobs,
    pipeline_changes,
    pipeline_contents,
    pipeline_schedule_variables,
    pipeline_schedules,
    pipelines,
    resource_groups,
    triggered_pipelines,
    triggers,
    variables,
}
