//! A project's row comes first and its repository a moment later: a crash between the two is made good here.

use db::Tx;
use kernel::{Error, Result, ids::ProjectId, task::spawn_blocking};
use org::project::{Project, store::ProjectStore};
use repo::git::RefName;
use serde::{Deserialize, Serialize};
use time::Duration;
use worker::{Job, Queue};

use super::remove::{clear_away, discard_rows};
use crate::Forge;

/// Whoever makes an empty repository has done so by then, or is gone.
pub(crate) const MAKING: Duration = Duration::minutes(1);
/// The same for a copy of a large one.
const COPYING: Duration = Duration::hours(1);

/// The initial state of a repository.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RepositoryInit {
    /// Empty, with a HEAD that names this branch.
    With(String),
    AsFork,
}

/// Sees to it that a project has its repository, or that a half-made fork goes.
#[derive(Debug, Serialize, Deserialize)]
pub struct EnsureRepository {
    project: ProjectId,
    begins: RepositoryInit,
}

impl Job for EnsureRepository {
    const KIND: &'static str = "project.settle_beginning";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

/// To be said in the transaction that makes the row.
pub fn enqueue_repository(tx: &mut Tx<'_>, project: ProjectId, branch: &str) -> Result<()> {
    let at = tx.now.plus(MAKING);
    tx.enqueue_at(&EnsureRepository::with(project, branch), at)
}

/// To be said in the transaction that makes a fork's row.
pub fn enqueue_fork(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let at = tx.now.plus(COPYING);
    tx.enqueue_at(&EnsureRepository::as_fork(project), at)
}

impl EnsureRepository {
    pub fn with(project: ProjectId, branch: &str) -> Self {
        Self { project, begins: RepositoryInit::With(branch.to_owned()) }
    }

    pub fn as_fork(project: ProjectId) -> Self {
        Self { project, begins: RepositoryInit::AsFork }
    }

    pub async fn run(self, forge: &Forge) -> Result<()> {
        let id = self.project;
        let Some(project) = forge.db.read(move |tx| tx.find_project(id)).await? else {
            return Ok(());
        };
        match self.begins {
            RepositoryInit::With(_) if forge.storage.exists(id) => Ok(()),
            RepositoryInit::With(branch) => make(forge, id, &branch).await,
            RepositoryInit::AsFork if project.import_status == "finished" => Ok(()),
            RepositoryInit::AsFork => take_away(forge, project).await,
        }
    }
}

async fn make(forge: &Forge, id: ProjectId, branch: &str) -> Result<()> {
    let (storage, head) = (forge.storage.clone(), RefName::branch(branch)?);
    tracing::warn!(project = %id, "making the repository that a crash left out");
    spawn_blocking(move || storage.create(id, &head)).await.map_err(Error::internal)??;
    Ok(())
}

async fn take_away(forge: &Forge, project: Project) -> Result<()> {
    tracing::warn!(project = %project.id, "taking away a fork that a crash left half made");
    // What lay there before the fork was written down is not the fork's.
    if forge.storage.is_younger(project.id, project.created_at.unix()) {
        clear_away(forge, project.id).await?;
    }
    discard_rows(forge, project).await
}
