//! Events of runners.

use kernel::ids::{ProjectId, RunnerId};
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A runner was changed or removed.
    RunnerChanged { runner: RunnerId },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        "runner.changed"
    }

    fn project(&self) -> Option<ProjectId> {
        None
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
