//! The states of an import.

kernel::text_enum! {
    /// The state of an import, as the project's row has it.
    pub enum ImportStatus {
        None = "none",
        Scheduled = "scheduled",
        Started = "started",
        Finished = "finished",
        Failed = "failed",
        /// Final.
        Canceled = "canceled",
    }
}

kernel::text_enum! {
    /// Steps of an import's state machine.
    pub enum ImportStep {
        Schedule = "schedule",
        Start = "start",
        Finish = "finish",
        Fail = "fail",
        Cancel = "cancel",
    }
}

impl ImportStatus {
    /// The state after a step; `None` where the step is not possible.
    pub fn after(self, step: ImportStep) -> Option<Self> {
        use ImportStatus::{Canceled, Failed, Finished, None as Never, Scheduled, Started};
        use ImportStep::{Cancel, Fail, Finish, Schedule, Start};
        match (self, step) {
            (Never | Finished | Failed, Schedule) => Some(Scheduled),
            (Scheduled, Start) => Some(Started),
            (Started, Finish) => Some(Finished),
            (Scheduled | Started, Fail) => Some(Failed),
            (Never | Scheduled | Started, Cancel) => Some(Canceled),
            _ => None,
        }
    }

    /// Whether work is still to be done.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Scheduled | Self::Started)
    }
}

#[cfg(test)]
mod tests {
    use kernel::TextEnum as _;

    use super::{ImportStatus, ImportStep};

    #[test]
    fn every_status_meets_every_step() {
        let mut table = String::new();
        for status in ImportStatus::ALL {
            for step in ImportStep::ALL {
                if let Some(after) = status.after(*step) {
                    table += &format!("{status} {step} {after}\n");
                }
            }
        }
        assert_eq!(
            table,
            "none schedule scheduled\nnone cancel canceled\nscheduled start started\n\
             scheduled fail failed\nscheduled cancel canceled\nstarted finish finished\n\
             started fail failed\nstarted cancel canceled\nfinished schedule scheduled\n\
             failed schedule scheduled\n"
        );
    }
}
