//! The number of deliveries taken at once: lower while hosts have no free slot.

use std::sync::atomic::{AtomicUsize, Ordering};

/// So many are always taken.
const FEWEST: usize = 8;

#[derive(Debug)]
pub(in crate::webhook) struct BatchSize {
    most: AtomicUsize,
    left: AtomicUsize,
}

impl Default for BatchSize {
    fn default() -> Self {
        Self { most: AtomicUsize::new(FEWEST), left: AtomicUsize::new(0) }
    }
}

impl BatchSize {
    /// Notes that one was taken for nothing.
    pub(in crate::webhook) fn note_left(&self) {
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// How many are taken next, where there is room for `free`: half of the last time where some were left, else twice
    /// as many.
    pub(in crate::webhook) fn next(&self, free: usize) -> usize {
        let last = self.most.load(Ordering::Relaxed);
        let next = match self.left.swap(0, Ordering::Relaxed) {
            0 => last.saturating_mul(2),
            _ => last / 2,
        };
        let next = next.max(FEWEST).min(free);
        self.most.store(next.max(FEWEST), Ordering::Relaxed);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::BatchSize;

    #[test]
    fn more_are_taken_until_some_are_left() {
        let batch_size = BatchSize::default();
        assert_eq!([batch_size.next(256), batch_size.next(256), batch_size.next(40)], [16, 32, 40]);
        batch_size.note_left();
        assert_eq!([batch_size.next(256), batch_size.next(256), batch_size.next(3)], [20, 40, 3]);
        (0..9).for_each(|_| {
            batch_size.note_left();
            batch_size.next(256);
        });
        batch_size.note_left();
        assert_eq!(batch_size.next(256), 8, "a few are always taken");
    }
}
