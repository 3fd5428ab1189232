//! Refs that have files of their own put into the one that holds many: a list of refs opens a file for each of the others.

use std::{
    collections::BTreeSet,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::{
    loose::{self, LooseRef},
    objects::Objects,
    packed::{self, Edits, PackedRefs},
};
use crate::git::{
    Oid, RefName, RepoPath, Result,
    blocking::blocking,
    lock_file::{self, LockFile},
    stale_locks,
};

/// Leaves everything as it is while somebody else writes that file.
pub async fn pack(repo: &RepoPath) -> Result<()> {
    let lock = packed::lock_of(repo.as_path());
    if lock.exists() && !lock_file::is_ours(&lock) {
        stale_locks::heal(repo).await?;
    }
    let repo = repo.clone();
    blocking(move || pack_now(&repo)).await
}

fn pack_now(repo: &RepoPath) -> Result<()> {
    let _lock = match LockFile::create(packed::lock_of(repo.as_path())) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        lock => lock?,
    };
    let mut objects = Objects::open(repo)?;
    let mut edits = Edits::new();
    let mut refs = loose::all(repo)?;
    // One that names nothing stays where somebody sees it.
    refs.retain(|(name, id)| match objects.find(*id) {
        Ok((_, target)) => edits.insert(name.as_bstr().to_owned(), Some(target)).is_none(),
        Err(_) => false,
    });
    if refs.is_empty() {
        return Ok(());
    }
    let mut next = PackedRefs::open(repo)?.write(repo, &edits)?;
    next.put_in_place(&repo.as_path().join(packed::NAME))?;
    loose::sync_folders(&BTreeSet::from([repo.as_path().to_path_buf()]))?;
    let mut touched = BTreeSet::new();
    for (name, id) in refs {
        touched.extend(remove(repo, &name, id)?);
    }
    loose::sync_folders(&touched)
}

/// Takes a ref's own file away, unless it has moved since or somebody is about to move it.
fn remove(repo: &RepoPath, name: &RefName, id: Oid) -> Result<Option<PathBuf>> {
    let place = loose::place(repo, name);
    let Ok(lock) = LockFile::create(loose::lock_of(repo, name)) else { return Ok(None) };
    if loose::find(repo, name)? != Some(LooseRef::Id(id)) {
        return Ok(None);
    }
    fs::remove_file(&place)?;
    drop(lock);
    loose::remove_empty_folders(repo, &place);
    Ok(place.parent().map(Path::to_path_buf))
}
