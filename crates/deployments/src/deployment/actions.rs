//! Reading, making, changing and removing deployments.

use db::Tx;
use kernel::{
    Error, Grant, Result, Standing,
    ids::{DeploymentId, EnvironmentId, ProjectId, UserId},
    page::{Page, PageRequest},
};

use super::{
    Deployment, DeploymentFilter, DeploymentListStore as _, DeploymentStatus, DeploymentStep,
    DeploymentStore as _,
};
use crate::{
    Event,
    environment::{
        Environment, EnvironmentAttributes, EnvironmentStep, EnvironmentStore as _, Tier, actions,
    },
    policy::{ChangeDeployments, ReadDeployments, RemoveDeployments},
    ports::Members,
    protection::guard::ensure_may_deploy,
};

kernel::text_enum! {
    /// The status of a deployment, as users and tools report it.
    pub enum StatusReport {
        Running = "running",
        Success = "success",
        Failed = "failed",
        Canceled = "canceled",
    }
}

impl StatusReport {
    fn status(self) -> DeploymentStatus {
        match self {
            Self::Running => DeploymentStatus::Running,
            Self::Success => DeploymentStatus::Success,
            Self::Failed => DeploymentStatus::Failed,
            Self::Canceled => DeploymentStatus::Canceled,
        }
    }

    fn step(self) -> DeploymentStep {
        match self {
            Self::Running => DeploymentStep::Run,
            Self::Success => DeploymentStep::Succeed,
            Self::Failed => DeploymentStep::Drop,
            Self::Canceled => DeploymentStep::Cancel,
        }
    }
}

/// A deployment reported through the API.
#[derive(Clone, Debug)]
pub struct NewDeployment {
    /// Name of an environment, which need not exist.
    pub environment: String,
    /// A branch or tag.
    pub ref_name: String,
    pub tag: bool,
    /// A commit of the project.
    pub sha: String,
    pub status: StatusReport,
}

/// A page of a project's deployments; `environment` is a name, and one that is unknown has none.
pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadDeployments>,
    environment: Option<&str>,
    filter: &DeploymentFilter,
    page: PageRequest,
) -> Result<Page<Deployment>> {
    let environment = match environment {
        None => None,
        Some(name) => match tx.environment_named(grant.project(), name)? {
            Some(found) => Some(found.id),
            None => return Ok(page.slice(Vec::new())),
        },
    };
    tx.deployments(grant.project(), &DeploymentFilter { environment, ..filter.clone() }, page)
}

pub fn read(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadDeployments>,
    id: DeploymentId,
) -> Result<Deployment> {
    tx.deployment(grant.project(), id)?.ok_or_else(Error::missing)
}

/// Records a deployment reported through the API. If the last one is the same, it is returned unchanged.
pub fn create(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeDeployments>,
    members: &impl Members,
    new: NewDeployment,
) -> Result<Deployment> {
    let environment = ensure_environment(tx, grant.project(), &new.environment, None)?;
    ensure_may_deploy(tx, members, grant.who(), &environment)?;
    let status = new.status.status();
    let last = tx.last_deployment(environment.id)?;
    let is_same = |last: &Deployment| {
        (&last.ref_name, last.tag, &last.sha, last.status)
            == (&new.ref_name, new.tag, &new.sha, status)
    };
    if let Some(last) = last.filter(is_same) {
        return Ok(last);
    }
    let made = tx.insert_deployment(&Deployment {
        ref_name: new.ref_name,
        tag: new.tag,
        sha: new.sha,
        user_id: Some(grant.user()?),
        status,
        finished_at: status.is_finished().then_some(tx.now),
        ..draft(tx, environment.project_id, environment.id)
    })?;
    follow_status(tx, &made)?;
    Ok(made)
}

/// The row of a new deployment.
pub(crate) fn draft(tx: &Tx<'_>, project: ProjectId, environment: EnvironmentId) -> Deployment {
    Deployment {
        id: DeploymentId(0),
        project_id: project,
        environment_id: environment,
        iid: 0,
        ref_name: String::new(),
        tag: false,
        sha: String::new(),
        user_id: None,
        job_id: None,
        status: DeploymentStatus::Created,
        on_stop: None,
        environment_url: None,
        auto_stop_in: None,
        created_at: tx.now,
        updated_at: tx.now,
        finished_at: None,
    }
}

/// The environment of that name, which is made where it is not there.
pub(crate) fn ensure_environment(
    tx: &mut Tx<'_>,
    project: ProjectId,
    name: &str,
    tier: Option<Tier>,
) -> Result<Environment> {
    if let Some(found) = tx.environment_named(project, name)? {
        return Ok(found);
    }
    let tier = tier.unwrap_or_else(|| Tier::of_name(name));
    let attributes = EnvironmentAttributes { name: name.to_owned(), external_url: None, tier };
    actions::insert(tx, project, attributes)
}

/// Updates the status of a deployment, unless a job owns it.
pub fn update(
    tx: &mut Tx<'_>,
    grant: &Grant<ChangeDeployments>,
    members: &impl Members,
    id: DeploymentId,
    report: StatusReport,
) -> Result<Deployment> {
    let deployment = tx.deployment(grant.project(), id)?.ok_or_else(Error::missing)?;
    ensure_may_change(tx, grant.who(), members, &deployment)?;
    if deployment.job_id.is_some() {
        let text = "Deployments that a CI job makes can not be updated through the API";
        return Err(Error::forbidden().in_this_state(text));
    }
    step(tx, deployment, report.step())
}

/// Refuses callers who may not deploy to the environment.
fn ensure_may_change(
    tx: &mut Tx<'_>,
    who: &Standing,
    members: &impl Members,
    deployment: &Deployment,
) -> Result<()> {
    match tx.environment(deployment.project_id, deployment.environment_id)? {
        Some(environment) => ensure_may_deploy(tx, members, who, &environment),
        None => Ok(()),
    }
}

/// Takes a step with a deployment.
pub(crate) fn step(
    tx: &mut Tx<'_>,
    deployment: Deployment,
    step: DeploymentStep,
) -> Result<Deployment> {
    let status = deployment.status.after(step)?;
    let finished_at = if status.is_finished() { Some(tx.now) } else { deployment.finished_at };
    let after = Deployment { status, finished_at, updated_at: tx.now, ..deployment };
    tx.save_deployment(&after)?;
    follow_status(tx, &after)?;
    Ok(after)
}

/// Applies the consequences of a deployment's status.
fn follow_status(tx: &mut Tx<'_>, deployment: &Deployment) -> Result<()> {
    if deployment.status == DeploymentStatus::Success
        && let Some(environment) =
            tx.environment(deployment.project_id, deployment.environment_id)?
    {
        actions::step(tx, environment, EnvironmentStep::Start)?;
    }
    tx.emit(Event::DeploymentChanged {
        project: deployment.project_id,
        environment: deployment.environment_id,
        deployment: deployment.id,
        status: deployment.status,
    })
}

/// Removes a deployment that is neither running nor the current one.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<RemoveDeployments>,
    members: &impl Members,
    id: DeploymentId,
) -> Result<()> {
    let deployment = tx.deployment(grant.project(), id)?.ok_or_else(Error::missing)?;
    ensure_may_change(tx, grant.who(), members, &deployment)?;
    if deployment.status == DeploymentStatus::Running {
        return Err(Error::bad_request().whole("Cannot destroy running deployment"));
    }
    let last = tx.last_deployment(deployment.environment_id)?;
    if last.is_some_and(|last| last.id == id) {
        return Err(Error::bad_request().whole("Deployment currently deployed to environment"));
    }
    let environment = tx.environment(deployment.project_id, deployment.environment_id)?;
    tx.delete_deployment(id)?;
    tx.emit(Event::DeploymentRemoved {
        project: deployment.project_id,
        slug: environment.map(|environment| environment.slug).unwrap_or_default(),
        iid: deployment.iid,
    })
}

/// Reassigns all deployments of a user.
pub fn reassign(tx: &mut Tx<'_>, from: UserId, heir: Option<UserId>) -> Result<()> {
    while tx.reassign_deployments(from, heir, HANDED_OVER_AT_ONCE)? {}
    Ok(())
}

/// Rows reassigned by one statement.
const HANDED_OVER_AT_ONCE: i64 = 500;
