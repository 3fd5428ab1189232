//! Who may do what has changed: for those who keep something that follows from it.

use kernel::ids::{NamespaceId, ProjectId, UserId};
use serde::Serialize;

use super::Reach;

/// Heard before the commit, and by nobody afterwards.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum Event {
    /// Roles were worked out anew.
    Roles(Reach),
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
            Self::Roles(Reach::Project(project)) | Self::ShareEnded { project, .. } => {
                Some(*project)
            }
            Self::Roles(Reach::Group(_) | Reach::Tree(_)) | Self::SignIn(_) => None,
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
