//! What projects announce.

use kernel::ids::{NamespaceId, ProjectId, UserId};
use serde::Serialize;

/// A fact about a project.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A project is there, in whatever way it was made; its repository follows.
    ProjectCreated { project: ProjectId, namespace: NamespaceId, creator: UserId, name: String },
    /// So many people have to approve each merge request.
    ApprovalsRequired { project: ProjectId, required: i64 },
    /// Nothing leads from it to other projects any more: it is deleted, or is no fork of theirs from now on.
    NetworkLeft { project: ProjectId, user: Option<UserId> },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::ProjectCreated { .. } => "project.created",
            Self::ApprovalsRequired { .. } => "project.approvals_required",
            Self::NetworkLeft { .. } => "project.network_left",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::ProjectCreated { project, .. }
            | Self::ApprovalsRequired { project, .. }
            | Self::NetworkLeft { project, .. } => Some(*project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
