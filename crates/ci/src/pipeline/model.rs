//! A pipeline as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{PipelineId, ProjectId, UserId},
};

use crate::Status;

kernel::text_enum! {
    /// What made a pipeline.
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
    }
}

/// A branch or tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub name: String,
    pub tag: bool,
}

#[derive(Clone, Debug, PartialEq, Queryable, Selectable)]
#[diesel(table_name = db::schema::pipelines, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
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
}

impl Pipeline {
    pub fn place(&self) -> Place {
        Place { name: self.ref_name.clone(), tag: self.tag }
    }

    /// Seconds for which it waited; `None` for no time, or as long as it waits.
    pub fn queued_duration(&self) -> Option<i64> {
        let began = self.started_at.or(self.finished_at)?;
        Some(began.unix() - self.created_at.unix()).filter(|seconds| *seconds > 0)
    }
}
