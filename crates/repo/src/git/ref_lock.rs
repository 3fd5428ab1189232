//! One branch moved without a git process, as nearly every commit through the API does. The steps are git's own: the
//! lock file beside the ref, the comparison under the lock, the new value synced before it is renamed into place.
//!
//! Only a branch that is there, in a file of its own, goes to another commit here. Whatever else can happen to refs
//! (names that exclude one another, packed and symbolic refs, several at once) is left to git.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{ErrorKind, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bstr::ByteSlice as _;
use tokio::time::{Instant, sleep};

use super::refs::{Expect, RefMove, blocking};
use super::{GitError, Oid, RepoPath, Result, leftover};

const PAUSE: Duration = Duration::from_millis(5);
/// So many pauses are made between two looks at whether somebody still holds a lock.
const HEALED_AFTER: u32 = 40;

/// The lock files of this process: whoever clears away what nobody holds leaves these alone. The next one of a name may
/// be made before the last one of that name is forgotten, so they are counted.
static OURS: Mutex<BTreeMap<PathBuf, usize>> = Mutex::new(BTreeMap::new());

/// Whether this process holds the lock.
pub(super) fn is_ours(lock: &Path) -> bool {
    ours().contains_key(lock)
}

fn ours() -> MutexGuard<'static, BTreeMap<PathBuf, usize>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a lock file, unless this process has taken it meanwhile.
pub(super) fn remove_if_nobodys(lock: &Path) -> std::io::Result<()> {
    // Held until the file is gone, so that nobody takes it meanwhile.
    let ours = ours();
    if ours.contains_key(lock) { Ok(()) } else { fs::remove_file(lock) }
}

/// Makes a lock file that counts as ours until it is dropped, wherever the file has gone by then.
pub(super) fn create(lock: PathBuf) -> std::io::Result<OwnLock> {
    let mut ours = ours();
    let file = File::create_new(&lock)?;
    *ours.entry(lock.clone()).or_default() += 1;
    Ok(OwnLock { file, path: lock })
}

/// A lock file that was made here.
#[derive(Debug)]
pub(super) struct OwnLock {
    pub(super) file: File,
    pub(super) path: PathBuf,
}

impl Drop for OwnLock {
    fn drop(&mut self) {
        let mut ours = ours();
        match ours.get_mut(&self.path) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(ours.remove(&self.path)),
        }
    }
}

/// A branch that is locked and was compared. Dropping it gives the lock back.
#[derive(Debug)]
pub(super) struct LockedRef {
    held: Option<Held>,
    place: PathBuf,
}

#[derive(Debug)]
struct Held(OwnLock);

enum Attempt {
    Locked(LockedRef),
    Busy,
    /// Not a case for this file.
    LeaveToGit,
}

/// Locks the branch for its move and writes down where it goes; `None` where git has to do it. Others are waited for as
/// long as `patience`.
///
/// # Errors
/// [`GitError::Stale`] when the branch is not where its writer saw it, or somebody else keeps it locked.
pub(super) async fn lock(
    repo: &RepoPath,
    step: &RefMove,
    patience: Duration,
) -> Result<Option<LockedRef>> {
    let (Expect::Exactly(old), Some(new)) = (step.old, step.new) else { return Ok(None) };
    if !step.name.is_branch() {
        return Ok(None);
    }
    let place = repo.as_path().join(step.name.as_bstr().to_path_lossy());
    let deadline = Instant::now() + patience;
    for tries in 1_u32.. {
        let at = place.clone();
        match blocking(move || attempt(at, old, new)).await? {
            Attempt::Locked(locked) => return Ok(Some(locked)),
            Attempt::LeaveToGit => return Ok(None),
            Attempt::Busy if Instant::now() > deadline => {
                return Err(GitError::Stale { actual: Some(old) });
            }
            Attempt::Busy => {
                // Whoever held it may have been killed meanwhile.
                if tries.is_multiple_of(HEALED_AFTER) {
                    leftover::heal(repo).await?;
                }
                sleep(PAUSE).await;
            }
        }
    }
    Err(GitError::Stale { actual: Some(old) })
}

fn attempt(place: PathBuf, old: Oid, new: Oid) -> Result<Attempt> {
    if !place.is_file() {
        return Ok(Attempt::LeaveToGit);
    }
    let mut name = place.clone().into_os_string();
    name.push(".lock");
    let lock = PathBuf::from(name);
    let own = match create(lock) {
        Ok(own) => own,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(Attempt::Busy),
        // The last ref in its folder was deleted or packed meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Attempt::LeaveToGit),
        Err(error) => return Err(error.into()),
    };
    let mut locked = LockedRef { held: Some(Held(own)), place };
    match value(&locked.place)? {
        None => Ok(Attempt::LeaveToGit),
        Some(actual) if actual != old => Err(GitError::Stale { actual: Some(actual) }),
        Some(_) => {
            locked.write(new)?;
            Ok(Attempt::Locked(locked))
        }
    }
}

/// What the ref's own file says; `None` when there is none any more, or it names another ref.
fn value(place: &Path) -> Result<Option<Oid>> {
    match fs::read(place) {
        Ok(text) => Ok(text.to_str().ok().and_then(|text| text.trim_end().parse().ok())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl LockedRef {
    fn write(&mut self, new: Oid) -> Result<()> {
        let Some(Held(own)) = &mut self.held else { return Ok(()) };
        own.file.write_all(format!("{new}\n").as_bytes())?;
        Ok(own.file.sync_all()?)
    }

    /// Lets the branch move, durably.
    ///
    /// # Errors
    /// When the lock was taken away from us: the move is decided, and has to be made some other way.
    pub(super) async fn commit(mut self) -> Result<()> {
        blocking(move || {
            let Some(held) = self.held.take() else { return Ok(()) };
            if !held.is_ours()? {
                return Err(GitError::Corrupt("the lock of a branch was taken away".to_owned()));
            }
            if let Err(error) = fs::rename(&held.0.path, &self.place) {
                held.release();
                return Err(error.into());
            }
            match self.place.parent() {
                Some(folder) => Ok(File::open(folder)?.sync_all()?),
                None => Ok(()),
            }
        })
        .await
    }

    /// Gives the branch back.
    pub(super) async fn abort(self) -> Result<()> {
        blocking(move || {
            drop(self);
            Ok(())
        })
        .await
    }
}

impl Held {
    /// Whether the file of this name still is the one that was made here.
    fn is_ours(&self) -> Result<bool> {
        let own = self.0.file.metadata()?;
        match fs::metadata(&self.0.path) {
            Ok(there) => Ok((own.dev(), own.ino()) == (there.dev(), there.ino())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn release(&self) {
        if self.is_ours().unwrap_or_default() {
            // What stays is taken away by the next writer, like any lock that nobody holds.
            let _ = fs::remove_file(&self.0.path);
        }
    }
}

impl Drop for LockedRef {
    fn drop(&mut self) {
        if let Some(held) = &self.held {
            held.release();
        }
    }
}
