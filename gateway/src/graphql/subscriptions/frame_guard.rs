//! The frames of a WebSocket, looked at before they are collected. The library knows how long a frame is as soon as its head is
//! there, and refuses one that is too long when all of it has come: until then it keeps what comes.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use actix_web::{dev::Payload, error::PayloadError, web::Bytes};
use futures_util::Stream;

/// The bytes of a connection up to the first frame that is too long or broken.
pub(super) struct FrameGuard {
    payload: Payload,
    frames: Frames,
    is_over: bool,
}

impl FrameGuard {
    /// The same bytes, in which no frame may be longer.
    pub(super) fn guard(payload: Payload, longest: usize) -> Payload {
        let longest = u64::try_from(longest).unwrap_or(u64::MAX);
        let frames = Frames { longest, head: Vec::new(), left: 0 };
        Payload::Stream { payload: Box::pin(Self { payload, frames, is_over: false }) }
    }
}

impl Stream for FrameGuard {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if this.is_over {
            return Poll::Ready(None);
        }
        match Pin::new(&mut this.payload).poll_next(cx) {
            Poll::Ready(Some(Ok(bytes))) if !this.frames.follow(&bytes) => {
                this.is_over = true;
                Poll::Ready(Some(Err(PayloadError::Overflow)))
            }
            other => other,
        }
    }
}

/// Where in its frames a stream is.
struct Frames {
    longest: u64,
    /// The head of a frame, as far as it has come.
    head: Vec<u8>,
    /// Bytes of the frame that are to come.
    left: u64,
}

impl Frames {
    /// False where a frame is too long, or a control frame is parted, which the library takes for a fault of the server.
    fn follow(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.left > 0 {
                let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
                self.left -= u64::try_from(taken).unwrap_or(u64::MAX);
                bytes = bytes.get(taken..).unwrap_or_default();
                continue;
            }
            let Some((first, rest)) = bytes.split_first() else { return true };
            self.head.push(*first);
            bytes = rest;
            let Some(length) = length(&self.head) else { continue };
            let is_control = self.head.first().is_some_and(|first| first & 0x08 != 0);
            let is_last = self.head.first().is_some_and(|first| first & 0x80 != 0);
            if length > self.longest || (is_control && !is_last) {
                return false;
            }
            self.head.clear();
            self.left = length;
        }
        true
    }
}

/// The length of a frame by its head; nothing as long as some of that is to come.
fn length(head: &[u8]) -> Option<u64> {
    let second = head.get(1)?;
    let mask = if second & 0x80 == 0 { 0 } else { 4 };
    let extended = match second & 0x7f {
        126 => 2,
        127 => 8,
        short => return (head.len() == 2 + mask).then_some(u64::from(short)),
    };
    if head.len() < 2 + extended + mask {
        return None;
    }
    let bytes = head.get(2..2 + extended)?;
    Some(bytes.iter().fold(0, |length, byte| (length << 8) | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::Frames;

    fn follows(pieces: &[&[u8]]) -> bool {
        let mut frames = Frames { longest: 300, head: Vec::new(), left: 0 };
        pieces.iter().all(|piece| frames.follow(piece))
    }

    #[test]
    fn frames_are_known_by_their_heads_wherever_they_are_cut() {
        let mask = [1, 2, 3, 4];
        let short = [&[0x81, 0x82], &mask[..], b"ab"].concat();
        let long = [&[0x81, 0xfe, 1, 44], &mask[..], &[7; 300]].concat();
        let stream = [&short[..], &long, &short, &[0x8a, 0x80], &mask].concat();
        for cut in 0..stream.len() {
            assert!(follows(&[&stream[..cut], &stream[cut..]]), "{cut}");
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert!(follows(&bytes));
    }

    #[test]
    fn a_frame_that_is_too_long_is_known_before_it_comes() {
        assert!(!follows(&[&[0x81, 0xfe, 1, 45, 1, 2, 3, 4]]));
        assert!(!follows(&[&[0x81, 0xff, 0, 0, 1], &[0, 0, 0, 0, 0, 1, 2, 3, 4]]));
        assert!(!follows(&[&[0x81, 0x80, 1, 2, 3, 4, 0x09, 0x81, 1, 2, 3, 4]]), "a parted ping");
    }
}
