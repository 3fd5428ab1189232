//! Refs that are locked and were compared: they move together, or are given back.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    RefMove, loose,
    packed::{self, Edits, Target},
    view::View,
    write_turn::WriteTurn,
};
use crate::git::{GitError, Oid, RepoPath, Result, blocking::blocking, lock_file::LockFile};

const PAUSE: Duration = Duration::from_millis(5);

/// A folder that keeps coming back in the way of a ref is somebody's who is told that the name is taken.
pub(super) const TRIES: u32 = 400;

/// Refs that are locked and were compared, with where they go written down. Dropping it gives the locks back.
pub(super) struct LockedRefs {
    pub(super) repo: RepoPath,
    pub(super) refs: Vec<LockedRef>,
    pub(super) packed: Option<PackedRefsLock>,
    pub(super) turn: Option<WriteTurn>,
}

pub(super) struct LockedRef {
    pub(super) place: PathBuf,
    pub(super) lock: LockFile,
    pub(super) way: RefFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefFormat {
    /// Its lock file takes the place of its own file.
    Own,
    /// It stands in the file of many refs, or nowhere: its own file goes.
    Packed,
    /// It was only looked at.
    None,
}

pub(super) struct PackedRefsLock {
    /// None where it stays as it is. Goes before the lock does.
    pub(super) next: Option<LockFile>,
    /// Held until the refs' own files are gone, so that nobody puts them there again.
    pub(super) _lock: LockFile,
}

impl LockedRefs {
    pub(super) fn write_down(
        &mut self,
        steps: &[RefMove],
        targets: &HashMap<Oid, Target>,
    ) -> Result<()> {
        // Under the lock it stays as it is now.
        let view = View::new(&self.repo);
        let mut edits = Edits::new();
        for (locked, step) in self.refs.iter_mut().zip(steps) {
            match (locked.way, step.new) {
                (RefFormat::Own, Some(new)) => locked.lock.write(format!("{new}\n").as_bytes())?,
                (RefFormat::Packed, Some(new)) => {
                    let target = targets.get(&new).copied();
                    edits.insert(step.name.as_bstr().to_owned(), target);
                }
                (RefFormat::Packed, None) if view.packed()?.find(&step.name)?.is_some() => {
                    edits.insert(step.name.as_bstr().to_owned(), None);
                }
                _ => {}
            }
        }
        if let Some(packed) = self.packed.as_mut().filter(|_| !edits.is_empty()) {
            packed.next = Some(view.packed()?.write(&self.repo, &edits)?);
        }
        Ok(())
    }

    /// Lets the refs move, durably.
    ///
    /// # Errors
    /// When a lock was taken away from us: the moves are decided, and have to be made some other way.
    pub(super) async fn commit(self) -> Result<()> {
        blocking(move || self.carry_out()).await
    }

    fn carry_out(mut self) -> Result<()> {
        for lock in self.refs.iter().map(|one| &one.lock).chain(self.next()) {
            if !lock.is_ours()? {
                let text = format!("the lock {} was taken away", lock.path().display());
                return Err(GitError::Corrupt(text));
            }
        }
        if let Some(next) = self.packed.as_mut().and_then(|packed| packed.next.as_mut()) {
            next.put_in_place(&self.repo.as_path().join(packed::NAME))?;
            // Before any other file goes: without it, an older value would come to light.
            loose::sync_folders(&BTreeSet::from([self.repo.as_path().to_path_buf()]))?;
        }
        let mut touched = BTreeSet::new();
        for one in &mut self.refs {
            let moved = match one.way {
                RefFormat::Own => one.put_in_place()?,
                RefFormat::Packed => remove(&one.place)?,
                RefFormat::None => false,
            };
            if moved {
                let folders = loose::folders_above(&self.repo, &one.place);
                touched.extend(folders.map(PathBuf::from));
            }
        }
        loose::sync_folders(&touched)
    }

    fn next(&self) -> Option<&LockFile> {
        self.packed.as_ref()?.next.as_ref()
    }

    /// Gives the refs back.
    pub(super) async fn abort(self) -> Result<()> {
        blocking(move || {
            drop(self);
            Ok(())
        })
        .await
    }
}

impl LockedRef {
    fn put_in_place(&mut self) -> Result<bool> {
        for _ in 0..TRIES {
            match self.lock.put_in_place(&self.place) {
                // Somebody who is about to be refused has made a folder of this name.
                Err(error) if is_folder_in_the_way(&error) => {
                    loose::make_room(&self.place)?;
                    std::thread::sleep(PAUSE);
                }
                moved => return Ok(moved.map(|()| true)?),
            }
        }
        Err(GitError::RefNameTaken)
    }
}

fn is_folder_in_the_way(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::IsADirectory | ErrorKind::DirectoryNotEmpty)
}

/// Whether there was such a file.
fn remove(place: &Path) -> Result<bool> {
    match fs::remove_file(place) {
        Ok(()) => Ok(true),
        // A folder of this name is somebody's who is about to be refused. A file that cannot be looked at is still there.
        Err(error) if loose::is_absence(&error) || place.is_dir() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl Drop for LockedRefs {
    fn drop(&mut self) {
        drop(self.packed.take());
        for LockedRef { place, lock, .. } in self.refs.drain(..) {
            drop(lock);
            if !place.exists() {
                loose::remove_empty_folders(&self.repo, &place);
            }
        }
        // Last of all: the next one finds nothing in the way.
        drop(self.turn.take());
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::remove;

    #[test]
    fn only_what_is_not_there_counts_as_gone() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name| folder.path().join(name);
        fs::write(place("file"), "").unwrap();
        fs::create_dir(place("folder")).unwrap();
        symlink("circle", place("circle")).unwrap();

        assert!(remove(&place("file")).unwrap());
        for gone in ["file", "folder", "no/file", "folder/file"] {
            assert!(!remove(&place(gone)).unwrap(), "{gone}");
        }
        assert!(remove(&place("circle/file")).is_err());
    }
}
