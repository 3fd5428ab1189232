//! Subscriptions over HTTP: as events of one request, or over a WebSocket.

mod closing;
mod connection;
mod connection_slot;
mod events;
mod frame_guard;
mod message;
mod outbox;
mod socket;

use std::time::Duration;

pub(super) use events::{answer as answer_events, wants as wants_events};
pub(super) use socket::{answer as answer_socket, is_upgrade};

/// So long a client may leave what is sent to it.
const PATIENCE: Duration = Duration::from_secs(30);
