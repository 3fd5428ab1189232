//! The check whether a newer deployment exists than the one a job would make.

use ci::job::Job;
use db::Tx;
use deployments::deployment::{
    Deployment,
    jobs::{self, of_job},
};
use kernel::Result;
use org::project::settings::SettingsStore as _;

/// Whether something newer is where a job would deploy to, and its project does not want that.
pub(super) fn is_outdated(tx: &mut Tx<'_>, job: &Job, deployment: &Deployment) -> Result<bool> {
    Ok(jobs::is_outdated(tx, deployment)?
        && tx.project_settings(job.project_id)?.ci_forward_deployment_enabled)
}

/// As [`is_outdated`], where only the job is known.
pub(crate) fn is_outdated_job(tx: &mut Tx<'_>, job: &Job) -> Result<bool> {
    if job.environment.is_none() {
        return Ok(false);
    }
    match of_job(tx, job.id)? {
        Some(deployment) => is_outdated(tx, job, &deployment),
        None => Ok(false),
    }
}
