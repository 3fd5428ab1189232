//! Events of CI.

use kernel::ids::{JobId, PipelineId, ProjectId};
use serde::Serialize;

use crate::{
    Status,
    job::{JobKind, Member},
    pipeline::{Pipeline, Source},
};

/// A state change of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct JobMove {
    pub job: JobId,
    pub kind: JobKind,
    pub status: Status,
}

impl JobMove {
    pub(crate) fn of(member: &Member) -> Self {
        Self { job: member.id, kind: member.kind, status: member.status }
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A job, or a status that somebody else reports, is further than before.
    StatusChanged {
        project: ProjectId,
        pipeline: PipelineId,
        job: JobId,
        sha: String,
        name: String,
        before: Status,
        status: Status,
    },
    /// Jobs of a pipeline went on, since what they waited for has ended, or since somebody wanted it.
    JobsMoved { project: ProjectId, pipeline: PipelineId, jobs: Vec<JobMove> },
    /// A pipeline is made with jobs that have an environment; heard before what these do.
    EnvironmentsNamed { project: ProjectId, pipeline: PipelineId },
    /// What a job left behind goes, its log with it.
    JobErased { project: ProjectId, job: JobId },
    /// A pipeline is gone with all of its jobs.
    PipelineRemoved { project: ProjectId, pipeline: PipelineId },
    /// A pipeline began, went on or ended; the status says which.
    PipelineChanged {
        project: ProjectId,
        pipeline: PipelineId,
        sha: String,
        /// A branch or tag.
        ref_name: String,
        tag: bool,
        source: Source,
        before: Status,
        status: Status,
    },
}

impl Event {
    pub(crate) fn changed(pipeline: &Pipeline, before: Status) -> Self {
        Self::PipelineChanged {
            project: pipeline.project_id,
            pipeline: pipeline.id,
            sha: pipeline.sha.clone(),
            ref_name: pipeline.ref_name.clone(),
            tag: pipeline.tag,
            source: pipeline.source,
            before,
            status: pipeline.status,
        }
    }
}

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::StatusChanged { .. } => "job.changed",
            Self::JobsMoved { .. } => "jobs.moved",
            Self::EnvironmentsNamed { .. } => "pipeline.environments",
            Self::JobErased { .. } => "job.erased",
            Self::PipelineRemoved { .. } => "pipeline.removed",
            Self::PipelineChanged { .. } => "pipeline.changed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::StatusChanged { project, .. }
            | Self::JobsMoved { project, .. }
            | Self::EnvironmentsNamed { project, .. }
            | Self::JobErased { project, .. }
            | Self::PipelineRemoved { project, .. }
            | Self::PipelineChanged { project, .. } => Some(*project),
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
