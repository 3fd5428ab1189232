//! HEAD, which names a branch.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use bstr::ByteSlice;

use super::{PATIENCE, lock_wait::Wait};
use crate::git::{GitError, RefName, RepoPath, blocking::blocking, lock_file::LockFile};

/// Makes HEAD name `branch`, whether it exists yet or not. HEAD is a ref nobody races for, but git's own lock is
/// taken all the same.
pub async fn set_head(repo: &RepoPath, branch: &RefName) -> Result<(), GitError> {
    set_within(repo, branch, PATIENCE).await
}

async fn set_within(repo: &RepoPath, branch: &RefName, patience: Duration) -> Result<(), GitError> {
    let mut wait = Wait::new(patience);
    loop {
        let (place, name) = (repo.clone(), branch.clone());
        match blocking(move || write_head(place.as_path(), &name)).await {
            Err(GitError::Stale { actual }) => {
                if !wait.again(repo, &repo.as_path().join(LOCK)).await? {
                    return Err(GitError::Stale { actual });
                }
            }
            written => return written,
        }
    }
}

const LOCK: &str = "HEAD.lock";

fn write_head(folder: &Path, branch: &RefName) -> Result<(), GitError> {
    let mut lock = match LockFile::create(folder.join(LOCK)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(GitError::Stale { actual: None });
        }
        lock => lock?,
    };
    lock.write(&[b"ref: ", branch.as_bstr().as_bytes(), b"\n"].concat())?;
    lock.put_in_place(&folder.join("HEAD"))?;
    Ok(File::open(folder)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use kernel::ids::ProjectId;

    use super::{LOCK, set_within};
    use crate::git::{GitError, RefName, Storage, lock_file::LockFile};

    #[tokio::test]
    async fn a_lock_of_our_own_is_waited_for_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (main, trunk) = ["main", "trunk"].map(|name| RefName::branch(name).unwrap()).into();
        let repo = Storage::new(folder.path()).create(ProjectId(1), &main).unwrap();
        let lock = LockFile::create(repo.as_path().join(LOCK)).unwrap();

        let refused = set_within(&repo, &trunk, Duration::ZERO).await;
        assert!(matches!(refused, Err(GitError::Stale { .. })), "{refused:?}");
        assert!(lock.is_ours().unwrap());
        drop(lock);
        set_within(&repo, &trunk, Duration::ZERO).await.unwrap();

        let head = fs::read(repo.as_path().join("HEAD")).unwrap();
        assert_eq!(head, b"ref: refs/heads/trunk\n");
    }
}
