//! Events of the application settings.

use kernel::ids::{ProjectId, UserId};
use serde::Serialize;

use super::document::Change;

/// Settings have other values than before.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingsUpdate {
    pub changes: Vec<Change>,
    /// Whose doing it is.
    pub by: Option<UserId>,
}

impl kernel::event::Event for SettingsUpdate {
    fn kind(&self) -> &'static str {
        "settings.changed"
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
