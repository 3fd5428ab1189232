//! A repository made from another: its objects by hard link, its branches and tags by name.
//!
//! Nothing is shared afterwards but the bytes on disk, so either may be repacked or deleted without a thought for
//! the other.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::blocking::blocking;
use super::cli::Git;
use super::refs::set_head;
use super::{GitError, Oid, RefName, RepoPath};

/// A repack may take files away while they are linked; a new look finds what replaced them.
const LOOKS: usize = 5;

/// Fills an empty repository with the branches and tags of another.
pub async fn copy(git: &Git, from: &RepoPath, into: &RepoPath) -> Result<(), GitError> {
    // The refs first: whatever they name is there when the objects are looked for.
    let refs = read_refs(git, from).await?;
    let head = git.at(from, "symbolic-ref").args(["HEAD"]).succeed().await?;
    let head = RefName::stored(head.trim().as_bstr());
    let (source, target) = (from.clone(), into.clone());
    blocking(move || {
        link_objects(&source.as_path().join("objects"), &target.as_path().join("objects"))?;
        write_refs(target.as_path(), &refs)
    })
    .await?;
    set_head(into, &head).await
}

struct StoredRef {
    name: BString,
    id: Oid,
    /// What an annotated tag stands for.
    peeled: Option<Oid>,
}

async fn read_refs(git: &Git, repo: &RepoPath) -> Result<Vec<StoredRef>, GitError> {
    let listing = git
        .at(repo, "for-each-ref")
        .args(["--format=%(objectname) %(*objectname) %(refname)", "refs/heads", "refs/tags"])
        .succeed()
        .await?;
    listing.lines().map(parse_ref).collect()
}

fn parse_ref(line: &[u8]) -> Result<StoredRef, GitError> {
    let mut parts = line.splitn_str(3, " ");
    let (Some(id), Some(peeled), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return Err(GitError::Corrupt("git for-each-ref: a line is short".to_owned()));
    };
    let peeled = if peeled.is_empty() { None } else { Some(peeled.to_str_lossy().parse()?) };
    Ok(StoredRef { name: name.into(), id: id.to_str_lossy().parse()?, peeled })
}

/// Loose objects before packs: what is packed meanwhile is then found as a pack.
fn link_objects(from: &Path, into: &Path) -> Result<(), GitError> {
    for _ in 0..LOOKS {
        let found = object_files(from)?;
        match link_all(from, into, &found) {
            Err(GitError::Io(error)) if error.kind() == ErrorKind::NotFound => {}
            linked => return linked,
        }
    }
    Err(GitError::Corrupt("the source is repacked faster than it can be copied".to_owned()))
}

fn object_files(objects: &Path) -> Result<Vec<PathBuf>, GitError> {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in fs::read_dir(objects)? {
        let entry = entry?;
        if entry.file_name().len() == 2 && entry.file_type()?.is_dir() {
            folders.push(entry.file_name());
        }
    }
    for folder in folders {
        list(objects, Path::new(&folder), &mut files, |_name| true)?;
    }
    // An index makes its pack visible, so it comes last.
    list(objects, Path::new("pack"), &mut files, |name| {
        !name.ends_with(b".idx") && is_pack_file(name)
    })?;
    list(objects, Path::new("pack"), &mut files, |name| name.ends_with(b".idx"))?;
    Ok(files)
}

fn is_pack_file(name: &BStr) -> bool {
    let endings: [&[u8]; 4] = [b".pack", b".rev", b".bitmap", b".mtimes"];
    name.starts_with(b"pack-") && endings.iter().any(|end| name.ends_with(end))
}

fn list(
    objects: &Path,
    folder: &Path,
    files: &mut Vec<PathBuf>,
    wanted: impl Fn(&BStr) -> bool,
) -> Result<(), GitError> {
    for entry in fs::read_dir(objects.join(folder))? {
        let name = entry?.file_name();
        let bytes = name.as_encoded_bytes();
        if !bytes.starts_with(b"tmp_") && wanted(bytes.as_bstr()) {
            files.push(folder.join(name));
        }
    }
    Ok(())
}

fn link_all(from: &Path, into: &Path, files: &[PathBuf]) -> Result<(), GitError> {
    let mut folders = BTreeSet::from([into.to_path_buf()]);
    for file in files {
        let target = into.join(file);
        if let Some(folder) = target.parent() {
            super::objects::create_folder(folder)?;
            folders.insert(folder.to_path_buf());
        }
        link(&from.join(file), &target)?;
    }
    for folder in folders {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn link(from: &Path, into: &Path) -> Result<(), GitError> {
    match fs::hard_link(from, into) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(error.into()),
        // Another file system, or one without links.
        Err(_) => {
            fs::copy(from, into)?;
            Ok(File::open(into)?.sync_all()?)
        }
    }
}

/// One file for all refs: nobody else knows this repository yet, and a file per ref would cost a sync each.
fn write_refs(repo: &Path, refs: &[StoredRef]) -> Result<(), GitError> {
    let mut text = b"# pack-refs with: peeled fully-peeled sorted \n".to_vec();
    for stored in refs {
        writeln!(text, "{} {}", stored.id, stored.name.as_bstr())?;
        if let Some(peeled) = stored.peeled {
            writeln!(text, "^{peeled}")?;
        }
    }
    let mut lock = File::create_new(repo.join("packed-refs.lock"))?;
    lock.write_all(&text)?;
    lock.sync_all()?;
    fs::rename(repo.join("packed-refs.lock"), repo.join("packed-refs"))?;
    Ok(File::open(repo)?.sync_all()?)
}
