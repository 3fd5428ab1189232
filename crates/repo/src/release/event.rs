//! Events of releases.

use kernel::ids::{ProjectId, UserId};
use serde::Serialize;

/// The action of a release event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseAction {
    Create,
    Update,
}

/// A release was made or changed.
#[derive(Clone, Debug, Serialize)]
pub struct Event {
    pub project: ProjectId,
    pub user: Option<UserId>,
    pub tag: String,
    pub action: ReleaseAction,
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self.action {
            ReleaseAction::Create => "release.created",
            ReleaseAction::Update => "release.updated",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        Some(self.project)
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
