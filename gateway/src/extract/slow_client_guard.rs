//! A body that must keep coming: a client that sends a byte now and then holds nothing for long.

use std::{
    cell::RefCell,
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::{HttpRequest, dev::Payload, error::PayloadError, web::Bytes};
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A second is given for each such part of a body, beside the patience at its beginning.
const BYTES_A_SECOND: u64 = 4096;

/// The body that a connection waits for no longer. While it is held, the HTTP library closes the connection after the answer; it
/// would wait without a limit for the end of a chunked body that nobody holds.
#[derive(Default)]
pub(crate) struct StalledBody(RefCell<Option<Payload>>);

pub struct SlowClientGuard {
    payload: Payload,
    /// Its connection, which keeps a body that stalls.
    req: HttpRequest,
    began: Instant,
    patience: Duration,
    received: u64,
    deadline: Pin<Box<Sleep>>,
}

impl SlowClientGuard {
    pub fn new(req: &HttpRequest, payload: Payload, patience: Duration) -> Self {
        let began = Instant::now();
        let deadline = Box::pin(sleep_until(began + patience));
        Self { payload, req: req.clone(), began, patience, received: 0, deadline }
    }

    fn extend(&mut self, bytes: usize) {
        self.received += u64::try_from(bytes).unwrap_or(u64::MAX);
        let earned = Duration::from_secs(self.received / BYTES_A_SECOND);
        self.deadline.as_mut().reset(self.began + self.patience + earned);
    }

    fn leave(&mut self) {
        let stalled = std::mem::replace(&mut self.payload, Payload::None);
        if let Some(connection) = self.req.conn_data::<StalledBody>() {
            connection.0.replace(Some(stalled));
        }
    }
}

impl Stream for SlowClientGuard {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        match Pin::new(&mut this.payload).poll_next(context) {
            Poll::Pending => this.deadline.as_mut().poll(context).map(|()| {
                this.leave();
                Some(Err(PayloadError::Io(io::Error::from(io::ErrorKind::TimedOut))))
            }),
            ready => {
                if let Poll::Ready(Some(Ok(bytes))) = &ready {
                    this.extend(bytes.len());
                }
                ready
            }
        }
    }
}
