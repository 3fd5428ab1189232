//! Pipelines, jobs, variables, schedules and triggers.

use crate::route::RouteRow;

pub mod ci_lint;
pub mod commit_statuses;
pub mod job_artifacts;
pub mod job_params;
pub mod job_token_scope;
pub mod job_traces;
pub mod jobs;
pub mod pipeline_changes;
pub mod pipeline_contents;
pub mod pipeline_schedule_variables;
pub mod pipeline_schedules;
pub mod pipelines;
pub mod resource_groups;
pub mod triggered_pipelines;
pub mod triggers;
pub mod variable_params;
pub mod variables;

pub(super) const TABLES: &[&[RouteRow]] = &[
    ci_lint::ROUTES,
    commit_statuses::ROUTES,
    job_artifacts::ROUTES,
    job_token_scope::ROUTES,
    job_traces::ROUTES,
    jobs::ROUTES,
    pipeline_changes::ROUTES,
    pipeline_contents::ROUTES,
    pipeline_schedule_variables::ROUTES,
    pipeline_schedules::ROUTES,
    pipelines::ROUTES,
    resource_groups::ROUTES,
    triggered_pipelines::ROUTES,
    triggers::ROUTES,
    variables::ROUTES,
];
