//! The contents of large files: each stored once, however many projects have it.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures_util::{Stream, TryStreamExt as _};
use kernel::{Error, Result, task::spawn_blocking};
use objects::{Objects, StoredContent};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use super::LfsId;

/// The contents of one installation. Cheap to clone.
#[derive(Clone, Debug)]
pub struct LfsFiles {
    /// Where contents are written while they are received.
    drafts: Arc<Path>,
    objects: Objects,
}

/// A content that is being received.
#[derive(Debug)]
pub struct IncomingFile {
    file: NamedTempFile,
    digest: Sha256,
    size: u64,
}

/// What large files are called among other contents.
pub const KIND: &str = "lfs";

/// What a content is called.
pub(super) fn name_of(id: &LfsId) -> String {
    let name = id.as_str();
    format!("{}/{}/{name}", &name[..2], &name[2..4])
}

impl LfsFiles {
    pub fn new(data: &Path, objects: Objects) -> Self {
        Self { drafts: data.join(KIND).join("drafts").into(), objects }
    }

    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Begins to receive a content. May block.
    pub fn begin(&self) -> Result<IncomingFile> {
        fs::create_dir_all(&self.drafts).map_err(Error::internal)?;
        let file = NamedTempFile::new_in(&self.drafts).map_err(Error::internal)?;
        Ok(IncomingFile { file, digest: Sha256::new(), size: 0 })
    }

    /// Keeps a content that is what was promised; from then on it would survive a power cut.
    pub async fn keep(&self, arrived: IncomingFile, id: &LfsId, size: i64) -> Result<()> {
        let same_size = i64::try_from(arrived.size).is_ok_and(|arrived| arrived == size);
        if !same_size || LfsId::of_digest(&arrived.digest.finalize()) != *id {
            return Err(
                Error::unprocessable().whole("The content is not what its name and size say.")
            );
        }
        let name = name_of(id);
        match self.objects.folder().map(Path::to_owned) {
            // The draft lies there already.
            Some(root) => {
                let place = root.join(&name);
                let kept = spawn_blocking(move || keep_file(arrived.file, &root, &place));
                kept.await.map_err(Error::internal)?.map_err(Error::internal)?;
                let sha256 = id.as_str().to_owned();
                self.objects.note(&name, &StoredContent { size: arrived.size, sha256 }).await
            }
            None => {
                let file = arrived.file.reopen().map_err(Error::internal)?;
                self.objects.keep_file(&name, file).await.map(drop)
            }
        }
    }

    /// A content, piece by piece, with its length.
    ///
    /// # Errors
    /// `NotFound` where it is not kept.
    pub async fn read(
        &self,
        id: &LfsId,
    ) -> Result<(u64, impl Stream<Item = io::Result<Bytes>> + use<>)> {
        self.objects.read(&name_of(id)).await
    }

    /// Every content that was kept before `age` ago. Drafts that nobody finished are removed.
    pub async fn kept_before(&self, age: Duration) -> Result<Vec<LfsId>> {
        let drafts = Arc::clone(&self.drafts);
        let removed = spawn_blocking(move || remove_older(&drafts, age));
        removed.await.map_err(Error::internal)?.map_err(Error::internal)?;
        let names: Vec<String> = self.objects.kept_before(age).try_collect().await?;
        let ids = names.iter().filter_map(|name| name.rsplit('/').next()?.parse().ok());
        Ok(ids.collect())
    }

    /// Removes a content that nobody has any more.
    pub async fn remove(&self, id: &LfsId) -> Result<()> {
        self.objects.remove(&name_of(id)).await
    }
}

impl IncomingFile {
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

fn remove_older(drafts: &Path, age: Duration) -> io::Result<()> {
    let entries = match fs::read_dir(drafts) {
        Err(absent) if absent.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path: PathBuf = entry?.path();
        let written = fs::metadata(&path).and_then(|about| about.modified());
        let is_old = written.is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age));
        match if is_old { fs::remove_file(&path) } else { Ok(()) } {
            // Finished or removed meanwhile.
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => {}
            removed => removed?,
        }
    }
    Ok(())
}
