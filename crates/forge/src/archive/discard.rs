//! Taking away what an import that failed has brought along.

use admin::archive::ArchiveHome;
use db::{
    Tx, archive,
    checksum::refs::{self, RefHolder},
};
use kernel::{
    Error, Result,
    ids::{NamespaceId, ProjectId},
};
use org::{
    namespace::{
        archive::{below, empty as empty_group},
        removal,
    },
    project::{archive as records, statistics::StatisticsStore as _, store::ProjectStore as _},
    settings::store::SettingsStore as _,
};
use repo::{
    git::{RefName, Wiki},
    lfs::LfsStore as _,
    push::journal::JournalStore as _,
};
use review::{activity::ActivityStore as _, item::removal::forget_project};
use tokio::task::spawn_blocking;

use super::layout;
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

/// Removes the rows, and what rows say of the files.
pub(super) fn rows(tx: &mut Tx<'_>, home: ArchiveHome) -> Result<()> {
    match home {
        ArchiveHome::Project(project) => project_rows(tx, project)?,
        ArchiveHome::Group(group) => group_rows(tx, group)?,
    }
    relations(tx, home)?;
    // What stays is an empty project, whose feed begins as any other.
    let left = match home {
        ArchiveHome::Project(project) => tx.find_project(project)?,
        ArchiveHome::Group(_) => None,
    };
    match left {
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

/// The groups below go with all that is in them.
fn group_rows(tx: &mut Tx<'_>, group: NamespaceId) -> Result<()> {
    refs::forget(tx, RefHolder::GroupWiki(group))?;
    for group in below(tx, group)? {
        removal::remove_unannounced(tx, group)?;
    }
    empty_group(tx, group)
}

/// Removes the files; a project gets an empty repository.
pub(super) async fn files(forge: &Forge, home: ArchiveHome) -> Result<()> {
    let project = match home {
        ArchiveHome::Project(project) => project,
        ArchiveHome::Group(group) => {
            tidy(forge, Owner::Group(group), None).await?;
            return clear_wiki(forge, Wiki::Group(group)).await;
        }
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
