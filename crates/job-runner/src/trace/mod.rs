//! The log of a job: collected here without secrets, sent to the server by a thread of its own.

mod mask;
mod reporter;
mod styles;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use flate2::Crc;

use crate::{api::LogSum, clock};
pub(crate) use mask::Masker;
pub(crate) use reporter::Reporter;
pub use reporter::RetryIntervals;
pub(crate) use styles::{ERROR, NOTICE, SUCCESS, TITLE, WARNING};

/// The end of a coloured text.
pub(crate) const RESET: &str = "\x1b[0;m";
/// Clears the line, as logs of this kind do before what the runner itself says.
const CLEAR: &str = "\x1b[0K";

/// A log that is being written.
pub(crate) struct Trace {
    inner: Mutex<Inner>,
}

struct Inner {
    masker: Masker,
    bytes: Vec<u8>,
    limit: usize,
    is_full: bool,
    is_closed: bool,
}

impl Trace {
    /// A log of at most `limit` bytes.
    pub(crate) fn new(masker: Masker, limit: usize) -> Arc<Self> {
        let inner = Inner { masker, bytes: Vec::new(), limit, is_full: false, is_closed: false };
        Arc::new(Self { inner: Mutex::new(inner) })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hides further secrets from here on.
    pub(crate) fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s str>) {
        self.lock().masker.add(secrets);
    }

    pub(crate) fn write(&self, bytes: &[u8]) {
        self.lock().write(bytes);
    }

    /// Writes a line of the runner's own.
    pub(crate) fn line(&self, text: &str) {
        self.write(format!("{CLEAR}{text}{RESET}\n").as_bytes());
    }

    pub(crate) fn styled(&self, style: &str, text: &str) {
        self.line(&format!("{style}{text}"));
    }

    /// Opens a section that people can fold; it ends when the value is dropped.
    pub(crate) fn section<'t>(&'t self, name: &'t str, title: &str) -> Section<'t> {
        let now = clock::unix_seconds();
        self.write(format!("section_start:{now}:{name}\r{CLEAR}").as_bytes());
        self.styled(TITLE, title);
        Section { trace: self, name }
    }

    /// Writes what the masker still held back, and takes nothing more.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        let rest = inner.masker.flush();
        inner.keep(&rest);
        inner.is_closed = true;
    }

    /// The bytes from `start` on, at most `most`.
    pub(crate) fn piece(&self, start: usize, most: usize) -> Vec<u8> {
        let inner = self.lock();
        let rest = inner.bytes.get(start..).unwrap_or_default();
        rest[..rest.len().min(most)].to_vec()
    }

    /// Size and checksum of the first `size` bytes.
    pub(crate) fn sum(&self, size: usize) -> LogSum {
        let inner = self.lock();
        let bytes = &inner.bytes[..size.min(inner.bytes.len())];
        let mut crc = Crc::new();
        crc.update(bytes);
        LogSum { size: bytes.len(), crc32: crc.sum() }
    }

    pub(crate) fn size(&self) -> usize {
        self.lock().bytes.len()
    }
}

impl Inner {
    fn write(&mut self, bytes: &[u8]) {
        if self.is_closed || self.is_full {
            return;
        }
        let clean = self.masker.mask(bytes);
        self.keep(&clean);
    }

    fn keep(&mut self, clean: &[u8]) {
        if self.is_closed || self.is_full {
            return;
        }
        let room = self.limit.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&clean[..clean.len().min(room)]);
        if clean.len() > room {
            self.is_full = true;
            let said = format!(
                "\n{WARNING}The log is longer than {} bytes. The job goes on, but nothing more of it is kept.{RESET}\n",
                self.limit
            );
            self.bytes.extend_from_slice(said.as_bytes());
        }
    }
}

/// A part of a log between two marks.
pub(crate) struct Section<'t> {
    trace: &'t Trace,
    name: &'t str,
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        let now = clock::unix_seconds();
        self.trace.write(format!("section_end:{now}:{}\r{CLEAR}", self.name).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(trace: &Trace) -> String {
        String::from_utf8(trace.piece(0, usize::MAX)).unwrap()
    }

    #[test]
    fn a_secret_that_arrives_in_two_pieces_is_hidden() {
        let trace = Trace::new(Masker::new(["hunter22"]), 1000);
        trace.write(b"it is hunt");
        assert_eq!(text(&trace), "it is ");
        trace.write(b"er22!\n");
        trace.close();
        assert_eq!(text(&trace), "it is [MASKED]!\n");
    }

    #[test]
    fn a_log_that_is_too_long_says_so_once() {
        let trace = Trace::new(Masker::new::<&str>([]), 10);
        trace.write(b"0123456789abc");
        trace.write(b"further");
        let text = text(&trace);
        assert!(text.starts_with("0123456789\n") && !text.contains("further"), "{text}");
        assert_eq!(text.matches("longer than 10 bytes").count(), 1);
    }

    #[test]
    fn sections_are_marked_as_log_viewers_read_them() {
        let trace = Trace::new(Masker::new::<&str>([]), 1000);
        drop(trace.section("get_sources", "Getting source"));
        let text = text(&trace);
        assert!(text.starts_with("section_start:") && text.contains(":get_sources\r\x1b[0K"));
        assert!(text.contains("\x1b[36;1mGetting source\x1b[0;m\n"), "{text:?}");
        assert!(text.ends_with(":get_sources\r\x1b[0K") && text.contains("section_end:"));
    }

    #[test]
    fn the_checksum_is_that_of_the_bytes_that_were_sent() {
        let trace = Trace::new(Masker::new::<&str>([]), 1000);
        trace.write(b"123456789");
        let sum = trace.sum(9);
        assert_eq!((sum.size, sum.crc32), (9, 0xcbf4_3926));
    }
}
