//! Pipelines, as lists and other records mention them, and whole.

use ci::{
    Status,
    pipeline::{Pipeline, PipelineVariable, Source, VariableType},
};
use db::Tx;
use forge::urls::Urls;
use kernel::{Result, Ts, access::ProjectFacts};
use org::user::{User, store::UserStore as _};
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::brief_user::BriefUser;

/// Short form of a pipeline.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PipelineEntity {
    pub id: i64,
    pub iid: i64,
    pub project_id: i64,
    pub sha: String,
    #[serde(rename = "ref")]
    pub ref_name: String,
    #[schema(value_type = String)]
    pub status: Status,
    #[schema(value_type = String)]
    pub source: Source,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    pub web_url: String,
    /// Name given by `workflow:name` or set later.
    pub name: Option<String>,
}

impl PipelineEntity {
    /// `project_url` is the address of the project's page.
    pub fn new(pipeline: &Pipeline, project_url: &str) -> Self {
        Self {
            id: pipeline.id.0,
            iid: pipeline.iid,
            project_id: pipeline.project_id.0,
            sha: pipeline.sha.clone(),
            ref_name: pipeline.ref_name.clone(),
            status: pipeline.status,
            source: pipeline.source,
            created_at: pipeline.created_at,
            updated_at: pipeline.updated_at,
            web_url: format!("{project_url}/-/pipelines/{}", pipeline.id),
            name: pipeline.name.clone(),
        }
    }
}

/// A pipeline with all fields.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FullPipelineEntity {
    #[serde(flatten)]
    pub basic: PipelineEntity,
    pub before_sha: String,
    pub tag: bool,
    pub yaml_errors: Option<String>,
    /// Null when the user has been deleted.
    pub user: Option<BriefUser>,
    #[schema(value_type = Option<String>)]
    pub started_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub finished_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub committed_at: Option<Ts>,
    pub duration: Option<i64>,
    pub queued_duration: Option<i64>,
    pub coverage: Option<String>,
    pub detailed_status: DetailedStatusEntity,
}

impl FullPipelineEntity {
    /// The pipeline with the user who started it.
    pub fn load(
        tx: &mut Tx<'_>,
        urls: &Urls,
        project: &ProjectFacts,
        pipeline: &Pipeline,
    ) -> Result<Self> {
        let user = match pipeline.user_id {
            Some(id) => tx.find_user(id)?,
            None => None,
        };
        Ok(Self::new(urls, project, pipeline, user.as_ref()))
    }

    pub fn new(
        urls: &Urls,
        project: &ProjectFacts,
        pipeline: &Pipeline,
        user: Option<&User>,
    ) -> Self {
        Self {
            basic: PipelineEntity::new(pipeline, &urls.at(&project.full_path)),
            before_sha: pipeline.before_sha.clone().unwrap_or_else(|| "0".repeat(40)),
            tag: pipeline.tag,
            yaml_errors: pipeline.yaml_errors.clone(),
            user: user.map(|user| BriefUser::new(urls, user)),
            started_at: pipeline.started_at,
            finished_at: pipeline.finished_at,
            committed_at: None,
            duration: pipeline.duration,
            queued_duration: pipeline.queued_duration(),
            coverage: pipeline.coverage.clone(),
            detailed_status: DetailedStatusEntity::new(project, pipeline),
        }
    }
}

/// Status of a pipeline or job for display.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DetailedStatusEntity {
    pub icon: &'static str,
    pub text: &'static str,
    pub label: &'static str,
    pub group: &'static str,
    pub tooltip: &'static str,
    pub has_details: bool,
    pub details_path: String,
    pub illustration: Option<String>,
    pub favicon: String,
}

impl DetailedStatusEntity {
    pub fn new(project: &ProjectFacts, pipeline: &Pipeline) -> Self {
        let path = format!("/{}/-/pipelines/{}", project.full_path, pipeline.id);
        Self::of(pipeline.status, pipeline.warnings, path)
    }

    /// The status of a pipeline or a stage; `details_path` leads to its page.
    pub fn of(status: Status, warnings: bool, details_path: String) -> Self {
        let (icon, text, label, group) = words(status, warnings);
        let name = icon.trim_start_matches("status_");
        let favicon = if name == "warning" { "success" } else { name };
        Self {
            icon,
            text,
            label,
            group,
            tooltip: label,
            has_details: true,
            details_path,
            illustration: None,
            favicon: format!("/assets/ci_favicons/favicon_status_{favicon}.png"),
        }
    }
}

/// Icon, text, label and group.
fn words(
    status: Status,
    warnings: bool,
) -> (&'static str, &'static str, &'static str, &'static str) {
    match status {
        Status::Created => ("status_created", "created", "created", "created"),
        Status::WaitingForResource => {
            ("status_pending", "waiting", "waiting for resource", "waiting-for-resource")
        }
        Status::Preparing => ("status_preparing", "preparing", "preparing", "preparing"),
        Status::Pending => ("status_pending", "pending", "pending", "pending"),
        Status::Running => ("status_running", "running", "running", "running"),
        Status::Success if warnings => {
            ("status_warning", "passed", "passed with warnings", "success-with-warnings")
        }
        Status::Success => ("status_success", "passed", "passed", "success"),
        Status::Failed => ("status_failed", "failed", "failed", "failed"),
        Status::Canceled => ("status_canceled", "canceled", "canceled", "canceled"),
        Status::Skipped => ("status_skipped", "skipped", "skipped", "skipped"),
        Status::Manual => ("status_manual", "blocked", "waiting for manual action", "manual"),
        Status::Scheduled => {
            ("status_scheduled", "delayed", "waiting for delayed job", "scheduled")
        }
    }
}

/// A variable given when the pipeline was created.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PipelineVariableEntity {
    #[schema(value_type = String)]
    pub variable_type: VariableType,
    pub key: String,
    pub value: String,
    pub raw: bool,
}

impl From<PipelineVariable> for PipelineVariableEntity {
    fn from(variable: PipelineVariable) -> Self {
        let PipelineVariable { variable_type, key, value, raw } = variable;
        Self { variable_type, key, value, raw }
    }
}
