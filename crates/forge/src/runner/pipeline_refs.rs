//! Refs that keep the commits of pipelines as long as these are there, whatever becomes of their branches.

use ci::pipeline::Pipeline;
use kernel::{
    Result,
    ids::{PipelineId, ProjectId},
};
use repo::git::{
    GitError, Oid, RefName, RepoPath,
    refs::{self, RefMove},
};

use crate::Forge;

const PIPELINES: &str = "refs/pipelines/";

/// The name under which runners fetch the commit of a pipeline.
fn pipeline_ref(id: PipelineId) -> Result<RefName> {
    Ok(RefName::full(format!("{PIPELINES}{id}"))?)
}

/// The pipeline whose commit a ref of this full name keeps.
pub(crate) fn pipeline_of_ref(name: &str) -> Option<PipelineId> {
    let number = name.strip_prefix(PIPELINES)?;
    let id = number.parse::<i64>().ok().filter(|id| *id > 0)?;
    (id.to_string() == number).then_some(PipelineId(id))
}

/// Keeps the commits of pipelines that came from elsewhere, as far as they are there. Done again, it does what is left.
pub(crate) async fn keep_commits(
    forge: &Forge,
    project: ProjectId,
    all: Vec<(PipelineId, Oid)>,
) -> Result<()> {
    let found = forge.git_read(project, move |reader| {
        let is_there = |(_, commit): &(PipelineId, Oid)| reader.commit(*commit).is_ok();
        Ok(all.into_iter().filter(is_there).collect::<Vec<_>>())
    });
    let mut moves = Vec::new();
    for (id, commit) in found.await? {
        moves.push(RefMove { name: pipeline_ref(id)?, old: None.into(), new: Some(commit) });
    }
    let repository = forge.storage.repository(project);
    let now = refs::read(&repository, moves.iter().map(|one| &one.name)).await?;
    moves.retain(|one| !now.contains_key(&one.name));
    match moves.is_empty() {
        true => Ok(()),
        false => keep_each(&repository, moves).await,
    }
}

/// Makes refs; what is there by now, since a job of the pipeline has begun in this moment, is kept already.
async fn keep_each(repository: &RepoPath, moves: Vec<RefMove>) -> Result<()> {
    let is_there =
        |failure: &GitError| matches!(failure, GitError::Stale { .. } | GitError::RefNameTaken);
    match refs::move_now(repository, &moves).await {
        Err(failure) if is_there(&failure) => {}
        moved => return Ok(moved?),
    }
    for one in moves {
        match refs::move_now(repository, &[one]).await {
            Err(failure) if is_there(&failure) => {}
            moved => moved?,
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use kernel::ids::PipelineId;

    use super::{pipeline_of_ref, pipeline_ref};

    #[test]
    fn the_ref_of_a_pipeline_names_it() {
        let name = pipeline_ref(PipelineId(7)).unwrap().to_string();
        assert_eq!(pipeline_of_ref(&name), Some(PipelineId(7)));
        for other in ["refs/pipelines/", "refs/pipelines/07", "refs/pipelines/0", "refs/heads/7"] {
            assert_eq!(pipeline_of_ref(other), None, "{other}");
        }
    }
}
