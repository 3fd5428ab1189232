//! A connection whose requests come one after the other. The HTTP library answers by what it remembers of the request that it
//! read last: whether it was for a body, its version, and whether the connection goes on. A client may send requests without a
//! wait for answers, so here each one waits until all of the answer to the one before has been sent. Bytes are only held up:
//! none is changed, and none is left out but empty lines between two requests. The library alone decides what they say.
//!
//! The library knows a limit of time for the first head of a connection; the later ones have theirs here.

use std::{
    cell::Cell,
    io,
    mem::MaybeUninit,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::ServiceResponse,
};
use bytes::{Buf as _, Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use crate::request_remainder::RequestRemainder;

/// Bytes read ahead of the request that is answered, about. The client has to wait with the rest.
const WAITING_LIMIT: usize = 64 << 10;

/// Set at the end of an answer, until its connection has heard of that.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerEnd(Rc<Cell<bool>>);

/// The body of an answer. The HTTP library drops it when all of it is in the buffer from which it sends.
pub(crate) struct AnswerBody {
    body: BoxBody,
    end: AnswerEnd,
}

impl AnswerBody {
    /// An answer whose connection hears of its end.
    pub(crate) fn of(answer: ServiceResponse) -> ServiceResponse<Self> {
        let end = answer.request().conn_data::<AnswerEnd>().cloned().unwrap_or_default();
        answer.map_body(|_, body| Self { body, end })
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.end.0.set(true);
    }
}

impl MessageBody for AnswerBody {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_next(cx)
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct RequestQueue<S> {
    inner: S,
    /// What is still to come of the request that is read and answered.
    remainder: RequestRemainder,
    /// What has come behind it.
    waiting: BytesMut,
    end: AnswerEnd,
    is_first: bool,
    /// Within which a head has to be there as a whole.
    head_time: Duration,
    /// Set while a head is there in part, but for the first.
    head_timer: Option<Pin<Box<Sleep>>>,
}

impl<S> RequestQueue<S> {
    pub(crate) fn new(inner: S, head_time: Duration) -> Self {
        Self {
            inner,
            remainder: RequestRemainder::default(),
            waiting: BytesMut::new(),
            end: AnswerEnd::default(),
            is_first: true,
            head_time,
            head_timer: None,
        }
    }

    /// What has to hear of the end of each answer.
    pub(crate) fn answer_end(&self) -> AnswerEnd {
        self.end.clone()
    }

    /// Hands on what waits, to the end of the request.
    fn take_waiting(&mut self, buf: &mut ReadBuf<'_>) {
        let room = self.waiting.len().min(buf.remaining());
        let own = self.remainder.advance(&self.waiting[..room]);
        buf.put_slice(&self.waiting[..own]);
        self.waiting.advance(own);
        if self.waiting.is_empty() {
            // Without the memory that it had.
            self.waiting = BytesMut::new();
        }
    }

    /// Lets the next request through, once all of the answer has been sent: whoever flushes has sent what there is of it.
    fn release_next(&mut self, cx: &Context<'_>) {
        if !self.remainder.is_empty() || !self.end.0.take() {
            return;
        }
        self.remainder = RequestRemainder::default();
        self.is_first = false;
        self.head_timer = None;
        self.skip_empty_lines();
        if !self.waiting.is_empty() {
            // Nobody else tells that there is something to be read.
            cx.waker().wake_by_ref();
        }
    }

    /// Some clients send an empty line behind a request. The library would take it for the beginning of the next one, and
    /// wait for the rest.
    fn skip_empty_lines(&mut self) {
        loop {
            let length = match self.waiting.as_ref() {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => return,
            };
            self.waiting.advance(length);
        }
    }

    /// An error where the rest of a head does not come.
    fn poll_head_timer(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if self.is_first || !self.remainder.is_within_head() {
            self.head_timer = None;
            return Ok(());
        }
        let head_time = self.head_time;
        let timer = self.head_timer.get_or_insert_with(|| Box::pin(sleep(head_time)));
        match timer.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl<S: AsyncRead + Unpin> RequestQueue<S> {
    /// Reads what has to wait, because the end of a client must be heard while it is answered.
    fn poll_waiting(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.waiting.len() < WAITING_LIMIT {
            let mut scratch = [MaybeUninit::<u8>::uninit(); 2 << 10];
            let mut new = ReadBuf::uninit(&mut scratch);
            ready!(Pin::new(&mut self.inner).poll_read(cx, &mut new))?;
            if new.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.waiting.extend_from_slice(new.filled());
        }
        Poll::Pending
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for RequestQueue<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.remainder.is_empty() {
            return this.poll_waiting(cx);
        }
        if !this.waiting.is_empty() {
            this.take_waiting(buf);
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        if Pin::new(&mut this.inner).poll_read(cx, buf)?.is_pending() {
            this.poll_head_timer(cx)?;
            return Poll::Pending;
        }
        let new = &buf.filled()[before..];
        let own = this.remainder.advance(new);
        if own < new.len() {
            this.waiting.extend_from_slice(&new[own..]);
            buf.set_filled(before + own);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for RequestQueue<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        text: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(cx, text)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.release_next(cx);
        Pin::new(&mut this.inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        texts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write_vectored(cx, texts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::{io::ErrorKind, time::Duration};

    use futures_util::FutureExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::{RequestQueue, WAITING_LIMIT};

    const ONE: &[u8] = b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n";
    const TWO: &[u8] = b"GET /2 HTTP/1.1\r\nHost: x\r\n\r\n";
    const BLOCK: usize = 8 << 10;
    const LONG: Duration = Duration::from_secs(3600);

    #[actix_web::test]
    async fn a_request_waits_for_the_end_of_the_answer_before_it() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let mut server = RequestQueue::new(server, LONG);
        client.write_all(&[ONE, TWO].concat()).await.expect("sent");
        let mut heard = [0; BLOCK];
        let length = server.read(&mut heard).await.expect("a request");
        assert_eq!(&heard[..length], ONE);

        server.write_all(b"HTTP/1.1 200 OK\r\n").await.expect("the beginning of an answer");
        server.flush().await.expect("a client");
        assert!(server.read(&mut heard).now_or_never().is_none());

        server.answer_end().0.set(true);
        server.flush().await.expect("a client");
        let length = server.read(&mut heard).await.expect("a request");
        assert_eq!(&heard[..length], TWO);
        assert!(server.read(&mut heard).now_or_never().is_none());
    }

    #[actix_web::test]
    async fn an_empty_line_behind_a_request_is_no_beginning_of_the_next_one() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let mut server = RequestQueue::new(server, LONG);
        client.write_all(&[ONE, b"\r\n\n"].concat()).await.expect("sent");
        let mut heard = [0; BLOCK];
        assert_eq!(server.read(&mut heard).await.expect("a request"), ONE.len());
        assert!(server.read(&mut heard).now_or_never().is_none());

        server.answer_end().0.set(true);
        server.flush().await.expect("a client");

        assert!(server.read(&mut heard).now_or_never().is_none());
    }

    #[actix_web::test]
    async fn the_rest_of_a_later_head_has_to_come_in_time() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let mut server = RequestQueue::new(server, Duration::ZERO);
        client.write_all(&[ONE, b"GET /2 HT"].concat()).await.expect("sent");
        let mut heard = [0; BLOCK];
        assert_eq!(server.read(&mut heard).await.expect("a request"), ONE.len());
        server.answer_end().0.set(true);
        server.flush().await.expect("a client");
        assert_eq!(server.read(&mut heard).await.expect("a beginning"), 9);

        let failure = server.read(&mut heard).await.expect_err("no rest");

        assert_eq!(failure.kind(), ErrorKind::TimedOut);
    }

    #[actix_web::test]
    async fn the_end_of_a_client_is_heard_before_what_it_sent_ahead() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let mut server = RequestQueue::new(server, LONG);
        client.write_all(&[ONE, TWO].concat()).await.expect("sent");
        let mut heard = [0; BLOCK];
        assert_eq!(server.read(&mut heard).await.expect("a request"), ONE.len());

        drop(client);

        assert_eq!(server.read(&mut heard).await.expect("an end"), 0);
    }

    #[actix_web::test]
    async fn no_more_than_a_limit_is_read_ahead() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let mut server = RequestQueue::new(server, LONG);
        let ahead = TWO.repeat(10_000);
        client.write_all(ONE).await.expect("sent");
        client.write_all(&ahead).await.expect("sent");
        let mut heard = [0; BLOCK];
        assert_eq!(server.read(&mut heard).await.expect("a request"), ONE.len());

        assert!(server.read(&mut heard).now_or_never().is_none());

        assert!(ahead.len() > 2 * WAITING_LIMIT);
        assert!((WAITING_LIMIT..WAITING_LIMIT + BLOCK).contains(&server.waiting.len()));
        for _ in 0..10_000 {
            server.answer_end().0.set(true);
            server.flush().await.expect("a client");
            // What was read ahead may end within a request.
            server.read_exact(&mut heard[..TWO.len()]).await.expect("a request");
            assert_eq!(&heard[..TWO.len()], TWO);
        }
    }
}
