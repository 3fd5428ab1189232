//! The variables of a job that begins, in the order in which they win.

use ci::{
    config::variables::{OuterVariables, Variable, expanded, group_name, in_scope, slug},
    job::{Job, JobToken},
};
use deployments::environment::{Tier, slug as environment_slug};
use kernel::{Result, Ts};
use runners::runner::Runner;

use crate::{
    Forge,
    pipeline::{JobSource, created_at, whole_seconds},
};

/// Who shows the token of a job where a name is asked for, too.
const TOKEN_USER: &str = "gitlab-ci-token";

/// The last of each name counts.
pub(super) fn of_job(
    forge: &Forge,
    source: &JobSource,
    known: &OuterVariables,
    runner: &Runner,
    token: &JobToken,
    started_at: Ts,
) -> Result<Vec<Variable>> {
    let mut all = identity(forge, source, token, started_at);
    all.extend(of_itself(source));
    all.extend(known.beneath.iter().cloned());
    all.extend(of_runner(runner)?);
    all.extend(source.spec.variables.iter().cloned());
    let environment = source.job.environment.as_deref();
    all.extend(in_scope(&known.above, environment).into_iter().cloned());
    all.extend(source.own.iter().map(|(key, value)| Variable::secret(key, value)));
    Ok(expanded(&all))
}

/// What only those may see in a log who know it already.
pub(super) fn hidden(variables: &[Variable], token: &JobToken) -> Vec<String> {
    let masked = variables.iter().filter(|variable| variable.masked);
    let values = masked.map(|variable| variable.value.clone());
    let mut values: Vec<String> =
        values.filter(|value| !value.is_empty()).chain([token.reveal().to_owned()]).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Where the repository is fetched from, with the token in it.
pub(super) fn repository_url(forge: &Forge, path: &str, token: &JobToken) -> String {
    let url = forge.urls.at(&format!("{path}.git"));
    match url.split_once("://") {
        Some((scheme, rest)) => {
            format!("{scheme}://{TOKEN_USER}:{}@{rest}", token.reveal())
        }
        None => url,
    }
}

fn identity(forge: &Forge, source: &JobSource, token: &JobToken, started_at: Ts) -> Vec<Variable> {
    let (job, pipeline) = (&source.job, &source.pipeline);
    let path = &source.facts().full_path;
    let url = forge.urls.at(path);
    let secret = |key: &str, value: &str| Variable { masked: true, ..Variable::secret(key, value) };
    let mut all = vec![
        Variable::public("CI_PIPELINE_ID", pipeline.id.to_string()),
        Variable::public("CI_PIPELINE_URL", format!("{url}/-/pipelines/{}", pipeline.id)),
        Variable::public("CI_JOB_ID", job.id.to_string()),
        Variable::public("CI_JOB_URL", format!("{url}/-/jobs/{}", job.id)),
        secret("CI_JOB_TOKEN", token.reveal()),
        Variable::public("CI_JOB_STARTED_AT", whole_seconds(started_at)),
        Variable::secret("CI_REPOSITORY_URL", repository_url(forge, path, token)),
        Variable::public("CI_REGISTRY_USER", TOKEN_USER),
        secret("CI_REGISTRY_PASSWORD", token.reveal()),
        Variable::public("CI_DEPENDENCY_PROXY_USER", TOKEN_USER),
        secret("CI_DEPENDENCY_PROXY_PASSWORD", token.reveal()),
        Variable::public("CI_PIPELINE_IID", pipeline.iid.to_string()),
        created_at(pipeline.created_at),
    ];
    let short = source.trigger_token.as_deref();
    all.extend(short.map(|short| Variable::public("CI_TRIGGER_SHORT_TOKEN", short)));
    all
}

fn of_itself(source: &JobSource) -> Vec<Variable> {
    let (job, options): (&Job, _) = (&source.job, &source.spec.options);
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
        let told = options.environment.as_ref();
        let action = told.and_then(|told| told.action.as_deref()).unwrap_or("start");
        all.push(Variable::public("CI_ENVIRONMENT_NAME", name));
        let known = source.environment.as_ref();
        let slug = known.map_or_else(|| environment_slug(name), |known| known.slug.clone());
        let tier = known.map_or_else(|| Tier::of_name(name), |known| known.tier);
        all.push(Variable::public("CI_ENVIRONMENT_SLUG", slug));
        all.push(Variable::public("CI_ENVIRONMENT_TIER", tier.to_string()));
        all.push(Variable::public("CI_ENVIRONMENT_ACTION", action));
        if let Some(url) = told.and_then(|told| told.url.as_deref()) {
            all.push(Variable::public("CI_ENVIRONMENT_URL", url));
        }
    }
    all
}

fn of_runner(runner: &Runner) -> Result<Vec<Variable>> {
    let tags: Vec<String> = runner.tag_list()?.iter().map(|tag| format!("{tag:?}")).collect();
    Ok(vec![
        Variable::public("CI_RUNNER_ID", runner.id.to_string()),
        Variable::public("CI_RUNNER_DESCRIPTION", runner.description.clone().unwrap_or_default()),
        Variable::public("CI_RUNNER_TAGS", format!("[{}]", tags.join(", "))),
    ])
}
