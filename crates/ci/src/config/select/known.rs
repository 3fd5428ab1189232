//! What is known of a job before it is made.

use crate::config::{normalize::Job, options::Parallel, variables};

/// By name; the configuration may set each of them otherwise.
pub(super) fn known(job: &Job) -> Vec<(&'static str, String)> {
    let entry = &job.entry;
    let total = entry.parallel.as_ref().map_or(1, |parallel: &Parallel| parallel.total);
    let mut known = vec![
        ("CI_JOB_NAME", job.name.to_string()),
        ("CI_JOB_NAME_SLUG", variables::slug(&job.name)),
        ("CI_JOB_GROUP_NAME", entry.name.to_string()),
        ("CI_JOB_STAGE", entry.stage.clone()),
        ("CI_NODE_TOTAL", total.to_string()),
    ];
    if let Some(instance) = job.instance {
        known.push(("CI_NODE_INDEX", instance.to_string()));
    }
    if matches!(entry.when.as_deref(), Some("manual" | "delayed")) {
        known.push(("CI_JOB_MANUAL", "true".to_owned()));
    }
    if let Some(environment) = &entry.options.environment {
        let action = environment.action.as_deref().unwrap_or("start");
        known.push(("CI_ENVIRONMENT_NAME", environment.name.clone()));
        known.push(("CI_ENVIRONMENT_ACTION", action.to_owned()));
    }
    known
}
