//! Commits as the API shows them.

use std::collections::BTreeMap;

use ci::pipeline::Pipeline;
use kernel::ids::ProjectId;
use repo::git::{CommitInfo, LineStats, RefKind, RefName};
use serde::Serialize;
use time::{OffsetDateTime, UtcOffset, macros::format_description};
use utoipa::ToSchema;

use crate::ci::pipeline::PipelineEntity;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CommitEntity {
    pub id: String,
    pub short_id: String,
    pub created_at: String,
    pub parent_ids: Vec<String>,
    pub title: String,
    pub message: String,
    pub author_name: String,
    pub author_email: String,
    pub authored_date: String,
    pub committer_name: String,
    pub committer_email: String,
    pub committed_date: String,
    pub trailers: BTreeMap<String, String>,
    pub extended_trailers: BTreeMap<String, Vec<String>>,
    pub web_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stats: Option<StatsEntity>,
}

#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct StatsEntity {
    pub additions: u64,
    pub deletions: u64,
    pub total: u64,
}

impl From<LineStats> for StatsEntity {
    fn from(stats: LineStats) -> Self {
        Self { additions: stats.additions, deletions: stats.deletions, total: stats.total() }
    }
}

impl CommitEntity {
    /// `project_url` is the address of the project's page.
    pub fn new(commit: &CommitInfo, project_url: &str) -> Self {
        let committed_date = commit_time(commit.committer.at, commit.committer.offset);
        Self {
            id: commit.id.to_string(),
            short_id: commit.id.short(),
            created_at: committed_date.clone(),
            parent_ids: commit.parents.iter().map(ToString::to_string).collect(),
            title: commit.title.clone(),
            message: commit.message.clone(),
            author_name: commit.author.name.clone(),
            author_email: commit.author.email.clone(),
            authored_date: commit_time(commit.author.at, commit.author.offset),
            committer_name: commit.committer.name.clone(),
            committer_email: commit.committer.email.clone(),
            committed_date,
            trailers: BTreeMap::new(),
            extended_trailers: BTreeMap::new(),
            web_url: format!("{project_url}/-/commit/{}", commit.id),
            stats: None,
        }
    }

    /// Shows the trailers too; of a repeated one the last counts.
    #[must_use]
    pub fn with_trailers(mut self, commit: &CommitInfo) -> Self {
        for (name, value) in &commit.trailers {
            self.trailers.insert(name.clone(), value.clone());
            self.extended_trailers.entry(name.clone()).or_default().push(value.clone());
        }
        self
    }

    #[must_use]
    pub fn with_stats(mut self, stats: LineStats) -> Self {
        self.stats = Some(stats.into());
        self
    }
}

/// A commit with its statistics and last pipeline.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CommitDetailEntity {
    #[serde(flatten)]
    pub commit: CommitEntity,
    /// Status of the last pipeline.
    pub status: Option<String>,
    pub project_id: i64,
    pub last_pipeline: Option<PipelineEntity>,
}

impl CommitDetailEntity {
    /// For a commit without pipelines.
    pub fn new(commit: CommitEntity, project: ProjectId) -> Self {
        Self { commit, status: None, project_id: project.0, last_pipeline: None }
    }

    /// The same with the newest pipeline of the commit, where there is one to be shown.
    #[must_use]
    pub fn with_pipeline(self, pipeline: Option<&Pipeline>, project_url: &str) -> Self {
        Self {
            status: pipeline.map(|pipeline| pipeline.status.to_string()),
            last_pipeline: pipeline.map(|pipeline| PipelineEntity::new(pipeline, project_url)),
            ..self
        }
    }
}

/// A branch or tag that contains a commit.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CommitRefEntity {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub name: String,
}

impl From<&RefName> for CommitRefEntity {
    fn from(name: &RefName) -> Self {
        let kind = if name.kind() == RefKind::Tag { "tag" } else { "branch" };
        Self { kind, name: name.short().into_owned() }
    }
}

/// Number of commits reachable from a commit.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct SequenceEntity {
    pub count: u64,
}

/// Result of a dry run that would succeed.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct DryRunEntity {
    pub dry_run: &'static str,
}

/// `2012-09-20T09:06:12.000+03:00`: commits keep the offset in which they were made.
pub fn commit_time(at: i64, offset: i32) -> String {
    let form = format_description!(
        "[year]-[month]-[day]T[hour]:[minute]:[second].000[offset_hour sign:mandatory]:[offset_minute]"
    );
    // Old tools wrote offsets that no place on earth has.
    let offset = UtcOffset::from_whole_seconds(offset / 60 * 60).unwrap_or(UtcOffset::UTC);
    let moment = OffsetDateTime::from_unix_timestamp(at).unwrap_or(OffsetDateTime::UNIX_EPOCH);
    let local = moment.checked_to_offset(offset).unwrap_or(moment);
    local.format(&form).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::commit_time;

    #[test]
    fn times_keep_their_offset() {
        for (at, offset, text) in [
            (1_348_121_172, 10_800, "2012-09-20T09:06:12.000+03:00"),
            (1_348_121_172, 0, "2012-09-20T06:06:12.000+00:00"),
            (1_348_121_172, -12_600, "2012-09-20T02:36:12.000-03:30"),
            (0, 999_999, "1970-01-01T00:00:00.000+00:00"),
            (i64::MAX, 0, "1970-01-01T00:00:00.000+00:00"),
        ] {
            assert_eq!(commit_time(at, offset), text);
        }
    }
}
