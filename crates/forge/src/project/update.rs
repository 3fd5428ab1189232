//! Changing projects: the row together with its picture, and the branch that HEAD names.

use kernel::{Error, Grant, Result, ids::ProjectId};
use org::{
    policy::AdminProject,
    project::{Project, ProjectChange, actions},
};
use repo::git::{RefName, refs};

use super::statistics::refresh;
use crate::{
    Forge,
    files::{
        Upload,
        avatars::{Owner, PictureChange, finish_change, stage_change, tidy},
    },
};

/// Changes a project.
///
/// # Errors
/// `BadRequest` for a default branch that is not there; otherwise as [`actions::update`].
pub async fn update(
    forge: &Forge,
    grant: &Grant<AdminProject>,
    mut change: ProjectChange,
    picture: PictureChange<Upload>,
) -> Result<Project> {
    let is_repainted = picture.is_some();
    let picture = stage_change(forge, picture).await?;
    let name = |staged: &crate::files::avatars::StagedAvatar| staged.name.clone();
    change.avatar = picture.as_ref().map(|picture| picture.as_ref().map(name));
    let now = grant.facts().default_branch.as_ref();
    let head = match change.default_branch.clone().filter(|branch| now != Some(branch)) {
        Some(branch) => Some(existing(forge, grant.project(), branch).await?),
        None => None,
    };
    let grant = grant.clone();
    let changed = forge.db.write(move |tx| {
        let project = actions::update(tx, &grant, &change)?;
        finish_change(tx, picture, Owner::Project(project.id))?;
        Ok(project)
    });
    let project = changed.await?;
    if is_repainted {
        tidy(forge, Owner::Project(project.id), project.avatar.clone()).await?;
    }
    if let Some(branch) = head {
        refs::set_head(&forge.storage.repository(project.id), &branch)
            .await
            .map_err(Error::from)?;
        // What the record tells of its branch is that of another one now.
        refresh(forge, project.id).await?;
    }
    Ok(project)
}

/// The branch that is to become the default one, which must be there.
async fn existing(forge: &Forge, project: ProjectId, name: String) -> Result<RefName> {
    let missing = || {
        let text = format!("Could not change HEAD: branch '{name}' does not exist");
        Error::invalid("base", text)
    };
    let branch = RefName::branch(&name).map_err(|_cause| missing())?;
    let wanted = branch.clone();
    let read = forge.git_read(project, move |reader| Ok(reader.find_reference(&wanted)?.is_some()));
    if read.await? { Ok(branch) } else { Err(missing()) }
}
