//! Pipelines, stages, jobs, CI configurations, variables, schedules and job tokens.

pub mod analytics;
mod config;
mod enum_names;
mod job;
mod job_mutations;
pub mod lists;
pub mod loaders;
pub mod located_project;
mod pipeline;
mod pipeline_mutations;
mod schedule_mutations;
mod schedules;
mod settings;
mod stage;
mod status;
mod test_reports;
mod variables;

use graphql::Registry;

use super::context::Context;

pub use enum_names::{name_of, value_of, values_of};
pub use job::{JobRecord, job, job_of_id, jobs_of_rows};
pub use located_project::LocatedProject;
pub use pipeline::{PipelineRecord, of_id, pipeline, shown_home};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "CiApplicationSettings",
        "CiBuildNeed",
        "CiConfigGroup",
        "CiConfigInclude",
        "CiConfigJob",
        "CiConfigJobRestriction",
        "CiConfigNeed",
        "CiConfigStage",
        "CiConfigVariable",
        "CiGroupVariable",
        "CiInstanceVariable",
        "CiJobArtifact",
        "CiManualVariable",
        "CiMinutesNamespaceMonthlyUsage",
        "CiProjectVariable",
        "CiTemplate",
        "CodeCoverageSummary",
        "CodeQualityDegradation",
        "DetailedStatus",
        "JobPermissions",
        "PipelineAnalytics",
        "PipelineCounts",
        "PipelineMessage",
        "PipelinePermissions",
        "PipelineSchedulePermissions",
        "PipelineScheduleVariable",
        "PipelineSecurityReportFinding",
        "RecentFailures",
        "SecurityReportSummary",
        "SecurityReportSummarySection",
        "StatusAction",
        "TestCase",
        "TestReportTotal",
        "TestSuiteSummary",
    ]);
    pipeline::register(registry);
    lists::register(registry);
    analytics::register(registry);
    stage::register(registry);
    job::register(registry);
    test_reports::register(registry);
    config::register(registry);
    variables::register(registry);
    schedules::register(registry);
    settings::register(registry);
    pipeline_mutations::register(registry);
    job_mutations::register(registry);
    schedule_mutations::register(registry);
}
