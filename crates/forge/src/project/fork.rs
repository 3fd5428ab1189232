//! Making forks: the row, then a copy of the repository.

use db::{Tx, checksum::refs::RefHolder};
use kernel::{
    Error, Grant, Result,
    ids::{NamespaceId, ProjectId},
};
use org::{
    access::IdOrPath,
    namespace::store::NamespaceStore as _,
    policy::ForkProject,
    project::{
        Project,
        forks::{self, Fork},
        store::ProjectStore as _,
    },
};
use repo::{
    git::{RefName, fork},
    lfs::LfsStore as _,
};

use super::{
    create::{USUAL_BRANCH, make_repository},
    default_branch::protect_default_branch,
    remove::take_back_after,
    repository::enqueue_fork,
    statistics::refresh,
};
use crate::Forge;

/// Makes a fork in the namespace that is named, or in the caller's own, with its repository.
///
/// # Errors
/// `NotFound` for a namespace that is not there, or not the caller's to fill; otherwise as [`forks::fork`].
pub async fn create(
    forge: &Forge,
    grant: &Grant<ForkProject>,
    target: Option<IdOrPath>,
    wanted: Fork,
) -> Result<Project> {
    let (source, grant) = (grant.project(), grant.clone());
    let made = forge.db.write(move |tx| {
        let namespace = target.map(|target| named(tx, &target)).transpose()?;
        let made = forks::fork(tx, &grant, &Fork { namespace, ..wanted })?;
        enqueue_fork(tx, made.id)?;
        Ok(made)
    });
    // A caller that goes away changes nothing.
    let copied = db::spawn(copy(forge.clone(), made.await?, source));
    copied.await.map_err(Error::internal)?
}

fn named(tx: &mut Tx<'_>, target: &IdOrPath) -> Result<NamespaceId> {
    let found = match target {
        IdOrPath::Id(id) => tx.find_namespace(NamespaceId(*id))?,
        IdOrPath::Path(path) => tx.find_namespace_at(path)?,
    };
    found.map(|namespace| namespace.id).ok_or_else(|| Error::not_found("Target Namespace"))
}

/// Copies the repository of a source into a new fork. A fork that cannot have it is taken away again.
async fn copy(forge: Forge, made: Project, source: ProjectId) -> Result<Project> {
    let id = made.id;
    let empty = match RefName::branch(USUAL_BRANCH) {
        Ok(head) => make_repository(&forge, id, head).await,
        Err(cause) => Err(cause.into()),
    };
    let repository = match empty {
        Ok(repository) => repository,
        Err(cause) => return Err(take_back_after(&forge, &made, None, cause).await),
    };
    match fork::copy(&forge.git, &forge.storage.repository(source), repository.path()).await {
        Ok(()) => {
            forge.db.write(move |tx: &mut Tx<'_>| finish(tx, id)).await?;
            refresh(&forge, id).await?;
            forge.db.read(move |tx: &mut Tx<'_>| tx.project(id)).await
        }
        Err(cause) => Err(take_back_after(&forge, &made, Some(repository), cause.into()).await),
    }
}

/// The branch came without a push, so nobody else has heard of it.
fn finish(tx: &mut Tx<'_>, id: ProjectId) -> Result<()> {
    let fork = forks::finish(tx, id)?;
    // So did all its refs.
    db::checksum::refs::recount(tx, RefHolder::Repository(id))?;
    if let Some(source) = fork.forked_from_id {
        tx.share_lfs_objects(source, id)?;
    }
    match fork.default_branch {
        Some(branch) => protect_default_branch(tx, id, &branch),
        None => Ok(()),
    }
}
