//! The end of a WebSocket: what the server says, what the client answers, and when the connection below is closed.

use std::{
    pin::Pin,
    sync::Arc,
    task::{self, Poll, ready},
    time::Duration,
};

use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    web::Bytes,
};
use actix_ws::{AggregatedMessage, AggregatedMessageStream, CloseCode, CloseReason, Session};
use tokio::{sync::oneshot, time::timeout};

use super::{
    PATIENCE,
    connection_slot::ConnectionSlot,
    outbox::{Outbox, SentBytes},
};
use crate::{error::ApiError, hang_up::HangUp};

/// The client ended the connection, and is answered with the same.
const CLIENT_ENDS: u16 = 1000;
/// So much of what a client had sent before it heard of the end is read.
const MOST_HEARD: usize = 1_000;
/// So long a client may take to answer that the connection ends.
const FAREWELL: Duration = Duration::from_secs(5);

/// The close code and reason of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CloseCause(u16, String);

impl CloseCause {
    pub(super) fn new(code: u16, reason: impl Into<String>) -> Self {
        Self(code, reason.into())
    }

    /// The answer to a client that ends the connection.
    pub(super) fn answer() -> Self {
        Self::new(CLIENT_ENDS, "")
    }

    pub(super) fn of(failure: &ApiError) -> Self {
        match failure {
            ApiError::Rate(..) => Self::new(4429, "Too many requests"),
            ApiError::Kernel(error) if error.is_ours() => Self::new(4500, "Internal server error"),
            _ => Self::new(4403, "Forbidden"),
        }
    }

    fn reason(self) -> CloseReason {
        // A frame that closes has room for 123 bytes of text.
        let text: String = self.1.chars().take(40).collect();
        CloseReason { code: CloseCode::from(self.0), description: Some(text) }
    }
}

/// Says why the connection ends, and waits for the client to say that it ends: what a client has not read yet can be lost
/// where the server closes while the client still sends.
///
/// Whether nothing more is to come that is worth reading.
pub(super) async fn close(
    session: Session,
    cause: CloseCause,
    messages: &mut AggregatedMessageStream,
) -> bool {
    tracing::debug!(code = cause.0, "a WebSocket ends");
    let is_answer = cause.0 == CLIENT_ENDS;
    match timeout(PATIENCE, session.close(Some(cause.reason()))).await {
        Ok(Ok(())) if is_answer => true,
        // Whoever answers nothing has had the time to read.
        Ok(Ok(())) => timeout(FAREWELL, hears_end(messages)).await.unwrap_or(true),
        // Gone, or as good as that.
        Ok(Err(_)) | Err(_) => false,
    }
}

/// Whether the client says that the connection ends; not where what it says cannot be read, or it says much else.
async fn hears_end(messages: &mut AggregatedMessageStream) -> bool {
    for _ in 0..MOST_HEARD {
        match messages.recv().await {
            Some(Ok(AggregatedMessage::Close(_))) => return true,
            // What has come already is read without a wait, and others wait.
            Some(Ok(_)) => tokio::task::yield_now().await,
            Some(Err(_)) | None => return false,
        }
    }
    false
}

/// What is sent over a connection, with the place that the connection takes.
pub(super) struct SocketBody {
    body: BoxBody,
    taken: SentBytes,
    is_sent: bool,
    /// Tells that both sides have said their last. What it ends without telling, the HTTP library closes by itself: it reads on
    /// for a while.
    over: oneshot::Receiver<()>,
    hang_up: Option<HangUp>,
    _place: Arc<ConnectionSlot>,
}

impl SocketBody {
    pub(super) fn new(
        body: BoxBody,
        outbox: Outbox,
        over: oneshot::Receiver<()>,
        hang_up: Option<HangUp>,
        place: Arc<ConnectionSlot>,
    ) -> Self {
        let taken = SentBytes::new(outbox);
        Self { body, taken, is_sent: false, over, hang_up, _place: place }
    }
}

impl MessageBody for SocketBody {
    type Error = Box<dyn std::error::Error>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        if !this.is_sent {
            this.taken.ask();
            match ready!(Pin::new(&mut this.body).poll_next(cx)) {
                Some(piece) => {
                    this.taken.hand_out(piece.as_ref().map_or(0, Bytes::len));
                    return Poll::Ready(Some(piece));
                }
                None => this.is_sent = true,
            }
        }
        // With the end of the body the library would hand on nothing more of what the client says.
        let is_over = ready!(Pin::new(&mut this.over).poll(cx)).is_ok();
        if let (true, Some(hang_up)) = (is_over, &this.hang_up) {
            hang_up.end();
        }
        Poll::Ready(None)
    }
}

#[cfg(test)]
mod tests {
    use super::CloseCause;

    #[test]
    fn the_reason_of_an_end_fits_its_frame() {
        let reason = CloseCause::new(4400, "ü".repeat(200)).reason();
        assert_eq!(u16::from(reason.code), 4400);
        assert!(reason.description.expect("a text").len() <= 123);
    }
}
