//! The frames of git's wire protocol: four hexadecimal digits of length, then the bytes.

use std::io::{self, Read};

/// The most that one frame can carry.
pub const MAX_DATA: usize = 65_516;

const HEADER: usize = 4;

/// One frame, or one of the marks that carry nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a> {
    Data(&'a [u8]),
    Flush,
    Delimiter,
    ResponseEnd,
}

/// Bytes that no git would send.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed pkt-line")]
pub struct MalformedLine;

/// Appends `data` as one frame, or as several when it is longer than one can be.
pub fn push_data(into: &mut Vec<u8>, data: &[u8]) {
    if data.is_empty() {
        into.extend_from_slice(b"0004");
    }
    for part in data.chunks(MAX_DATA) {
        into.extend_from_slice(format!("{:04x}", part.len() + HEADER).as_bytes());
        into.extend_from_slice(part);
    }
}

pub fn push_flush(into: &mut Vec<u8>) {
    into.extend_from_slice(b"0000");
}

/// Reads the lines up to the next flush, without their ends, and not one byte more.
pub fn read_section(from: &mut impl Read) -> io::Result<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    loop {
        let mut header = [0; HEADER];
        from.read_exact(&mut header)?;
        let size = length(&header).map_err(io::Error::other)?;
        if size == 0 {
            return Ok(lines);
        }
        let mut line = vec![0; size.checked_sub(HEADER).ok_or(io::ErrorKind::InvalidData)?];
        from.read_exact(&mut line)?;
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        lines.push(line);
    }
}

/// The frames of `bytes`, one after the other; what follows the last whole frame is malformed.
pub fn frames(bytes: &[u8]) -> Frames<'_> {
    Frames { rest: bytes }
}

/// See [`frames`].
#[derive(Clone, Debug)]
pub struct Frames<'a> {
    rest: &'a [u8],
}

impl<'a> Frames<'a> {
    /// What comes after the frames that were taken so far.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn take(&mut self) -> Result<Frame<'a>, MalformedLine> {
        let (header, rest) = self.rest.split_at_checked(HEADER).ok_or(MalformedLine)?;
        let length = length(header)?;
        self.rest = rest;
        match length {
            0 => Ok(Frame::Flush),
            1 => Ok(Frame::Delimiter),
            2 => Ok(Frame::ResponseEnd),
            length => {
                let size = length.checked_sub(HEADER).ok_or(MalformedLine)?;
                let (data, rest) = self.rest.split_at_checked(size).ok_or(MalformedLine)?;
                self.rest = rest;
                Ok(Frame::Data(data))
            }
        }
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Result<Frame<'a>, MalformedLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let frame = self.take();
        if frame.is_err() {
            self.rest = &[];
        }
        Some(frame)
    }
}

fn length(header: &[u8]) -> Result<usize, MalformedLine> {
    // `from_str_radix` would also take a sign.
    if !header.iter().all(u8::is_ascii_hexdigit) {
        return Err(MalformedLine);
    }
    let text = std::str::from_utf8(header).or(Err(MalformedLine))?;
    usize::from_str_radix(text, 16).or(Err(MalformedLine))
}

#[cfg(test)]
mod tests {
    use super::{Frame, MAX_DATA, MalformedLine, frames, push_data, push_flush, read_section};

    #[test]
    fn frames_are_written_as_git_writes_them() {
        let mut bytes = Vec::new();
        push_data(&mut bytes, b"# service=git-upload-pack\n");
        push_flush(&mut bytes);

        assert_eq!(bytes, b"001e# service=git-upload-pack\n0000");
    }

    #[test]
    fn long_data_is_split_and_marks_are_told_apart() {
        let mut bytes = Vec::new();
        push_data(&mut bytes, &vec![b'x'; MAX_DATA + 1]);
        bytes.extend_from_slice(b"000100020004");

        let read: Vec<_> = frames(&bytes).map(Result::unwrap).collect();

        assert!(matches!(read[0], Frame::Data(data) if data.len() == MAX_DATA));
        assert_eq!(
            read[1..],
            [Frame::Data(b"x"), Frame::Delimiter, Frame::ResponseEnd, Frame::Data(b"")]
        );
    }

    #[test]
    fn a_section_ends_at_its_flush() {
        let mut bytes = Vec::new();
        push_data(&mut bytes, b"version=1\0atomic\n");
        push_data(&mut bytes, b"x");
        push_flush(&mut bytes);
        bytes.extend_from_slice(b"rest");
        let mut source = bytes.as_slice();

        assert_eq!(
            read_section(&mut source).unwrap(),
            [b"version=1\0atomic".to_vec(), b"x".to_vec()]
        );
        assert_eq!(source, b"rest");
        assert!(read_section(&mut source).is_err());
    }

    #[test]
    fn what_is_no_frame_ends_the_reading() {
        for bytes in ["0003", "+00a", "00", "000axx", "zzzz"] {
            let read: Vec<_> = frames(bytes.as_bytes()).collect();
            assert_eq!(read, [Err(MalformedLine)], "{bytes}");
        }
    }
}
