//! Events of this crate.

use kernel::ids::{AlertId, ProjectId, UserId, VulnerabilityId};
use serde::Serialize;

use crate::vulnerability::State;

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// Scanners reported vulnerabilities that nobody knew. Mentioned in the transaction that keeps them.
    VulnerabilitiesDetected {
        project: ProjectId,
        vulnerabilities: Vec<VulnerabilityId>,
    },
    /// Somebody said what is to be thought of a vulnerability.
    VulnerabilityChanged {
        project: ProjectId,
        vulnerability: VulnerabilityId,
        user: UserId,
        before: State,
        state: State,
    },
    /// A monitor told of something new.
    AlertTriggered {
        project: ProjectId,
        alert: AlertId,
        iid: i64,
    },
    AlertResolved {
        project: ProjectId,
        alert: AlertId,
        iid: i64,
    },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::VulnerabilitiesDetected { .. } => "vulnerability.detected",
            Self::VulnerabilityChanged { .. } => "vulnerability.changed",
            Self::AlertTriggered { .. } => "alert.triggered",
            Self::AlertResolved { .. } => "alert.resolved",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::VulnerabilitiesDetected { project, .. }
            | Self::VulnerabilityChanged { project, .. }
            | Self::AlertTriggered { project, .. }
            | Self::AlertResolved { project, .. } => Some(*project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
