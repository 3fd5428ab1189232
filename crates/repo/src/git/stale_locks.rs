//! Locks that nobody holds any more: what a power cut or a SIGKILL leaves behind.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{RepoPath, Result, Storage, blocking::blocking, hook, lock_file, refs};

/// Where git makes lock files in a bare repository, and whether they lie deeper, too.
const PLACES: [(&str, bool); 4] =
    [("", false), ("refs", true), ("objects/info", true), ("objects/pack", false)];

/// The result of removing a repository's stale locks.
#[derive(Debug, PartialEq, Eq)]
pub enum Locks {
    /// So many were taken away.
    Released(usize),
    /// A git process works there; they may be its own.
    InUse,
}

/// Takes away the locks of a repository that are older than this, unless a git process works in it.
pub async fn release(repo: &RepoPath, older_than: Duration) -> Result<Locks> {
    let repo = repo.clone();
    blocking(move || release_now(repo.as_path(), older_than)).await
}

/// Somebody's git may work on a repository from elsewhere; it holds a lock for a moment.
const MOMENT: Duration = Duration::from_secs(1);

/// The same for a writer that has met a lock. Where the system does not tell who works in a folder, the lock stays for
/// later.
pub(super) async fn heal(repo: &RepoPath) -> Result<()> {
    // What is older than this process was left by one before it.
    if let Some(age) = age_of(Path::new("/proc/self")) {
        release(repo, MOMENT.min(age)).await?;
    }
    Ok(())
}

/// The same for every repository, with locks from before `since`: those of an earlier life of the server. Returns
/// where a look has to be taken again.
pub async fn release_all(storage: &Storage, since: Instant) -> Result<Vec<RepoPath>> {
    let storage = storage.clone();
    blocking(move || {
        let mut in_use = Vec::new();
        storage.each(|repo| {
            if release_now(repo.as_path(), since.elapsed())? == Locks::InUse {
                in_use.push(repo);
            }
            Ok(())
        })?;
        Ok(in_use)
    })
    .await
}

fn release_now(repo: &Path, older_than: Duration) -> Result<Locks> {
    let mut locks = Vec::new();
    for (place, deeper) in PLACES {
        collect(&repo.join(place), deeper, older_than, &mut locks)?;
    }
    // Asked only now: there is hardly ever a lock.
    let oldest = if locks.is_empty() { Workers::NONE } else { oldest_workers(repo) };
    let all = locks.len();
    let objects = repo.join("objects");
    locks.retain(|(lock, age)| {
        let may_hold = if lock.starts_with(&objects) { oldest.any } else { oldest.of_refs };
        !may_hold.may_hold(*age)
    });
    for (lock, _) in &locks {
        tracing::warn!(lock = %lock.display(), "taking away a lock that nobody holds");
        match lock_file::remove_if_nobodys(lock) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(if locks.len() < all { Locks::InUse } else { Locks::Released(all) })
}

fn collect(
    folder: &Path,
    deeper: bool,
    older_than: Duration,
    locks: &mut Vec<(PathBuf, Duration)>,
) -> Result<()> {
    // A folder that is not there, or not any more, holds no lock.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if deeper {
                collect(&path, deeper, older_than, locks)?;
            }
        } else if is_passing(&path) {
            let made = entry.metadata().and_then(|about| about.modified());
            let age = made.ok().and_then(|made| made.elapsed().ok());
            if let Some(age) = age.filter(|age| *age >= older_than && !lock_file::is_ours(&path)) {
                locks.push((path, age));
            }
        }
    }
    Ok(())
}

/// Whether a file holds others up: git makes no new `packed-refs` where an unfinished one lies, either.
fn is_passing(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "lock") || path.ends_with(refs::NEXT)
}

/// The age of the oldest process that works in a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Age {
    /// No process works there.
    None,
    Known(Duration),
    /// One does, and the system does not tell since when.
    Unknown,
}

impl Age {
    /// Whether it may hold a lock that is so old: it was there when the lock was made.
    fn may_hold(self, lock: Duration) -> bool {
        match self {
            Self::None => false,
            Self::Known(age) => age + CLOCKS >= lock,
            Self::Unknown => true,
        }
    }
}

/// The system's clocks for processes and for files may differ by so much.
const CLOCKS: Duration = Duration::from_secs(1);

/// The ages of the oldest processes that work in a repository.
#[derive(Clone, Copy, Debug)]
struct Workers {
    any: Age,
    /// Among those that may lock refs.
    of_refs: Age,
}

impl Workers {
    const NONE: Self = Self { any: Age::None, of_refs: Age::None };
}

/// What git is asked for that takes its time and never locks a ref.
const NEVER_LOCK_REFS: [&str; 22] = [
    "archive",
    "blame",
    "cat-file",
    "commit-graph",
    "count-objects",
    "diff-tree",
    "for-each-ref",
    "fsck",
    "index-pack",
    "log",
    "ls-tree",
    "merge-base",
    "merge-tree",
    "multi-pack-index",
    "pack-objects",
    // Our hook moves its refs.
    "receive-pack",
    "repack",
    "rev-list",
    "show",
    "unpack-objects",
    "upload-archive",
    "upload-pack",
];

/// The oldest processes, of this server or orphans of an earlier one, that have their working directory there, as each
/// git child has.
fn oldest_workers(repo: &Path) -> Workers {
    let Ok(repo) = repo.canonicalize() else {
        return Workers { any: Age::Unknown, of_refs: Age::Unknown };
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let working = processes.filter(|process| {
        fs::read_link(process.path().join("cwd")).is_ok_and(|folder| folder.starts_with(&repo))
    });
    let mut oldest = Workers::NONE;
    for process in working {
        let age = age_of(&process.path()).map_or(Age::Unknown, Age::Known);
        oldest.any = oldest.any.max(age);
        if may_lock_refs(&process.path()) {
            oldest.of_refs = oldest.of_refs.max(age);
        }
    }
    oldest
}

/// Whether a process may lock refs, by its command line.
fn may_lock_refs(process: &Path) -> bool {
    let line = fs::read(process.join("cmdline")).unwrap_or_default();
    let mut words = line.split(|byte| *byte == 0);
    if words.next().is_some_and(hook::is_hook) {
        return false;
    }
    while let Some(word) = words.next() {
        match word {
            b"-c" | b"-C" => drop(words.next()),
            [b'-', ..] => {}
            command => return !NEVER_LOCK_REFS.iter().any(|name| name.as_bytes() == command),
        }
    }
    true
}

/// How long a process lives, by its folder in `/proc` (see proc(5), `starttime`).
fn age_of(process: &Path) -> Option<Duration> {
    let up = fs::read_to_string("/proc/uptime").ok()?;
    let up: f64 = up.split(' ').next()?.parse().ok()?;
    let about = fs::read_to_string(process.join("stat")).ok()?;
    // The name before it, in brackets, may hold spaces and brackets.
    let (_, fields) = about.rsplit_once(')')?;
    let ticks: u64 = fields.split_whitespace().nth(19)?.parse().ok()?;
    let begun = Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second());
    Some(Duration::try_from_secs_f64(up).ok()?.saturating_sub(begun))
}
