//! Removing projects, and taking back those that could not be made: the row and the repository together.

use db::Tx;
use kernel::{Error, Grant, Result, ids::ProjectId, task::spawn_blocking};
use org::{
    policy::OwnProject,
    project::{
        Project, actions,
        removal::{self, Removal},
    },
};
use repo::git::{GitError, NewRepository};
use review::item::removal::forget_project;

use crate::{
    Forge,
    files::avatars::{Owner, tidy},
};

/// Removes a project, or marks it for a day to come; what is left of it is cleared away later.
///
/// # Errors
/// As [`removal::remove`] says.
pub async fn remove(forge: &Forge, grant: &Grant<OwnProject>, how: Removal) -> Result<()> {
    let grant = grant.clone();
    match forge.db.write(move |tx| removal::remove(tx, &grant, &how)).await? {
        Some(project) => clear_away(forge, project.id).await,
        None => Ok(()),
    }
}

/// Moves the repository of a deleted project out of the way.
pub async fn clear_away(forge: &Forge, project: ProjectId) -> Result<()> {
    let forge = forge.clone();
    let done = spawn_blocking(move || {
        forge.repositories.forget(&forge.storage.repository(project));
        match forge.storage.delete(project) {
            // A project that never had one.
            Err(GitError::NotFound) => Ok(()),
            done => done,
        }
    });
    Ok(done.await.map_err(Error::internal)??)
}

/// Takes the rows away at once, so that nobody looks for files by their id.
pub async fn discard_rows(forge: &Forge, project: Project) -> Result<()> {
    let gone = move |tx: &mut Tx<'_>| {
        actions::discard(tx, &project)?;
        forget_project(tx, project.id)?;
        actions::purge(tx, project.id)
    };
    forge.db.write(gone).await
}

/// Takes a project away that could not be finished, with the repository that was made for it. One that was there before
/// is not this project's, whatever its place says, and stays. Hands the cause back.
pub(super) async fn take_back_after(
    forge: &Forge,
    project: &Project,
    made: Option<NewRepository>,
    cause: Error,
) -> Error {
    if let Err(further) = take_back(forge, project, made).await {
        tracing::error!(error = %further, project = %project.id, "a project is left half made");
    }
    cause
}

async fn take_back(forge: &Forge, project: &Project, made: Option<NewRepository>) -> Result<()> {
    if let Some(made) = made {
        let (whole, of_it) = (forge.clone(), made.path().clone());
        let gone = spawn_blocking(move || {
            whole.repositories.forget(&of_it);
            whole.storage.take_back(made)
        });
        gone.await.map_err(Error::internal)??;
        tidy(forge, Owner::Project(project.id), None).await?;
    }
    discard_rows(forge, project.clone()).await
}
