//! Commits made of changes to files.

use db::Tx;
use kernel::{Ability as _, Error, Grant, Result, error::Kind};
use org::{
    access::{IdOrPath, locate_project},
    project::{forks::are_related, store::ProjectStore as _},
};
use repo::{
    commit::RefusalStyle,
    git::{Oid, RepoPath, change::Change},
    policy::{NOT_YOUR_BRANCH, PushToBranch, ReadCode},
};

use crate::Forge;

/// Commits to a branch. A start is looked up in another project of the fork network, where one is named.
///
/// # Errors
/// `Forbidden` for those who may not push to the branch, or read the start; otherwise as [`repo::commit::Writer::commit`].
pub async fn create(
    forge: &Forge,
    grant: &Grant<PushToBranch>,
    mut change: Change,
    start: Option<IdOrPath>,
) -> Result<Oid> {
    ensure_may_push(forge, grant, &change.branch).await?;
    if let Some(project) = start {
        change.start.repository = Some(start_repository(forge, grant, project).await?);
    }
    forge.writer().commit(grant, change, RefusalStyle::Commit).await
}

/// The push right on the particular branch, as calls that make commits refuse it.
pub(super) async fn ensure_may_push(
    forge: &Forge,
    grant: &Grant<PushToBranch>,
    branch: &str,
) -> Result<()> {
    match forge.writer().ensure_may_push(grant, branch).await {
        Err(refused) if refused.is_whole(Kind::BadRequest) => {
            Err(Error::forbidden().because(NOT_YOUR_BRANCH))
        }
        checked => checked,
    }
}

/// The repository of a project in the same fork network.
async fn start_repository(
    forge: &Forge,
    grant: &Grant<PushToBranch>,
    id: IdOrPath,
) -> Result<RepoPath> {
    let (actor, own) = (grant.actor(), grant.project());
    let found = forge.db.read(move |tx: &mut Tx<'_>| {
        let (start, who) = locate_project(tx, actor, &id)?;
        let start = tx.project(start.0.id)?;
        if are_related(tx, start.id, own)? && ReadCode::allows(&who) {
            return Ok(start.id);
        }
        Err(Error::forbidden().because(format!(
            "Project is not included in the fork network for {}",
            start.full_name
        )))
    });
    Ok(forge.storage.repository(found.await?))
}
