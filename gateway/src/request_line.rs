//! A connection whose requests have no endless first line. The parser below us answers a line that is longer than its
//! buffer before we hear of it; here such a line is cut, so that its request is answered like any other: 414. What the
//! parser still answers by itself gets a body here.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bstr::ByteSlice as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::malformed_request::{self, ResponsePosition};

/// Of a longer line the rest is dropped: more than the server accepts, and less than the parser does.
const LONGEST: usize = 48 << 10;
/// Ends a line that was cut. Nothing after it on this connection is taken for a request.
const END: &[u8] = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
const METHOD: usize = 16;

/// See the [module](self).
#[derive(Debug)]
pub struct FirstLine<S> {
    inner: S,
    state: State,
    /// Whether nothing was answered since something was heard.
    asked: bool,
    instead: Option<Replacement>,
    place: ResponsePosition,
}

/// The bytes to send in place of others.
#[derive(Debug)]
struct Replacement {
    text: Vec<u8>,
    sent: usize,
    replaces: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In a first line, of which so many bytes were handed on.
    Line(usize),
    /// Behind the first line, until something is answered.
    Passing,
    /// In the rest of a line that is too long.
    Dropping,
    /// The line was cut; what is left of its end.
    Ending(&'static [u8]),
    /// Nothing more is heard.
    Over,
}

impl<S> FirstLine<S> {
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            state: State::Line(0),
            asked: false,
            instead: None,
            place: ResponsePosition::Boundary,
        }
    }

    pub(crate) fn inner(&self) -> &S {
        &self.inner
    }
}

/// What becomes of bytes that arrive in a first line: how many are handed on, and what comes next.
fn judge(line: usize, new: &[u8]) -> (usize, State) {
    if new.is_empty() || (line == 0 && !begins_request(new)) {
        return (new.len(), State::Passing);
    }
    let end = new.find_byte(b'\n');
    let length = line + end.unwrap_or(new.len());
    match end {
        _ if length > LONGEST => {
            let rest = if end.is_some() { State::Ending(END) } else { State::Dropping };
            (LONGEST.saturating_sub(line), rest)
        }
        Some(_) => (new.len(), State::Passing),
        None => (new.len(), State::Line(length)),
    }
}

/// Whether these may be the first bytes of a request, and not of a body that is still being read.
fn begins_request(bytes: &[u8]) -> bool {
    let mut halves = bytes.splitn(2, |byte| *byte == b' ');
    let method = halves.next().unwrap_or_default();
    let is_method = method.len() <= METHOD && method.iter().all(u8::is_ascii_uppercase);
    is_method && halves.next().is_none_or(|rest| matches!(rest.first(), None | Some(b'/')))
}

impl<S: AsyncRead + Unpin> FirstLine<S> {
    /// Reads what nobody wants to know, to the end of the line where `to_line_end`.
    fn drop_read(&mut self, cx: &mut Context<'_>, to_line_end: bool) -> Poll<io::Result<()>> {
        let mut scratch = [0; 8 << 10];
        loop {
            let mut unheard = ReadBuf::new(&mut scratch);
            ready!(Pin::new(&mut self.inner).poll_read(cx, &mut unheard))?;
            let is_end = unheard.filled().is_empty();
            if is_end || (to_line_end && unheard.filled().contains(&b'\n')) {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FirstLine<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match this.state {
                State::Passing => {
                    this.asked = true;
                    return Pin::new(&mut this.inner).poll_read(cx, buf);
                }
                State::Line(line) => {
                    let before = buf.filled().len();
                    ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
                    this.asked = true;
                    let (kept, next) = judge(line, &buf.filled()[before..]);
                    buf.set_filled(before + kept);
                    this.state = next;
                    // To hand on nothing would say that the client is done.
                    if kept > 0 || next == State::Passing {
                        return Poll::Ready(Ok(()));
                    }
                }
                State::Dropping => {
                    ready!(this.drop_read(cx, true))?;
                    this.state = State::Ending(END);
                }
                State::Ending([]) => this.state = State::Over,
                State::Ending(rest) => {
                    let (now, later) = rest.split_at(rest.len().min(buf.remaining()));
                    buf.put_slice(now);
                    this.state = State::Ending(later);
                    return Poll::Ready(Ok(()));
                }
                State::Over => return this.drop_read(cx, false),
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> FirstLine<S> {
    /// Sends what stands in place of an answer, to its end.
    fn send_instead(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let Some(instead) = &mut self.instead else { return Poll::Ready(Ok(0)) };
        while instead.sent < instead.text.len() {
            let rest = &instead.text[instead.sent..];
            match ready!(Pin::new(&mut self.inner).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                some => instead.sent += some,
            }
        }
        let replaced = instead.replaces;
        self.instead = None;
        Poll::Ready(Ok(replaced))
    }

    /// How much can be written as it is: all, unless a bare answer comes behind others. One that comes now is noted to
    /// be sent with a body.
    fn up_to_bare(&mut self, text: &[u8]) -> usize {
        if self.instead.is_some() {
            return text.len();
        }
        if self.place == ResponsePosition::Unknown && self.asked {
            self.place = ResponsePosition::Boundary;
        }
        match self.place.bare_at(text) {
            Some(0) => {
                let instead = |answer| Replacement { text: answer, sent: 0, replaces: text.len() };
                self.instead = malformed_request::with_body(text).map(instead);
                text.len()
            }
            Some(before) => before,
            None => text.len(),
        }
    }

    /// After an answer comes the next request; after "100 Continue" comes the body.
    fn answered(&mut self, sent: &Poll<io::Result<usize>>, text: &[u8]) {
        if let Poll::Ready(Ok(count)) = sent {
            self.place = self.place.after(text.get(..*count).unwrap_or_default());
        }
        let is_answer = matches!(sent, Poll::Ready(Ok(1..))) && !text.starts_with(b"HTTP/1.1 100");
        self.asked &= !is_answer;
        if is_answer && self.state == State::Passing {
            self.state = State::Line(0);
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FirstLine<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        text: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let text = &text[..this.up_to_bare(text)];
        let sent = match this.instead {
            None => Pin::new(&mut this.inner).poll_write(cx, text),
            Some(_) => this.send_instead(cx),
        };
        this.answered(&sent, text);
        sent
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        texts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.inner).poll_write_vectored(cx, texts);
        this.place = ResponsePosition::Unknown;
        this.answered(&sent, texts.first().map_or(&[], |text| text));
        sent
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::{END, FirstLine, LONGEST};

    async fn heard(sent: &[u8]) -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(4096);
        let sent = sent.to_vec();
        let sending = kernel::task::spawn(async move { client.write_all(&sent).await });
        let mut heard = Vec::new();
        FirstLine::new(server).read_to_end(&mut heard).await.expect("a connection");
        sending.await.expect("a task").expect("all of it");
        heard
    }

    fn request(length: usize, rest: &str) -> Vec<u8> {
        format!("GET /{} HTTP/1.1\r\n{rest}", "a".repeat(length)).into_bytes()
    }

    #[actix_web::test]
    async fn a_line_of_usual_length_is_handed_on_with_all_that_follows() {
        let sent = request(30_000, &"b".repeat(100_000));
        assert_eq!(heard(&sent).await, sent);
        let body = "c".repeat(100_000).into_bytes();
        assert_eq!(heard(&body).await, body);
    }

    #[actix_web::test]
    async fn a_line_without_end_is_cut_and_is_the_last() {
        for length in [LONGEST, 60_000, 1_000_000] {
            let sent = request(length, "Host: x\r\n\r\nGET / HTTP/1.1\r\n\r\n");
            let heard = heard(&sent).await;
            assert_eq!(heard[..LONGEST], sent[..LONGEST]);
            assert_eq!(&heard[LONGEST..], END);
        }
    }

    #[actix_web::test]
    async fn each_request_of_a_connection_is_looked_at_and_its_body_is_not() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let mut server = FirstLine::new(server);
        let body = format!("POST / HTTP/1.1\r\n\r\nGET /{}", "b".repeat(100_000));
        client.write_all(body.as_bytes()).await.expect("sent");
        let mut heard = vec![0; body.len()];
        server.read_exact(&mut heard).await.expect("heard");
        assert_eq!(heard, body.as_bytes());
        server.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.expect("answered");
        client.write_all(&request(100_000, "\r\n")).await.expect("sent");
        drop(client);
        let mut heard = Vec::new();
        server.read_to_end(&mut heard).await.expect("heard");
        assert_eq!(heard.len(), LONGEST + END.len());
    }
}
