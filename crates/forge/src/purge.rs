//! Clears away what was removed: first the files of a project or group, then its rows. Whatever a crash leaves out is
//! done by the next run, since the rows are what is looked for.

use ci::bridge::end_followers_elsewhere;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};
use org::{jobs::PurgeDeletions, namespace::removal, project::actions};

use repo::git::Wiki;
use review::{epic::forget_gone, item::removal::forget_project, merge_request::forks};

use crate::{
    Forge,
    files::{
        attachments::remove_uploads,
        avatars::{Owner, tidy},
    },
    project::remove::clear_away,
    runner::removal as removal_of_jobs,
    wiki::clear_wiki,
};

/// Projects that are looked up in one go.
const AT_ONCE: i64 = 100;

/// Purges until nothing is left that was removed.
pub async fn run(forge: &Forge, _: PurgeDeletions) -> Result<()> {
    loop {
        let projects = forge.db.read(|tx| actions::deleted(tx, AT_ONCE)).await?;
        if projects.is_empty() {
            break;
        }
        for project in projects {
            purge_project(forge, project).await?;
        }
    }
    loop {
        let gone = forge.db.write(|tx| {
            let groups = removal::purge(tx)?;
            if !groups.is_empty() {
                forget_gone(tx)?;
            }
            Ok(groups)
        });
        let groups = gone.await?;
        if groups.is_empty() {
            return Ok(());
        }
        for group in groups {
            forget_group(forge, group).await?;
        }
    }
}

async fn purge_project(forge: &Forge, project: ProjectId) -> Result<()> {
    forge.db.write(move |tx| end_followers_elsewhere(tx, project)).await?;
    clear_away(forge, project).await?;
    clear_wiki(forge, Wiki::Project(project)).await?;
    tidy(forge, Owner::Project(project), None).await?;
    remove_uploads(forge, project).await?;
    removal_of_jobs::remove_project(forge, project).await?;
    let gone = forge.db.write(move |tx| {
        // Those of a project that went with its group.
        forks::close_from(tx, project, None)?;
        forget_project(tx, project)?;
        actions::purge(tx, project)
    });
    gone.await
}

/// Ids are never given twice, so a picture or wiki that a crash leaves behind harms nobody.
async fn forget_group(forge: &Forge, group: NamespaceId) -> Result<()> {
    clear_wiki(forge, Wiki::Group(group)).await?;
    tidy(forge, Owner::Group(group), None).await
}
