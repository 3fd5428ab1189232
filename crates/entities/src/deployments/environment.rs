//! Environments.

use deployments::environment::{Environment, EnvironmentState, Tier};
use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

use super::deployment::DeploymentEntity;
use crate::org::project::BasicProject;

/// Short form of an environment.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EnvironmentBasicEntity {
    pub id: i64,
    pub name: String,
    pub slug: String,
    pub external_url: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
}

impl From<&Environment> for EnvironmentBasicEntity {
    fn from(environment: &Environment) -> Self {
        Self {
            id: environment.id.0,
            name: environment.name.clone(),
            slug: environment.slug.clone(),
            external_url: environment.external_url.clone(),
            created_at: environment.created_at,
            updated_at: environment.updated_at,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct EnvironmentEntity {
    #[serde(flatten)]
    pub basic: EnvironmentBasicEntity,
    #[schema(value_type = String)]
    pub tier: Tier,
    /// Absent when a single environment is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Box<BasicProject>>,
    /// Only when a single environment is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_deployment: Option<Option<Box<DeploymentEntity>>>,
    #[schema(value_type = String)]
    pub state: EnvironmentState,
    /// When the environment stops by itself.
    #[schema(value_type = Option<String>)]
    pub auto_stop_at: Option<Ts>,
}

impl EnvironmentEntity {
    pub fn new(environment: &Environment, project: Option<BasicProject>) -> Self {
        Self {
            basic: environment.into(),
            tier: environment.tier,
            project: project.map(Box::new),
            last_deployment: None,
            state: environment.state,
            auto_stop_at: environment.auto_stop_at,
        }
    }

    /// With what was deployed to it last.
    #[must_use]
    pub fn with_last_deployment(self, last: Option<DeploymentEntity>) -> Self {
        Self { last_deployment: Some(last.map(Box::new)), ..self }
    }
}

/// Review apps scheduled for removal.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewAppRemovalEntity {
    /// Environments that will be removed.
    pub scheduled_entries: Vec<EnvironmentBasicEntity>,
    /// Environments that cannot be removed.
    pub unprocessable_entries: Vec<EnvironmentBasicEntity>,
    /// Error message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'static str>,
}

/// Result of the request.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct PromiseEntity {
    pub message: &'static str,
}
