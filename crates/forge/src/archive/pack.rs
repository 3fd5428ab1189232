//! Writing an archive: a compressed tar file on the disk, entry by entry.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek as _, Write},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use kernel::{Error, Result};
use tar::{Builder, EntryType, Header};

/// An archive while it is written.
pub(super) struct Packer {
    tar: Builder<GzEncoder<BufWriter<QuotaFile>>>,
    folder: PathBuf,
}

/// A file that takes only so many bytes.
struct QuotaFile {
    file: File,
    left: u64,
}

/// What is said where an archive would become larger than it may.
const TOO_LARGE: &str = "the archive is larger than the installation allows";

impl Write for QuotaFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(count).ok_or_else(|| io::Error::other(TOO_LARGE))?;
        self.file.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Packer {
    /// Begins an archive in a folder; without a bound where `most` is nothing.
    pub(super) fn new(folder: &Path, most: Option<u64>) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(Error::internal)?;
        let quota = QuotaFile { file, left: most.unwrap_or(u64::MAX) };
        let encoder = GzEncoder::new(BufWriter::new(quota), Compression::default());
        Ok(Self { tar: Builder::new(encoder), folder: folder.to_owned() })
    }

    /// A file for what becomes an entry once its length is known.
    pub(super) fn draft(&self) -> Result<File> {
        tempfile::tempfile_in(&self.folder).map_err(Error::internal)
    }

    pub(super) fn text(&mut self, path: &str, text: &str) -> Result<()> {
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        self.entry(path, length, text.as_bytes())
    }

    /// Adds a draft from its beginning.
    pub(super) fn file(&mut self, path: &str, mut file: File) -> Result<()> {
        file.rewind().map_err(Error::internal)?;
        let length = file.metadata().map_err(Error::internal)?.len();
        self.entry(path, length, file)
    }

    fn entry(&mut self, path: &str, length: u64, content: impl Read) -> Result<()> {
        let mut header = Header::new_ustar();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_size(length);
        self.tar.append_data(&mut header, path, content).map_err(bound)
    }

    /// The whole archive, ready to be read.
    pub(super) fn finish(self) -> Result<File> {
        let encoder = self.tar.into_inner().map_err(bound)?;
        let writer = encoder.finish().map_err(bound)?;
        let mut file = writer.into_inner().map_err(|cause| bound(cause.into_error()))?.file;
        file.rewind().map_err(Error::internal)?;
        Ok(file)
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
    use super::Packer;

    #[test]
    fn an_archive_that_becomes_too_large_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let mut packer = Packer::new(folder.path(), Some(10)).unwrap();
        packer.text("VERSION", "1").unwrap();
        assert!(packer.finish().is_err());
    }
}
