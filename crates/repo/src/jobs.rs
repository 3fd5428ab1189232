//! Work on repositories for which nobody waits.

use db::{Database, Tx};
use kernel::{Error, Result, ids::ProjectId};
use serde::{Deserialize, Serialize};
use worker::{Job, Queue};

use crate::{
    git::{Git, Storage, maintenance},
    lfs::{LfsFiles, LfsStore},
};

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

/// The care that somebody asked for by hand.
#[derive(Debug, Serialize, Deserialize)]
pub struct Housekeeping {
    pub project: ProjectId,
}

impl Job for Housekeeping {
    const KIND: &'static str = "repo.housekeeping";

    fn unique_key(&self) -> Option<String> {
        Some(self.project.to_string())
    }
}

const HOUSEKEEPING_TAKEN: &str =
    "Somebody already triggered housekeeping for this resource in the past 1440 minutes";

/// Asks for care for a repository. One request at a time: until it is done, another one is refused.
pub fn run_maintenance(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    match tx.enqueue_if_idle(&Housekeeping { project })? {
        true => Ok(()),
        false => Err(Error::conflict().whole(HOUSEKEEPING_TAKEN)),
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
        let emptied = kernel::task::spawn_blocking(move || storage.empty_trash()).await;
        Ok(emptied.map_err(kernel::Error::internal)??)
    }
}

/// Removes the contents of large files that no project has any more.
#[derive(Debug, Serialize, Deserialize)]
pub struct SweepLfs {}

impl Job for SweepLfs {
    const KIND: &'static str = "repository.sweep_lfs";

    fn unique_key(&self) -> Option<String> {
        Some(String::new())
    }
}

/// What was received a moment ago may not have its row yet.
const LFS_AGE: std::time::Duration = std::time::Duration::from_secs(24 * 3600);
/// So many are asked after at once.
const LFS_AT_ONCE: usize = 500;

impl SweepLfs {
    pub async fn run(self, db: &Database, files: &LfsFiles) -> Result<()> {
        let old = files.kept_before(LFS_AGE).await?;
        for some in old.chunks(LFS_AT_ONCE) {
            let some = some.to_vec();
            for orphan in db.read(move |tx| tx.orphaned_lfs_objects(&some)).await? {
                files.remove(&orphan).await?;
            }
        }
        Ok(())
    }
}
