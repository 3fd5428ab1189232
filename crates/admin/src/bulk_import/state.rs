//! The states of bulk imports and of their entities.

kernel::text_enum! {
    /// The state of a bulk import, or of one entity.
    pub enum BulkStatus {
        Created = "created",
        Started = "started",
        Finished = "finished",
        Failed = "failed",
        /// Final.
        Canceled = "canceled",
    }
}

kernel::text_enum! {
    pub enum BulkStep {
        Start = "start",
        Finish = "finish",
        Fail = "fail",
        Cancel = "cancel",
    }
}

impl BulkStatus {
    /// The state after a step; `None` where the step is not possible.
    pub fn after(self, step: BulkStep) -> Option<Self> {
        match (self, step) {
            (Self::Created | Self::Started, BulkStep::Start) => Some(Self::Started),
            (Self::Started, BulkStep::Finish) => Some(Self::Finished),
            (Self::Created | Self::Started, BulkStep::Fail) => Some(Self::Failed),
            (Self::Created | Self::Started, BulkStep::Cancel) => Some(Self::Canceled),
            (Self::Created, BulkStep::Finish)
            | (Self::Finished | Self::Failed | Self::Canceled, _) => None,
        }
    }

    /// Whether work is still to be done.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Created | Self::Started)
    }
}

#[cfg(test)]
mod tests {
    use kernel::TextEnum as _;

    use super::{BulkStatus, BulkStep};

    #[test]
    fn every_status_meets_every_step() {
        let mut table = String::new();
        for status in BulkStatus::ALL {
            for step in BulkStep::ALL {
                if let Some(after) = status.after(*step) {
                    table += &format!("{status} {step} {after}\n");
                }
            }
        }
        assert_eq!(
            table,
            "created start started\ncreated fail failed\ncreated cancel canceled\n\
             started start started\nstarted finish finished\nstarted fail failed\n\
             started cancel canceled\n"
        );
    }
}
