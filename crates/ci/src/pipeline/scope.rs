//! The scopes of pipeline lists: by state, or the latest of each branch or tag.

use crate::Status;

kernel::text_enum! {
    /// Which pipelines are wanted: by how far they are, or of each branch or tag the newest.
    pub enum PipelineScope {
        Running = "running",
        Pending = "pending",
        Finished = "finished",
        Branches = "branches",
        Tags = "tags",
    }
}

impl PipelineScope {
    /// The statuses of the pipelines in the scope; empty for any.
    fn statuses(self) -> &'static [Status] {
        match self {
            Self::Running => &[Status::Running],
            Self::Pending => &[Status::Pending],
            Self::Finished => &[Status::Success, Status::Failed, Status::Canceled],
            Self::Branches | Self::Tags => &[],
        }
    }

    /// The statuses that fit both; empty for any, `None` where the two contradict each other.
    pub fn statuses_of(scope: Option<Self>, status: Option<Status>) -> Option<Vec<Status>> {
        let of_scope = scope.map_or(&[][..], Self::statuses);
        match status {
            None => Some(of_scope.to_vec()),
            Some(status) if of_scope.is_empty() || of_scope.contains(&status) => Some(vec![status]),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PipelineScope;
    use crate::Status;

    #[test]
    fn a_status_outside_of_the_scope_fits_nothing() {
        let of = PipelineScope::statuses_of;
        assert_eq!(of(Some(PipelineScope::Running), Some(Status::Failed)), None);
        assert_eq!(
            of(Some(PipelineScope::Finished), Some(Status::Failed)),
            Some(vec![Status::Failed])
        );
        assert_eq!(of(Some(PipelineScope::Tags), None), Some(Vec::new()));
    }
}
