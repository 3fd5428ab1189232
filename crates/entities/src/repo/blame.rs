//! Blame: the last commit of each line.

use repo::git::CommitInfo;
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::commit_time;

/// Consecutive lines last changed by the same commit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BlameEntity {
    pub commit: BlamedCommitEntity,
    pub lines: Vec<String>,
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct BlamedCommitEntity {
    pub id: String,
    pub parent_ids: Vec<String>,
    pub message: String,
    pub authored_date: String,
    pub author_name: String,
    pub author_email: String,
    pub committed_date: String,
    pub committer_name: String,
    pub committer_email: String,
}

impl From<&CommitInfo> for BlamedCommitEntity {
    fn from(commit: &CommitInfo) -> Self {
        Self {
            id: commit.id.to_string(),
            parent_ids: commit.parents.iter().map(ToString::to_string).collect(),
            message: commit.message.clone(),
            authored_date: commit_time(commit.author.at, commit.author.offset),
            author_name: commit.author.name.clone(),
            author_email: commit.author.email.clone(),
            committed_date: commit_time(commit.committer.at, commit.committer.offset),
            committer_name: commit.committer.name.clone(),
            committer_email: commit.committer.email.clone(),
        }
    }
}
