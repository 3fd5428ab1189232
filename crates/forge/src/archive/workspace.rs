//! Folders in which archives are taken apart, and what a server that was killed has left of them.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::Path,
    time::Instant,
};

use tempfile::TempDir;

/// What these folders are called among the other entries of the data folder.
const PREFIX: &str = "archive-";
/// The file by which a process holds its folder: the lock goes with the process, however it ends. No archive has an
/// entry of this name.
const LOCK: &str = "lock";

/// A folder for the content of one archive, which goes with the value.
#[derive(Debug)]
pub(super) struct Workspace {
    folder: TempDir,
    _lock: File,
}

impl Workspace {
    /// Makes a folder inside the data folder. Blocks.
    pub(super) fn new(data: &Path) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(data)?;
        let lock = File::create_new(folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the folders from before `since` that no process holds; returns how many these were. Blocks.
pub(super) fn clear_leftovers(data: &Path, since: Instant) -> io::Result<usize> {
    let mut cleared = 0;
    for entry in fs::read_dir(data)? {
        let entry = entry?;
        let is_named = entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
        // One that has just been made is not held yet.
        let age = entry.metadata().and_then(|about| about.modified()).map(|at| at.elapsed());
        let is_old = matches!(age, Ok(Ok(age)) if age > since.elapsed());
        if is_named && is_old && entry.file_type()?.is_dir() && !is_held(&entry.path())? {
            fs::remove_dir_all(entry.path())?;
            cleared += 1;
        }
    }
    Ok(cleared)
}

fn is_held(folder: &Path) -> io::Result<bool> {
    let lock = match File::options().write(true).open(folder.join(LOCK)) {
        Err(absent) if absent.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    match lock.try_lock() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(cause)) => Err(cause),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, File},
        path::Path,
        time::{Duration, Instant},
    };

    use super::{Workspace, clear_leftovers};

    /// Has a folder be two hours older than it is.
    fn make_old(folder: &Path) {
        let made = fs::metadata(folder).unwrap().modified().unwrap();
        let old = made.checked_sub(Duration::from_secs(7200)).unwrap();
        File::open(folder).unwrap().set_modified(old).unwrap();
    }

    #[test]
    fn only_what_nobody_holds_any_more_is_cleared_away() {
        let data = tempfile::tempdir().unwrap();
        let since = Instant::now().checked_sub(Duration::from_secs(3600)).unwrap();
        let held = Workspace::new(data.path()).unwrap();
        let [left, young, other] =
            ["archive-left", "archive-young", "artifacts"].map(|name| data.path().join(name));
        for folder in [&left, &young, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("lock"), "").unwrap();
        }
        for folder in [held.path(), &left, &other] {
            make_old(folder);
        }

        assert_eq!(clear_leftovers(data.path(), since).unwrap(), 1);

        assert!(!left.exists());
        assert!(held.path().exists() && young.exists() && other.exists());
    }
}
