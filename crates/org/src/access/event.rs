//! Events of changed roles.

use kernel::ids::{NamespaceId, ProjectId, UserId};
use serde::Serialize;

use super::AccessScope;

/// Heard before the commit, and by nobody afterwards.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum Event {
    /// Roles were worked out anew.
    Roles(AccessScope),
    /// A project is shared with a group no more.
    ShareEnded { project: ProjectId, group: NamespaceId },
    /// Somebody may sign in who could not, or the other way round.
    SignIn(UserId),
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::Roles(_) => "access.roles",
            Self::ShareEnded { .. } => "access.share_ended",
            Self::SignIn(_) => "access.sign_in",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::Roles(AccessScope::Project(project)) | Self::ShareEnded { project, .. } => {
                Some(*project)
            }
            Self::Roles(AccessScope::Group(_) | AccessScope::Tree(_)) | Self::SignIn(_) => None,
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
