//! Objects of several folders read as one: those of a push in quarantine, or of two repositories that are compared.

use std::{fs, path::Path};

use tempfile::TempDir;

use super::{DiffLimits, OBJECT_CACHE_BYTES, Reader, Repositories};
use crate::git::{GitError, RepoPath, Result, open::open_folder};

/// A repository without refs of its own, whose objects lie elsewhere.
#[derive(Debug)]
pub struct OverlayReader {
    reader: Reader,
    /// Goes with the reader.
    _folder: TempDir,
}

impl OverlayReader {
    /// What `home` has, and what these folders of objects have.
    pub fn new(home: &RepoPath, objects: &[&Path]) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("forgeway-").tempdir()?;
        let info = folder.path().join("objects").join("info");
        fs::create_dir_all(&info)?;
        fs::create_dir(folder.path().join("refs"))?;
        fs::write(folder.path().join("HEAD"), "ref: refs/heads/main\n")?;
        let own = home.as_path().join("objects");
        let mut lines = Vec::new();
        for place in objects.iter().copied().chain([own.as_path()]) {
            lines.extend(line(place)?);
        }
        fs::write(info.join("alternates"), lines)?;
        let mut repo = open_folder(folder.path())?.to_thread_local();
        repo.object_cache_size_if_unset(OBJECT_CACHE_BYTES);
        let Repositories { changed_paths, commits, .. } = Repositories::default();
        let diff_limits = DiffLimits::default();
        let reader = Reader { repo, path: home.clone(), changed_paths, commits, diff_limits };
        Ok(Self { reader, _folder: folder })
    }

    /// As [`new`](Self::new), with the objects of a repository that is read already and the limits of its diffs.
    pub fn beside(reader: &Reader, objects: &[&Path]) -> Result<Self> {
        let mut both = Self::new(reader.path(), objects)?;
        both.reader.diff_limits = reader.diff_limits;
        Ok(both)
    }

    pub fn reader(&self) -> &Reader {
        &self.reader
    }
}

fn line(folder: &Path) -> Result<Vec<u8>> {
    let mut line = folder.as_os_str().as_encoded_bytes().to_vec();
    if line.contains(&b'\n') || !folder.is_absolute() {
        return Err(GitError::Corrupt("a folder of objects cannot be named".to_owned()));
    }
    line.push(b'\n');
    Ok(line)
}
