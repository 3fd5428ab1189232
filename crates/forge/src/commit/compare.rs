//! Comparisons across a fork network.

use kernel::{Ability as _, Error, Grant, Result, ids::ProjectId};
use org::{
    access::{IdOrPath, locate_project},
    project::forks::are_related,
};
use repo::{
    commit::read::deadline,
    compare::side,
    git::{Oid, RepoPath, reader::OverlayReader},
    policy::ReadCode,
};

use crate::Forge;

/// A commit of another project of the fork network, and the repository of that project.
///
/// # Errors
/// `BadRequest` if the projects are unrelated or the other one is not visible; `Forbidden` if its code may not be read.
pub async fn commit_of_fork(
    forge: &Forge,
    grant: &Grant<ReadCode>,
    other: ProjectId,
    revision: String,
) -> Result<(Oid, RepoPath)> {
    let (actor, own) = (grant.actor(), grant.project());
    let unrelated = move || {
        Error::bad_request()
            .whole(format!("Target project id:{other} is not a fork of project id:{own}"))
    };
    let allowed = forge.db.read(move |tx| {
        let found = locate_project(tx, actor, &IdOrPath::Id(other.0));
        let (_, who) = found.map_err(|cause| match cause {
            gone if gone.is_gone() => unrelated(),
            failure => failure,
        })?;
        if !are_related(tx, other, own)? {
            return Err(unrelated());
        }
        if ReadCode::allows(&who) {
            return Ok(());
        }
        Err(Error::forbidden().because("You don't have access to this fork's parent project"))
    });
    allowed.await?;
    let id = forge.git_read(other, move |reader| side(reader, &revision)).await?;
    Ok((id, forge.storage.repository(other)))
}

/// How far a revision of a fork is ahead of a revision of another project of the fork network, and behind it, in commits.
///
/// # Errors
/// Those of [`commit_of_fork`]; `NotFound` for a revision that is not there.
pub async fn divergence(
    forge: &Forge,
    grant: &Grant<ReadCode>,
    revision: String,
    (other, base): (ProjectId, String),
) -> Result<(usize, usize)> {
    let (base, theirs) = commit_of_fork(forge, grant, other, base).await?;
    let objects = theirs.as_path().join("objects");
    let read = forge.git_read(grant.project(), move |reader| {
        let tip = side(reader, &revision)?;
        let both = OverlayReader::new(reader.path(), &[objects.as_path()])?;
        Ok(both.reader().ahead_behind(tip, base, deadline())?)
    });
    read.await
}
