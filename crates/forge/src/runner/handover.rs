//! A job and all that a runner needs to do it.

use std::{collections::HashSet, sync::Arc};

use ci::{
    Status,
    config::variables::Variable,
    job::{Job, JobSpec, JobStore as _, JobToken, is_archived},
    pipeline::Pipeline,
};
use db::Tx;
use deployments::deployment::jobs::EnvironmentTerms;
use kernel::{Error, Result, access::ProjectFacts, error::Kind, ids::JobId};
use org::{project::settings::GitStrategy, settings::Settings};
use repo::git::{Oid, RefName};
use runners::runner::Runner;

use super::{
    dependencies::{Dependency, dependencies},
    pipeline_refs::keep_commit,
    variables::{hidden, of_job, repository_url},
};
use crate::{
    Forge,
    deployment::{environment_terms, outdated_deployments::is_outdated_job},
    pipeline::{JobSource, PipelineCommit, job_source},
    settings::archived_until,
};

/// Clones fetch so many commits unless a job or its project says otherwise.
const WHOLE_HISTORY: i64 = 0;

/// A job with its payload for the runner.
#[derive(Clone, Debug)]
pub struct Handover {
    pub job: Job,
    pub pipeline: Pipeline,
    pub facts: Arc<ProjectFacts>,
    pub spec: JobSpec,
    /// The branch or tag whose commits are fetched.
    pub branch: String,
    /// Whether that is still there. Git refuses to fetch what is not.
    pub has_branch: bool,
    pub token: JobToken,
    pub variables: Vec<Variable>,
    pub repository_url: String,
    /// Seconds.
    pub timeout: i64,
    /// 0 for all commits.
    pub git_depth: i64,
    /// Whether a clone may be used that is there already.
    pub allow_git_fetch: bool,
    /// Whether protected branches have caches of their own.
    pub separated_caches: bool,
    /// Of a runner of the whole installation: how many jobs of the project such runners do.
    pub running_on_instance_runners: Option<i64>,
    /// Jobs whose artifacts it fetches.
    pub dependencies: Vec<Dependency>,
}

/// Whether a job that a runner could take is assigned, skipped or failed.
pub(super) enum Verdict {
    Ready(Box<Draft>),
    /// It fails for this reason.
    Failed(&'static str),
    /// It does not wait any more.
    Gone,
}

/// A job that is ready to be taken.
pub(super) struct Draft {
    pub(super) source: JobSource,
    pub(super) token: JobToken,
    pub(super) timeout: i64,
    has_branch: bool,
    variables: Vec<Variable>,
    dependencies: Vec<Dependency>,
}

impl Draft {
    pub(super) fn hidden(&self) -> Vec<String> {
        hidden(&self.variables, &self.token)
    }

    /// What it says of its environment, as far as that is known before it runs.
    pub(super) fn environment_terms(&self) -> EnvironmentTerms {
        match (&self.source.job.environment, &self.source.spec.options.environment) {
            (Some(_), written) => {
                let term = written.as_ref().and_then(|written| written.auto_stop_in.as_deref());
                environment_terms(&self.variables, term)
            }
            (None, _) => EnvironmentTerms::default(),
        }
    }

    pub(super) fn into_handover(
        self,
        forge: &Forge,
        job: Job,
        running_on_instance_runners: Option<i64>,
    ) -> Handover {
        let Self { source, token, timeout, has_branch, variables, dependencies } = self;
        let depth = variables.iter().rfind(|variable| variable.key == "GIT_DEPTH");
        let depth = depth.and_then(|variable| variable.value.trim().parse::<i64>().ok());
        let own = source.settings.ci_default_git_depth.unwrap_or(WHOLE_HISTORY);
        let path = &source.facts().full_path;
        Handover {
            repository_url: repository_url(forge, path, &token),
            branch: source.branch().to_owned(),
            has_branch,
            facts: Arc::clone(source.facts()),
            git_depth: depth.unwrap_or(own).max(0),
            allow_git_fetch: source.settings.build_git_strategy == GitStrategy::Fetch,
            separated_caches: source.settings.ci_separated_caches,
            pipeline: source.pipeline,
            spec: source.spec,
            job,
            token,
            variables,
            timeout,
            running_on_instance_runners,
            dependencies,
        }
    }
}

/// What is missing of a runner's abilities for a job.
fn is_unsupported(source: &JobSource, features: &HashSet<String>) -> bool {
    let options = &source.spec.options;
    let artifacts = options.artifacts.as_ref();
    let reports = artifacts.and_then(|artifacts| artifacts.reports.as_ref());
    let wanted = [
        (reports.is_some_and(|reports| !reports.is_empty()), "upload_multiple_artifacts"),
        (source.is_of_merge_request(), "refspecs"),
        (artifacts.is_some_and(|artifacts| artifacts.exclude.is_some()), "artifacts_exclude"),
        (options.release.is_some(), "multi_build_steps"),
        (options.allow_failure_criteria.is_some(), "return_exit_code"),
    ];
    wanted.iter().any(|(is_needed, feature)| *is_needed && !features.contains(*feature))
}

/// Why nobody does a job any more, whatever runner asks for it.
fn obstacle(tx: &mut Tx<'_>, settings: &Settings, job: &Job) -> Result<Option<&'static str>> {
    if is_archived(job, archived_until(settings, tx.now)) {
        return Ok(Some("archived_failure"));
    }
    let is_outdated = is_outdated_job(tx, job)?;
    Ok(is_outdated.then_some("failed_outdated_deployment_job"))
}

/// Makes a job ready for a runner, without taking it.
pub(super) async fn prepare(
    forge: &Forge,
    runner: &Runner,
    features: &HashSet<String>,
    id: JobId,
) -> Result<Verdict> {
    let (vault, settings) = (forge.vault.clone(), forge.settings());
    let loaded = forge.db.read(move |tx| {
        // Others may have been faster since it was found waiting.
        let waits = tx.find_any_job(id)?.filter(|job| job.status == Status::Pending);
        let Some(job) = waits else { return Ok(None) };
        let Some(source) = job_source(tx, &vault, job)? else { return Ok(Some((None, tx.now))) };
        let fetched = dependencies(tx, &source)?;
        let obstacle = obstacle(tx, &settings, &source.job)?;
        Ok(Some((Some((source, fetched, obstacle)), tx.now)))
    });
    let Some((source, now)) = loaded.await? else { return Ok(Verdict::Gone) };
    let Some((source, fetched, obstacle)) = source else {
        return Ok(Verdict::Failed("user_blocked"));
    };
    if let Some(reason) = obstacle {
        return Ok(Verdict::Failed(reason));
    }
    let Some(dependencies) = fetched else {
        return Ok(Verdict::Failed("missing_dependency_failure"));
    };
    if is_unsupported(&source, features) {
        return Ok(Verdict::Failed("runner_unsupported"));
    }
    let own = source.job.timeout.unwrap_or(source.settings.build_timeout);
    let timeout = runner.maximum_timeout.map_or(own, |most| most.min(own));
    let token = JobToken::generate();
    let (commit, has_branch) = match commit(forge, &source).await {
        Err(gone) if gone.kind == Kind::NotFound => {
            return Ok(Verdict::Failed("data_integrity_failure"));
        }
        commit => commit?,
    };
    keep_commit(forge, &source.pipeline).await?;
    let (own_forge, own_runner, own_token) = (forge.clone(), runner.clone(), token.clone());
    let done = kernel::task::spawn_blocking(move || {
        let mut known = source.known(&own_forge, &commit)?;
        known.beneath.push(Variable::public("CI_JOB_TIMEOUT", timeout.to_string()));
        let variables = of_job(&own_forge, &source, &known, &own_runner, &own_token, now)?;
        Ok::<_, Error>((source, variables))
    });
    let (source, variables) = done.await.map_err(Error::internal)??;
    Ok(Verdict::Ready(Box::new(Draft {
        source,
        token,
        timeout,
        has_branch,
        variables,
        dependencies,
    })))
}

/// The commit of a job, and whether its branch or tag is still there.
async fn commit(forge: &Forge, source: &JobSource) -> Result<(PipelineCommit, bool)> {
    let (id, own): (Oid, JobSource) = (source.job.sha.parse()?, source.clone());
    let read = forge.git_read(source.job.project_id, move |reader| {
        if !reader.is_commit(id)? {
            return Ok(None);
        }
        let name = match own.job.tag {
            true => RefName::tag(own.branch()),
            false => RefName::branch(own.branch()),
        };
        let found = name.ok().map(|name| reader.find_reference(&name)).transpose()?;
        let has_branch = found.flatten().is_some();
        Ok(Some((own.read_commit(reader)?, has_branch)))
    });
    read.await?.ok_or_else(Error::missing)
}
