//! The one place that moves refs, in two phases: they are locked and compared, the database decides, they move.

mod head;
mod lock_wait;
mod locked_refs;
mod loose;
mod objects;
mod pack;
mod packed;
mod ref_move;
mod transaction;
mod view;
mod write_turn;

use std::{
    collections::{BTreeSet, HashMap},
    path::PathBuf,
    time::Duration,
};

use tokio::time::sleep;

use self::{locked_refs::LockedRefs, transaction::LockTimeouts};
use super::{GitError, Oid, RefName, RepoPath, blocking::blocking};

pub use head::set_head;
pub use pack::pack;
pub(super) use packed::NEXT;
pub use ref_move::{ExpectedValue, RefMove};
pub use view::read as read_now;

/// How long somebody else's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long writers of this process wait for those before them.
const TURN_PATIENCE: Duration = Duration::from_secs(60);
/// So often it is tried to make moves that were decided and then interrupted.
const REDO_TRIES: u32 = 3;
const REDO_PAUSE: Duration = Duration::from_millis(50);

/// Refs that are locked and checked, but not moved. Dropping it gives them back unchanged.
pub struct PreparedRefs {
    repo: RepoPath,
    moves: Vec<RefMove>,
    locked: LockedRefs,
}

/// Locks the refs and compares each with what its writer saw: all or nothing.
pub async fn prepare(repo: &RepoPath, moves: &[RefMove]) -> Result<PreparedRefs, GitError> {
    prepare_within(repo, moves, LockTimeouts { turn: TURN_PATIENCE, lock: PATIENCE }).await
}

async fn prepare_within(
    repo: &RepoPath,
    moves: &[RefMove],
    patience: LockTimeouts,
) -> Result<PreparedRefs, GitError> {
    let locked = transaction::lock(repo, moves, patience).await?;
    Ok(PreparedRefs { repo: repo.clone(), moves: moves.to_vec(), locked })
}

/// The file that locks a ref.
pub fn lock_of(repo: &RepoPath, name: &RefName) -> PathBuf {
    loose::lock_of(repo, name)
}

/// Moves refs whose journal needs no database, or was written before.
pub async fn move_now(repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    prepare(repo, moves).await?.commit().await
}

/// The same for whoever looks again by himself at what became of a lock: others are waited for as long as `patience`.
pub async fn move_within(
    repo: &RepoPath,
    moves: &[RefMove],
    patience: Duration,
) -> Result<(), GitError> {
    let patience = LockTimeouts { turn: patience, lock: patience };
    prepare_within(repo, moves, patience).await?.commit().await
}

impl PreparedRefs {
    /// Lets the refs move. The decision was made before, so locks that were lost meanwhile are taken again.
    pub async fn commit(self) -> Result<(), GitError> {
        let Self { repo, moves, locked } = self;
        match locked.commit().await {
            Ok(()) => Ok(()),
            Err(error) => {
                tracing::warn!(%error, "the locks were lost between prepare and commit");
                redo(&repo, &moves).await
            }
        }
    }

    /// Gives the refs back and waits until the locks are gone.
    pub async fn abort(self) -> Result<(), GitError> {
        self.locked.abort().await
    }
}

/// Carries out moves that were decided, however many of them had been made before that was interrupted.
///
/// # Errors
/// [`GitError::Stale`] when a ref is neither where its writer found it nor where it was to go.
pub async fn redo(repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    try_again(|| redo_once(repo, moves)).await
}

async fn redo_once(repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    let now = read(repo, moves.iter().map(|step| &step.name)).await?;
    let ahead: Vec<RefMove> =
        moves.iter().filter(|step| now.get(&step.name).copied() != step.new).cloned().collect();
    if ahead.is_empty() {
        return sync(repo, moves).await;
    }
    prepare(repo, &ahead).await?.locked.commit().await
}

/// A lock may be lost again. What a disk refuses for good is left for whoever reads the journal.
async fn try_again<F>(mut attempt: impl FnMut() -> F) -> Result<(), GitError>
where
    F: Future<Output = Result<(), GitError>>,
{
    for _ in 1..REDO_TRIES {
        match attempt().await {
            Err(error @ (GitError::Io(_) | GitError::Corrupt(_))) => {
                tracing::warn!(%error, "moves that were decided were interrupted");
                sleep(REDO_PAUSE).await;
            }
            done => return done,
        }
    }
    attempt().await
}

/// Where the named refs are now; a ref that is not there is left out.
pub async fn read<'a>(
    repo: &RepoPath,
    names: impl IntoIterator<Item = &'a RefName>,
) -> Result<HashMap<RefName, Oid>, GitError> {
    let (repo, names) = (repo.clone(), names.into_iter().cloned().collect::<Vec<_>>());
    blocking(move || read_now(&repo, &names)).await
}

/// Makes moves durable that somebody else has made, as far as it may be.
async fn sync(repo: &RepoPath, moves: &[RefMove]) -> Result<(), GitError> {
    let mut folders = BTreeSet::from([repo.as_path().to_path_buf()]);
    for step in moves {
        let place = loose::place(repo, &step.name);
        folders.extend(loose::folders_above(repo, &place).map(PathBuf::from));
    }
    blocking(move || loose::sync_folders(&folders)).await
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fs, io::ErrorKind, os::unix::fs::symlink, path::Path, time::Duration};

    use kernel::ids::ProjectId;
    use tokio::task::JoinSet;

    use super::{
        ExpectedValue, LockTimeouts, RefMove, move_now, move_within, prepare_within, try_again,
    };
    use crate::git::{GitError, Oid, RefName, RepoPath, Storage};

    const ID: Oid = Oid::EMPTY_TREE;

    fn empty(folder: &Path) -> RepoPath {
        let main = RefName::branch("main").unwrap();
        Storage::new(folder).create(ProjectId(1), &main).unwrap()
    }

    /// Removes a branch. What it names is not looked at.
    fn gone(name: &str, old: ExpectedValue) -> RefMove {
        RefMove { name: RefName::branch(name).unwrap(), old, new: None }
    }

    fn file(repo: &RepoPath, name: &str) -> std::path::PathBuf {
        repo.as_path().join(name)
    }

    #[tokio::test]
    async fn what_fails_for_good_is_not_tried_for_ever() {
        let (broken, stale): (fn(_) -> _, fn(_) -> _) =
            (GitError::Io, |_| GitError::Stale { actual: None });
        for (error, most) in [(broken, 3), (stale, 1)] {
            let tries = Cell::new(0);
            let failed = try_again(async || {
                tries.set(tries.get() + 1);
                Err(error(ErrorKind::PermissionDenied.into()))
            });

            failed.await.unwrap_err();
            assert_eq!(tries.get(), most);
        }
    }

    #[tokio::test]
    async fn who_deletes_waits_for_the_deletions_before_however_long_all_of_them_take() {
        let folder = tempfile::tempdir().unwrap();
        let (repo, mut writers) = (empty(folder.path()), JoinSet::new());
        for number in 0..20 {
            let (repo, name) = (repo.clone(), format!("b{number}"));
            fs::write(file(&repo, &format!("refs/heads/{name}")), ID.to_string()).unwrap();
            writers.spawn(async move {
                let patience = LockTimeouts { turn: Duration::from_secs(60), lock: Duration::ZERO };
                let steps = [gone(&name, ExpectedValue::Exactly(ID))];
                let held = prepare_within(&repo, &steps, patience).await?;
                // As long as the database decides.
                tokio::task::yield_now().await;
                held.commit().await
            });
        }

        for done in writers.join_all().await {
            done.unwrap();
        }
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_looked_at_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let repo = empty(folder.path());
        symlink("packed-refs", file(&repo, "packed-refs")).unwrap();
        fs::write(file(&repo, "refs/heads/x"), ID.to_string()).unwrap();

        for old in [ExpectedValue::Exactly(ID), ExpectedValue::Absent] {
            move_now(&repo, &[gone("x", old)]).await.unwrap_err();
            move_now(&repo, &[gone("y", old)]).await.unwrap_err();
        }
        super::pack(&repo).await.unwrap_err();

        assert!(file(&repo, "packed-refs").is_symlink());
    }

    #[tokio::test]
    async fn a_damaged_ref_can_be_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let repo = empty(folder.path());
        let packed = format!("# pack-refs with: sorted \n{ID} refs/heads/x\n");
        fs::write(file(&repo, "packed-refs"), packed).unwrap();
        for (name, old) in [("x", ExpectedValue::Exactly(ID)), ("y", ExpectedValue::Absent)] {
            let place = file(&repo, &format!("refs/heads/{name}"));
            fs::write(&place, "").unwrap();

            move_now(&repo, &[gone(name, old)]).await.unwrap();

            assert!(!place.exists());
        }
        assert!(!fs::read_to_string(file(&repo, "packed-refs")).unwrap().contains("refs/heads/x"));
    }

    #[tokio::test]
    async fn what_lay_in_the_way_for_a_moment_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let repo = empty(folder.path());
        let step = gone("folder/x", ExpectedValue::Absent);
        // It is there and cannot be found, as what goes in between.
        symlink("nowhere", file(&repo, "refs/heads/folder")).unwrap();

        let told = move_within(&repo, std::slice::from_ref(&step), Duration::ZERO).await;
        assert!(matches!(told, Err(GitError::Stale { .. })), "{told:?}");
        fs::remove_file(file(&repo, "refs/heads/folder")).unwrap();

        move_now(&repo, &[step]).await.unwrap();
    }
}
