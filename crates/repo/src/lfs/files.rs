//! Where the contents of large files lie: each once, however many projects have it.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use kernel::{Error, Result};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::LfsId;

/// The contents below one data folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LfsFiles {
    root: Arc<Path>,
}

/// A content that is being received.
#[derive(Debug)]
pub struct Arriving {
    file: NamedTempFile,
    digest: Sha256,
    size: u64,
}

impl LfsFiles {
    pub fn new(data: &Path) -> Self {
        Self::at(&data.join("lfs"))
    }

    pub(super) fn at(folder: &Path) -> Self {
        Self { root: folder.into() }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.root
    }

    /// Where a content lies, or would.
    pub fn place(&self, id: &LfsId) -> PathBuf {
        let name = id.as_str();
        self.root.join(&name[..2]).join(&name[2..4]).join(name)
    }

    /// Begins to receive a content.
    pub fn begin(&self) -> Result<Arriving> {
        let drafts = self.root.join("drafts");
        fs::create_dir_all(&drafts).map_err(Error::internal)?;
        let file = NamedTempFile::new_in(drafts).map_err(Error::internal)?;
        Ok(Arriving { file, digest: Sha256::new(), size: 0 })
    }

    /// Keeps a content that is what was promised; from then on it would survive a power cut.
    pub fn keep(&self, arrived: Arriving, id: &LfsId, size: i64) -> Result<()> {
        let same_size = i64::try_from(arrived.size).is_ok_and(|arrived| arrived == size);
        if !same_size || LfsId::of_digest(&arrived.digest.finalize()) != *id {
            return Err(Error::Unfit("The content is not what its name and size say.".to_owned()));
        }
        keep_file(arrived.file, &self.root, &self.place(id)).map_err(Error::internal)
    }

    /// Every content that was kept before `age` ago, and drafts that nobody finished, which are removed.
    pub fn kept_before(&self, age: Duration) -> Result<Vec<LfsId>> {
        let mut found = Vec::new();
        for (path, about) in files_below(&self.root, 3).map_err(Error::internal)? {
            let kept_for = about.modified().ok().and_then(|at| at.elapsed().ok());
            if kept_for.is_none_or(|kept_for| kept_for < age) {
                continue;
            }
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            match name.parse() {
                Ok(id) => found.push(id),
                Err(_) => remove(&path)?,
            }
        }
        Ok(found)
    }

    /// Removes a content that nobody has any more.
    pub fn remove(&self, id: &LfsId) -> Result<()> {
        remove(&self.place(id))
    }
}

impl Arriving {
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.size += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.file.write_all(bytes)
    }
}

fn keep_file(file: NamedTempFile, root: &Path, place: &Path) -> io::Result<()> {
    file.as_file().sync_all()?;
    let folder = place.parent().unwrap_or(root);
    fs::create_dir_all(folder)?;
    file.persist(place).map_err(|failed| failed.error)?;
    // The folders may be new, too.
    for folder in folder.ancestors().take_while(|above| above.starts_with(root)) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::internal(error)),
        _ => Ok(()),
    }
}

fn files_below(folder: &Path, depth: usize) -> io::Result<Vec<(PathBuf, fs::Metadata)>> {
    let mut found = Vec::new();
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let about = match entry.metadata() {
            // Finished or removed meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            about => about?,
        };
        if about.is_file() {
            found.push((entry.path(), about));
        } else if depth > 1 {
            found.extend(files_below(&entry.path(), depth - 1)?);
        }
    }
    Ok(found)
}
