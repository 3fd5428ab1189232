//! Work on repositories for which nobody waits.

use kernel::{Result, ids::ProjectId};
use serde::{Deserialize, Serialize};
use worker::Job;

use crate::git::{Git, Storage, maintenance};

/// Tidies one repository after pushes: the commit graph, and a repack when files have piled up.
#[derive(Debug, Serialize, Deserialize)]
pub struct MaintainRepository {
    pub project: ProjectId,
}

impl Job for MaintainRepository {
    const KIND: &'static str = "repo.maintain";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

impl MaintainRepository {
    /// Does nothing for a repository that is gone by now.
    pub async fn run(self, git: &Git, storage: &Storage) -> Result<()> {
        if storage.exists(self.project) {
            maintenance::tidy(git, &storage.repository(self.project)).await?;
        }
        Ok(())
    }
}

/// Removes the bytes of deleted repositories.
#[derive(Debug, Serialize, Deserialize)]
pub struct EmptyTrash {}

impl Job for EmptyTrash {
    const KIND: &'static str = "repo.empty_trash";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

impl EmptyTrash {
    pub async fn run(self, storage: &Storage) -> Result<()> {
        let storage = storage.clone();
        let emptied = tokio::task::spawn_blocking(move || storage.empty_trash()).await;
        Ok(emptied.map_err(kernel::Error::internal)??)
    }
}
