//! Locks of refs that outlived whoever made them.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::blocking;
use crate::git::{GitError, RepoPath};

/// Takes away locks that no living process can hold: those that outlived a power cut.
pub async fn clear_stale_locks(
    repo: &RepoPath,
    older_than: Duration,
) -> Result<Vec<PathBuf>, GitError> {
    let top = repo.as_path().to_path_buf();
    blocking(move || {
        let mut cleared = Vec::new();
        let alone = ["HEAD.lock", "packed-refs.lock"].map(|name| top.join(name));
        for lock in alone.into_iter().chain(locks_below(top.join("refs"))?) {
            let age = fs::metadata(&lock)
                .and_then(|found| found.modified())
                .ok()
                .and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > older_than) {
                fs::remove_file(&lock)?;
                cleared.push(lock);
            }
        }
        Ok(cleared)
    })
    .await
}

fn locks_below(top: PathBuf) -> Result<Vec<PathBuf>, GitError> {
    let (mut folders, mut locks) = (vec![top], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|end| end == "lock") {
                locks.push(entry.path());
            }
        }
    }
    Ok(locks)
}
