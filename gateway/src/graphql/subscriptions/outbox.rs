//! What waits to be taken by a client, in bytes. The library counts messages, each of which may have megabytes.

use std::{cell::Cell, rc::Rc};

use tokio::sync::Notify;

/// So many bytes may wait for a client that reads slowly, or one message.
const MOST: usize = 2 << 20;

/// The bytes of a connection that wait.
#[derive(Clone, Default)]
pub(super) struct Outbox(Rc<QueuedBytes>);

#[derive(Default)]
struct QueuedBytes {
    bytes: Cell<usize>,
    is_closed: Cell<bool>,
    room: Notify,
}

impl Outbox {
    /// Waits until there is room for a message, and takes it; not where nobody takes anything any more.
    pub(super) async fn add(&self, bytes: usize) {
        loop {
            let waiting = self.0.bytes.get();
            let has_room = waiting == 0 || waiting.saturating_add(bytes) <= MOST;
            if has_room || self.0.is_closed.get() {
                self.0.bytes.set(waiting.saturating_add(bytes));
                return;
            }
            self.0.room.notified().await;
        }
    }

    /// The client has taken so much.
    pub(super) fn remove(&self, bytes: usize) {
        self.0.bytes.set(self.0.bytes.get().saturating_sub(bytes));
        self.0.room.notify_one();
    }
}

/// Counts what the client takes of a body: a piece is sent when the next one is asked for.
pub(super) struct SentBytes {
    outbox: Outbox,
    piece: usize,
}

impl SentBytes {
    pub(super) fn new(outbox: Outbox) -> Self {
        Self { outbox, piece: 0 }
    }

    /// The next piece is asked for.
    pub(super) fn ask(&mut self) {
        if self.piece > 0 {
            self.outbox.remove(std::mem::take(&mut self.piece));
        }
    }

    /// A piece is handed out.
    pub(super) fn hand_out(&mut self, bytes: usize) {
        self.piece = bytes;
    }
}

impl Drop for SentBytes {
    fn drop(&mut self) {
        self.outbox.0.is_closed.set(true);
        self.outbox.0.room.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::{MOST, Outbox, SentBytes};

    #[test]
    fn one_message_waits_or_many_short_ones() {
        let outbox = Outbox::default();
        assert!(outbox.add(MOST * 2).now_or_never().is_some(), "one of any length");
        assert!(outbox.add(1).now_or_never().is_none());
        outbox.remove(MOST * 2);
        assert!(outbox.add(MOST - 1).now_or_never().is_some());
        assert!(outbox.add(1).now_or_never().is_some());
        assert!(outbox.add(1).now_or_never().is_none());
    }

    #[test]
    fn a_piece_waits_until_the_next_one_is_asked_for() {
        let outbox = Outbox::default();
        let mut taken = SentBytes::new(outbox.clone());
        assert!(outbox.add(MOST).now_or_never().is_some());
        taken.ask();
        taken.hand_out(MOST);
        assert!(outbox.add(1).now_or_never().is_none());
        taken.ask();
        assert!(outbox.add(1).now_or_never().is_some());
    }

    #[test]
    fn nobody_waits_for_a_client_that_is_gone() {
        let outbox = Outbox::default();
        let taken = SentBytes::new(outbox.clone());
        assert!(outbox.add(MOST).now_or_never().is_some());
        let mut waits = Box::pin(outbox.add(1));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(taken);
        assert!(waits.now_or_never().is_some());
    }
}
