//! Refs that move together. The steps are git's own: a lock file beside each ref, the comparison under the locks, the
//! new values durable beside the old ones before they take their places.
//!
//! A few new values get a file each. Many, and whatever goes away, are written into `packed-refs`: one file that is
//! synced once. What a ref says in its own file counts more, so that file goes afterwards.

use std::{
    collections::{BTreeSet, HashMap},
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gix::objs::Kind;

use super::{
    ExpectedValue, RefMove,
    lock_wait::Wait,
    locked_refs::{LockedRef, LockedRefs, PackedRefsLock, RefFormat, TRIES},
    loose::{self, LooseRef, PathConflict},
    objects::Objects,
    packed::{self, Target},
    view::View,
    write_turn,
};
use crate::git::{
    GitError, Oid, RefName, RepoPath, Result, blocking::blocking, lock_file::LockFile,
};

/// So many new values get a file of their own.
const MOST_LOOSE: usize = 16;

enum Attempt {
    Locked(LockedRefs),
    /// Somebody has this lock, or is about to.
    Busy(PathBuf),
}

/// The time to wait for other writers.
#[derive(Clone, Copy, Debug)]
pub(super) struct LockTimeouts {
    /// Writers of this process that came before, each of whom is done in a moment.
    pub(super) turn: Duration,
    /// Who holds a lock.
    pub(super) lock: Duration,
}

/// Locks refs for their moves.
///
/// # Errors
/// [`GitError::Stale`] when a ref is not where its writer saw it, or somebody else keeps one locked;
/// [`GitError::RefNameTaken`] when one that is to be made is there, or cannot be beside others.
pub(super) async fn lock(
    repo: &RepoPath,
    moves: &[RefMove],
    timeouts: LockTimeouts,
) -> Result<LockedRefs> {
    let steps: Arc<[RefMove]> = sorted(moves)?.into();
    let busy = || GitError::Stale { actual: moves.first().and_then(|step| step.old.oid()) };
    // Before any ref is locked: who waits here keeps nobody from a ref.
    let turn = match writes_packed(&steps) {
        true => Some(write_turn::take(repo, timeouts.turn).await.ok_or_else(busy)?),
        false => None,
    };
    let mut wait = Wait::new(timeouts.lock);
    loop {
        let (place, steps) = (repo.clone(), Arc::clone(&steps));
        match blocking(move || attempt(&place, &steps)).await? {
            Attempt::Locked(mut locked) => {
                locked.turn = turn;
                return Ok(locked);
            }
            Attempt::Busy(lock) if wait.again(repo, &lock).await? => {}
            Attempt::Busy(_) => return Err(busy()),
        }
    }
}

/// In the order in which everybody locks them.
fn sorted(moves: &[RefMove]) -> Result<Vec<RefMove>> {
    let mut steps = moves.to_vec();
    steps.sort_by(|one, other| one.name.cmp(&other.name));
    let names: BTreeSet<&RefName> = steps.iter().map(|step| &step.name).collect();
    if names.len() < steps.len() {
        return Err(GitError::Corrupt("a ref is to move twice at once".to_owned()));
    }
    let lies_in_another = |step: &RefMove| step.name.folders().any(|name| names.contains(&name));
    if steps.iter().any(lies_in_another) {
        return Err(GitError::RefNameTaken);
    }
    Ok(steps)
}

fn are_many(steps: &[RefMove]) -> bool {
    steps.iter().filter(|step| step.new.is_some()).count() > MOST_LOOSE
}

fn writes_packed(steps: &[RefMove]) -> bool {
    let goes = |step: &RefMove| step.new.is_none() && step.old != ExpectedValue::Absent;
    are_many(steps) || steps.iter().any(goes)
}

fn way_of(repo: &RepoPath, step: &RefMove, many: bool) -> Result<RefFormat> {
    Ok(match (step.new, step.old) {
        (Some(_), _) if !many => RefFormat::Own,
        (Some(_), _) | (None, ExpectedValue::Exactly(_)) => RefFormat::Packed,
        (None, ExpectedValue::Absent) => match loose::find(repo, &step.name)? {
            Some(LooseRef::Damage) => RefFormat::Packed,
            _ => RefFormat::None,
        },
    })
}

fn attempt(repo: &RepoPath, steps: &[RefMove]) -> Result<Attempt> {
    let mut locked = LockedRefs { repo: repo.clone(), refs: Vec::new(), packed: None, turn: None };
    let many = are_many(steps);
    for step in steps {
        match lock_one(repo, step)? {
            Some(lock) => {
                let (place, way) = (loose::place(repo, &step.name), way_of(repo, step, many)?);
                locked.refs.push(LockedRef { place, lock, way });
            }
            None => return Ok(Attempt::Busy(loose::lock_of(repo, &step.name))),
        }
    }
    for step in steps {
        if let Some(lock) = somebody_in_the_way(repo, step)? {
            return Ok(Attempt::Busy(lock));
        }
    }
    // Only now, so that it shows what those have done who are gone from there.
    let view = View::new(repo);
    for step in steps {
        compare(&view, step)?;
        ensure_room(&view, step)?;
    }
    let targets = targets(repo, steps)?;
    if locked.refs.iter().any(|one| one.way == RefFormat::Packed) {
        let lock = match LockFile::create(packed::lock_of(repo.as_path())) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Ok(Attempt::Busy(packed::lock_of(repo.as_path())));
            }
            lock => lock?,
        };
        locked.packed = Some(PackedRefsLock { next: None, _lock: lock });
    }
    locked.write_down(steps, &targets)?;
    Ok(Attempt::Locked(locked))
}

/// `None` when somebody else has locked it.
fn lock_one(repo: &RepoPath, step: &RefMove) -> Result<Option<LockFile>> {
    use ErrorKind::{AlreadyExists, NotADirectory};
    let (place, lock) = (loose::place(repo, &step.name), loose::lock_of(repo, &step.name));
    for _ in 0..TRIES {
        match LockFile::create(lock.clone()) {
            Ok(lock) => return Ok(Some(lock)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(None),
            // Its folder was never there, or has just gone with its last ref.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if error.kind() == ErrorKind::NotADirectory => return Err(taken(step)),
            Err(error) => return Err(error.into()),
        }
        let Some(folder) = place.parent() else { break };
        match fs::create_dir_all(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if matches!(error.kind(), AlreadyExists | NotADirectory) => {
                if folder.ancestors().any(Path::is_file) {
                    tracing::debug!(%error, "a ref lies where a folder of refs would be");
                    return Err(taken(step));
                }
                // It has gone meanwhile.
            }
            made => made?,
        }
    }
    Ok(None)
}

/// What the writer of a ref is told that has no room where it is to lie.
fn taken(step: &RefMove) -> GitError {
    match step.old {
        ExpectedValue::Absent => GitError::RefNameTaken,
        ExpectedValue::Exactly(_) => GitError::Stale { actual: None },
    }
}

fn compare(view: &View<'_>, step: &RefMove) -> Result<()> {
    let now = match step.new {
        Some(_) => view.find(&step.name)?,
        None => view.find_to_delete(&step.name)?,
    };
    match step.old {
        old if old.oid() == now => Ok(()),
        ExpectedValue::Absent => Err(GitError::RefNameTaken),
        ExpectedValue::Exactly(_) => Err(GitError::Stale { actual: now }),
    }
}

/// The lock of somebody who wants a name that excludes this one. The ref's own lock is there by now, and so is theirs:
/// one of the two sees the other.
fn somebody_in_the_way(repo: &RepoPath, step: &RefMove) -> Result<Option<PathBuf>> {
    if step.new.is_none() {
        return Ok(None);
    }
    let place = loose::place(repo, &step.name);
    match loose::make_room(&place)? {
        PathConflict::Nothing => {}
        PathConflict::Locks => return Ok(Some(place)),
        PathConflict::Refs => return Err(taken(step)),
    }
    let above = step.name.folders().filter(|_| step.old == ExpectedValue::Absent);
    for lock in above.map(|folder| loose::lock_of(repo, &folder)) {
        if lock.try_exists()? {
            return Ok(Some(lock));
        }
    }
    Ok(None)
}

/// A name that is a folder of another one's, or lies in one, cannot be made.
fn ensure_room(view: &View<'_>, step: &RefMove) -> Result<()> {
    if step.new.is_none() || step.old != ExpectedValue::Absent {
        return Ok(());
    }
    let packed = view.packed()?;
    let mut is_taken = packed.has_below(&step.name)?;
    for folder in step.name.folders() {
        is_taken |= packed.find(&folder)?.is_some();
    }
    if is_taken { Err(GitError::RefNameTaken) } else { Ok(()) }
}

/// What the new values are: objects that are there, and commits where branches are to name them.
fn targets(repo: &RepoPath, steps: &[RefMove]) -> Result<HashMap<Oid, Target>> {
    let mut found = HashMap::new();
    if steps.iter().all(|step| step.new.is_none()) {
        return Ok(found);
    }
    let mut objects = Objects::open(repo)?;
    for step in steps {
        let Some(id) = step.new else { continue };
        let (kind, target) = objects.find(id)?;
        if step.name.is_branch() && kind != Kind::Commit {
            return Err(GitError::Corrupt(format!("{} is to name {id}, a {kind}", step.name)));
        }
        found.insert(id, target);
    }
    Ok(found)
}
