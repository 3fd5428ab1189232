//! A deployment as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{DeploymentId, EnvironmentId, JobId, ProjectId, UserId},
};

use super::DeploymentStatus;

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::deployments, check_for_backend(db::AnyBackend))]
pub struct Deployment {
    pub id: DeploymentId,
    pub project_id: ProjectId,
    pub environment_id: EnvironmentId,
    /// Number in the project.
    pub iid: i64,
    /// A branch or tag.
    pub ref_name: String,
    pub tag: bool,
    pub sha: String,
    pub user_id: Option<UserId>,
    /// The job that does it; `None` where somebody else reports how far it is.
    pub job_id: Option<JobId>,
    pub status: DeploymentStatus,
    /// Name of the job that stops the environment.
    pub on_stop: Option<String>,
    /// The address of the environment as the job told it.
    pub environment_url: Option<String>,
    /// How long the environment stays, as the job was told it.
    pub auto_stop_in: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub finished_at: Option<Ts>,
}
