//! The moment at which long work gives up.

use std::time::{Duration, Instant};

use super::{GitError, Result};

/// Asked between the steps of a walk; without a moment it never strikes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    pub const NEVER: Self = Self(None);

    pub fn after(span: Duration) -> Self {
        Self(Instant::now().checked_add(span))
    }

    pub fn check(self) -> Result<()> {
        match self.0 {
            Some(end) if Instant::now() >= end => Err(GitError::Timeout),
            _ => Ok(()),
        }
    }

    /// How long is left; `None` when there is no end.
    pub fn remaining(self) -> Option<Duration> {
        self.0.map(|end| end.saturating_duration_since(Instant::now()))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Deadline;

    #[test]
    fn it_strikes_only_when_the_time_is_over() {
        assert!(Deadline::NEVER.check().is_ok());
        assert!(Deadline::after(Duration::from_secs(3600)).check().is_ok());
        assert!(Deadline::after(Duration::ZERO).check().is_err());
    }
}
