//! Status of an alert.

kernel::text_enum! {
    pub enum AlertStatus {
        Triggered = "triggered",
        Acknowledged = "acknowledged",
        Resolved = "resolved",
        Ignored = "ignored",
    }
}

kernel::text_enum! {
    pub enum AlertStep {
        Trigger = "trigger",
        Acknowledge = "acknowledge",
        Resolve = "resolve",
        Ignore = "ignore",
    }
}

impl AlertStatus {
    /// The whole life of an alert; `None` where it is so already.
    pub fn after(self, step: AlertStep) -> Option<Self> {
        let to = match step {
            AlertStep::Trigger => Self::Triggered,
            AlertStep::Acknowledge => Self::Acknowledged,
            AlertStep::Resolve => Self::Resolved,
            AlertStep::Ignore => Self::Ignored,
        };
        (to != self).then_some(to)
    }

    /// The step that leads to this status.
    pub fn step(self) -> AlertStep {
        match self {
            Self::Triggered => AlertStep::Trigger,
            Self::Acknowledged => AlertStep::Acknowledge,
            Self::Resolved => AlertStep::Resolve,
            Self::Ignored => AlertStep::Ignore,
        }
    }

    /// Whether the same, reported again, is no new alert.
    pub fn is_open(self) -> bool {
        self != Self::Resolved
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{AlertStatus, AlertStep};

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for from in AlertStatus::ALL {
            for step in AlertStep::ALL {
                if let Some(to) = from.after(*step) {
                    writeln!(rows, "{from:<12} {step:<11} -> {to}").unwrap();
                }
            }
        }
        insta::assert_snapshot!(rows);
    }
}
