//! Commits that were read lately, of all repositories: a commit never changes, and records of jobs name the same few.

use std::{sync::Arc, time::Duration};

use super::Reader;
use crate::git::{CommitInfo, Oid, RepoPath, Result};

/// What commits may take in memory, by the length of their texts.
const BYTES: u64 = 8 << 20;
/// What a commit takes beside its texts.
const EMPTY: usize = 512;
/// A commit that the repository has lost is told of no longer than this.
const TERM: Duration = Duration::from_mins(10);

/// Commits by repository and id. Its own types are smaller than those of `git::cache`: every record of a job is
/// looked up here.
#[derive(Clone)]
pub(super) struct CommitCache(moka::sync::Cache<(RepoPath, Oid), Arc<CommitInfo>>);

impl Default for CommitCache {
    fn default() -> Self {
        let bytes = |_: &(RepoPath, Oid), commit: &Arc<CommitInfo>| {
            u32::try_from(EMPTY.saturating_add(commit.message.len())).unwrap_or(u32::MAX)
        };
        let cache = moka::sync::Cache::builder().max_capacity(BYTES).weigher(bytes);
        Self(cache.time_to_live(TERM).build())
    }
}

impl CommitCache {
    pub(super) fn get(&self, repo: &RepoPath, id: Oid) -> Option<Arc<CommitInfo>> {
        self.0.get(&(repo.clone(), id))
    }
}

impl Reader {
    /// A commit that others will ask for again; nothing where the repository has no commit of this name.
    pub fn shared_commit(&self, id: Oid) -> Result<Option<Arc<CommitInfo>>> {
        if !self.is_commit(id)? {
            return Ok(None);
        }
        let commit = Arc::new(self.commit(id)?);
        self.commits.0.insert((self.path.clone(), id), Arc::clone(&commit));
        Ok(Some(commit))
    }
}
