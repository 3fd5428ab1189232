//! Jobs with an environment, and the deployments that say how far they are.

use std::collections::HashMap;

use ci::{
    Status,
    config::{
        duration,
        options::Environment as Written,
        variables::{Variable, expanded},
    },
    event::JobMove,
    job::{End, EnvironmentJobStore as _, Job, JobKind, SpecStore as _, approval::hold, progress},
    report::InheritedVariableStore as _,
};
use db::Tx;
use deployments::{
    approval::actions::{block, is_missing},
    deployment::{
        Deployment, DeploymentStatus, DeploymentStore as _,
        jobs::{self, AutoStop, DeployJob, EnvironmentTerms, Outcome},
    },
    environment::{Environment, Tier},
    protection::guard::{DeployRight, deploy_right, protections_of},
};
use kernel::{
    Result, TextEnum as _,
    error::Kind,
    ids::{JobId, JobSpecId, PipelineId},
};
use org::access::IdOrPath;
use secrets::Vault;
use time::Duration;

use super::outdated_deployments::is_outdated;
use crate::{ports::deployments::Members, user::standing::person_in_project};

const OUTDATED: &str = "failed_outdated_deployment_job";
const SHUT_OUT: &str = "protected_environment_failure";
const NO_ENVIRONMENT: &str = "environment_creation_failure";
/// What a job does with its environment unless it says something else.
const START: &str = "start";

/// The `environment` entry of each job specification, which many jobs share.
type EnvironmentOptionsBySpec = HashMap<JobSpecId, Written>;

/// In the transaction in which a pipeline is made: its environments are there from now on, and what it is to bring to them
/// is known in the order of pipelines.
pub(crate) fn begin_for_pipeline(
    tx: &mut Tx<'_>,
    vault: &Vault,
    pipeline: PipelineId,
) -> Result<()> {
    let found = tx.environment_jobs(pipeline)?;
    follow_all(tx, vault, found)
}

/// In the transaction in which jobs moved.
pub(crate) fn follow_jobs(tx: &mut Tx<'_>, vault: &Vault, moves: &[JobMove]) -> Result<()> {
    let own = moves.iter().filter(|one| one.kind != JobKind::External);
    let ids: Vec<JobId> = own.map(|one| one.job).collect();
    let found = tx.jobs_with_environment(&ids)?;
    follow_all(tx, vault, found)
}

fn follow_all(tx: &mut Tx<'_>, vault: &Vault, found: Vec<Job>) -> Result<()> {
    if found.is_empty() {
        return Ok(());
    }
    let ids: Vec<JobId> = found.iter().map(|job| job.id).collect();
    let known = tx.deployments_of_jobs(&ids)?;
    let mut known: HashMap<JobId, Deployment> =
        known.into_iter().filter_map(|one| Some((one.job_id?, one))).collect();
    let mut specs = EnvironmentOptionsBySpec::new();
    for job in found {
        let written = written(tx, &mut specs, &job)?;
        let deployment = known.remove(&job.id);
        follow_job(tx, vault, &job, &written, deployment)?;
    }
    Ok(())
}

fn written(tx: &mut Tx<'_>, specs: &mut EnvironmentOptionsBySpec, job: &Job) -> Result<Written> {
    let Some(id) = job.spec_id else { return Ok(Written::default()) };
    if let Some(known) = specs.get(&id) {
        return Ok(known.clone());
    }
    let found = tx.spec(id)?.options.environment.unwrap_or_default();
    specs.insert(id, found.clone());
    Ok(found)
}

fn follow_job(
    tx: &mut Tx<'_>,
    vault: &Vault,
    job: &Job,
    written: &Written,
    deployment: Option<Deployment>,
) -> Result<()> {
    let Some(name) = &job.environment else { return Ok(()) };
    let tier = written.deployment_tier.as_deref().and_then(Tier::find);
    let environment = match jobs::environment_of_job(tx, job.project_id, name, tier) {
        Err(refused) if refused.is_invalid() => {
            return drop_job(tx, job, NO_ENVIRONMENT);
        }
        environment => environment?,
    };
    if is_shut_out(tx, job, &environment)? {
        return drop_job(tx, job, SHUT_OUT);
    }
    match written.action.as_deref().unwrap_or(START) {
        START => deploy(tx, vault, (job, written), &environment, deployment),
        "stop" => match job.status {
            Status::Success => jobs::stopped(tx, environment).map(drop),
            Status::Failed | Status::Canceled => jobs::not_stopped(tx, environment).map(drop),
            _ => Ok(()),
        },
        "prepare" | "access" if job.status == Status::Success => {
            let term = term_of(tx, job, written)?;
            let auto_stop = auto_stop(tx, vault, job, term)?;
            jobs::set_terms(tx, environment, Outcome { auto_stop, ..Outcome::default() }).map(drop)
        }
        // Who verifies an environment leaves it as it is.
        _ => Ok(()),
    }
}

fn deploy(
    tx: &mut Tx<'_>,
    vault: &Vault,
    (job, written): (&Job, &Written),
    environment: &Environment,
    deployment: Option<Deployment>,
) -> Result<()> {
    let deployment = match deployment {
        Some(known) => known,
        None => jobs::begin(tx, deploy_job(job, written), environment)?,
    };
    let before = deployment.status;
    let status = match job.status {
        Status::Running => DeploymentStatus::Running,
        Status::Success => DeploymentStatus::Success,
        Status::Failed => DeploymentStatus::Failed,
        Status::Canceled => DeploymentStatus::Canceled,
        Status::Skipped => DeploymentStatus::Skipped,
        _ => DeploymentStatus::Created,
    };
    let deployment = jobs::mirror(tx, deployment, status, job.user_id)?;
    if deployment.status == DeploymentStatus::Success && before != deployment.status {
        let outcome = outcome(tx, vault, job, written, &deployment)?;
        if let Some(environment) = jobs::environment_of(tx, &deployment)? {
            jobs::set_terms(tx, environment, outcome)?;
        }
    }
    if !matches!(job.status, Status::Pending | Status::WaitingForResource) {
        return Ok(());
    }
    if is_outdated(tx, job, &deployment)? {
        return drop_job(tx, job, OUTDATED);
    }
    if is_missing(tx, &Members, &deployment)? {
        hold(tx, job.id)?;
        block(tx, deployment)?;
    }
    Ok(())
}

/// Whether the environment of a job is closed to the person for whom it is about to run.
fn is_shut_out(tx: &mut Tx<'_>, job: &Job, environment: &Environment) -> Result<bool> {
    let is_about_to_run = matches!(job.status, Status::Pending | Status::WaitingForResource);
    if !is_about_to_run || protections_of(tx, &Members, environment)?.is_empty() {
        return Ok(false);
    }
    let Some(user) = job.user_id else { return Ok(true) };
    match person_in_project(tx, user, &IdOrPath::Id(job.project_id.0))? {
        Some(person) => {
            let right = deploy_right(tx, &Members, &person.who, environment)?;
            Ok(right == DeployRight::Refused)
        }
        None => Ok(true),
    }
}

fn deploy_job(job: &Job, written: &Written) -> DeployJob {
    DeployJob {
        job: job.id,
        project: job.project_id,
        user: job.user_id,
        ref_name: job.ref_name.clone(),
        tag: job.tag,
        sha: job.sha.clone(),
        on_stop: written.on_stop.clone(),
    }
}

fn outcome(
    tx: &mut Tx<'_>,
    vault: &Vault,
    job: &Job,
    written: &Written,
    deployment: &Deployment,
) -> Result<Outcome> {
    let url = deployment.environment_url.clone().or_else(|| written.url.clone());
    let url = match url {
        Some(url) => Some(told_by_job(tx, vault, job, url)?),
        None => None,
    };
    let term = deployment.auto_stop_in.clone().or_else(|| written.auto_stop_in.clone());
    Ok(Outcome {
        url: url.filter(|url| !url.contains('$')),
        auto_stop: auto_stop(tx, vault, job, term)?,
        tier: written.deployment_tier.as_deref().and_then(Tier::find),
    })
}

/// A text with the variables that a script found out and told in a report.
fn told_by_job(tx: &mut Tx<'_>, vault: &Vault, job: &Job, text: String) -> Result<String> {
    if !text.contains('$') {
        return Ok(text);
    }
    let told = tx.inherited_variables(vault, &[job.id])?;
    let all: Vec<Variable> = told.iter().map(|(key, value)| Variable::public(key, value)).collect();
    Ok(written_out(&all, text))
}

/// A text in which variables stand for their values; what nobody knows stays.
fn written_out(variables: &[Variable], text: String) -> String {
    let mut all = variables.to_vec();
    // Without a name no other one refers to it.
    all.push(Variable::public("", text.clone()));
    expanded(&all).pop().map_or(text, |variable| variable.value)
}

/// Name of the variable that tells where an environment is found.
const URL: &str = "CI_ENVIRONMENT_URL";
/// How long an environment stays that does not stop by itself.
const NEVER: &str = "never";

/// What a job says of its environment, with the variables written out that the job is told.
pub(crate) fn environment_terms(
    variables: &[Variable],
    auto_stop_in: Option<&str>,
) -> EnvironmentTerms {
    let url = variables.iter().rfind(|variable| variable.key == URL);
    let url = url.map(|variable| variable.value.clone()).filter(|url| !url.is_empty());
    let term = auto_stop_in.filter(|term| term.contains('$'));
    EnvironmentTerms { url, auto_stop_in: term.map(|term| written_out(variables, term.to_owned())) }
}

/// How long the environment of a job stays that deploys nothing: nobody noted what it was told, so only the variables of
/// the configuration are written out.
fn term_of(tx: &mut Tx<'_>, job: &Job, written: &Written) -> Result<Option<String>> {
    let Some(term) = written.auto_stop_in.clone() else { return Ok(None) };
    let (Some(spec), true) = (job.spec_id, term.contains('$')) else { return Ok(Some(term)) };
    let variables = tx.spec(spec)?.variables;
    Ok(Some(written_out(&variables, term)))
}

/// When the environment of a job stops by itself; what is no duration changes nothing.
fn auto_stop(tx: &mut Tx<'_>, vault: &Vault, job: &Job, term: Option<String>) -> Result<AutoStop> {
    let Some(term) = term else { return Ok(AutoStop::Unchanged) };
    let term = told_by_job(tx, vault, job, term)?;
    if term.trim() == NEVER {
        return Ok(AutoStop::Never);
    }
    let seconds = duration::seconds(&term).and_then(|seconds| i64::try_from(seconds).ok());
    Ok(seconds.map_or(AutoStop::Unchanged, |seconds| {
        AutoStop::At(tx.now.plus(Duration::seconds(seconds)))
    }))
}

/// A job fails, unless it has ended already.
fn drop_job(tx: &mut Tx<'_>, job: &Job, reason: &str) -> Result<()> {
    match progress::finish(tx, job.id, End::failed(reason)) {
        Err(ended) if ended.is_whole(Kind::BadRequest) => Ok(()),
        done => done.map(drop),
    }
}
