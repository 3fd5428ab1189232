//! Locks that nobody holds any more: what a power cut or a SIGKILL leaves behind.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{RepoPath, Result, Storage, refs::blocking};

/// Where git makes lock files in a bare repository, and whether they lie deeper, too.
const PLACES: [(&str, bool); 4] =
    [("", false), ("refs", true), ("objects/info", true), ("objects/pack", false)];

/// What became of a repository's old locks.
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
    if !locks.is_empty() && is_worked_on(repo) {
        return Ok(Locks::InUse);
    }
    for lock in &locks {
        tracing::warn!(lock = %lock.display(), "taking away a lock that nobody holds");
        match fs::remove_file(lock) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(Locks::Released(locks.len()))
}

fn collect(
    folder: &Path,
    deeper: bool,
    older_than: Duration,
    locks: &mut Vec<PathBuf>,
) -> Result<()> {
    // A folder that is not there, or not any more, holds no lock.
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if deeper {
                collect(&path, deeper, older_than, locks)?;
            }
        } else if path.extension().is_some_and(|end| end == "lock") {
            let age = entry.metadata().and_then(|about| about.modified());
            if age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= older_than)) {
                locks.push(path);
            }
        }
    }
    Ok(())
}

/// Whether a process, of this server or an orphan of an earlier one, has its working directory there, as each git
/// child has.
fn is_worked_on(repo: &Path) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut folders =
        processes.filter_map(|process| fs::read_link(process.path().join("cwd")).ok());
    let Ok(repo) = repo.canonicalize() else { return true };
    folders.any(|folder| folder.starts_with(&repo))
}
