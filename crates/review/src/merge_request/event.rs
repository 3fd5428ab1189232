//! Events of merge requests.

use kernel::ids::{MergeRequestId, ProjectId, UserId};
use serde::Serialize;

use super::state::Step;
use crate::event::{Change, EarlierValues};

/// A fact about a merge request of a project.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    Opened {
        merge_request: MergeRequestId,
        project: ProjectId,
        user: UserId,
    },
    /// Somebody changed one or more of its attributes.
    Updated {
        merge_request: MergeRequestId,
        project: ProjectId,
        user: UserId,
        changes: Vec<Change>,
        /// What it said of itself before and says now, for those who hear it at once.
        #[serde(skip)]
        described: Option<Box<(Option<String>, Option<String>)>>,
        #[serde(skip)]
        earlier: EarlierValues,
    },
    /// Its state is another one.
    Stepped {
        merge_request: MergeRequestId,
        project: ProjectId,
        user: Option<UserId>,
        step: Step,
        #[serde(skip)]
        earlier: EarlierValues,
    },
    /// It holds other commits than before: git has to look at it again.
    Moved {
        merge_request: MergeRequestId,
        project: ProjectId,
        head: Option<String>,
        /// Who opens it with that head; `None` where it is there already.
        opener: Option<UserId>,
    },
    Removed {
        merge_request: MergeRequestId,
        project: ProjectId,
        iid: i64,
        user: UserId,
    },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::Opened { .. } => "merge_request.opened",
            Self::Updated { .. } => "merge_request.updated",
            Self::Stepped { .. } => "merge_request.stepped",
            Self::Moved { .. } => "merge_request.moved",
            Self::Removed { .. } => "merge_request.removed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::Opened { project, .. }
            | Self::Updated { project, .. }
            | Self::Stepped { project, .. }
            | Self::Moved { project, .. }
            | Self::Removed { project, .. } => Some(*project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
