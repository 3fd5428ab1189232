//! HEAD, which names a branch.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use bstr::ByteSlice;

use super::blocking;
use crate::git::{GitError, RefName, RepoPath, leftover, ref_lock};

/// Makes HEAD name `branch`, whether it exists yet or not. HEAD is a ref nobody races for, but git's own lock is
/// taken all the same.
pub async fn set_head(repo: &RepoPath, branch: &RefName) -> Result<(), GitError> {
    if repo.as_path().join("HEAD.lock").exists() {
        leftover::heal(repo).await?;
    }
    let (repo, branch) = (repo.clone(), branch.clone());
    blocking(move || write_head(repo.as_path(), &branch)).await
}

fn write_head(folder: &Path, branch: &RefName) -> Result<(), GitError> {
    let lock = folder.join("HEAD.lock");
    let mut own = match ref_lock::create(lock) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(GitError::Stale { actual: None });
        }
        own => own?,
    };
    let text = [b"ref: ", branch.as_bstr().as_bytes(), b"\n"].concat();
    let written = own.file.write_all(&text).and_then(|()| own.file.sync_all());
    let moved = written.and_then(|()| fs::rename(&own.path, folder.join("HEAD")));
    if let Err(error) = moved {
        // The lock must not outlive the attempt; the first error is the one to tell.
        let _ = fs::remove_file(&own.path);
        return Err(error.into());
    }
    File::open(folder)?.sync_all()?;
    Ok(())
}
