//! Clears away what was removed: first the files of a project or group, then its rows. Whatever a crash leaves out is
//! done by the next run, since the rows are what is looked for.

use kernel::{
    Result,
    ids::{NamespaceId, ProjectId},
};
use org::{jobs::PurgeRemoved, namespace::removal, project::actions};

use repo::git::Wiki;
use review::{epic::forget_gone, item::removal::forget_project, merge_request::forks};

use super::{
    avatars::{Owner, tidy},
    projects::clear_away,
    uploads::remove_uploads,
    wiki_repositories::clear_wiki,
};
use crate::app::App;

/// Projects that are looked up in one go.
const AT_ONCE: i64 = 100;

/// Purges until nothing is left that was removed.
pub async fn run(app: &App, _: PurgeRemoved) -> Result<()> {
    loop {
        let projects = app.db.read(|tx| actions::deleted(tx, AT_ONCE)).await?;
        if projects.is_empty() {
            break;
        }
        for project in projects {
            purge_project(app, project).await?;
        }
    }
    loop {
        let gone = app.db.write(|tx| {
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
            forget_group(app, group).await?;
        }
    }
}

async fn purge_project(app: &App, project: ProjectId) -> Result<()> {
    clear_away(app, project).await?;
    clear_wiki(app, Wiki::Project(project)).await?;
    tidy(app, Owner::Project(project), None).await?;
    remove_uploads(app, project).await?;
    let gone = app.db.write(move |tx| {
        // Those of a project that went with its group.
        forks::close_from(tx, project, None)?;
        forget_project(tx, project)?;
        actions::purge(tx, project)
    });
    gone.await
}

/// Ids are never given twice, so a picture or wiki that a crash leaves behind harms nobody.
async fn forget_group(app: &App, group: NamespaceId) -> Result<()> {
    clear_wiki(app, Wiki::Group(group)).await?;
    tidy(app, Owner::Group(group), None).await
}
