//! Events of epics.

use kernel::ids::{NamespaceId, ProjectId, UserId};
use serde::Serialize;

use super::Epic;
use crate::event::Change;

/// A fact about an epic.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Opened { epic: Fact, user: UserId },
    Updated { epic: Fact, user: UserId, changes: Vec<Change> },
    Closed { epic: Fact, user: UserId },
    Reopened { epic: Fact, user: UserId },
    Removed { epic: Fact, user: UserId },
}

/// An epic, as those need it who cannot ask for it any more.
#[derive(Debug, Serialize)]
pub struct Fact {
    pub id: i64,
    pub iid: i64,
    pub group: NamespaceId,
    pub title: String,
    pub confidential: bool,
}

impl From<&Epic> for Fact {
    fn from(epic: &Epic) -> Self {
        Self {
            id: epic.id,
            iid: epic.iid,
            group: epic.namespace_id,
            title: epic.title.clone(),
            confidential: epic.confidential,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "epic.opened",
            Self::Updated { .. } => "epic.updated",
            Self::Closed { .. } => "epic.closed",
            Self::Reopened { .. } => "epic.reopened",
            Self::Removed { .. } => "epic.removed",
        }
    }

    /// Epics are those of groups.
    fn project(&self) -> Option<ProjectId> {
        None
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
