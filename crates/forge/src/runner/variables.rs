//! The variables of a job that begins, in the order in which they win.

use ci::{
    config::variables::{OuterVariables, Variable, expanded, in_scope},
    job::JobToken,
};
use kernel::{Result, Ts};
use runners::runner::Runner;

use crate::{
    Forge,
    pipeline::{JobSource, created_at, of_itself, whole_seconds},
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
    all.extend(of_itself(&source.job, &source.spec, source.environment.as_ref()));
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

fn of_runner(runner: &Runner) -> Result<Vec<Variable>> {
    let tags: Vec<String> = runner.tag_list()?.iter().map(|tag| format!("{tag:?}")).collect();
    Ok(vec![
        Variable::public("CI_RUNNER_ID", runner.id.to_string()),
        Variable::public("CI_RUNNER_DESCRIPTION", runner.description.clone().unwrap_or_default()),
        Variable::public("CI_RUNNER_TAGS", format!("[{}]", tags.join(", "))),
    ])
}
