//! Environments are stopped: by the job that says it does so, or at once.

use ci::{
    job::{Job as CiJob, JobStore as _, MotionStore as _, actions as job_actions},
    policy::UpdateJobs,
};
use db::Tx;
use deployments::{
    deployment::DeploymentStore as _,
    environment::{Environment, EnvironmentState, EnvironmentStep, actions},
    policy::{ChangeEnvironments, StopEnvironments},
    protection::guard::ensure_may_deploy,
};
use kernel::{
    Error, Grant, Result,
    ids::{EnvironmentId, PipelineId},
};
use secrets::Vault;

use crate::ports::{
    ci::{Projects, Refs},
    deployments::Members,
};

/// An environment that was stopped or is about to be.
#[derive(Clone, Debug)]
pub struct StopResult {
    pub environment: Environment,
    /// The pipeline of the job that stops it.
    pub pipeline: Option<PipelineId>,
}

/// Stops an environment; `force` does not wait for its job. One that is stopped stays so.
///
/// # Errors
/// `Forbidden` for who may not play its job, or, without one, not change it.
pub fn stop(
    tx: &mut Tx<'_>,
    vault: &Vault,
    grant: &Grant<StopEnvironments>,
    id: EnvironmentId,
    force: bool,
) -> Result<StopResult> {
    let environment = actions::of_project(tx, grant, id)?;
    stop_by(tx, vault, grant, environment, force)
}

/// As [`stop`], for an environment of the project.
pub(super) fn stop_by(
    tx: &mut Tx<'_>,
    vault: &Vault,
    grant: &Grant<StopEnvironments>,
    environment: Environment,
    force: bool,
) -> Result<StopResult> {
    let Some(job) = stop_job(tx, &environment)? else {
        grant.also::<ChangeEnvironments>()?;
        ensure_may_deploy(tx, &Members, grant.who(), &environment)?;
        return match environment.state {
            EnvironmentState::Stopping if !force => Ok(StopResult { environment, pipeline: None }),
            _ => stop_at_once(tx, environment),
        };
    };
    let grant: Grant<UpdateJobs> = grant.also()?;
    if force {
        job_actions::ensure_may_change(tx, &grant, &Refs, job.id)?;
        return stop_at_once(tx, environment);
    }
    stop_with(tx, vault, &grant, environment, &job)
}

/// Stops an environment by a job that may be played.
pub(super) fn stop_with(
    tx: &mut Tx<'_>,
    vault: &Vault,
    grant: &Grant<UpdateJobs>,
    environment: Environment,
    job: &CiJob,
) -> Result<StopResult> {
    let played = job_actions::play(tx, grant, &Projects, &Refs, job.id, (vault, &[]))?;
    let environment = actions::step(tx, environment, EnvironmentStep::Stop)?;
    Ok(StopResult { environment, pipeline: Some(played.pipeline_id) })
}

pub(super) fn stop_at_once(tx: &mut Tx<'_>, environment: Environment) -> Result<StopResult> {
    let environment = actions::step(tx, environment, EnvironmentStep::StopComplete)?;
    Ok(StopResult { environment, pipeline: None })
}

/// The job that stops what was brought to an environment last, where somebody may let it begin.
pub(super) fn stop_job(tx: &mut Tx<'_>, environment: &Environment) -> Result<Option<CiJob>> {
    if environment.state != EnvironmentState::Available {
        return Ok(None);
    }
    let Some(last) = tx.last_deployment(environment.id)? else { return Ok(None) };
    let (Some(job), Some(name)) = (last.job_id, last.on_stop) else { return Ok(None) };
    // A pipeline may be gone with its jobs, and the deployment stays.
    let Some(job) = tx.find_any_job(job)? else { return Ok(None) };
    let named = tx.members(job.pipeline_id)?.into_iter().find(|member| member.name == name);
    let Some(named) = named else { return Ok(None) };
    let found = tx.find_any_job(named.id)?.ok_or_else(Error::missing)?;
    // By its own variables it may come to lie elsewhere, where other people deploy.
    let stops_it = found.environment.as_deref() == Some(environment.name.as_str());
    Ok(Some(found).filter(|job| stops_it && job.is_playable()))
}
