//! HTTP/1.1 by hand, so that a test can also do what no client library would.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Connection(TcpStream);

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    #[track_caller]
    pub(crate) fn with(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        self.json()
    }
}

impl Connection {
    pub(crate) fn try_open(port: u16) -> Option<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        Some(Self(stream))
    }

    pub(crate) fn get(self, path: &str, headers: &[(&str, &str)]) -> Reply {
        self.send("GET", path, headers, b"")
    }

    pub(crate) fn send(
        mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Reply {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        if !body.is_empty() {
            head += &format!("Content-Length: {}\r\n", body.len());
        }
        self.write(format!("{head}Connection: close\r\n\r\n").as_bytes());
        self.write(body);
        self.reply()
    }

    /// Sends bytes as they are. The server may have closed the connection already.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        match self.0.write_all(bytes) {
            Err(cause)
                if matches!(cause.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
            done => done.expect("the request can be sent"),
        }
    }

    /// Everything until the server closes the connection; empty when it does so without a word.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Err(cause) if cause.kind() == ErrorKind::ConnectionReset => {}
            done => {
                done.expect("the server closes the connection");
            }
        }
        bytes
    }

    /// The answer, on a connection that the server closes after it.
    pub(crate) fn reply(mut self) -> Reply {
        parse(&self.rest())
    }
}

fn parse(bytes: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a whole head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let first = lines.next().expect("a status line");
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut reply = Reply { status, headers, text: String::new() };
    let body = &bytes[end + 4..];
    let body = match reply.header("transfer-encoding") {
        Some("chunked") => unchunked(body),
        _ => body.to_vec(),
    };
    reply.text = String::from_utf8_lossy(&body).into_owned();
    reply
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n").expect("the size of a chunk");
        let size = std::str::from_utf8(&rest[..end]).expect("a size");
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            return body;
        }
        rest = &rest[end + 2..];
        body.extend_from_slice(&rest[..size]);
        rest = &rest[size + 2..];
    }
}
