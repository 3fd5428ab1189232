//! The repositories behind wikis: what a write means for their project or group, the care for them, and their end.

use db::Tx;
use kernel::{
    Error, Result,
    ids::{NamespaceId, ProjectId},
    task::spawn_blocking,
};
use org::{namespace::statistics::GroupStatistics, project::statistics::StatisticsStore};
use repo::{
    git::{GitError, Wiki, maintenance, refs::RefMove},
    wiki::journal::WikiJournal,
};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue};

use crate::{Forge, project::maintenance::AFTER_PUSH};

/// Tidies the repository of a wiki after it was written to, and measures it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaintainWiki {
    Project(ProjectId),
    Group(NamespaceId),
}

impl From<Wiki> for MaintainWiki {
    fn from(wiki: Wiki) -> Self {
        match wiki {
            Wiki::Project(id) => Self::Project(id),
            Wiki::Group(id) => Self::Group(id),
        }
    }
}

impl Job for MaintainWiki {
    const KIND: &'static str = "wiki.maintain";

    fn unique_key(&self) -> Option<String> {
        Some(match self {
            Self::Project(id) => format!("project {id}"),
            Self::Group(id) => format!("group {id}"),
        })
    }
}

impl MaintainWiki {
    /// Does nothing for a wiki that is gone by now.
    pub async fn run(self, forge: &Forge) -> Result<()> {
        let wiki = match self {
            Self::Project(id) => Wiki::Project(id),
            Self::Group(id) => Wiki::Group(id),
        };
        if forge.storage.wiki_exists(wiki) {
            maintenance::tidy(&forge.git, &forge.storage.wiki(wiki)).await?;
            remeasure(forge, wiki, Vec::new()).await?;
        }
        Ok(())
    }
}

/// To be said with whatever decides that a wiki is written to: a crash afterwards then leaves no figure behind.
pub fn promise(tx: &mut Tx<'_>, wiki: Wiki) -> Result<()> {
    let later = tx.now.plus(AFTER_PUSH);
    tx.enqueue_at(&MaintainWiki::from(wiki), later)
}

/// To be said after refs of a wiki moved: notes its size, and that its project is in use.
pub async fn follow(forge: &Forge, wiki: Wiki, moved: Vec<RefMove>) -> Result<()> {
    let size = measure(forge, wiki).await?;
    let noted = move |tx: &mut Tx<'_>| {
        tx.finish_wiki_moves(wiki, &moved)?;
        record_size(tx, wiki, size)?;
        match wiki {
            Wiki::Project(project) => org::project::push::record_activity(tx, project),
            Wiki::Group(_) => Ok(()),
        }
    };
    forge.db.write(noted).await
}

/// Notes how large a wiki is, and that git has followed these moves.
pub async fn remeasure(forge: &Forge, wiki: Wiki, moved: Vec<RefMove>) -> Result<()> {
    let size = measure(forge, wiki).await?;
    let noted = move |tx: &mut Tx<'_>| {
        tx.finish_wiki_moves(wiki, &moved)?;
        record_size(tx, wiki, size)
    };
    forge.db.write(noted).await
}

async fn measure(forge: &Forge, wiki: Wiki) -> Result<i64> {
    let read = forge.git_read_at(forge.storage.wiki(wiki), |reader| Ok(reader.disk_size()?));
    Ok(i64::try_from(read.await?).unwrap_or(i64::MAX))
}

fn record_size(tx: &mut Tx<'_>, wiki: Wiki, bytes: i64) -> Result<()> {
    match wiki {
        Wiki::Project(project) => tx.record_wiki_size(project, bytes),
        Wiki::Group(group) => tx.record_group_wiki_size(group, bytes),
    }
}

/// Moves the wiki of a removed project or group out of the way.
pub async fn clear_wiki(forge: &Forge, wiki: Wiki) -> Result<()> {
    let forge = forge.clone();
    let done = spawn_blocking(move || {
        forge.repositories.forget(&forge.storage.wiki(wiki));
        match forge.storage.delete_wiki(wiki) {
            // Most have none.
            Err(GitError::NotFound) => Ok(()),
            done => done,
        }
    });
    Ok(done.await.map_err(Error::internal)??)
}
