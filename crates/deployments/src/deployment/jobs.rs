//! Deployments that jobs do.

use db::Tx;
use kernel::{
    Result, Ts,
    ids::{JobId, ProjectId, UserId},
};

use super::{
    Deployment, DeploymentStatus, DeploymentStep, DeploymentStore as _,
    actions::{draft, ensure_environment, step},
};
use crate::environment::{
    Environment, EnvironmentState, EnvironmentStep, EnvironmentStore as _, Tier, actions,
    is_address,
};

/// The longest address of an environment.
const LONGEST_URL: usize = 255;

/// A job that deploys to an environment.
#[derive(Clone, Debug)]
pub struct DeployJob {
    pub job: JobId,
    pub project: ProjectId,
    pub user: Option<UserId>,
    pub ref_name: String,
    pub tag: bool,
    pub sha: String,
    /// Name of the job that stops the environment.
    pub on_stop: Option<String>,
}

/// Values that a successful job sets on its environment.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Where people find what was deployed.
    pub url: Option<String>,
    pub auto_stop: AutoStop,
    pub tier: Option<Tier>,
}

/// The change of an environment's `auto_stop_at`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AutoStop {
    /// It stays.
    #[default]
    Unchanged,
    Never,
    At(Ts),
}

impl AutoStop {
    fn after(self, before: Option<Ts>) -> Option<Ts> {
        match self {
            Self::Unchanged => before,
            Self::Never => None,
            Self::At(at) => Some(at),
        }
    }
}

/// The environment that a job names; it is made where it is not there.
///
/// # Errors
/// `BadRequest` where no environment can be called so.
pub fn environment_of_job(
    tx: &mut Tx<'_>,
    project: ProjectId,
    name: &str,
    tier: Option<Tier>,
) -> Result<Environment> {
    ensure_environment(tx, project, name, tier)
}

/// Creates the deployment of a job.
pub fn begin(tx: &mut Tx<'_>, job: DeployJob, environment: &Environment) -> Result<Deployment> {
    tx.insert_deployment(&Deployment {
        job_id: Some(job.job),
        user_id: job.user,
        ref_name: job.ref_name,
        tag: job.tag,
        sha: job.sha,
        on_stop: job.on_stop,
        ..draft(tx, job.project, environment.id)
    })
}

/// Copies the status of a job to its deployment. `user` is the user of the job.
pub fn mirror(
    tx: &mut Tx<'_>,
    deployment: Deployment,
    status: DeploymentStatus,
    user: Option<UserId>,
) -> Result<Deployment> {
    let before = deployment.user_id;
    let deployment = Deployment { user_id: user.or(before), ..deployment };
    let taken = match status {
        DeploymentStatus::Created if deployment.status == DeploymentStatus::Running => {
            DeploymentStep::Requeue
        }
        DeploymentStatus::Created => DeploymentStep::Revive,
        DeploymentStatus::Running => DeploymentStep::Run,
        DeploymentStatus::Success => DeploymentStep::Succeed,
        DeploymentStatus::Failed => DeploymentStep::Drop,
        DeploymentStatus::Canceled => DeploymentStep::Cancel,
        DeploymentStatus::Skipped => DeploymentStep::Skip,
        DeploymentStatus::Blocked => DeploymentStep::Block,
    };
    match deployment.status.after(taken) {
        Ok(_) => step(tx, deployment, taken),
        Err(_illegal) => {
            // Whoever plays a job does what it deploys.
            if deployment.user_id != before {
                tx.save_deployment(&deployment)?;
            }
            Ok(deployment)
        }
    }
}

/// Applies what a successful job sets on its environment.
pub fn set_terms(
    tx: &mut Tx<'_>,
    environment: Environment,
    outcome: Outcome,
) -> Result<Environment> {
    let fits = |url: &String| url.chars().count() <= LONGEST_URL && is_address(url);
    let after = Environment {
        external_url: outcome.url.filter(fits).or_else(|| environment.external_url.clone()),
        auto_stop_at: outcome.auto_stop.after(environment.auto_stop_at),
        tier: outcome.tier.unwrap_or(environment.tier),
        ..environment.clone()
    };
    if after == environment {
        return Ok(environment);
    }
    actions::save(tx, after)
}

/// A job that stops an environment succeeded.
pub fn stopped(tx: &mut Tx<'_>, environment: Environment) -> Result<Environment> {
    actions::step(tx, environment, EnvironmentStep::StopComplete)
}

/// A job that was to stop an environment did not: it may be stopped again.
pub fn not_stopped(tx: &mut Tx<'_>, environment: Environment) -> Result<Environment> {
    match environment.state {
        EnvironmentState::Stopping => actions::step(tx, environment, EnvironmentStep::Start),
        EnvironmentState::Available | EnvironmentState::Stopped => Ok(environment),
    }
}

/// Whether the environment has a newer deployment of another commit.
pub fn is_outdated(tx: &mut Tx<'_>, deployment: &Deployment) -> Result<bool> {
    let last = tx.last_deployment(deployment.environment_id)?;
    Ok(last.is_some_and(|last| deployment.id < last.id && deployment.sha != last.sha))
}

/// The `environment` entry of a job, with its variables expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentTerms {
    /// Where people find it.
    pub url: Option<String>,
    /// How long it stays.
    pub auto_stop_in: Option<String>,
}

/// Notes what the job of a deployment says of its environment; what it does not say stays.
pub fn note_terms(tx: &mut Tx<'_>, job: JobId, terms: &EnvironmentTerms) -> Result<()> {
    if *terms == EnvironmentTerms::default() {
        return Ok(());
    }
    let Some(found) = tx.deployments_of_jobs(&[job])?.pop() else { return Ok(()) };
    tx.save_deployment(&Deployment {
        environment_url: terms.url.clone().or(found.environment_url),
        auto_stop_in: terms.auto_stop_in.clone().or(found.auto_stop_in),
        ..found
    })
}

/// The environment of a deployment.
pub fn environment_of(tx: &mut Tx<'_>, deployment: &Deployment) -> Result<Option<Environment>> {
    tx.environment(deployment.project_id, deployment.environment_id)
}

/// The deployment that a job does, where it does one.
pub fn of_job(tx: &mut Tx<'_>, job: JobId) -> Result<Option<Deployment>> {
    Ok(tx.deployments_of_jobs(&[job])?.pop())
}
