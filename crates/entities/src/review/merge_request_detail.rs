//! One merge request, with what only its own record tells.

use kernel::Ts;
use review::merge_request::{MergeRequest, version::MOST_FILES};
use serde::Serialize;
use utoipa::ToSchema;

use super::merge_request::MergeRequestEntity;
use crate::ci::pipeline::{FullPipelineEntity, PipelineEntity};

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MergeRequestDetail {
    #[serde(flatten)]
    pub basic: MergeRequestEntity,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribed: Option<bool>,
    /// Number of changed files; `1000+` beyond that.
    pub changes_count: Option<String>,
    #[schema(value_type = Option<String>)]
    pub latest_build_started_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub latest_build_finished_at: Option<Ts>,
    #[schema(value_type = Option<String>)]
    pub first_deployed_to_production_at: Option<Ts>,
    /// Latest pipeline of the latest commit.
    pub pipeline: Option<PipelineEntity>,
    pub head_pipeline: Option<FullPipelineEntity>,
    pub diff_refs: Option<DiffRefs>,
    pub merge_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebase_in_progress: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diverged_commits_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_contribution: Option<bool>,
    pub user: CallerRights,
}

/// Base, start and head commit of the diff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DiffRefs {
    pub base_sha: String,
    pub head_sha: String,
    pub start_sha: String,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct CallerRights {
    pub can_merge: bool,
}

/// What was found out beside the row.
#[derive(Clone, Copy, Debug, Default)]
pub struct DetailFacts {
    pub subscribed: Option<bool>,
    pub can_merge: bool,
    pub first_contribution: Option<bool>,
    pub rebase_in_progress: Option<bool>,
    pub diverged_commits: Option<usize>,
    pub in_production_since: Option<Ts>,
}

impl MergeRequestDetail {
    /// `basic` shows the same row.
    pub fn new(
        basic: MergeRequestEntity,
        row: &MergeRequest,
        pipeline: Option<FullPipelineEntity>,
        known: DetailFacts,
    ) -> Self {
        Self {
            basic,
            subscribed: known.subscribed,
            changes_count: row.changes_count.map(|files| match files > MOST_FILES {
                true => format!("{MOST_FILES}+"),
                false => files.to_string(),
            }),
            latest_build_started_at: pipeline.as_ref().and_then(|found| found.started_at),
            latest_build_finished_at: pipeline.as_ref().and_then(|found| found.finished_at),
            first_deployed_to_production_at: known.in_production_since,
            pipeline: pipeline.as_ref().map(|found| found.basic.clone()),
            head_pipeline: pipeline,
            diff_refs: diff_refs(row),
            merge_error: row.merge_error.clone(),
            rebase_in_progress: known.rebase_in_progress,
            diverged_commits_count: known.diverged_commits,
            first_contribution: known.first_contribution,
            user: CallerRights { can_merge: known.can_merge },
        }
    }
}

fn diff_refs(row: &MergeRequest) -> Option<DiffRefs> {
    Some(DiffRefs {
        base_sha: row.base_sha.clone()?,
        head_sha: row.head_sha.clone()?,
        start_sha: row.start_sha.clone()?,
    })
}
