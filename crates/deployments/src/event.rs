//! Events of environments and deployments.

use kernel::ids::{DeploymentId, EnvironmentId, ProjectId};
use serde::Serialize;

use crate::{deployment::DeploymentStatus, environment::EnvironmentState};

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// An environment is there, was changed, or is in another state.
    EnvironmentChanged { project: ProjectId, environment: EnvironmentId, state: EnvironmentState },
    /// An environment is gone with all that was deployed to it.
    EnvironmentRemoved { project: ProjectId, environment: EnvironmentId, slug: String },
    /// A deployment is there, or goes on; the status says how far it is.
    DeploymentChanged {
        project: ProjectId,
        environment: EnvironmentId,
        deployment: DeploymentId,
        status: DeploymentStatus,
    },
    /// A deployment of the environment with this slug is gone.
    DeploymentRemoved { project: ProjectId, slug: String, iid: i64 },
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::EnvironmentChanged { .. } => "environment.changed",
            Self::EnvironmentRemoved { .. } => "environment.removed",
            Self::DeploymentChanged { .. } => "deployment.changed",
            Self::DeploymentRemoved { .. } => "deployment.removed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::EnvironmentChanged { project, .. }
            | Self::EnvironmentRemoved { project, .. }
            | Self::DeploymentChanged { project, .. }
            | Self::DeploymentRemoved { project, .. } => Some(*project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
