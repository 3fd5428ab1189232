//! Responses that actix sends by itself to malformed requests: they get the JSON body that every error has.

use bstr::ByteSlice as _;

/// What every answer of ours carries, and no answer of the parser's.
const OURS: &[u8] = b"x-request-id";
const LENGTH: &[u8] = b"content-length: ";
const CONTINUE: &[u8] = b"HTTP/1.1 100 ";
const EMPTY: &str = "content-length: 0";
const END: &str = "\r\n\r\n";

/// The position of the next response in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponsePosition {
    /// Here.
    Boundary,
    /// Behind so many bytes of a body.
    Body(u64),
    /// Cannot be told from what is written.
    Unknown,
}

impl ResponsePosition {
    /// Where it is once these bytes are written as well.
    pub fn after(self, text: &[u8]) -> Self {
        self.walk(text).1
    }

    /// The beginning of a bare answer that ends these bytes, behind answers that are there as a whole.
    pub fn bare_at(self, text: &[u8]) -> Option<usize> {
        let at = self.walk(text).0?;
        with_body(text.get(at..)?).map(|_| at)
    }

    /// Walks over whole answers of ours: where one begins that is none, and where the next one does.
    fn walk(mut self, text: &[u8]) -> (Option<usize>, Self) {
        let mut at = 0;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            match self {
                Self::Unknown => return (None, self),
                _ if rest.is_empty() => return (None, self),
                Self::Boundary => match Head::read(rest) {
                    Some(head) if head.is_ours => {
                        at += head.length;
                        self = head.next;
                    }
                    _ => return (Some(at), Self::Unknown),
                },
                Self::Body(length) => {
                    let there = rest.len().min(usize::try_from(length).unwrap_or(usize::MAX));
                    at += there;
                    self = match length.saturating_sub(u64::try_from(there).unwrap_or(u64::MAX)) {
                        0 => Self::Boundary,
                        left => Self::Body(left),
                    };
                }
            }
        }
    }
}

/// The head of an answer.
struct Head {
    /// With the line that ends it.
    length: usize,
    is_ours: bool,
    /// What follows it.
    next: ResponsePosition,
}

impl Head {
    /// Each answer is read once more here: line by line, and no further than its head.
    fn read(text: &[u8]) -> Option<Self> {
        let status = text.strip_prefix(b"HTTP/1.1 ").or_else(|| text.strip_prefix(b"HTTP/1.0 "))?;
        let mut is_ours = text.starts_with(CONTINUE);
        let (mut length, mut body) = (0, None);
        for line in text.lines_with_terminator() {
            length += line.len();
            if line == b"\r\n" {
                let next =
                    match [b"100", b"204", b"304"].iter().any(|code| status.starts_with(*code)) {
                        true => ResponsePosition::Boundary,
                        false => behind(body, &text[length..]),
                    };
                return Some(Self { length, is_ours, next });
            }
            is_ours |= has_name(line, OURS);
            if body.is_none() && has_name(line, LENGTH) {
                body = line[LENGTH.len()..].strip_suffix(b"\r\n");
            }
        }
        None
    }
}

/// Whether a line begins so, in letters of either case.
fn has_name(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name))
}

/// What follows a head that tells this length of its body.
fn behind(length: Option<&[u8]>, rest: &[u8]) -> ResponsePosition {
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    match length {
        Some(0) => ResponsePosition::Boundary,
        // To HEAD the length is told and no body follows; only what comes with its body is known to have one.
        Some(length) if !rest.is_empty() && !rest.starts_with(b"HTTP/1.") => {
            ResponsePosition::Body(length)
        }
        _ => ResponsePosition::Unknown,
    }
}

/// The same answer with a body, when these bytes are a whole answer of the parser's.
pub fn with_body(answer: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(answer).ok()?;
    let head = text.strip_suffix(END)?;
    let (first, rest) = head.split_once("\r\n")?;
    let status = first.strip_prefix("HTTP/1.1 ").or_else(|| first.strip_prefix("HTTP/1.0 "))?;
    let is_bare = status.starts_with('4')
        && !head.contains(END)
        && rest.split("\r\n").any(|line| line == EMPTY)
        && !answer.windows(OURS.len()).any(|part| part.eq_ignore_ascii_case(OURS));
    if !is_bare {
        return None;
    }
    let body = serde_json::json!({ "error": status }).to_string();
    let headers: Vec<&str> = rest.split("\r\n").filter(|line| *line != EMPTY).collect();
    let id = hex::encode(rand::random::<[u8; 16]>());
    let ours = format!(
        "content-type: application/json\r\ncontent-length: {}\r\nx-request-id: {id}\r\nvary: Origin\r\n\
         x-content-type-options: nosniff\r\nx-frame-options: SAMEORIGIN\r\n\
         cache-control: max-age=0, private, must-revalidate",
        body.len()
    );
    let lines = [&[first][..], &headers, &[&ours, "", &body]].concat();
    Some(lines.join("\r\n").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::{ResponsePosition, with_body};

    #[test]
    fn only_a_bare_answer_of_the_parser_gets_a_body() {
        let bare = "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let told = String::from_utf8(with_body(bare.as_bytes()).unwrap()).unwrap();
        assert!(
            told.starts_with(
                "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n"
            )
        );
        assert!(told.contains("\r\ncontent-length: 47\r\n"), "{told}");
        assert!(told.ends_with("\r\n\r\n{\"error\":\"431 Request Header Fields Too Large\"}"));

        for other in [
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nX-Request-Id: 1\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 4\r\n\r\n\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n",
        ] {
            assert_eq!(with_body(other.as_bytes()), None, "{other}");
        }
    }

    const BARE: &str = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

    fn ours(status: &str, length: usize, body: &str) -> String {
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nx-request-id: 1\r\n\r\n{body}")
    }

    #[test]
    fn it_is_found_behind_whole_answers() {
        let (one, none) = (ours("200 OK", 5, "hello"), ours("404 Not Found", 0, ""));
        let empty = "HTTP/1.1 204 No Content\r\nx-request-id: 1\r\n\r\n";
        for before in ["", &one, &none, empty, &format!("{one}{empty}{one}")] {
            let text = format!("{before}{BARE}");
            assert_eq!(
                ResponsePosition::Boundary.bare_at(text.as_bytes()),
                Some(before.len()),
                "{text}"
            );
        }
        assert_eq!(ResponsePosition::Body(3).bare_at(format!("llo{BARE}").as_bytes()), Some(3));
    }

    #[test]
    fn what_a_body_says_is_left_alone() {
        let inside = ours("200 OK", BARE.len() + 5, &format!("hello{BARE}"));
        let longer = ours("200 OK", BARE.len() + 6, &format!("hello{BARE}"));
        let to_head = ours("200 OK", 10, BARE);
        let chunked = format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx-request-id: 1\r\n\r\n{BARE}"
        );
        for text in [&inside, &longer, &to_head, &chunked] {
            assert_eq!(ResponsePosition::Boundary.bare_at(text.as_bytes()), None, "{text}");
        }
        assert_eq!(ResponsePosition::Boundary.after(inside.as_bytes()), ResponsePosition::Boundary);
        assert_eq!(ResponsePosition::Boundary.after(longer.as_bytes()), ResponsePosition::Body(1));
        assert_eq!(ResponsePosition::Body(200).bare_at(BARE.as_bytes()), None);
        assert_eq!(ResponsePosition::Unknown.bare_at(BARE.as_bytes()), None);
    }
}
