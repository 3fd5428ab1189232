//! The life of an environment.

kernel::text_enum! {
    pub enum EnvironmentState {
        Available = "available",
        /// A job stops it.
        Stopping = "stopping",
        Stopped = "stopped",
    }
}

kernel::text_enum! {
    /// Steps of an environment's state machine.
    pub enum EnvironmentStep {
        /// Something was deployed to it.
        Start = "start",
        /// It is to be stopped by a job.
        Stop = "stop",
        /// It is stopped.
        StopComplete = "stop_complete",
    }
}

impl EnvironmentState {
    /// The whole life of an environment; `None` where nothing changes.
    pub fn after(self, step: EnvironmentStep) -> Option<Self> {
        match (self, step) {
            (Self::Stopping | Self::Stopped, EnvironmentStep::Start) => Some(Self::Available),
            (Self::Available, EnvironmentStep::Stop) => Some(Self::Stopping),
            (Self::Available | Self::Stopping, EnvironmentStep::StopComplete) => {
                Some(Self::Stopped)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use kernel::TextEnum as _;

    use super::{EnvironmentState, EnvironmentStep};

    #[test]
    fn the_whole_table() {
        let mut rows = String::new();
        for from in EnvironmentState::ALL {
            for step in EnvironmentStep::ALL {
                if let Some(to) = from.after(*step) {
                    writeln!(rows, "{from:<10} {step:<14} -> {to}").unwrap();
                }
            }
        }
        insta::assert_snapshot!(rows, @r"
        available  stop           -> stopping
        available  stop_complete  -> stopped
        stopping   start          -> available
        stopping   stop_complete  -> stopped
        stopped    start          -> available
        ");
    }
}
