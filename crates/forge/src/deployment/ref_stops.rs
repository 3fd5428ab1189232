//! Environments stop with the branch or merge request for which they are there.

use ci::{job::JobStore as _, pipeline::PipelineStore as _};
use db::Tx;
use deployments::{
    deployment::DeploymentStore as _,
    environment::{DeployedRef, EnvironmentCleanupStore as _, EnvironmentStore as _},
    policy::StopEnvironments,
};
use kernel::{
    Error, Grant, Result,
    access::Project,
    error::Kind,
    ids::{EnvironmentId, MergeRequestId, ProjectId, UserId},
};
use org::access::IdOrPath;
use repo::{event::Moved, push::journal::PushAction};
use review::merge_request::{MergeRequestStore as _, state::Step};
use secrets::Vault;
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::stop::{Stopped, stop_by};
use crate::{Forge, pipeline, user::standing::person_in_project};

/// So many environments are looked for at a time.
const AT_ONCE: i64 = 100;
const BRANCHES: &str = "refs/heads/";

/// Stops the environments of a branch that was removed, or of a merge request that was merged or closed, for who did so.
#[derive(Debug, Serialize, Deserialize)]
pub struct StopEnvironmentsOf {
    project: ProjectId,
    user: UserId,
    /// `refs/heads/feature` or `refs/merge-requests/1/head`.
    source: String,
    /// Of that merge request, which may be one of another project.
    merge_request: Option<MergeRequestId>,
}

impl Job for StopEnvironmentsOf {
    const KIND: &'static str = "environment.stop_of_ref";

    fn unique_key(&self) -> Option<String> {
        Some(format!("{}:{}:{}", self.project, self.user, self.source))
    }
}

/// In the transaction in which branches were removed.
pub(crate) fn branches_removed(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: Option<UserId>,
    moves: &[Moved],
) -> Result<()> {
    let Some(user) = user else { return Ok(()) };
    let is_removed =
        |one: &&Moved| one.action == PushAction::Removed && one.name.starts_with(BRANCHES);
    for removed in moves.iter().filter(is_removed) {
        tx.enqueue(&StopEnvironmentsOf {
            project,
            user,
            source: removed.name.clone(),
            merge_request: None,
        })?;
    }
    Ok(())
}

/// In the transaction in which a merge request was merged or closed.
pub(crate) fn merge_request_ended(
    tx: &mut Tx<'_>,
    id: MergeRequestId,
    user: Option<UserId>,
    step: Step,
) -> Result<()> {
    let (Some(user), Step::Merge | Step::Close) = (user, step) else { return Ok(()) };
    let Some(row) = tx.merge_requests_in_order(&[id.0])?.pop() else { return Ok(()) };
    let source = pipeline::merge_request_ref(&row);
    let project = row.source_project_id.unwrap_or(row.project_id);
    tx.enqueue(&StopEnvironmentsOf { project, user, source, merge_request: Some(id) })
}

pub(crate) async fn stop_environments_of(forge: Forge, work: StopEnvironmentsOf) -> Result<()> {
    let source = match work.source.strip_prefix(BRANCHES) {
        Some(branch) => DeployedRef::Branch(branch.to_owned()),
        None => DeployedRef::MergeRequest(work.source.clone()),
    };
    let (project, user) = (work.project, work.user);
    let mut behind = EnvironmentId(0);
    loop {
        let own = source.clone();
        let some =
            forge.db.read(move |tx| tx.environments_of_ref(project, &own, behind, AT_ONCE)).await?;
        let Some(last) = some.last() else { return Ok(()) };
        behind = *last;
        for id in some {
            stop_for(&forge, &work, id).await?;
        }
    }
}

/// Refuses an environment that is there for another merge request: those of a fork have refs of the same names.
fn ensure_made_for(tx: &mut Tx<'_>, id: EnvironmentId, made_for: MergeRequestId) -> Result<()> {
    let first = tx.first_deployment(id)?.ok_or(Error::missing())?;
    let job = tx.find_any_job(first.job_id.ok_or(Error::missing())?)?.ok_or(Error::missing())?;
    let pipeline = tx.find_pipeline(job.project_id, job.pipeline_id)?.ok_or(Error::missing())?;
    match pipeline.merge_request_id == Some(made_for) {
        true => Ok(()),
        false => Err(Error::missing()),
    }
}

/// Stops an environment for somebody; where they may not, it goes on.
async fn stop_for(forge: &Forge, work: &StopEnvironmentsOf, id: EnvironmentId) -> Result<()> {
    let StopEnvironmentsOf { project, user, merge_request, .. } = *work;
    let vault = forge.vault.clone();
    let stopped = forge.db.write(move |tx| {
        if let Some(merge_request) = merge_request {
            ensure_made_for(tx, id, merge_request)?;
        }
        let person = person_in_project(tx, user, &IdOrPath::Id(project.0))?;
        let person = person.ok_or(Error::forbidden())?;
        let grant = Grant::<StopEnvironments>::check(&person.who, Project(person.facts))?;
        let environment = tx.environment(project, id)?.ok_or(Error::missing())?;
        stop_by(tx, &vault, &grant, environment, false)
    });
    match stopped.await {
        Ok(Stopped { pipeline: Some(pipeline), .. }) => {
            pipeline::hurry(forge, pipeline).await;
            Ok(())
        }
        Ok(Stopped { pipeline: None, .. }) => Ok(()),
        Err(Error { kind: Kind::Forbidden | Kind::NotFound | Kind::BadRequest, .. }) => Ok(()),
        Err(failure) => Err(failure),
    }
}
