//! Subscriptions over HTTP: as events of one request, or over a WebSocket.

mod connection;
mod events;
mod message;
mod socket;

pub(super) use events::{answer as answer_events, wants as wants_events};
pub(super) use socket::{answer as answer_socket, is_upgrade};
