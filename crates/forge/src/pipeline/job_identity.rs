//! What a job is told of itself: its name, its place, and where it deploys to.

use ci::{
    config::variables::{Variable, group_name, slug},
    job::{Job, JobSpec},
};
use deployments::environment::{Environment, Tier, slug as environment_slug};

/// `environment` is the one that the job names, once that is there.
pub(crate) fn of_itself(
    job: &Job,
    spec: &JobSpec,
    environment: Option<&Environment>,
) -> Vec<Variable> {
    let options = &spec.options;
    let total = options.parallel.as_ref().map_or(1, |parallel| parallel.total);
    let mut all = vec![
        Variable::public("CI_JOB_NAME", &job.name),
        Variable::public("CI_JOB_NAME_SLUG", slug(&job.name)),
        Variable::public("CI_JOB_GROUP_NAME", group_name(&job.name)),
        Variable::public("CI_JOB_STAGE", &job.stage),
        Variable::public("CI_NODE_TOTAL", total.to_string()),
    ];
    if let Some(instance) = options.instance {
        all.push(Variable::public("CI_NODE_INDEX", instance.to_string()));
    }
    if job.is_action() {
        all.push(Variable::public("CI_JOB_MANUAL", "true"));
    }
    if let Some(image) = &options.image {
        all.push(Variable::public("CI_JOB_IMAGE", &image.name));
    }
    if let Some(name) = &job.environment {
        all.extend(of_environment(name, spec, environment));
    }
    all
}

fn of_environment(name: &str, spec: &JobSpec, environment: Option<&Environment>) -> Vec<Variable> {
    let told = spec.options.environment.as_ref();
    let action = told.and_then(|told| told.action.as_deref()).unwrap_or("start");
    let slug = environment.map_or_else(|| environment_slug(name), |known| known.slug.clone());
    let tier = environment.map_or_else(|| Tier::of_name(name), |known| known.tier);
    let mut all = vec![
        Variable::public("CI_ENVIRONMENT_NAME", name),
        Variable::public("CI_ENVIRONMENT_SLUG", slug),
        Variable::public("CI_ENVIRONMENT_TIER", tier.to_string()),
        Variable::public("CI_ENVIRONMENT_ACTION", action),
    ];
    if let Some(url) = told.and_then(|told| told.url.as_deref()) {
        all.push(Variable::public("CI_ENVIRONMENT_URL", url));
    }
    all
}
