//! Single files of archives, read where they lie: an archive is neither unpacked nor held.

use std::{
    io::{self, ErrorKind, Read},
    ops::Range,
};

use bytes::Bytes;
use ci::artifact::{Artifact, zip};
use futures_util::{Stream, stream::try_unfold};
use kernel::{Error, Result, task::spawn_blocking};

use crate::Forge;
use objects::ObjectReader;

/// Bytes that are read at once.
const BLOCK: usize = 64 << 10;
/// What is packed is unpacked up to the part that is wanted. Where more than this comes before it, parts cannot be had: a few
/// bytes of an answer would cost whoever made the file nothing, and the server seconds.
const FURTHEST_PACKED: u64 = 256 << 20;

/// A file in an archive.
pub struct ArchivedFile {
    pub size: u64,
    entry: zip::Entry,
    reader: ObjectReader,
}

/// Whether the archive is to blame: it is none, it was cut off, or it says what cannot be.
pub(super) fn is_broken(odd: &io::Error) -> bool {
    matches!(odd.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
}

/// What `work` comes to on a thread that may block; `Hidden` where the archive has no such thing.
async fn read_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<Option<T>> + Send + 'static,
) -> Result<T> {
    let found = match spawn_blocking(work).await.map_err(Error::internal)? {
        Err(odd) if is_broken(&odd) => None,
        found => found.map_err(Error::internal)?,
    };
    found.ok_or_else(Error::hidden)
}

/// Finds a file by its whole path, byte for byte: no path of an archive leads anywhere else.
///
/// # Errors
/// `NotFound` where there is none.
pub async fn find(forge: &Forge, archive: &Artifact, path: &str) -> Result<ArchivedFile> {
    let size = u64::try_from(archive.size).unwrap_or_default();
    let (mut reader, name) =
        (forge.artifacts.reader(&archive.location, size), path.as_bytes().to_vec());
    read_blocking(move || {
        let found = zip::find(&mut reader, &name)?;
        Ok(found.map(|entry| ArchivedFile { size: entry.size, entry, reader }))
    })
    .await
}

impl ArchivedFile {
    /// Whether a part can be had that begins at this byte.
    pub fn has_part_from(&self, byte: u64) -> bool {
        self.entry.is_stored() || byte <= FURTHEST_PACKED
    }

    /// The content, or a part of it, piece by piece.
    ///
    /// # Errors
    /// `NotFound` where the archive says what cannot be. What turns out while it is read breaks the pieces off.
    pub async fn read(
        self,
        part: Range<u64>,
    ) -> Result<impl Stream<Item = io::Result<Bytes>> + use<>> {
        let Self { entry, reader, .. } = self;
        let left = part.end.saturating_sub(part.start);
        let content =
            read_blocking(move || zip::open(reader, &entry, part.start).map(Some)).await?;
        // A thread is held while a block is read, and none while its reader is slow.
        Ok(try_unfold(content.take(left), |mut content| async move {
            let read = spawn_blocking(move || {
                let mut block = vec![0; BLOCK];
                let read = content.read(&mut block)?;
                block.truncate(read);
                Ok::<_, io::Error>((block, content))
            });
            let (block, content) = read.await.map_err(io::Error::other)??;
            Ok((!block.is_empty()).then(|| (Bytes::from(block), content)))
        }))
    }
}
