//! Lock files as git makes them, and which of them are our own.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::{self, File},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The names of lock files that this process is busy with: whoever clears away what nobody holds leaves these alone. Kept
/// while no file is touched, so that one slow disk holds nobody else up.
static OURS: Mutex<BTreeMap<PathBuf, Use>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// Somebody holds it, or is about to make it. The next one of a name may be made before the last one of that name is
    /// forgotten, so they are counted.
    Held(usize),
    /// What nobody holds is being removed, and nobody makes another one meanwhile.
    Removal,
}

fn ours() -> MutexGuard<'static, BTreeMap<PathBuf, Use>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process holds the lock.
pub(super) fn is_ours(lock: &Path) -> bool {
    ours().contains_key(lock)
}

/// Removes a lock file, unless this process has taken it meanwhile.
pub(super) fn remove_if_nobodys(lock: &Path) -> io::Result<()> {
    match ours().entry(lock.to_owned()) {
        Entry::Occupied(_) => return Ok(()),
        Entry::Vacant(place) => place.insert(Use::Removal),
    };
    let removed = fs::remove_file(lock);
    ours().remove(lock);
    removed
}

/// False when its file is being removed.
fn enter(lock: &Path) -> bool {
    match ours().entry(lock.to_owned()).or_insert(Use::Held(0)) {
        Use::Held(count) => *count += 1,
        Use::Removal => return false,
    }
    true
}

fn leave(lock: &Path) {
    let mut ours = ours();
    match ours.get_mut(lock) {
        Some(Use::Held(count)) if *count > 1 => *count -= 1,
        _ => drop(ours.remove(lock)),
    }
}

/// A lock file that was made here, and is closed. Dropping it takes it away.
#[derive(Debug)]
pub(super) struct LockFile {
    path: PathBuf,
    made: FileIdentity,
    in_place: bool,
}

/// Tells a file from another one of the same name. Numbers of files are used again, so the time counts, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    number: u64,
    at: (i64, i64),
}

impl FileIdentity {
    fn of(about: &fs::Metadata) -> Self {
        let at = (about.mtime(), about.mtime_nsec());
        Self { device: about.dev(), number: about.ino(), at }
    }
}

fn make(path: &Path) -> io::Result<FileIdentity> {
    let about = File::create_new(path)?.metadata();
    about.map(|about| FileIdentity::of(&about)).inspect_err(|_| drop(fs::remove_file(path)))
}

impl LockFile {
    /// # Errors
    /// `AlreadyExists` when somebody has it.
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        if !enter(&path) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        match make(&path) {
            Ok(made) => Ok(Self { path, made, in_place: false }),
            Err(error) => {
                leave(&path);
                Err(error)
            }
        }
    }

    /// Writes down, durably, what is to take the place of the file that is locked.
    pub(super) fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.fill(|mut file| file.write_all(text))
    }

    /// The same for what is written in parts.
    pub(super) fn fill<E: From<io::Error>>(
        &mut self,
        put: impl FnOnce(&File) -> Result<(), E>,
    ) -> Result<(), E> {
        let file = File::options().write(true).open(&self.path)?;
        let written = put(&file).and_then(|()| Ok(file.sync_all()?));
        // Also of what was written in part, as on a full disk: it still is ours to take away.
        self.made = FileIdentity::of(&file.metadata()?);
        written
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file of this name still is the one that was made here.
    pub(super) fn is_ours(&self) -> io::Result<bool> {
        match fs::symlink_metadata(&self.path) {
            Ok(there) => Ok(FileIdentity::of(&there) == self.made),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Lets it take the place of the file that is locked.
    pub(super) fn put_in_place(&mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.in_place = true;
        Ok(())
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if !self.in_place && self.is_ours().unwrap_or_default() {
            // What stays is taken away by the next writer, like any lock that nobody holds.
            let _ = fs::remove_file(&self.path);
        }
        leave(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{self, ErrorKind, Write as _},
        time::Duration,
    };

    use super::{LockFile, enter, is_ours, leave, ours, remove_if_nobodys};

    #[test]
    fn a_lock_that_was_written_in_part_goes_with_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let mut lock = LockFile::create(folder.path().join("a.lock")).unwrap();

        let written = lock.fill(|mut file| {
            file.write_all(b"half")?;
            let made = file.metadata()?.modified()?;
            file.set_modified(made + Duration::from_secs(1))?;
            Err(io::Error::from(ErrorKind::StorageFull))
        });
        drop(lock);

        assert_eq!(written.unwrap_err().kind(), ErrorKind::StorageFull);
        assert!(!folder.path().join("a.lock").exists());
    }

    #[test]
    fn who_finds_a_lock_taken_does_not_keep_others_from_removing_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a.lock");
        fs::write(&place, "").unwrap();

        assert_eq!(LockFile::create(place.clone()).unwrap_err().kind(), ErrorKind::AlreadyExists);

        assert!(!is_ours(&place));
        remove_if_nobodys(&place).unwrap();
        assert!(!place.exists() && !is_ours(&place));
    }

    #[test]
    fn a_lock_that_is_about_to_be_made_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a.lock");
        fs::write(&place, "").unwrap();
        assert!(enter(&place));

        remove_if_nobodys(&place).unwrap();

        assert!(place.exists());
        leave(&place);
        ours().insert(place.clone(), super::Use::Removal);
        assert!(LockFile::create(place.clone()).is_err() && !enter(&place));
        ours().remove(&place);
    }
}
