//! What is still to come of a request. The HTTP library alone decides what the bytes of a connection say; here they are counted as it counts
//! them, so that a request can be kept from it until the one before is answered. A request that it refuses may end anywhere: with
//! the refusal the connection ends.

use bstr::ByteSlice as _;

/// Of a longer line no more is kept: the HTTP library never has so many bytes of a head, and refuses it.
const LINE_LIMIT: usize = 256 << 10;

/// What is still to come of a request.
#[derive(Debug)]
pub(crate) struct RequestRemainder(Stage);

#[derive(Debug)]
enum Stage {
    Head(Head),
    /// A body, of which so many bytes are to come.
    Body(u64),
    Chunks(ChunkState),
    /// The request is there as a whole.
    Nothing,
    /// Whatever comes: the connection speaks another protocol from here on.
    Endless,
}

impl Default for RequestRemainder {
    fn default() -> Self {
        Self(Stage::Head(Head::default()))
    }
}

impl RequestRemainder {
    /// Whether the request is there as a whole.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.0, Stage::Nothing)
    }

    /// Whether some bytes of its head have come, and some have not.
    pub(crate) fn is_within_head(&self) -> bool {
        matches!(&self.0, Stage::Head(head) if head.has_bytes)
    }

    /// Passes over bytes that have come: how many of them belong to the request.
    pub(crate) fn advance(&mut self, text: &[u8]) -> usize {
        let mut at = 0;
        while at < text.len() {
            let new = &text[at..];
            let (own, next) = match &mut self.0 {
                Stage::Head(head) => head.read(new),
                Stage::Body(left) => {
                    let own = count_off(left, new);
                    (own, (*left == 0).then_some(Stage::Nothing))
                }
                Stage::Chunks(state) => state.read(new),
                Stage::Nothing => break,
                Stage::Endless => (new.len(), None),
            };
            at += own;
            if let Some(next) = next {
                self.0 = next;
            }
        }
        at
    }
}

/// How many bytes there are of those that are still to come.
fn count_off(left: &mut u64, text: &[u8]) -> usize {
    let there = text.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
    *left = left.saturating_sub(u64::try_from(there).unwrap_or(u64::MAX));
    there
}

/// What follows a head. Where lines of it tell two things, the HTTP library goes by the one that stands later here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Framing {
    #[default]
    None,
    /// `CONNECT`.
    Tunnel,
    /// A number of bytes, at least one.
    Length(u64),
    WebSocket,
    Chunks,
}

impl Framing {
    /// What one line of a head asks for, which is not its first.
    fn of_header(line: &[u8]) -> Self {
        match line.first() {
            Some(b'c' | b'C') => {
                let length = value(line, b"content-length:");
                let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
                length.filter(|length| *length > 0).map_or(Self::None, Self::Length)
            }
            Some(b't' | b'T') if has_value(line, b"transfer-encoding:", b"chunked") => Self::Chunks,
            Some(b'u' | b'U') if has_value(line, b"upgrade:", b"websocket") => Self::WebSocket,
            _ => Self::None,
        }
    }

    fn stage(self) -> Stage {
        match self {
            Self::None => Stage::Nothing,
            Self::Length(bytes) => Stage::Body(bytes),
            Self::Chunks => Stage::Chunks(ChunkState::Size(0)),
            Self::Tunnel | Self::WebSocket => Stage::Endless,
        }
    }
}

/// The value of a header, where the line is one with this name.
fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (begin, value) = line.split_at_checked(name.len())?;
    begin.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn has_value(line: &[u8], name: &[u8], word: &[u8]) -> bool {
    value(line, name).is_some_and(|value| value.eq_ignore_ascii_case(word))
}

/// The lines of a head, each of which is read once.
#[derive(Debug, Default)]
struct Head {
    has_bytes: bool,
    /// The beginning of a line whose end is still to come.
    line: Vec<u8>,
    /// Whether the first line is there. Empty ones before it count for nothing.
    has_begun: bool,
    framing: Framing,
}

impl Head {
    /// How many bytes belong to the head, and what follows it where they end it.
    fn read(&mut self, text: &[u8]) -> (usize, Option<Stage>) {
        self.has_bytes = true;
        let mut at = 0;
        while let Some(length) = text[at..].find_byte(b'\n') {
            let line = &text[at..at + length];
            at += length + 1;
            let is_end = if self.line.is_empty() {
                self.read_line(line)
            } else {
                self.append(line);
                let whole = std::mem::take(&mut self.line);
                self.read_line(&whole)
            };
            if is_end {
                return (at, Some(self.framing.stage()));
            }
        }
        self.append(&text[at..]);
        (text.len(), None)
    }

    fn append(&mut self, part: &[u8]) {
        let room = LINE_LIMIT.saturating_sub(self.line.len());
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    /// Whether this line, without its line feed, is the last one.
    fn read_line(&mut self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return self.has_begun;
        }
        if self.has_begun {
            self.framing = self.framing.max(Framing::of_header(line));
        } else if line.starts_with(b"CONNECT ") {
            self.framing = Framing::Tunnel;
        }
        self.has_begun = true;
        false
    }
}

/// The next byte of a body in chunks.
#[derive(Clone, Copy, Debug)]
enum ChunkState {
    /// In the size of a chunk, which is so much by what has come of it.
    Size(u64),
    /// In the rest of the line of that size.
    SizeEnd(u64),
    /// Before so many bytes of a chunk and its line end.
    Data(u64),
    /// At the beginning of a line behind the chunks.
    Line,
    Trailer,
    /// At the line feed of a trailer.
    TrailerEnd,
    /// At the last line feed.
    End,
}

impl ChunkState {
    fn read(&mut self, text: &[u8]) -> (usize, Option<Stage>) {
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            if let Self::Data(left) = self {
                at += count_off(left, &text[at..]);
                if *left == 0 {
                    *self = Self::Size(0);
                }
                continue;
            }
            at += 1;
            match self.after(*byte) {
                Some(next) => *self = next,
                None => return (at, Some(Stage::Nothing)),
            }
        }
        (text.len(), None)
    }

    /// Nothing where the byte is the last one.
    fn after(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Size(size), _) => match char::from(byte).to_digit(16) {
                Some(digit) => Self::Size(size.saturating_mul(16).saturating_add(u64::from(digit))),
                None => Self::SizeEnd(size),
            },
            (Self::SizeEnd(0), b'\n') => Self::Line,
            (Self::SizeEnd(size), b'\n') => Self::Data(size.saturating_add(2)),
            (Self::Line, b'\r') => Self::End,
            (Self::Trailer, b'\r') => Self::TrailerEnd,
            (Self::Line | Self::Trailer, _) => Self::Trailer,
            (Self::TrailerEnd, _) => Self::Line,
            (Self::SizeEnd(_) | Self::Data(_), _) => self,
            (Self::End, _) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use actix_http::h1::{Codec, Message, MessageType};
    use bytes::BytesMut;
    use tokio_util::codec::Decoder as _;

    use super::RequestRemainder;

    const NEXT: &str = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n";

    /// How many of the bytes the HTTP library takes for the first request.
    fn decoded(text: &str) -> usize {
        let mut codec = Codec::default();
        let mut rest = BytesMut::from(text);
        codec.decode(&mut rest).expect("a head");
        let mut has_more = codec.message_type() != MessageType::None;
        while has_more {
            let more = codec.decode(&mut rest).expect("a body");
            has_more = matches!(more, Some(Message::Chunk(Some(_))));
        }
        text.len() - rest.len()
    }

    fn count(remainder: &mut RequestRemainder, pieces: std::slice::Chunks<'_, u8>) -> usize {
        pieces.map(|piece| remainder.advance(piece)).sum()
    }

    #[actix_web::test]
    async fn a_request_ends_where_the_http_library_ends_it() {
        for (head, rest) in [
            ("GET / HTTP/1.1", "\r\n"),
            ("\r\n\nHEAD / HTTP/1.1", "Content-Length: 0\r\n\r\n"),
            ("PUT / HTTP/1.0", "CONTENT-LENGTH:\t0007 \n\n\r\n\r\nabc"),
            ("POST / HTTP/1.1", "content-length: 5\r\nContent-Type: text/plain\r\n\r\nhello"),
            ("POST / HTTP/1.1", "Transfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"),
            (
                "POST / HTTP/1.1",
                "transfer-encoding:chunked\r\n\r\nA;x=\"y\"\r\n0123456789\r\n1 \r\n\n\r\n\
                 000\r\nA: b\r\nC:\r\n\r\n",
            ),
            ("POST / HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n0\r\n\nA: b\r\n\r\n"),
            ("GET / HTTP/1.1", "Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
            ("GET / HTTP/1.1", "Upgrade: WebSocket\r\nContent-Length: 3\r\n\r\nabc"),
            ("GET / HTTP/1.1", "Upgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            ("CONNECT x:1 HTTP/1.1", "Content-Length: 0\r\n\r\n"),
            ("CONNECT x:1 HTTP/1.1", "Content-Length: 2\r\n\r\nab"),
        ] {
            let text = format!("{head}\r\nHost: x\r\n{rest}{NEXT}");
            for size in [1, 2, 7, text.len()] {
                let mut remainder = RequestRemainder::default();
                let own = count(&mut remainder, text.as_bytes().chunks(size));
                assert_eq!(own, decoded(&text), "{size}: {text}");
                assert_eq!(remainder.is_empty(), own < text.len(), "{size}: {text}");
            }
        }
    }

    #[test]
    fn a_line_without_end_is_not_kept_as_a_whole() {
        let mut remainder = RequestRemainder::default();
        let endless = [b'a'; 1000];
        for _ in 0..1000 {
            assert_eq!(remainder.advance(&endless), 1000);
        }
        let kept = match &remainder.0 {
            super::Stage::Head(head) => head.line.len(),
            _ => 0,
        };
        assert_eq!(kept, super::LINE_LIMIT);
    }
}
