//! Deployments.

use deployments::deployment::{Deployment, DeploymentStatus};
use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

use super::{environment::EnvironmentBasicEntity, shared_json::SharedJson};
use crate::{ci::job::JobEntity, org::brief_user::BriefUser};

#[derive(Debug, Serialize, ToSchema)]
pub struct DeploymentEntity {
    pub id: i64,
    pub iid: i64,
    #[serde(rename = "ref")]
    pub ref_name: String,
    pub sha: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    /// Null if the user has been deleted.
    #[schema(value_type = Option<BriefUser>)]
    pub user: Option<SharedJson>,
    /// Absent when a single environment is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<EnvironmentBasicEntity>)]
    pub environment: Option<SharedJson>,
    /// The job that deploys; null when the deployment was reported through the API.
    pub deployable: Option<Box<JobEntity>>,
    #[schema(value_type = String)]
    pub status: DeploymentStatus,
}

impl DeploymentEntity {
    pub fn new(
        deployment: Deployment,
        user: Option<SharedJson>,
        environment: Option<SharedJson>,
        deployable: Option<Box<JobEntity>>,
    ) -> Self {
        Self {
            id: deployment.id.0,
            iid: deployment.iid,
            ref_name: deployment.ref_name,
            sha: deployment.sha,
            created_at: deployment.created_at,
            updated_at: deployment.updated_at,
            user,
            environment,
            deployable,
            status: deployment.status,
        }
    }

    /// As it is told where its environment is told.
    #[must_use]
    pub fn without_environment(self) -> Self {
        Self { environment: None, ..self }
    }
}
