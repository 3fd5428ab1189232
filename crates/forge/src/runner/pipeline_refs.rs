//! Refs that keep the commits of pipelines as long as these are there, whatever becomes of their branches.

use ci::pipeline::Pipeline;
use kernel::{
    Result,
    ids::{PipelineId, ProjectId},
};
use repo::git::{
    GitError, Oid, RefName,
    refs::{self, RefMove},
};

use crate::Forge;

/// The name under which runners fetch the commit of a pipeline.
fn pipeline_ref(id: PipelineId) -> Result<RefName> {
    Ok(RefName::full(format!("refs/pipelines/{id}"))?)
}

/// Keeps the commit of a pipeline of which a job begins.
pub(super) async fn keep_commit(forge: &Forge, pipeline: &Pipeline) -> Result<()> {
    let repository = forge.storage.repository(pipeline.project_id);
    let (name, commit): (RefName, Oid) = (pipeline_ref(pipeline.id)?, pipeline.sha.parse()?);
    let now = refs::read(&repository, [&name]).await?.get(&name).copied();
    if now == Some(commit) {
        return Ok(());
    }
    let kept = RefMove { name: name.clone(), old: now.into(), new: Some(commit) };
    let Err(failure) = refs::move_now(&repository, &[kept]).await else { return Ok(()) };
    // Other jobs of the pipeline begin in the same moment, and one of them was first.
    match refs::read(&repository, [&name]).await?.get(&name) {
        Some(there) if *there == commit => Ok(()),
        _ => Err(failure.into()),
    }
}

/// Lets go of the commit of a pipeline that is gone.
pub(super) async fn drop_commit(
    forge: &Forge,
    project: ProjectId,
    pipeline: PipelineId,
) -> Result<()> {
    if !forge.storage.exists(project) {
        return Ok(());
    }
    let (repository, name) = (forge.storage.repository(project), pipeline_ref(pipeline)?);
    let Some(now) = refs::read(&repository, [&name]).await?.get(&name).copied() else {
        return Ok(());
    };
    let gone = RefMove { name, old: Some(now).into(), new: None };
    match refs::move_now(&repository, &[gone]).await {
        Err(GitError::Stale { actual: None }) => Ok(()),
        moved => Ok(moved?),
    }
}
