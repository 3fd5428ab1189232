//! Checks whether git can merge two commits without a conflict. Commits never change, so each pair is checked once.

use crate::git::{
    Git, GitError, Oid, RepoPath, Result,
    cache::Cache,
    merge::{is_ancestor, try_merge},
};

/// Some bytes each.
const PAIRS: u64 = 100_000;

/// Cheap to clone; shared by all requests.
#[derive(Clone, Debug)]
pub struct Checks(Cache<(Oid, Oid), bool>);

impl Default for Checks {
    fn default() -> Self {
        Self(Cache::new(PAIRS))
    }
}

impl Checks {
    /// Whether `head` can be merged where a target branch is at `target`. What the target has already cannot.
    pub async fn fits(&self, git: &Git, repo: &RepoPath, target: Oid, head: Oid) -> Result<bool> {
        if let Some(known) = self.0.get((target, head)) {
            return Ok(known);
        }
        let fits = !is_ancestor(git, repo, head, target).await?
            && match try_merge(git, repo, target, head).await {
                Ok(_) => true,
                Err(GitError::Conflict(_)) => false,
                Err(failure) => return Err(failure),
            };
        self.0.insert((target, head), fits);
        Ok(fits)
    }
}
