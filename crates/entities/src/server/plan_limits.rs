//! Plan limits.

use org::settings::PlanLimits;
use serde::Serialize;
use utoipa::ToSchema;

/// Limits of a plan.
#[derive(Debug, Serialize, ToSchema)]
pub struct PlanLimitsEntity {
    ci_active_jobs: i64,
    ci_instance_level_variables: i64,
    ci_jobs_trace_size_limit: i64,
    ci_max_artifact_size_lsif: i64,
    ci_needs_size_limit: i64,
    ci_pipeline_deployments: i64,
    ci_pipeline_schedules: i64,
    ci_pipeline_size: i64,
    ci_registered_group_runners: i64,
    ci_registered_project_runners: i64,
    dotenv_size: i64,
    dotenv_variables: i64,
    group_ci_variables: i64,
    pipeline_hierarchy_size: i64,
    pipeline_triggers: i64,
    project_ci_variables: i64,
}

impl From<PlanLimits> for PlanLimitsEntity {
    fn from(limits: PlanLimits) -> Self {
        Self {
            ci_active_jobs: limits.ci_active_jobs,
            ci_instance_level_variables: limits.ci_instance_level_variables,
            ci_jobs_trace_size_limit: limits.ci_jobs_trace_size_limit,
            ci_max_artifact_size_lsif: limits.ci_max_artifact_size_lsif,
            ci_needs_size_limit: limits.ci_needs_size_limit,
            ci_pipeline_deployments: limits.ci_pipeline_deployments,
            ci_pipeline_schedules: limits.ci_pipeline_schedules,
            ci_pipeline_size: limits.ci_pipeline_size,
            ci_registered_group_runners: limits.ci_registered_group_runners,
            ci_registered_project_runners: limits.ci_registered_project_runners,
            dotenv_size: limits.dotenv_size,
            dotenv_variables: limits.dotenv_variables,
            group_ci_variables: limits.group_ci_variables,
            pipeline_hierarchy_size: limits.pipeline_hierarchy_size,
            pipeline_triggers: limits.pipeline_triggers,
            project_ci_variables: limits.project_ci_variables,
        }
    }
}
