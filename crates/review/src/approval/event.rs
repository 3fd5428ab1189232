//! Events of approvals.

use kernel::ids::{MergeRequestId, ProjectId, UserId};
use serde::Serialize;

use crate::merge_request::MergeRequest;

/// A fact about who agreed to a merge request.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Somebody approved; `complete` when nobody has to any more.
    Approved { of: ApprovalSubject, user: UserId, complete: bool },
    /// Somebody took their approval back; `lost` when it was approved by that and is not any more.
    Unapproved { of: ApprovalSubject, user: UserId, lost: bool },
    /// Somebody pushed to its source branch, which was at `from`: the approvals of the owners of what that changed are
    /// to be taken back.
    Pushed { of: ApprovalSubject, user: UserId, from: Option<String> },
    /// All that is there was taken back, or some of it.
    Reset { of: ApprovalSubject, user: Option<UserId>, taken_from: Vec<UserId> },
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct ApprovalSubject {
    pub project: ProjectId,
    pub merge_request: MergeRequestId,
    pub iid: i64,
}

impl From<&MergeRequest> for ApprovalSubject {
    fn from(request: &MergeRequest) -> Self {
        Self { project: request.project_id, merge_request: request.id, iid: request.iid }
    }
}

impl Event {
    pub fn of(&self) -> ApprovalSubject {
        match self {
            Self::Approved { of, .. }
            | Self::Unapproved { of, .. }
            | Self::Pushed { of, .. }
            | Self::Reset { of, .. } => *of,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::Approved { .. } => "merge_request.approved",
            Self::Unapproved { .. } => "merge_request.unapproved",
            Self::Pushed { .. } => "merge_request.pushed",
            Self::Reset { .. } => "merge_request.approvals_reset",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        Some(self.of().project)
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
