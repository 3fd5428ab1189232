//! Storage statistics of a group.

use org::project::statistics::Statistics;
use serde::Serialize;
use utoipa::ToSchema;

use super::project_parts::StatisticsEntity;

#[derive(Debug, Serialize, ToSchema)]
pub struct GroupStatisticsEntity {
    storage_size: i64,
    repository_size: i64,
    wiki_size: i64,
    lfs_objects_size: i64,
    job_artifacts_size: i64,
    pipeline_artifacts_size: i64,
    packages_size: i64,
    snippets_size: i64,
    uploads_size: i64,
}

impl GroupStatisticsEntity {
    /// What a project of all these sizes, with these bytes of artifacts, would tell.
    pub fn new(sum: Statistics, artifacts: i64) -> Self {
        let mut whole = StatisticsEntity::from(sum);
        whole.add_artifacts(artifacts);
        Self {
            storage_size: whole.storage_size,
            repository_size: whole.repository_size,
            wiki_size: whole.wiki_size,
            lfs_objects_size: whole.lfs_objects_size,
            job_artifacts_size: whole.job_artifacts_size,
            pipeline_artifacts_size: whole.pipeline_artifacts_size,
            packages_size: whole.packages_size,
            snippets_size: whole.snippets_size,
            uploads_size: whole.uploads_size,
        }
    }
}
