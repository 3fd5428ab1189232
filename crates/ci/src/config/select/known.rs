//! The properties of a job that are known before it is created.

use crate::config::{
    input::EnvironmentIdentity,
    normalize::Job,
    options::Parallel,
    plan::PlannedEnvironment,
    variables::{self, UnknownVariable, View, expand},
};

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
    if let Some(image) = &entry.options.image {
        known.push(("CI_JOB_IMAGE", image.name.clone()));
    }
    known
}

/// What is known of the environment of a job, once its name is written out.
pub(super) fn of_environment(
    environment: &PlannedEnvironment,
    identity: EnvironmentIdentity,
) -> [(&'static str, String); 4] {
    let written = &environment.written;
    let tier = written.deployment_tier.clone().unwrap_or(identity.tier);
    [
        ("CI_ENVIRONMENT_NAME", environment.name.clone()),
        ("CI_ENVIRONMENT_SLUG", identity.slug),
        ("CI_ENVIRONMENT_TIER", tier),
        ("CI_ENVIRONMENT_ACTION", written.action.as_deref().unwrap_or("start").to_owned()),
    ]
}

/// The address of an environment with all that is known of it.
pub(super) fn address(
    environment: &PlannedEnvironment,
    view: View<'_>,
) -> Option<(&'static str, String)> {
    let url = environment.written.url.as_ref()?;
    let url = expand(url, &|name| view.get(name), UnknownVariable::Vanishes);
    Some(("CI_ENVIRONMENT_URL", url.into_owned()))
}
