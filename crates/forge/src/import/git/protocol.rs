//! The client's half of git's fetch over HTTP, version 0: what a server says of its refs, what it is asked for, and the
//! pack in its answer. It is spoken here and not by git, so that every request goes through the guard and no address,
//! name or password ever reaches a command line.

use std::{
    fmt,
    io::{self, Write},
};

use repo::git::{
    Oid, RefName,
    pkt_line::{Frame, frames, push_data, push_flush},
};

/// Refs that are read at most.
const MOST_REFS: usize = 500_000;
/// Bytes of a server's complaint that are kept.
const LONGEST_COMPLAINT: usize = 300;

/// The ref advertisement of a git server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Advertisement {
    /// Names as they came, with what each names.
    pub(crate) refs: Vec<(Vec<u8>, Oid)>,
    /// The branch that HEAD names.
    pub(crate) head: Option<RefName>,
    /// Address of the repository after redirects, without a slash at its end. Empty where nobody was asked.
    pub(super) base: String,
    has_side_band: bool,
}

/// Reasons for which a response is not usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolError {
    Malformed,
    TooMany,
    /// In the server's own words.
    Complaint(String),
}

impl fmt::Display for ProtocolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => f.write_str("the answer is not one of a git server"),
            Self::TooMany => f.write_str("the repository has too many refs"),
            Self::Complaint(text) => write!(f, "the git server says: {text}"),
        }
    }
}

impl std::error::Error for ProtocolError {}

impl Advertisement {
    /// Reads the answer to `info/refs?service=git-upload-pack`.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ProtocolError> {
        let mut found = Self::default();
        let mut all = frames(bytes);
        let first = all.next();
        if !matches!(first, Some(Ok(Frame::Data(line))) if line.starts_with(b"# service=git-upload-pack"))
            || !matches!(all.next(), Some(Ok(Frame::Flush)))
        {
            return Err(ProtocolError::Malformed);
        }
        for frame in all {
            match frame.map_err(|_bad| ProtocolError::Malformed)? {
                Frame::Flush => return Ok(found),
                Frame::Data(line) => found.read(line)?,
                Frame::Delimiter | Frame::ResponseEnd => return Err(ProtocolError::Malformed),
            }
        }
        Err(ProtocolError::Malformed)
    }

    fn read(&mut self, line: &[u8]) -> Result<(), ProtocolError> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if let Some(text) = line.strip_prefix(b"ERR ") {
            return Err(complaint(text));
        }
        let mut halves = line.splitn(2, |byte| *byte == 0);
        let line = halves.next().unwrap_or_default();
        if let Some(capabilities) = halves.next() {
            for word in capabilities.split(|byte| *byte == b' ') {
                self.has_side_band |= word == b"side-band-64k";
                if let Some(target) = word.strip_prefix(b"symref=HEAD:") {
                    self.head = RefName::full(target).ok().filter(RefName::is_branch);
                }
            }
        }
        let (id, name) = line.split_at_checked(40).ok_or(ProtocolError::Malformed)?;
        let name = name.strip_prefix(b" ").ok_or(ProtocolError::Malformed)?;
        let id: Oid = std::str::from_utf8(id)
            .ok()
            .and_then(|text| text.parse().ok())
            .ok_or(ProtocolError::Malformed)?;
        // `capabilities^{}` of an empty repository, and what annotated tags stand for.
        if id.is_null() || name == b"HEAD" || name.ends_with(b"^{}") {
            return Ok(());
        }
        if self.refs.len() >= MOST_REFS {
            return Err(ProtocolError::TooMany);
        }
        self.refs.push((name.to_vec(), id));
        Ok(())
    }

    /// The request for these objects with all of their history.
    pub(crate) fn request(&self, wanted: &[Oid]) -> Result<Vec<u8>, ProtocolError> {
        if !self.has_side_band {
            return Err(ProtocolError::Malformed);
        }
        let mut body = Vec::new();
        for (place, id) in wanted.iter().enumerate() {
            let line = match place {
                0 => format!("want {id} side-band-64k ofs-delta no-progress agent=forgeway\n"),
                _ => format!("want {id}\n"),
            };
            push_data(&mut body, line.as_bytes());
        }
        push_flush(&mut body);
        push_data(&mut body, b"done\n");
        Ok(body)
    }
}

fn complaint(text: &[u8]) -> ProtocolError {
    let text = text.get(..LONGEST_COMPLAINT).unwrap_or(text);
    let text = String::from_utf8_lossy(text);
    // Git ends some of its complaints with a NUL byte, and sends several as lines.
    let words = text.split(|letter: char| letter.is_control() || letter.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    ProtocolError::Complaint(words.join(" ").trim_end_matches('.').to_owned())
}

/// Takes the answer to a request apart while it comes, and hands the pack on.
pub(crate) struct PackSplitter<W> {
    pack: W,
    /// A frame that has not come whole.
    rest: Vec<u8>,
    is_complete: bool,
    pub(crate) error: Option<ProtocolError>,
    pub(crate) bytes: u64,
}

const HEADER: usize = 4;

impl<W: Write> PackSplitter<W> {
    pub(crate) fn new(pack: W) -> Self {
        Self { pack, rest: Vec::new(), is_complete: false, error: None, bytes: 0 }
    }

    /// The pack, if it came whole.
    pub(crate) fn finish(self) -> Result<(W, u64), ProtocolError> {
        match self.error {
            Some(error) => Err(error),
            None if self.is_complete && self.bytes > 0 => Ok((self.pack, self.bytes)),
            None => Err(ProtocolError::Malformed),
        }
    }

    fn take(&mut self) -> io::Result<Option<()>> {
        let Some(header) = self.rest.get(..HEADER) else { return Ok(None) };
        let length = std::str::from_utf8(header)
            .ok()
            .filter(|text| text.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|text| usize::from_str_radix(text, 16).ok())
            .ok_or_else(|| self.fail(ProtocolError::Malformed))?;
        if length == 0 {
            self.is_complete = true;
            self.rest.drain(..HEADER);
            return Ok(Some(()));
        }
        if length < HEADER {
            return Err(self.fail(ProtocolError::Malformed));
        }
        let Some(frame) = self.rest.get(HEADER..length) else { return Ok(None) };
        match frame.split_first() {
            Some((1, data)) => {
                self.pack.write_all(data)?;
                self.bytes += u64::try_from(data.len()).unwrap_or_default();
            }
            // Progress, which nobody asked for, and `NAK`.
            Some((2, _)) | Some((b'N', b"AK\n")) => {}
            Some((3, text)) => return Err(self.fail(complaint(text))),
            _ => {
                let text = frame.strip_prefix(b"ERR ").map(complaint);
                return Err(self.fail(text.unwrap_or(ProtocolError::Malformed)));
            }
        }
        self.rest.drain(..length);
        Ok(Some(()))
    }

    fn fail(&mut self, error: ProtocolError) -> io::Error {
        self.error = Some(error.clone());
        io::Error::other(error)
    }
}

impl<W: Write> Write for PackSplitter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        while self.take()?.is_some() {}
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pack.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use repo::git::pkt_line::{push_data, push_flush};

    use super::{Advertisement, PackSplitter, ProtocolError};

    const ID: &str = "0123456789012345678901234567890123456789";

    fn advertised(lines: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        push_data(&mut bytes, b"# service=git-upload-pack\n");
        push_flush(&mut bytes);
        lines.iter().for_each(|line| push_data(&mut bytes, line.as_bytes()));
        push_flush(&mut bytes);
        bytes
    }

    #[test]
    fn refs_and_the_head_are_read() {
        let first = format!("{ID} HEAD\0side-band-64k symref=HEAD:refs/heads/trunk agent=git/2\n");
        let bytes = advertised(&[
            &first,
            &format!("{ID} refs/heads/trunk\n"),
            &format!("{ID} refs/tags/v1\n"),
            &format!("{ID} refs/tags/v1^{{}}\n"),
        ]);
        let found = Advertisement::parse(&bytes).unwrap();
        let names: Vec<&[u8]> = found.refs.iter().map(|(name, _)| name.as_slice()).collect();
        assert_eq!(names, [b"refs/heads/trunk".as_slice(), b"refs/tags/v1"]);
        assert_eq!(found.head.as_ref().unwrap().short(), "trunk");
        let request = found.request(&[ID.parse().unwrap()]).unwrap();
        assert!(String::from_utf8(request).unwrap().ends_with("\n00000009done\n"));
    }

    #[test]
    fn what_is_no_advertisement_is_refused() {
        for bytes in [b"<html>".to_vec(), Vec::new(), advertised(&["not an id\n"])] {
            assert_eq!(Advertisement::parse(&bytes), Err(ProtocolError::Malformed));
        }
        let mut cut = advertised(&[&format!("{ID} refs/heads/trunk\n")]);
        cut.truncate(cut.len() - 2);
        assert_eq!(Advertisement::parse(&cut), Err(ProtocolError::Malformed));
        let away = advertised(&["ERR access denied\n"]);
        let told = ProtocolError::Complaint("access denied".to_owned());
        assert_eq!(Advertisement::parse(&away), Err(told));
    }

    #[test]
    fn a_pack_is_put_together_from_pieces_of_any_size() {
        let mut answer = Vec::new();
        push_data(&mut answer, b"NAK\n");
        push_data(&mut answer, b"\x01PACK");
        push_data(&mut answer, b"\x02Counting");
        push_data(&mut answer, b"\x01rest");
        push_flush(&mut answer);
        for size in [1, 3, 1000] {
            let mut splitter = PackSplitter::new(Vec::new());
            answer.chunks(size).for_each(|piece| splitter.write_all(piece).unwrap());
            assert_eq!(splitter.finish(), Ok((b"PACKrest".to_vec(), 8)));
        }
        let mut half = PackSplitter::new(Vec::new());
        half.write_all(&answer[..20]).unwrap();
        assert_eq!(half.finish(), Err(ProtocolError::Malformed));
    }

    #[test]
    fn a_complaint_is_quoted_without_control_characters_and_its_full_stop() {
        for (sent, told) in [
            (
                "\x03aborting due to possible repository corruption on the remote side.\0",
                "aborting due to possible repository corruption on the remote side",
            ),
            ("\x03fatal: bad object\r\n\x1b[31mred\n", "fatal: bad object [31mred"),
            ("ERR access denied.\n", "access denied"),
        ] {
            let mut answer = Vec::new();
            push_data(&mut answer, sent.as_bytes());
            let mut splitter = PackSplitter::new(Vec::new());
            assert!(splitter.write_all(&answer).is_err());
            let told = ProtocolError::Complaint(told.to_owned());
            assert_eq!(splitter.finish().err(), Some(told), "{sent:?}");
        }
    }

    #[test]
    fn a_server_that_gives_up_is_quoted() {
        let mut answer = Vec::new();
        push_data(&mut answer, b"\x03out of memory\n");
        let mut splitter = PackSplitter::new(Vec::new());
        assert!(splitter.write_all(&answer).is_err());
        let told = ProtocolError::Complaint("out of memory".to_owned());
        assert_eq!(splitter.finish().err(), Some(told));
    }
}
