//! A body that must keep coming: a client that sends a byte now and then holds nothing for long.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use actix_web::{dev::Payload, error::PayloadError, web::Bytes};
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

/// A second is given for each such part of a body, beside the patience at its beginning.
const BYTES_A_SECOND: u64 = 4096;

pub struct SlowClientGuard {
    payload: Payload,
    began: Instant,
    patience: Duration,
    received: u64,
    deadline: Pin<Box<Sleep>>,
}

impl SlowClientGuard {
    pub fn new(payload: Payload, patience: Duration) -> Self {
        let began = Instant::now();
        let deadline = Box::pin(sleep_until(began + patience));
        Self { payload, began, patience, received: 0, deadline }
    }

    fn extend(&mut self, bytes: usize) {
        self.received += u64::try_from(bytes).unwrap_or(u64::MAX);
        let earned = Duration::from_secs(self.received / BYTES_A_SECOND);
        self.deadline.as_mut().reset(self.began + self.patience + earned);
    }
}

impl Stream for SlowClientGuard {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        match Pin::new(&mut this.payload).poll_next(context) {
            Poll::Pending => this
                .deadline
                .as_mut()
                .poll(context)
                .map(|()| Some(Err(PayloadError::Io(io::Error::from(io::ErrorKind::TimedOut))))),
            ready => {
                if let Poll::Ready(Some(Ok(bytes))) = &ready {
                    this.extend(bytes.len());
                }
                ready
            }
        }
    }
}
