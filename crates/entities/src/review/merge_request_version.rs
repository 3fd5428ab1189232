//! Versions of a merge request's diff.

use kernel::Ts;
use review::merge_request::{Version, version::VersionState};
use serde::Serialize;
use utoipa::ToSchema;

use super::merge_request_detail::MergeRequestDetail;
use crate::repo::{commit::CommitEntity, diff::DiffEntity};

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct VersionEntity {
    pub id: i64,
    pub head_commit_sha: String,
    pub base_commit_sha: String,
    pub start_commit_sha: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
    pub merge_request_id: i64,
    #[schema(value_type = String)]
    pub state: VersionState,
    /// Number of changed files.
    pub real_size: String,
}

impl From<Version> for VersionEntity {
    fn from(version: Version) -> Self {
        Self {
            id: version.id.0,
            head_commit_sha: version.head_commit_sha,
            base_commit_sha: version.base_commit_sha,
            start_commit_sha: version.start_commit_sha,
            created_at: version.created_at,
            merge_request_id: version.merge_request_id.0,
            state: version.state,
            real_size: version.real_size.to_string(),
        }
    }
}

/// A diff version with its commits (newest first) and changed files.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WholeVersionEntity {
    #[serde(flatten)]
    pub version: VersionEntity,
    pub commits: Vec<CommitEntity>,
    pub diffs: Vec<DiffEntity>,
}

/// A merge request with its changed files.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangesEntity {
    #[serde(flatten)]
    pub merge_request: MergeRequestDetail,
    pub changes: Vec<DiffEntity>,
    /// Whether some diffs were left out because they exceed the size limit.
    pub overflow: bool,
}
