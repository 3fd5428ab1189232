//! The refs of a repository that keep the commits of pipelines.

use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct PipelineRefsEntity {
    /// Full names.
    pub pipeline_refs: Vec<String>,
}
