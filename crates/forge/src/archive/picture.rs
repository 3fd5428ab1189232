//! Pictures of projects and groups on their way into an archive and out of one.

use std::{io::ErrorKind, path::Path};

use kernel::{
    Result,
    error::Kind,
    ids::{NamespaceId, ProjectId},
};

use super::{failure::ArchiveError, files::copy_into, layout, pack::Packer};
use crate::{
    Forge,
    files::avatars::{Owner, StagedAvatar, archived_fault, find, stage_archived},
};

/// Adds the picture that a project names; returns its name, and nothing where the file is gone.
pub(super) async fn write(
    forge: &Forge,
    packer: &mut Packer,
    project: ProjectId,
    name: Option<String>,
) -> Result<Option<String>> {
    add(forge, packer, Owner::Project(project), layout::AVATAR, name).await
}

/// As [`write()`], for a group.
pub(super) async fn write_of_group(
    forge: &Forge,
    packer: &mut Packer,
    group: NamespaceId,
    name: Option<String>,
) -> Result<Option<String>> {
    add(forge, packer, Owner::Group(group), &layout::group_avatar(group.0), name).await
}

async fn add(
    forge: &Forge,
    packer: &mut Packer,
    owner: Owner,
    path: &str,
    name: Option<String>,
) -> Result<Option<String>> {
    let Some(name) = name else { return Ok(None) };
    let place = find(owner, &name)?;
    let content = match forge.avatars.read(&place).await {
        Ok((_, content)) => content,
        Err(gone) if gone.kind == Kind::NotFound => return Ok(None),
        Err(cause) => return Err(cause),
    };
    let file = copy_into(packer.draft()?, content).await?;
    packer.file(path, file).await?;
    Ok(Some(name))
}

/// Looks whether the file that an archive's project names is a picture. Blocks.
pub(super) fn ensure_sound(folder: &Path, name: Option<&str>) -> Result<(), ArchiveError> {
    ensure(&folder.join(layout::AVATAR), "project", name)
}

/// As [`ensure_sound`], for a group of an archive.
pub(super) fn ensure_sound_of_group(
    folder: &Path,
    group: i64,
    name: Option<&str>,
) -> Result<(), ArchiveError> {
    ensure(&folder.join(layout::group_avatar(group)), "group", name)
}

fn ensure(path: &Path, owner: &str, name: Option<&str>) -> Result<(), ArchiveError> {
    let Some(name) = name else { return Ok(()) };
    match archived_fault(name, path) {
        Ok(None) => Ok(()),
        Ok(Some(fault)) => {
            Err(ArchiveError::Flawed(format!("The archive's picture of the {owner}: {fault}.")))
        }
        Err(cause) if cause.kind() == ErrorKind::NotFound => {
            let text = format!("The archive lacks the picture that its {owner} names.");
            Err(ArchiveError::Flawed(text))
        }
        Err(cause) => Err(cause.into()),
    }
}

/// Reads the picture that an archive's project names.
pub(super) async fn stage(
    forge: &Forge,
    folder: &Path,
    name: Option<&str>,
) -> Result<Option<StagedAvatar>> {
    let Some(name) = name else { return Ok(None) };
    let path = folder.join(layout::AVATAR);
    stage_archived(forge, name.to_owned(), path).await.map(Some)
}

/// As [`stage`], for a group of an archive.
pub(super) async fn stage_of_group(
    forge: &Forge,
    folder: &Path,
    group: i64,
    name: &str,
) -> Result<StagedAvatar> {
    stage_archived(forge, name.to_owned(), folder.join(layout::group_avatar(group))).await
}
