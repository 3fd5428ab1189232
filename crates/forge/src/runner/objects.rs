//! Where contents lie that are no rows and no repositories: in a folder of this machine, or wherever an object store is.

use std::{
    fmt, fs,
    future::ready,
    io::{self, Read, Seek, SeekFrom},
    ops::Range,
    path::Path as FilePath,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use kernel::{Error, Result};
use object_store::{
    GetOptions, MultipartUpload, ObjectStore, ObjectStoreExt as _, PutPayload, local::LocalFileSystem,
    path::Path,
};
use sha2::{Digest as _, Sha256};
use tokio::{runtime::Handle, task::spawn_blocking};

/// So much goes in one part: less is not taken everywhere.
const PART: usize = 8 << 20;
/// So much of an object is read at once by who jumps about in it.
const WINDOW: u64 = 256 << 10;
/// So much of a file is read at once.
const BLOCK: usize = 64 << 10;

/// All contents of one kind. Cheap to clone.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    /// Where they lie on this machine, if they do.
    folder: Option<Arc<FilePath>>,
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.store)
    }
}

fn failed(cause: object_store::Error) -> Error {
    match cause {
        object_store::Error::NotFound { .. } => Error::Missing,
        cause => Error::internal(cause),
    }
}

impl Objects {
    /// Those in a folder, which is made when it is not there. What is kept survives a power cut.
    pub fn in_folder(folder: &FilePath) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(Error::internal)?;
        let local = LocalFileSystem::new_with_prefix(folder).map_err(failed)?;
        let store = Arc::new(local.with_fsync(true).with_automatic_cleanup(true));
        Ok(Self { store, folder: Some(folder.into()) })
    }

    /// Begins to keep a content under a name, which nothing has yet.
    pub async fn begin(&self, name: &str) -> Result<Incoming> {
        let upload = self.store.put_multipart(&Path::from(name)).await.map_err(failed)?;
        let (waiting, digest) = (BytesMut::new(), Sha256::new());
        Ok(Incoming { upload, waiting, digest, size: 0, parts: 0 })
    }

    /// The content of that name, piece by piece, with its length.
    pub async fn read(
        &self,
        name: &str,
    ) -> Result<(u64, impl Stream<Item = io::Result<Bytes>> + use<>)> {
        let found = self.store.get(&Path::from(name)).await.map_err(failed)?;
        Ok((found.meta.size, found.into_stream().map_err(io::Error::other)))
    }

    /// As [`read`](Self::read), for a part that is not empty.
    pub async fn read_part(
        &self,
        name: &str,
        part: Range<u64>,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + use<>> {
        let options = GetOptions { range: Some(part.into()), ..GetOptions::default() };
        let found = self.store.get_opts(&Path::from(name), options).await.map_err(failed)?;
        Ok(found.into_stream().map_err(io::Error::other))
    }

    /// The same for who may block and jumps about in it. To be used on a thread that is allowed to block.
    pub fn reader(&self, name: &str, size: u64) -> ObjectReader {
        let (store, path) = (Arc::clone(&self.store), Path::from(name));
        let handle = Handle::current();
        ObjectReader { store, path, handle, size, at: 0, window: Bytes::new(), from: 0 }
    }

    /// The same where nobody knows its length.
    ///
    /// # Errors
    /// `Missing` where there is no such content.
    pub async fn reader_of(&self, name: &str) -> Result<ObjectReader> {
        let found = self.store.head(&Path::from(name)).await.map_err(failed)?;
        Ok(self.reader(name, found.size))
    }

    /// Keeps what is in a file under a name, which nothing has yet.
    pub async fn keep_file(&self, name: &str, file: std::fs::File) -> Result<Kept> {
        let mut incoming = self.begin(name).await?;
        let mut file = tokio::fs::File::from_std(file);
        let mut block = vec![0; BLOCK];
        loop {
            let read = tokio::io::AsyncReadExt::read(&mut file, &mut block).await;
            match read.map_err(Error::internal)? {
                0 => return incoming.finish().await,
                read => incoming.write(&block[..read]).await?,
            }
        }
    }

    /// Removes a content, if it is there.
    pub async fn remove(&self, name: &str) -> Result<()> {
        match self.store.delete(&Path::from(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(cause) => Err(failed(cause)),
        }
    }

    /// The names of all contents that were kept before `age` ago.
    pub fn kept_before(&self, age: Duration) -> impl Stream<Item = Result<String>> + use<> {
        let is_old = move |at: SystemTime| at.elapsed().is_ok_and(|since| since >= age);
        self.store.list(None).map_err(failed).try_filter_map(move |found| {
            let old = is_old(found.last_modified.into());
            ready(Ok(old.then(|| found.location.to_string())))
        })
    }

    /// Removes parts of contents that somebody began to keep before `age` ago, and was stopped. An object store elsewhere has
    /// rules of its own for them.
    pub async fn remove_unfinished(&self, age: Duration) -> Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let done = spawn_blocking(move || remove_parts(&folder, age));
        done.await.map_err(Error::internal)?.map_err(Error::internal)
    }

    /// Removes all contents whose names begin with these parts.
    pub async fn remove_below(&self, parts: &str) -> Result<()> {
        let mut found = self.store.list(Some(&Path::from(parts)));
        while let Some(one) = found.next().await {
            match one {
                Ok(one) => self.remove(one.location.as_ref()).await?,
                Err(object_store::Error::NotFound { .. }) => {}
                Err(cause) => return Err(failed(cause)),
            }
        }
        Ok(())
    }
}

/// Where a file is written before it has its name: that name, and a number behind it.
fn is_part(name: &str) -> bool {
    let number = name.rsplit_once('#').map(|(_, number)| number);
    number.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
}

fn remove_parts(folder: &FilePath, age: Duration) -> io::Result<()> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            // Removed with the last content in it.
            Err(absent) if absent.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if is_part(&entry.file_name().to_string_lossy()) && is_older(&entry, age) {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

fn is_older(entry: &fs::DirEntry, age: Duration) -> bool {
    let written = entry.metadata().and_then(|about| about.modified());
    written.is_ok_and(|at| at.elapsed().is_ok_and(|since| since >= age))
}

/// A content that arrives. Nothing is kept of it unless it is finished.
pub struct Incoming {
    upload: Box<dyn MultipartUpload>,
    waiting: BytesMut,
    digest: Sha256,
    size: u64,
    parts: usize,
}

/// A content that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub size: u64,
    pub sha256: String,
}

impl Incoming {
    pub fn size(&self) -> u64 {
        self.size
    }

    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.digest.update(bytes);
        self.size += u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PART { self.send().await } else { Ok(()) }
    }

    async fn send(&mut self) -> Result<()> {
        let part = PutPayload::from(self.waiting.split().freeze());
        self.parts += 1;
        self.upload.put_part(part).await.map_err(failed)
    }

    pub async fn finish(mut self) -> Result<Kept> {
        if !self.waiting.is_empty() || self.parts == 0 {
            self.send().await?;
        }
        self.upload.complete().await.map_err(failed)?;
        Ok(Kept { size: self.size, sha256: hex::encode(self.digest.finalize()) })
    }

    /// Takes back what has arrived.
    pub async fn abort(mut self) {
        if let Err(cause) = self.upload.abort().await {
            tracing::warn!(error = %cause, "a part of a content is left");
        }
    }
}

/// Reads from an object here and there.
pub struct ObjectReader {
    store: Arc<dyn ObjectStore>,
    path: Path,
    handle: Handle,
    size: u64,
    at: u64,
    window: Bytes,
    /// Where the window begins.
    from: u64,
}

impl Read for ObjectReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let inside = self.at.checked_sub(self.from).and_then(|skip| usize::try_from(skip).ok());
        let known = inside.and_then(|skip| self.window.get(skip..)).unwrap_or_default();
        if known.is_empty() && self.at < self.size && !into.is_empty() {
            let range = self.at..self.size.min(self.at.saturating_add(WINDOW));
            let read = self.handle.block_on(self.store.get_range(&self.path, range));
            (self.window, self.from) = (read.map_err(io::Error::other)?, self.at);
            return self.read(into);
        }
        let length = known.len().min(into.len());
        into[..length].copy_from_slice(&known[..length]);
        self.at += u64::try_from(length).unwrap_or_default();
        Ok(length)
    }
}

impl Seek for ObjectReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _, SeekFrom};

    use super::Objects;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_content_is_there_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::in_folder(folder.path()).unwrap();
        let mut incoming = objects.begin("1/2/3").await.unwrap();
        for piece in 0..20_u8 {
            incoming.write(&vec![piece; 1 << 20]).await.unwrap();
        }
        assert!(objects.read("1/2/3").await.is_err());
        let kept = incoming.finish().await.unwrap();
        assert_eq!(kept.size, 20 << 20);

        let mut reader = objects.reader("1/2/3", kept.size);
        let seen = tokio::task::spawn_blocking(move || {
            let mut two = [0; 2];
            reader.seek(SeekFrom::Start((7 << 20) - 1)).unwrap();
            reader.read_exact(&mut two).unwrap();
            (two, reader.seek(SeekFrom::End(0)).unwrap(), reader.read(&mut two).unwrap())
        });
        assert_eq!(seen.await.unwrap(), ([6, 7], 20 << 20, 0));
        objects.remove_below("1/2").await.unwrap();
        assert!(objects.read("1/2/3").await.is_err());
        objects.remove("1/2/3").await.unwrap();
    }

    #[tokio::test]
    async fn nothing_is_left_of_what_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::in_folder(folder.path()).unwrap();
        let mut incoming = objects.begin("a/b").await.unwrap();
        incoming.write(b"half").await.unwrap();
        incoming.abort().await;
        let left = std::fs::read_dir(folder.path().join("a"));
        assert_eq!(left.map_or(0, Iterator::count), 0);
        objects.begin("a/d").await.unwrap().finish().await.unwrap();
        assert_eq!(objects.read("a/d").await.map(|(size, _)| size).unwrap(), 0);
    }
}
