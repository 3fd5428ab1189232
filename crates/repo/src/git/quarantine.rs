//! Quarantine folders: the objects of a push until it is accepted, and the leftovers of a crash.

use std::fs;
use std::path::Path;
use std::time::Instant;

use super::blocking::blocking;
use super::{Result, Storage};

/// Git's own prefix for the folders of quarantined objects.
pub const QUARANTINE: &str = "tmp_objdir-";

/// Removes the quarantines from before `since`: those of an earlier life of the server.
pub async fn clear_all(storage: &Storage, since: Instant) -> Result<usize> {
    let storage = storage.clone();
    blocking(move || {
        let mut cleared = 0;
        storage.each(|repo| {
            cleared += clear_one(repo.as_path(), since)?;
            Ok(())
        })?;
        Ok(cleared)
    })
    .await
}

fn clear_one(repository: &Path, since: Instant) -> Result<usize> {
    let mut cleared = 0;
    // A repository that is being deleted has no objects any more.
    for entry in fs::read_dir(repository.join("objects")).into_iter().flatten().flatten() {
        let arriving = entry.file_name().as_encoded_bytes().starts_with(QUARANTINE.as_bytes());
        let age = entry.metadata().and_then(|about| about.modified()).map(|at| at.elapsed());
        if arriving && matches!(age, Ok(Ok(age)) if age > since.elapsed()) {
            fs::remove_dir_all(entry.path())?;
            cleared += 1;
        }
    }
    Ok(cleared)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use kernel::ids::ProjectId;

    use super::clear_all;
    use crate::git::{RefName, Storage};

    #[tokio::test]
    async fn only_quarantines_of_the_past_go() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::new(folder.path());
        let began = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        assert_eq!(
            clear_all(&storage, began).await.unwrap(),
            0,
            "there need not be any repository"
        );
        let main = RefName::branch("main").unwrap();
        let objects = storage.create(ProjectId(1), &main).unwrap().as_path().join("objects");
        let quarantine = objects.join("tmp_objdir-incoming-x1");
        std::fs::create_dir_all(quarantine.join("pack")).unwrap();
        std::fs::create_dir(objects.join("ab")).unwrap();

        assert_eq!(clear_all(&storage, began).await.unwrap(), 0, "a push that is under way");
        let old = std::fs::metadata(&quarantine).unwrap().modified().unwrap();
        let old = old.checked_sub(Duration::from_secs(7200)).unwrap();
        std::fs::File::open(&quarantine).unwrap().set_modified(old).unwrap();
        assert_eq!(clear_all(&storage, began).await.unwrap(), 1);

        assert!(!quarantine.exists());
        assert!(objects.join("ab").is_dir() && objects.join("pack").is_dir());
    }
}
