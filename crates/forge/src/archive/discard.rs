//! Taking away what an import that failed has brought along.

use std::collections::BTreeSet;

use admin::archive::{ArchiveHome, ArchiveIdStore as _};
use db::{
    Tx, archive,
    checksum::refs::{self, RefHolder},
};
use kernel::{
    Error, Result,
    ids::{ArchiveImportId, NamespaceId, ProjectId},
    task::spawn_blocking,
};
use org::{
    namespace::archive::{empty as empty_group, take_away},
    project::{archive as records, statistics::StatisticsStore as _, store::ProjectStore as _},
    settings::store::SettingsStore as _,
};
use repo::{
    git::{RefName, Wiki},
    lfs::LfsStore as _,
    push::journal::JournalStore as _,
};
use review::{activity::ActivityStore as _, item::removal::forget_project};

use super::{groups, layout};
use crate::{
    Forge, activity_feed,
    checksums::FIRST_CHECK,
    files::{
        attachments::remove_uploads,
        avatars::{Owner, tidy},
    },
    project::remove::clear_away,
    runner::removal as removal_of_jobs,
    wiki::clear_wiki,
};

/// Removes all rows that archives hold of a project or group.
pub(super) fn relations(tx: &mut Tx<'_>, home: ArchiveHome) -> Result<()> {
    let (all, id) = match home {
        ArchiveHome::Project(project) => (layout::project_relations(), project.0),
        ArchiveHome::Group(group) => (layout::group_relations(), group.0),
    };
    all.into_iter().rev().try_for_each(|relation| archive::clear(tx, relation, id))
}

/// Removes the rows, what rows say of the files, and the ids of the archive.
pub(super) fn rows(tx: &mut Tx<'_>, import: ArchiveImportId, home: ArchiveHome) -> Result<()> {
    let project = match home {
        ArchiveHome::Project(project) => project,
        ArchiveHome::Group(group) => return group_rows(tx, import, group),
    };
    tx.forget_archive_ids(import)?;
    project_rows(tx, project)?;
    relations(tx, home)?;
    // What stays is an empty project, whose feed begins as any other.
    match tx.find_project(project)? {
        Some(row) => activity_feed::created(tx, row.id, row.creator_id, &row.name, row.created_at),
        None => Ok(()),
    }
}

fn project_rows(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    forget_project(tx, project)?;
    refs::forget(tx, RefHolder::ProjectWiki(project))?;
    refs::forget(tx, RefHolder::Repository(project))?;
    let check_at = tx.now.plus(FIRST_CHECK);
    refs::begin(tx, project, check_at)?;
    tx.forget_pushes(project)?;
    tx.delete_activity_of_pushes(project)?;
    tx.remove_lfs_objects(project)?;
    tx.reset_statistics(project)?;
    records::empty(tx, project)
}

/// The groups below that the archive brought go with it, unless people have put projects or groups into them: those stay,
/// as the first one does, and their ids are kept for whoever begins anew.
fn group_rows(tx: &mut Tx<'_>, import: ArchiveImportId, group: NamespaceId) -> Result<()> {
    let made = tx.all_archive_ids(import, groups::RELATION)?;
    let ids: BTreeSet<NamespaceId> = made.values().copied().map(NamespaceId).collect();
    let kept = take_away(tx, group, &ids)?;
    tx.forget_archive_ids(import)?;
    let pairs = made.into_iter().filter(|(_, id)| kept.contains(&NamespaceId(*id)));
    tx.insert_archive_ids(import, groups::RELATION, &pairs.collect::<Vec<_>>())?;
    for id in kept.into_iter().chain([group]) {
        refs::forget(tx, RefHolder::GroupWiki(id))?;
        empty_group(tx, id)?;
        relations(tx, ArchiveHome::Group(id))?;
    }
    Ok(())
}

/// Removes the files; a project gets an empty repository.
pub(super) async fn files(forge: &Forge, import: ArchiveImportId, home: ArchiveHome) -> Result<()> {
    let project = match home {
        ArchiveHome::Project(project) => project,
        ArchiveHome::Group(group) => return group_files(forge, import, group).await,
    };
    clear_wiki(forge, Wiki::Project(project)).await?;
    remove_uploads(forge, project).await?;
    tidy(forge, Owner::Project(project), None).await?;
    removal_of_jobs::remove_project(forge, project).await?;
    clear_away(forge, project).await?;
    let branch = forge.db.peek(|tx| tx.settings()).await?.default_branch();
    let (storage, head) = (forge.storage.clone(), RefName::branch(&branch)?);
    let made = spawn_blocking(move || storage.create(project, &head).map(drop));
    Ok(made.await.map_err(Error::internal)??)
}

async fn group_files(forge: &Forge, import: ArchiveImportId, group: NamespaceId) -> Result<()> {
    let kept = move |tx: &mut Tx<'_>| tx.all_archive_ids(import, groups::RELATION);
    let kept = forge.db.read(kept).await?;
    for id in kept.into_values().map(NamespaceId).chain([group]) {
        tidy(forge, Owner::Group(id), None).await?;
        clear_wiki(forge, Wiki::Group(id)).await?;
    }
    Ok(())
}
