//! What ci announces.

use kernel::ids::{JobId, PipelineId, ProjectId};
use serde::Serialize;

use crate::{Status, pipeline::Source};

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

impl kernel::event::Event for Event {
    fn kind(&self) -> &'static str {
        match self {
            Self::StatusChanged { .. } => "job.changed",
            Self::PipelineChanged { .. } => "pipeline.changed",
        }
    }

    fn project(&self) -> Option<ProjectId> {
        match self {
            Self::StatusChanged { project, .. } | Self::PipelineChanged { project, .. } => {
                Some(*project)
            }
        }
    }

    fn payload(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
