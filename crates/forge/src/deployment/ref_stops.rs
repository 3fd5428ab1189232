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
use repo::{event::MovedRef, push::journal::PushAction};
use review::merge_request::{MergeRequestStore as _, state::Step};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue as _};

use super::stop::{StopResult, stop_by};
use crate::{Forge, pipeline, user::standing::person_in_project};

/// So many environments are looked for at a time.
const AT_ONCE: i64 = 100;
/// So many branches are looked for at a time.
const BRANCHES_AT_ONCE: usize = 100;
const BRANCHES: &str = "refs/heads/";

/// Stops the environments of branches that were removed, or of a merge request that was merged or closed, for who did so.
#[derive(Debug, Serialize, Deserialize)]
pub struct StopEnvironmentsOf {
    project: ProjectId,
    user: UserId,
    source: StopSource,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum StopSource {
    /// At most [`BRANCHES_AT_ONCE`].
    Branches(Vec<String>),
    /// Its ref is `refs/merge-requests/1/head`, in the project of its branch.
    MergeRequest(MergeRequestId, String),
}

impl Job for StopEnvironmentsOf {
    const KIND: &'static str = "environment.stop_of_ref";
}

/// In the transaction in which branches were removed.
pub(crate) fn branches_removed(
    tx: &mut Tx<'_>,
    project: ProjectId,
    user: Option<UserId>,
    moves: &[MovedRef],
) -> Result<()> {
    let Some(user) = user else { return Ok(()) };
    let removed = moves.iter().filter(|one| one.action == PushAction::Removed);
    let names: Vec<&str> = removed.filter_map(|one| one.name.strip_prefix(BRANCHES)).collect();
    for some in names.chunks(BRANCHES_AT_ONCE) {
        let some = some.iter().map(|name| (*name).to_owned()).collect();
        let source = StopSource::Branches(some);
        tx.enqueue(&StopEnvironmentsOf { project, user, source })?;
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
    let source = StopSource::MergeRequest(id, pipeline::merge_request_ref(&row));
    let project = row.source_project_id.unwrap_or(row.project_id);
    tx.enqueue(&StopEnvironmentsOf { project, user, source })
}

pub(crate) async fn stop_environments_of(forge: Forge, work: StopEnvironmentsOf) -> Result<()> {
    let source = match work.source.clone() {
        StopSource::Branches(names) => DeployedRef::Branches(names),
        StopSource::MergeRequest(_, name) => DeployedRef::MergeRequest(name),
    };
    let project = work.project;
    let mut behind = EnvironmentId(0);
    loop {
        let own = source.clone();
        let some =
            forge.db.read(move |tx| tx.environments_of_ref(project, &own, behind, AT_ONCE)).await?;
        let Some(last) = some.last() else { return Ok(()) };
        behind = *last;
        for id in some {
            stop_for(&forge, &work, &source, id).await?;
        }
    }
}

/// Refuses an environment that is there for another merge request: those of a fork have refs of the same names.
fn ensure_made_for(tx: &mut Tx<'_>, id: EnvironmentId, made_for: MergeRequestId) -> Result<()> {
    let first = tx.first_deployment(id)?.ok_or_else(Error::missing)?;
    let job =
        tx.find_any_job(first.job_id.ok_or_else(Error::missing)?)?.ok_or_else(Error::missing)?;
    let pipeline = tx.find_pipeline(job.project_id, job.pipeline_id)?.ok_or_else(Error::missing)?;
    match pipeline.merge_request_id == Some(made_for) {
        true => Ok(()),
        false => Err(Error::missing()),
    }
}

/// Stops an environment for somebody; where they may not, it goes on.
async fn stop_for(
    forge: &Forge,
    work: &StopEnvironmentsOf,
    source: &DeployedRef,
    id: EnvironmentId,
) -> Result<()> {
    let (project, user) = (work.project, work.user);
    let merge_request = match work.source {
        StopSource::Branches(_) => None,
        StopSource::MergeRequest(id, _) => Some(id),
    };
    let (vault, source) = (forge.vault.clone(), source.clone());
    let stopped = forge.db.write(move |tx| {
        let environment = tx.hold_environment(id)?.ok_or_else(Error::missing)?;
        // Since they were looked for, something else may have been brought there.
        if tx.environments_of_ref(project, &source, EnvironmentId(id.0 - 1), 1)? != [id] {
            return Err(Error::missing());
        }
        if let Some(merge_request) = merge_request {
            ensure_made_for(tx, id, merge_request)?;
        }
        let person = person_in_project(tx, user, &IdOrPath::Id(project.0))?;
        let person = person.ok_or_else(Error::forbidden)?;
        let grant = Grant::<StopEnvironments>::check(&person.who, Project(person.facts))?;
        stop_by(tx, &vault, &grant, environment, false)
    });
    match stopped.await {
        Ok(StopResult { pipeline: Some(pipeline), .. }) => {
            pipeline::run_now(forge, pipeline).await;
            Ok(())
        }
        Ok(StopResult { pipeline: None, .. }) => Ok(()),
        Err(failure) => match failure.kind {
            Kind::Forbidden | Kind::NotFound | Kind::BadRequest => Ok(()),
            _ => Err(failure),
        },
    }
}
