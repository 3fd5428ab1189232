//! The health of a webhook: disabled after permanent failures, backed off after temporary ones.

use kernel::Ts;
use time::Duration;

kernel::text_enum! {
    /// Whether anything is sent to a webhook.
    pub enum AlertStatus {
        Executable = "executable",
        TemporarilyDisabled = "temporarily_disabled",
        Disabled = "disabled",
    }
}

/// The outcome of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Taken: 2xx or 3xx.
    Success,
    /// Not wanted: 4xx.
    Refusal,
    /// Nobody there, or in trouble: 5xx, a timeout, no connection.
    Failure,
    /// Too large to be sent, which says nothing of the receiver.
    Oversize,
}

/// After more refusals a webhook is off until somebody looks after it.
const MOST_REFUSALS: i32 = 3;
const FIRST_PAUSE: Duration = Duration::minutes(10);
const LONGEST_PAUSE: Duration = Duration::hours(24);
/// From here on a pause is the longest one.
const MOST_DOUBLINGS: i32 = 8;

/// The state of a webhook.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// Refusals since the last success.
    pub failures: i32,
    /// Pauses since the last success.
    pub backoffs: i32,
    pub disabled_until: Option<Ts>,
}

impl Health {
    /// Of a webhook that is off until somebody looks after it.
    pub fn disabled() -> Self {
        Self { failures: MOST_REFUSALS + 1, ..Self::default() }
    }

    pub fn status(self, now: Ts) -> AlertStatus {
        match self.disabled_until {
            _ if self.failures > MOST_REFUSALS => AlertStatus::Disabled,
            Some(until) if now < until => AlertStatus::TemporarilyDisabled,
            _ => AlertStatus::Executable,
        }
    }

    #[must_use]
    pub fn after(self, outcome: Outcome, now: Ts) -> Self {
        match outcome {
            Outcome::Success => Self::default(),
            Outcome::Oversize => self,
            Outcome::Refusal => Self { failures: self.failures.saturating_add(1), ..self },
            // Others that were under way when the pause began do not make it longer.
            Outcome::Failure if self.status(now) == AlertStatus::TemporarilyDisabled => self,
            Outcome::Failure => Self {
                backoffs: self.backoffs.saturating_add(1),
                disabled_until: Some(now.plus(pause(self.backoffs))),
                ..self
            },
        }
    }
}

fn pause(backoffs: i32) -> Duration {
    match backoffs {
        0..MOST_DOUBLINGS => LONGEST_PAUSE.min(FIRST_PAUSE * (1_i32 << backoffs)),
        _ => LONGEST_PAUSE,
    }
}

#[cfg(test)]
mod tests {
    use kernel::Ts;
    use time::Duration;

    use super::{AlertStatus, Health, Outcome};

    const NOW: Ts = Ts(1_000_000_000);

    #[test]
    fn a_receiver_that_refuses_four_times_is_left_alone() {
        let mut health = Health::default();
        for _ in 0..3 {
            health = health.after(Outcome::Refusal, NOW);
            assert_eq!(health.status(NOW), AlertStatus::Executable);
        }
        health = health.after(Outcome::Refusal, NOW);
        assert_eq!(health.status(NOW), AlertStatus::Disabled);
        assert_eq!(health.after(Outcome::Success, NOW), Health::default());
    }

    #[test]
    fn what_is_too_large_to_be_sent_changes_nothing() {
        for outcome in [Outcome::Success, Outcome::Refusal, Outcome::Failure] {
            let health = Health::default().after(outcome, NOW);
            assert_eq!(health.after(Outcome::Oversize, NOW), health);
        }
    }

    #[test]
    fn pauses_double_up_to_a_day() {
        let (mut health, mut now) = (Health::default(), NOW);
        let mut minutes = Vec::new();
        for _ in 0..10 {
            health = health.after(Outcome::Failure, now);
            assert_eq!(health.status(now), AlertStatus::TemporarilyDisabled);
            assert_eq!(health.after(Outcome::Failure, now), health);
            let until = health.disabled_until.unwrap();
            minutes.push((until.unix() - now.unix()) / 60);
            now = until.plus(Duration::seconds(1));
            assert_eq!(health.status(now), AlertStatus::Executable);
        }
        assert_eq!(minutes, [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]);
    }
}
