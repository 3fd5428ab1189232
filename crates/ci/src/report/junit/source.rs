//! A file that knows in which line it is, and that ends with an error where it becomes too large.

use std::io::{self, BufRead, Read};

/// Line and column, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: u64,
    pub(super) column: u64,
}

impl Position {
    fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if *byte == b'\n' {
                *self = Self { line: self.line + 1, column: 1 };
            } else {
                self.column += 1;
            }
        }
    }

    /// The place behind a text.
    pub(super) fn behind(mut self, text: &str) -> Self {
        self.pass(text.as_bytes());
        self
    }
}

pub(super) struct Source<'l, R> {
    inner: R,
    /// Bytes that may still be read.
    left: &'l mut u64,
    position: Position,
}

impl<'l, R> Source<'l, R> {
    pub(super) fn new(inner: R, left: &'l mut u64) -> Self {
        Self { inner, left, position: Position { line: 1, column: 1 } }
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    pub(super) fn is_spent(&self) -> bool {
        *self.left == 0
    }
}

impl<R: BufRead> Read for Source<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let count = from.len().min(to.len());
        to[..count].copy_from_slice(&from[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Source<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let buffer = self.inner.fill_buf()?;
        if buffer.is_empty() {
            return Ok(buffer);
        }
        if *self.left == 0 {
            return Err(io::Error::other("too large"));
        }
        let most = usize::try_from(*self.left).unwrap_or(usize::MAX).min(buffer.len());
        Ok(&buffer[..most])
    }

    fn consume(&mut self, count: usize) {
        if let Ok(buffer) = self.inner.fill_buf() {
            self.position.pass(&buffer[..count.min(buffer.len())]);
        }
        *self.left = self.left.saturating_sub(u64::try_from(count).unwrap_or(u64::MAX));
        self.inner.consume(count);
    }
}
