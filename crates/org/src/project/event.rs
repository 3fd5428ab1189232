//! What projects announce.

use kernel::ids::{NamespaceId, ProjectId};
use serde::Serialize;

/// A fact about a project.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A project is there, in whatever way it was made; its repository follows.
    ProjectCreated { project: ProjectId, namespace: NamespaceId },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::ProjectCreated { .. } => "project.created",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::ProjectCreated { project, .. } => Some(*project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
