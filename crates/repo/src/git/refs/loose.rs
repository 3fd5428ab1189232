//! Refs that have a file of their own, and the folders that these lie in.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use bstr::ByteSlice as _;

use crate::git::{Oid, RefName, RepoPath, Result};

/// `refs/heads`, `refs/tags` and the like stay, however empty they are.
const KEPT_PARTS: usize = 2;

/// The content of a loose ref file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LooseRef {
    Id(Oid),
    Symbolic(RefName),
    /// Neither, as where a disk has lost what was written.
    Damage,
}

/// The file of a ref.
pub(super) fn place(repo: &RepoPath, name: &RefName) -> PathBuf {
    repo.as_path().join(name.as_bstr().to_path_lossy())
}

/// The file that locks a ref.
pub(super) fn lock_of(repo: &RepoPath, name: &RefName) -> PathBuf {
    let mut lock = place(repo, name).into_os_string();
    lock.push(".lock");
    lock.into()
}

/// What the ref's own file says; nothing when there is none.
pub(super) fn find(repo: &RepoPath, name: &RefName) -> Result<Option<LooseRef>> {
    match fs::read(place(repo, name)) {
        Ok(text) => Ok(Some(parse(&text))),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn parse(text: &[u8]) -> LooseRef {
    let stored = match text.strip_prefix(b"ref:") {
        Some(name) => RefName::full(name.trim()).ok().map(LooseRef::Symbolic),
        None => text.trim_end().to_str().ok().and_then(|id| id.parse().ok()).map(LooseRef::Id),
    };
    stored.unwrap_or(LooseRef::Damage)
}

/// A folder in place of the file, and a file in place of one of its folders, leave no room for it either.
pub(super) fn is_absence(error: &io::Error) -> bool {
    use ErrorKind::{InvalidFilename, IsADirectory, NotADirectory, NotFound};
    matches!(error.kind(), NotFound | IsADirectory | NotADirectory | InvalidFilename)
}

/// Files or folders at the path of a ref's file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathConflict {
    Nothing,
    /// Somebody may be about to make a ref there.
    Locks,
    Refs,
}

/// Takes away the empty folders that lie where a ref is to have its file.
pub(super) fn make_room(place: &Path) -> Result<PathConflict> {
    if !place.is_dir() {
        return Ok(PathConflict::Nothing);
    }
    let mut found = PathConflict::Nothing;
    for entry in fs::read_dir(place).into_iter().flatten() {
        let path = entry?.path();
        let inside = match path.is_dir() {
            true => make_room(&path)?,
            false if path.extension().is_some_and(|end| end == "lock") => PathConflict::Locks,
            false => PathConflict::Refs,
        };
        match inside {
            PathConflict::Refs => return Ok(PathConflict::Refs),
            PathConflict::Locks => found = PathConflict::Locks,
            PathConflict::Nothing => {}
        }
    }
    if found == PathConflict::Nothing && fs::remove_dir(place).is_err() && place.is_dir() {
        // Somebody has just put something there.
        return Ok(PathConflict::Locks);
    }
    Ok(found)
}

/// Removes the folders above a ref's file that have become empty.
pub(super) fn remove_empty_folders(repo: &RepoPath, place: &Path) {
    let Ok(inside) = place.strip_prefix(repo.as_path()) else { return };
    let depth = inside.components().count().saturating_sub(KEPT_PARTS + 1);
    for folder in place.ancestors().skip(1).take(depth) {
        // One that is not empty stays, and so do those above it.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

/// The folders above a ref's file, in which names change with it.
pub(super) fn folders_above<'p>(
    repo: &RepoPath,
    place: &'p Path,
) -> impl Iterator<Item = &'p Path> + use<'p> {
    let top = repo.as_path().to_path_buf();
    place.ancestors().skip(1).take_while(move |folder| *folder != top)
}

/// Makes names durable.
pub(super) fn sync_folders(folders: &BTreeSet<PathBuf>) -> Result<()> {
    for folder in folders {
        match File::open(folder) {
            Ok(open) => open.sync_all()?,
            // The last ref in it has gone, and the folder too.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Every ref below `refs/` that has a file of its own and names an object.
pub(super) fn all(repo: &RepoPath) -> Result<Vec<(RefName, Oid)>> {
    let (mut folders, mut found) = (vec![repo.as_path().join("refs")], Vec::new());
    while let Some(folder) = folders.pop() {
        // One that is gone meanwhile holds nothing.
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                continue;
            }
            let path = entry.path();
            let Ok(inside) = path.strip_prefix(repo.as_path()) else { continue };
            // Locks have names that no ref may have.
            let Ok(name) = RefName::full(inside.as_os_str().as_encoded_bytes()) else { continue };
            if let Ok(Some(LooseRef::Id(id))) = find(repo, &name) {
                found.push((name, id));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{LooseRef, PathConflict, make_room, parse};
    use crate::git::{Oid, RefName};

    #[test]
    fn a_file_names_an_object_or_another_ref() {
        let id = Oid::EMPTY_TREE;
        assert_eq!(parse(format!("{id}\n").as_bytes()), LooseRef::Id(id));
        let main = RefName::branch("main").unwrap();
        assert_eq!(parse(b"ref: refs/heads/main\n"), LooseRef::Symbolic(main));
        for wrong in [&b""[..], b"\n", b"ref: \n", b"4b825dc6\n", b"\0\0\0\0"] {
            assert_eq!(parse(wrong), LooseRef::Damage, "{wrong:?}");
        }
    }

    #[test]
    fn only_empty_folders_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a");
        std::fs::create_dir_all(place.join("b/c")).unwrap();
        assert_eq!(make_room(&place).unwrap(), PathConflict::Nothing);
        assert!(!place.exists());
        std::fs::create_dir_all(place.join("b")).unwrap();
        std::fs::write(place.join("b/x.lock"), "").unwrap();
        assert_eq!(make_room(&place).unwrap(), PathConflict::Locks);
        std::fs::write(place.join("b/x"), "").unwrap();
        assert_eq!(make_room(&place).unwrap(), PathConflict::Refs);
    }
}
