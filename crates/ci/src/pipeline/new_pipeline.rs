//! The parameters of a new pipeline.

use kernel::ids::{
    JobId, MergeRequestId, PipelineId, PipelineScheduleId, ProjectId, TriggerId, UserId,
};

use super::{ConfigSource, PipelineRef, PipelineVariable, Source};

/// The bridge that makes a pipeline, or the job that asks for it with its token, and the first of all that made one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    pub bridge: JobId,
    pub root: PipelineId,
}

/// A pipeline that is to be made.
#[derive(Clone, Debug)]
pub struct NewPipeline {
    pub project: ProjectId,
    /// The number in the project that was reserved for it; else it gets the next one.
    pub iid: Option<i64>,
    pub sha: String,
    pub before_sha: Option<String>,
    pub place: PipelineRef,
    /// The commit at which the ref is: its pipelines do not end for the sake of this one. `None` where it is not known.
    pub tip: Option<String>,
    pub protected: bool,
    pub source: Source,
    pub user: Option<UserId>,
    pub name: Option<String>,
    pub parent: Option<Parent>,
    pub merge_request: Option<MergeRequestId>,
    pub schedule: Option<PipelineScheduleId>,
    /// The run of the schedule: one makes one pipeline.
    pub schedule_run: Option<i64>,
    pub trigger: Option<TriggerId>,
    pub auto_cancel: Option<String>,
    pub cancel_on_failure: bool,
    pub config_source: Option<ConfigSource>,
    pub variables: Vec<PipelineVariable>,
}

impl NewPipeline {
    /// One for a commit, with nothing else known of it.
    pub fn of(
        project: ProjectId,
        sha: &str,
        place: PipelineRef,
        source: Source,
        user: Option<UserId>,
    ) -> Self {
        Self {
            project,
            iid: None,
            sha: sha.to_owned(),
            before_sha: None,
            place,
            tip: None,
            protected: false,
            source,
            user,
            name: None,
            parent: None,
            merge_request: None,
            schedule: None,
            schedule_run: None,
            trigger: None,
            auto_cancel: None,
            cancel_on_failure: false,
            config_source: None,
            variables: Vec::new(),
        }
    }
}
