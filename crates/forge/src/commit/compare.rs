//! Comparisons across a fork network.

use kernel::{Ability as _, Error, Grant, Result, ids::ProjectId};
use org::{
    access::{IdOrPath, locate_project},
    project::forks::are_related,
};
use repo::{
    compare::side,
    git::{Oid, RepoPath},
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
