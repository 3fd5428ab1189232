//! Storage for artifacts, uploads, avatars and large files: in a local folder or in a bucket of an S3-compatible store.

mod connector;
mod incoming;
mod ledger;
mod reader;
mod storage;
mod temporary_files;

use std::{
    fmt, io,
    ops::Range,
    path::Path as FilePath,
    sync::Arc,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _};
use kernel::{Error, Result, task::spawn_blocking};
use object_store::{GetOptions, ObjectStore, ObjectStoreExt as _, PutPayload, path::Path};
use tokio::runtime::Handle;

pub use incoming::{Incoming, StoredContent};
pub use ledger::Ledger;
pub use reader::ObjectReader;
pub use storage::{Bucket, ContentStorage};

/// Bytes read at once from a file.
const BLOCK: usize = 64 << 10;
/// So many removals are noted together.
const REMOVED_AT_ONCE: usize = 500;

/// All contents of one kind. Cheap to clone.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    /// The local folder, if contents are stored locally.
    folder: Option<Arc<FilePath>>,
    /// The bucket, if contents are stored remotely.
    bucket: Option<Arc<Bucket>>,
    ledger: Option<Arc<dyn Ledger>>,
}

/// A content as listed: name, size and time of writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentEntry {
    pub name: String,
    pub size: u64,
    pub kept_at: SystemTime,
}

impl ContentEntry {
    /// Whether it was stored at least `age` ago.
    pub fn is_older_than(&self, age: Duration) -> bool {
        self.kept_at.elapsed().is_ok_and(|since| since >= age)
    }
}

impl fmt::Debug for Objects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.store)
    }
}

fn failed(cause: object_store::Error) -> Error {
    match cause {
        object_store::Error::NotFound { .. } => Error::missing(),
        // It does not answer, or says that it cannot: that may pass.
        object_store::Error::Generic { store: "S3", .. } => Error::out_of_reach(cause),
        cause => Error::internal(cause),
    }
}

/// The name without escaping, so that files which are already in a folder are found under their names.
fn place(name: &str) -> Result<Path> {
    Path::parse(name).map_err(|_no_place| Error::missing())
}

impl Objects {
    /// The local folder, if contents are stored locally.
    pub fn folder(&self) -> Option<&FilePath> {
        self.folder.as_deref()
    }

    /// The bucket, if contents are stored remotely.
    pub fn bucket(&self) -> Option<&Bucket> {
        self.bucket.as_deref()
    }

    /// The same contents, with somebody who notes what is stored and removed.
    pub fn noted_by(self, ledger: Arc<dyn Ledger>) -> Self {
        Self { ledger: Some(ledger), ..self }
    }

    /// Has a content noted that was stored here in another way.
    pub async fn note(&self, name: &str, content: &StoredContent) -> Result<()> {
        match &self.ledger {
            Some(ledger) => ledger.stored(name, content).await,
            None => Ok(()),
        }
    }

    /// Starts writing a content under a new name.
    pub fn begin(&self, name: &str) -> Result<Incoming> {
        Ok(Incoming::new(Arc::clone(&self.store), place(name)?, self.ledger.clone()))
    }

    /// Stores a short content under a name and replaces what was there. Call it on a thread that may block; `runtime`
    /// is the runtime of that thread. Nobody notes it: this is for the transaction that does so itself.
    pub fn put_blocking(&self, runtime: &Handle, name: &str, content: Bytes) -> Result<()> {
        let place = place(name)?;
        let put = self.store.put(&place, PutPayload::from(content));
        runtime.block_on(put).map(drop).map_err(failed)
    }

    /// Streams a content of known length.
    pub async fn read(
        &self,
        name: &str,
    ) -> Result<(u64, impl Stream<Item = io::Result<Bytes>> + use<>)> {
        let found = self.store.get(&place(name)?).await.map_err(failed)?;
        Ok((found.meta.size, found.into_stream().map_err(io::Error::other)))
    }

    /// As [`read`](Self::read), for a non-empty range.
    pub async fn read_part(
        &self,
        name: &str,
        part: Range<u64>,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + use<>> {
        let options = GetOptions { range: Some(part.into()), ..GetOptions::default() };
        let found = self.store.get_opts(&place(name)?, options).await.map_err(failed)?;
        Ok(found.into_stream().map_err(io::Error::other))
    }

    /// A seekable, blocking reader of a content. Call it on a thread that may block.
    pub fn reader(&self, name: &str, size: u64) -> ObjectReader {
        ObjectReader::new(Arc::clone(&self.store), Path::from(name), size)
    }

    /// The same where nobody knows its length.
    ///
    /// # Errors
    /// `NotFound` where there is no such content.
    pub async fn reader_of(&self, name: &str) -> Result<ObjectReader> {
        let found = self.store.head(&place(name)?).await.map_err(failed)?;
        Ok(self.reader(name, found.size))
    }

    /// Stores a file under a new name.
    pub async fn keep_file(&self, name: &str, file: std::fs::File) -> Result<StoredContent> {
        let mut incoming = self.begin(name)?;
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
        if let Some(ledger) = &self.ledger {
            ledger.removed(&[name.to_owned()]).await?;
        }
        self.delete(name).await
    }

    async fn delete(&self, name: &str) -> Result<()> {
        let place = place(name)?;
        match self.store.delete(&place).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(cause) => Err(failed(cause)),
        }
    }

    /// All contents below a path; all there are if it is empty.
    pub fn list(&self, parts: &str) -> impl Stream<Item = Result<ContentEntry>> + use<> {
        let below = (!parts.is_empty()).then(|| Path::from(parts));
        let found = self.store.list(below.as_ref()).map(|found| match found {
            Ok(found) => Ok(Some(ContentEntry {
                name: found.location.to_string(),
                size: found.size,
                kept_at: found.last_modified.into(),
            })),
            // Removed meanwhile.
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(cause) => Err(failed(cause)),
        });
        found.try_filter_map(|listed| std::future::ready(Ok(listed)))
    }

    /// All contents stored at least `age` ago.
    pub fn kept_before(&self, age: Duration) -> impl Stream<Item = Result<String>> + use<> {
        self.list("").try_filter_map(move |listed| {
            std::future::ready(Ok(listed.is_older_than(age).then_some(listed.name)))
        })
    }

    /// Removes unfinished files that were started at least `age` ago. Remote stores have lifecycle rules for unfinished
    /// uploads.
    pub async fn remove_unfinished(&self, age: Duration) -> Result<()> {
        let Some(folder) = self.folder.clone() else { return Ok(()) };
        let done = spawn_blocking(move || temporary_files::remove_parts(&folder, age));
        done.await.map_err(Error::internal)?.map_err(Error::internal)
    }

    /// Removes all contents below a path.
    pub async fn remove_below(&self, parts: &str) -> Result<()> {
        let names = self.list(parts).map_ok(|one| one.name);
        let mut found = Box::pin(names.try_chunks(REMOVED_AT_ONCE));
        while let Some(names) = found.try_next().await.map_err(|cut| cut.1)? {
            if let Some(ledger) = &self.ledger {
                ledger.removed(&names).await?;
            }
            for name in &names {
                self.delete(name).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Seek as _, SeekFrom},
        sync::{Arc, Mutex},
    };

    use futures_util::future::BoxFuture;
    use kernel::Result;

    use super::{Ledger, Objects, StoredContent};

    #[derive(Default)]
    struct Notes(Mutex<Vec<String>>);

    impl Ledger for Notes {
        fn stored<'a>(
            &'a self,
            name: &'a str,
            content: &'a StoredContent,
        ) -> BoxFuture<'a, Result<()>> {
            self.0.lock().unwrap().push(format!("+ {name} {}", &content.sha256[..8]));
            Box::pin(async { Ok(()) })
        }

        fn removed<'a>(&'a self, names: &'a [String]) -> BoxFuture<'a, Result<()>> {
            let mut names = names.to_vec();
            names.sort();
            self.0.lock().unwrap().push(format!("- {}", names.join(" ")));
            Box::pin(async { Ok(()) })
        }
    }

    #[tokio::test]
    async fn every_content_is_noted_when_it_is_stored_and_removed() {
        let (folder, notes) = (tempfile::tempdir().unwrap(), Arc::new(Notes::default()));
        let ledger: Arc<dyn Ledger> = notes.clone();
        let objects = Objects::in_folder(folder.path()).unwrap().noted_by(ledger);
        for name in ["1/a", "1/b", "2/c"] {
            objects.begin(name).unwrap().finish().await.unwrap();
        }
        objects.begin("3/d").unwrap().abort().await;

        objects.remove_below("1").await.unwrap();
        objects.remove("2/c").await.unwrap();

        let noted = notes.0.lock().unwrap().join(", ");
        assert_eq!(noted, "+ 1/a e3b0c442, + 1/b e3b0c442, + 2/c e3b0c442, - 1/a 1/b, - 2/c");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_content_is_there_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let objects = Objects::in_folder(folder.path()).unwrap();
        let mut incoming = objects.begin("1/2/3").unwrap();
        for piece in 0..20_u8 {
            incoming.write(&vec![piece; 1 << 20]).await.unwrap();
        }
        assert!(objects.read("1/2/3").await.is_err());
        let kept = incoming.finish().await.unwrap();
        assert_eq!(kept.size, 20 << 20);

        let mut reader = objects.reader("1/2/3", kept.size);
        let seen = kernel::task::spawn_blocking(move || {
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
        let mut incoming = objects.begin("a/b").unwrap();
        incoming.write(b"half").await.unwrap();
        incoming.abort().await;
        let left = std::fs::read_dir(folder.path().join("a"));
        assert_eq!(left.map_or(0, Iterator::count), 0);
        objects.begin("a/d").unwrap().finish().await.unwrap();
        assert_eq!(objects.read("a/d").await.map(|(size, _)| size).unwrap(), 0);
    }
}
