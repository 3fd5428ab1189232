//! Writing an archive: a compressed tar file on the disk, entry by entry.

use std::{
    fs::File,
    io::{self, BufWriter, Cursor, IntoInnerError, Read, Seek as _, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use kernel::{Error, Result, task::spawn_blocking};
use tar::{Builder, EntryType, Header};

use super::unpack;

/// An archive while it is written.
pub(super) struct Packer {
    /// Nothing while an entry is written, and once one could not be.
    tar: Option<Builder<BoundedGzip>>,
    folder: PathBuf,
}

/// A file that takes only so many bytes.
struct QuotaFile {
    file: File,
    left: u64,
    written: u64,
}

/// How far an archive may shrink.
#[derive(Clone, Copy)]
struct ShrinkLimits {
    /// Bytes that become one.
    ratio: u64,
    /// Bytes that may become any number.
    room: u64,
}

/// With a distance from what imports take for a bomb, since some bytes are on their way at any time.
const SHRINK: ShrinkLimits = ShrinkLimits { ratio: unpack::RATIO / 2, room: unpack::ROOM / 4 };
/// Bytes of all entries that an archive should have; the rest of what imports take is for what comes last.
const MOST: u64 = unpack::MOST - (1 << 30);
/// Bytes of an entry beside its content.
const ENTRY: u64 = 1 << 10;

/// A compressed stream that does not shrink further than its limits let it: what would is stored in members of its own,
/// as it is. An import refuses what becomes far larger than it came, however harmless it is.
struct BoundedGzip {
    member: Option<GzEncoder<BufWriter<QuotaFile>>>,
    level: Compression,
    limits: ShrinkLimits,
    /// Bytes before the compression.
    taken: u64,
}

/// What is said where an archive would become larger than it may.
const TOO_LARGE: &str = "the archive is larger than the installation allows";

impl Write for QuotaFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(count).ok_or_else(|| io::Error::other(TOO_LARGE))?;
        self.file.write_all(bytes)?;
        self.written += count;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl BoundedGzip {
    fn new(file: QuotaFile, limits: ShrinkLimits) -> Self {
        let level = Compression::default();
        let member = Some(GzEncoder::new(BufWriter::new(file), level));
        Self { member, level, limits, taken: 0 }
    }

    /// The level at which so many more bytes may be written. What the compression still holds back does not count yet.
    fn level_for(&self, length: usize) -> Compression {
        let written = self.member.as_ref().map_or(0, |member| member.get_ref().get_ref().written);
        let most = written.saturating_mul(self.limits.ratio).saturating_add(self.limits.room);
        let taken = self.taken.saturating_add(u64::try_from(length).unwrap_or(u64::MAX));
        if taken <= most { Compression::default() } else { Compression::none() }
    }

    fn finish(self) -> io::Result<BufWriter<QuotaFile>> {
        self.member.ok_or_else(given_up)?.finish()
    }
}

impl Write for BoundedGzip {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let level = self.level_for(bytes.len());
        if level != self.level {
            let into = self.member.take().ok_or_else(given_up)?.finish()?;
            (self.member, self.level) = (Some(GzEncoder::new(into, level)), level);
        }
        let count = self.member.as_mut().ok_or_else(given_up)?.write(bytes)?;
        self.taken += u64::try_from(count).unwrap_or(u64::MAX);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.member.as_mut().ok_or_else(given_up)?.flush()
    }
}

fn given_up() -> io::Error {
    io::Error::other("the archive was given up before")
}

impl Packer {
    /// Begins an archive in a folder; without a bound where `most` is nothing.
    pub(super) fn new(folder: &Path, most: Option<u64>) -> Result<Self> {
        Self::within(folder, most, SHRINK)
    }

    fn within(folder: &Path, most: Option<u64>, limits: ShrinkLimits) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::internal)?;
        let quota = QuotaFile { file, left: most.unwrap_or(u64::MAX), written: 0 };
        let tar = Some(Builder::new(BoundedGzip::new(quota, limits)));
        Ok(Self { tar, folder: folder.to_owned() })
    }

    /// A file for what becomes an entry once its length is known.
    pub(super) fn draft(&self) -> Result<File> {
        tempfile::tempfile_in(&self.folder).map_err(Error::internal)
    }

    /// Bytes that may yet be added so that imports take the archive.
    pub(super) fn room(&self) -> u64 {
        let taken = self.tar.as_ref().map_or(MOST, |tar| tar.get_ref().taken);
        MOST.saturating_sub(taken)
    }

    /// Whether an entry of so many bytes may be added so that imports take the archive.
    pub(super) fn has_room_for(&self, length: u64) -> bool {
        length.saturating_add(ENTRY) <= self.room()
    }

    pub(super) async fn text(&mut self, path: &str, text: &str) -> Result<()> {
        let text = text.to_owned().into_bytes();
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.entry(path, move || Ok((length, Cursor::new(text)))).await
    }

    /// Adds a draft from its beginning.
    pub(super) async fn file(&mut self, path: &str, mut file: File) -> Result<()> {
        let content = move || {
            file.rewind()?;
            Ok((file.metadata()?.len(), file))
        };
        self.entry(path, content).await
    }

    /// Adds a content, of which its length is known.
    async fn entry<R: Read>(
        &mut self,
        path: &str,
        content: impl FnOnce() -> io::Result<(u64, R)> + Send + 'static,
    ) -> Result<()> {
        let mut tar = self.tar.take().ok_or_else(given_up).map_err(Error::internal)?;
        let path = path.to_owned();
        let added = spawn_blocking(move || {
            let (length, content) = content()?;
            let mut header = Header::new_ustar();
            header.set_entry_type(EntryType::Regular);
            header.set_mode(0o600);
            header.set_size(length);
            tar.append_data(&mut header, path, content)?;
            Ok::<_, io::Error>(tar)
        });
        self.tar = Some(added.await.map_err(Error::internal)?.map_err(bound)?);
        Ok(())
    }

    /// The whole archive, ready to be read.
    pub(super) async fn finish(self) -> Result<File> {
        let tar = self.tar.ok_or_else(given_up).map_err(Error::internal)?;
        let finished = spawn_blocking(move || {
            let writer = tar.into_inner()?.finish()?;
            let mut file = writer.into_inner().map_err(IntoInnerError::into_error)?.file;
            file.rewind()?;
            Ok::<_, io::Error>(file)
        });
        finished.await.map_err(Error::internal)?.map_err(bound)
    }
}

fn bound(cause: io::Error) -> Error {
    match cause.to_string() == TOO_LARGE {
        true => Error::unprocessable().whole(TOO_LARGE),
        false => Error::internal(cause),
    }
}

#[cfg(test)]
mod tests {
    use super::{
        Packer, ShrinkLimits,
        unpack::{UnpackLimits, unpack},
    };

    #[tokio::test]
    async fn an_archive_that_becomes_too_large_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let mut packer = Packer::new(folder.path(), Some(10)).unwrap();
        packer.text("VERSION", "1").await.unwrap();
        assert!(packer.finish().await.is_err());
    }

    #[tokio::test]
    async fn what_shrinks_to_nearly_nothing_is_no_bomb_in_an_archive_that_was_written_here() {
        let folder = tempfile::tempdir().unwrap();
        let limits = ShrinkLimits { ratio: 50, room: 1 << 20 };
        let mut packer = Packer::within(folder.path(), None, limits).unwrap();
        for log in ["job-logs/1", "job-logs/2"] {
            let dots = packer.draft().unwrap();
            dots.set_len(20 << 20).unwrap();
            packer.file(log, dots).await.unwrap();
        }
        packer.text("VERSION", "1").await.unwrap();
        let room = packer.room();
        assert!(packer.has_room_for(room - 4096) && !packer.has_room_for(room));
        let packed = packer.finish().await.unwrap();

        let size = packed.metadata().unwrap().len();
        assert!(size < 2 << 20, "{size}");
        let limits = UnpackLimits { bytes: size * 100 + (4 << 20), entries: 9 };
        let into = tempfile::tempdir().unwrap();
        unpack(packed, into.path(), limits).unwrap();
        for log in ["job-logs/1", "job-logs/2"] {
            assert_eq!(std::fs::metadata(into.path().join(log)).unwrap().len(), 20 << 20);
        }
        assert_eq!(std::fs::read_to_string(into.path().join("VERSION")).unwrap(), "1");
    }
}
