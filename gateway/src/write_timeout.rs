//! A connection that ends when its client takes nothing of what is sent to it for too long.

use std::{
    future::Future as _,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct WriteTimeout<S> {
    inner: S,
    patience: Duration,
    /// While something waits to be taken.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(inner: S, patience: Duration) -> Self {
        Self { inner, patience, deadline: None }
    }

    /// The outcome of an attempt to send, which fails where nothing was taken since the deadline was set.
    fn timed<T>(&mut self, cx: &mut Context<'_>, sent: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if sent.is_ready() {
            self.deadline = None;
            return sent;
        }
        let patience = self.patience;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(patience)));
        deadline.as_mut().poll(cx).map(|()| {
            tracing::debug!("a client takes nothing of what is sent to it");
            Err(io::ErrorKind::TimedOut.into())
        })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        text: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let sent = Pin::new(&mut this.inner).poll_write(cx, text);
        this.timed(cx, sent)
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
        this.timed(cx, sent)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::{io::ErrorKind, time::Duration};

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::WriteTimeout;

    #[actix_web::test]
    async fn a_client_that_takes_nothing_is_left() {
        let (_client, server) = tokio::io::duplex(16);
        let mut server = WriteTimeout::new(server, Duration::from_millis(1));
        let left = server.write_all(&[0; 64]).await.expect_err("nobody reads");
        assert_eq!(left.kind(), ErrorKind::TimedOut);
    }

    #[actix_web::test]
    async fn a_client_that_reads_gets_all() {
        let (mut client, server) = tokio::io::duplex(16);
        let mut server = WriteTimeout::new(server, Duration::from_secs(60));
        let sending = kernel::task::spawn(async move { server.write_all(&[7; 640]).await });
        let mut heard = Vec::new();
        client.read_to_end(&mut heard).await.expect("a connection");
        sending.await.expect("a task").expect("all of it");
        assert_eq!(heard, [7; 640]);
    }
}
