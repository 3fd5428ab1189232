//! Events of projects.

use kernel::ids::{NamespaceId, ProjectId, UserId};
use serde::Serialize;

use super::Project;

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
    /// Its record reads otherwise; its address is the same.
    ProjectUpdated { project: ProjectId },
    /// It has another address; `transferred` where it lies in another namespace.
    ProjectMoved { project: ProjectId, old_path: String, transferred: bool },
    /// It is to be deleted after the days that the settings give it.
    ProjectDeletionMarked { project: ProjectId, user: Option<UserId> },
    /// It stays, and was to be deleted.
    ProjectRestored { project: ProjectId, user: Option<UserId> },
    /// It is gone for everybody; its rows follow.
    ProjectDestroyed {
        project: ProjectId,
        #[serde(skip)]
        record: Box<Project>,
    },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::ProjectCreated { .. } => "project.created",
            Self::ApprovalsRequired { .. } => "project.approvals_required",
            Self::NetworkLeft { .. } => "project.network_left",
            Self::ProjectUpdated { .. } => "project.updated",
            Self::ProjectMoved { .. } => "project.moved",
            Self::ProjectDeletionMarked { .. } => "project.deletion_marked",
            Self::ProjectRestored { .. } => "project.restored",
            Self::ProjectDestroyed { .. } => "project.destroyed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::ProjectCreated { project, .. }
            | Self::ApprovalsRequired { project, .. }
            | Self::NetworkLeft { project, .. }
            | Self::ProjectUpdated { project }
            | Self::ProjectMoved { project, .. }
            | Self::ProjectDeletionMarked { project, .. }
            | Self::ProjectRestored { project, .. }
            | Self::ProjectDestroyed { project, .. } => Some(*project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
