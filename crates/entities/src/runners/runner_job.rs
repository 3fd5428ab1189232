//! Jobs, as the list of a runner's jobs shows them.

use ci::Status;
use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

use super::runner::RunnerProjectEntity;
use crate::{
    ci::{job::JobBasicEntity, pipeline::PipelineEntity},
    deployments::shared_json::SharedJson,
    org::user::SingleUser,
    repo::commit::CommitEntity,
};

/// A job picked by a runner, with its project.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunnerJobEntity {
    pub id: i64,
    /// IP address of the runner's last contact.
    pub ip_address: Option<String>,
    #[schema(value_type = String)]
    pub status: Status,
    pub stage: String,
    pub name: String,
    #[serde(rename = "ref")]
    pub ref_name: String,
    pub tag: bool,
    pub coverage: Option<f64>,
    pub allow_failure: bool,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = Option<String>)]
    pub started_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub erased_at: Option<Ts>,
    /// Duration in seconds; for running jobs, up to now.
    pub duration: Option<f64>,
    pub queued_duration: Option<f64>,
    /// Null if the user has been deleted.
    #[schema(value_type = Option<SingleUser>)]
    pub user: Option<SharedJson>,
    #[schema(value_type = Option<CommitEntity>)]
    pub commit: Option<SharedJson>,
    #[schema(value_type = Option<PipelineEntity>)]
    pub pipeline: Option<SharedJson>,
    /// Present for failed jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    pub web_url: String,
    pub project: RunnerProjectEntity,
}

impl RunnerJobEntity {
    pub fn new(
        job: JobBasicEntity,
        project: RunnerProjectEntity,
        ip_address: Option<String>,
    ) -> Self {
        Self {
            id: job.id,
            ip_address,
            status: job.status,
            stage: job.stage,
            name: job.name,
            ref_name: job.ref_name,
            tag: job.tag,
            coverage: job.coverage,
            allow_failure: job.allow_failure,
            created_at: job.created_at,
            started_at: job.started_at,
            finished_at: job.finished_at,
            erased_at: job.erased_at,
            duration: job.duration,
            queued_duration: job.queued_duration,
            user: job.user,
            commit: job.commit,
            pipeline: job.pipeline,
            failure_reason: job.failure_reason,
            web_url: job.web_url,
            project,
        }
    }
}
