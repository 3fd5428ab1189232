//! Seekable, blocking reads of a content.

use std::{
    io::{self, Read, Seek, SeekFrom},
    sync::Arc,
};

use bytes::Bytes;
use object_store::{ObjectStore, ObjectStoreExt as _, path::Path};
use tokio::runtime::Handle;

/// Bytes fetched at once for random access.
const WINDOW: u64 = 256 << 10;

/// A seekable reader of an object.
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

impl ObjectReader {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, size: u64) -> Self {
        Self { store, path, handle: Handle::current(), size, at: 0, window: Bytes::new(), from: 0 }
    }
}
