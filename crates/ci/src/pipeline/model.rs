//! A pipeline as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{JobId, MergeRequestId, PipelineId, PipelineScheduleId, ProjectId, TriggerId, UserId},
};

use crate::Status;

kernel::text_enum! {
    /// The source of a pipeline.
    pub enum Source {
        Push = "push",
        Web = "web",
        Trigger = "trigger",
        Schedule = "schedule",
        Api = "api",
        External = "external",
        Pipeline = "pipeline",
        Chat = "chat",
        WebIde = "webide",
        MergeRequestEvent = "merge_request_event",
        ExternalPullRequestEvent = "external_pull_request_event",
        ParentPipeline = "parent_pipeline",
        OndemandDastScan = "ondemand_dast_scan",
        OndemandDastValidation = "ondemand_dast_validation",
        // Nothing here makes these; lists are asked for them.
        SecurityOrchestrationPolicy = "security_orchestration_policy",
        ContainerRegistryPush = "container_registry_push",
        Unknown = "unknown",
    }
}

kernel::text_enum! {
    /// Where the configuration of a pipeline came from.
    pub enum ConfigSource {
        /// A file of the commit.
        Repository = "repository_source",
        /// The template for projects without one.
        AutoDevops = "auto_devops_source",
        /// An address.
        Remote = "remote_source",
        ExternalProject = "external_project_source",
        /// What the bridge includes that made it as a child.
        Bridge = "bridge_source",
    }
}

/// A branch or tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineRef {
    pub name: String,
    pub tag: bool,
}

#[derive(Clone, Debug, PartialEq, Queryable, Selectable)]
#[diesel(table_name = db::schema::pipelines, check_for_backend(db::AnyBackend))]
pub struct Pipeline {
    pub id: PipelineId,
    pub project_id: ProjectId,
    /// Counts within the project.
    pub iid: i64,
    pub sha: String,
    pub before_sha: Option<String>,
    /// A branch or tag.
    pub ref_name: String,
    pub tag: bool,
    pub protected: bool,
    pub source: Source,
    pub status: Status,
    /// Whether something failed that may.
    pub warnings: bool,
    pub yaml_errors: Option<String>,
    pub user_id: Option<UserId>,
    /// The mean of its jobs', with two digits.
    pub coverage: Option<String>,
    /// Seconds in which at least one job ran.
    pub duration: Option<i64>,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub started_at: Option<Ts>,
    pub finished_at: Option<Ts>,
    pub name: Option<String>,
    pub failure_reason: Option<String>,
    /// The pipeline at the top of those that made one another; `None` where nothing else made this one.
    pub root_id: Option<PipelineId>,
    /// The bridge that made it, or the job that asked for it.
    pub parent_job_id: Option<JobId>,
    pub merge_request_id: Option<MergeRequestId>,
    pub schedule_id: Option<PipelineScheduleId>,
    pub trigger_id: Option<TriggerId>,
    /// What a newer one of the same ref ends: `conservative`, `interruptible` or `none`.
    pub auto_cancel: Option<String>,
    pub auto_canceled_by: Option<PipelineId>,
    /// Whether the rest of it ends when a job fails that must not.
    pub cancel_on_failure: bool,
    /// `None` where it has no configuration, or was made before this was kept.
    pub config_source: Option<ConfigSource>,
}

impl Pipeline {
    pub fn place(&self) -> PipelineRef {
        PipelineRef { name: self.ref_name.clone(), tag: self.tag }
    }

    /// The first of the pipelines that made one another.
    pub fn root(&self) -> PipelineId {
        self.root_id.unwrap_or(self.id)
    }

    /// Whether it is among those that were made until then, which nobody changes any more.
    pub(crate) fn is_archived(&self, before: Option<Ts>) -> bool {
        before.is_some_and(|then| self.created_at <= then)
    }

    /// Seconds for which it waited; `None` for no time, or as long as it waits.
    pub fn queued_duration(&self) -> Option<i64> {
        let began = self.started_at.or(self.finished_at)?;
        Some(began.unix() - self.created_at.unix()).filter(|seconds| *seconds > 0)
    }
}
