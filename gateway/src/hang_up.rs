//! A connection whose reading the program can end. A client that speaks WebSocket waits for the server to close the
//! connection, and the HTTP library waits for the client; here the library hears an end, and closes.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Ends the reading of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct HangUp(Arc<ReadEnd>);

#[derive(Debug, Default)]
struct ReadEnd {
    is_over: AtomicBool,
    reader: AtomicWaker,
}

impl HangUp {
    /// From now on nothing more is read; what was written is still sent.
    pub(crate) fn end(&self) {
        self.0.is_over.store(true, Ordering::Release);
        self.0.reader.wake();
    }
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct HangUpStream<S> {
    inner: S,
    hang_up: HangUp,
}

impl<S> HangUpStream<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, hang_up: HangUp::default() }
    }

    pub(crate) fn inner(&self) -> &S {
        &self.inner
    }

    /// What ends this connection.
    pub(crate) fn hang_up(&self) -> HangUp {
        self.hang_up.clone()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HangUpStream<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let end = &this.hang_up.0;
        end.reader.register(cx.waker());
        match end.is_over.load(Ordering::Acquire) {
            // Nothing in the buffer says that the client is done.
            true => Poll::Ready(Ok(())),
            false => Pin::new(&mut this.inner).poll_read(cx, buf),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HangUpStream<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        text: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().inner).poll_write(cx, text)
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
        Pin::new(&mut self.get_mut().inner).poll_write_vectored(cx, texts)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::HangUpStream;

    #[actix_web::test]
    async fn who_waits_for_the_client_hears_the_end_and_can_still_answer() {
        let (mut client, server) = tokio::io::duplex(16);
        let mut server = HangUpStream::new(server);
        let hang_up = server.hang_up();
        let reading = kernel::task::spawn(async move {
            let mut heard = Vec::new();
            server.read_to_end(&mut heard).await.expect("an end");
            server.write_all(b"bye").await.expect("a client");
            heard
        });
        client.write_all(b"hello").await.expect("a server");
        tokio::task::yield_now().await;
        hang_up.end();
        let mut said = [0; 3];
        client.read_exact(&mut said).await.expect("an answer");
        assert_eq!(&said, b"bye");
        assert_eq!(reading.await.expect("a task"), b"hello");
    }
}
