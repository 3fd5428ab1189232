//! A merge request as lists show it.

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, Ts, ids::UserId};
use markup::{Format, Links};
use review::{
    label::Label,
    merge_request::{
        MergeRequest, MergeRequestState, MergeStatus,
        mergeability::{DetailedMergeStatus, Facts},
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    issue_context::ItemHints,
    item::{LabelNames, ReferenceScope, References, TaskCompletion, TimeStatsEntity},
    merge_request_context::MergeRequestContext,
    milestone::MilestoneEntity,
};
use crate::org::brief_user::BriefUser;

/// How merge requests are shown.
#[derive(Clone, Debug)]
pub struct MergeRequestView {
    pub from: ReferenceScope,
    pub with_labels_details: bool,
    pub render_html: bool,
}

impl Default for MergeRequestView {
    fn default() -> Self {
        Self { from: ReferenceScope::Home, with_labels_details: false, render_html: false }
    }
}

impl MergeRequestView {
    /// As seen from a project, by its full path.
    pub fn in_project(path: &str) -> Self {
        Self { from: ReferenceScope::Project(path.to_owned()), ..Self::default() }
    }
}

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MergeRequestEntity {
    pub id: i64,
    pub iid: i64,
    pub project_id: i64,
    pub title: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub state: MergeRequestState,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    /// Same as `merge_user` once merged; deprecated.
    pub merged_by: Option<BriefUser>,
    /// User who merged it, or who set it to merge when its pipeline succeeds.
    pub merge_user: Option<BriefUser>,
    #[schema(value_type = Option<String>)]
    pub merged_at: Option<Ts>,
    pub closed_by: Option<BriefUser>,
    #[schema(value_type = Option<String>)]
    pub closed_at: Option<Ts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description_html: Option<String>,
    pub target_branch: String,
    pub source_branch: String,
    pub user_notes_count: i64,
    pub upvotes: i64,
    pub downvotes: i64,
    pub author: Option<BriefUser>,
    pub assignees: Vec<BriefUser>,
    pub assignee: Option<BriefUser>,
    pub reviewers: Vec<BriefUser>,
    pub source_project_id: Option<i64>,
    pub target_project_id: i64,
    pub labels: LabelNames,
    pub draft: bool,
    pub work_in_progress: bool,
    pub milestone: Option<MilestoneEntity>,
    pub merge_when_pipeline_succeeds: bool,
    #[schema(value_type = String)]
    pub merge_status: MergeStatus,
    #[schema(value_type = String)]
    pub detailed_merge_status: DetailedMergeStatus,
    pub sha: Option<String>,
    pub merge_commit_sha: Option<String>,
    pub squash_commit_sha: Option<String>,
    pub discussion_locked: Option<bool>,
    pub should_remove_source_branch: Option<bool>,
    pub force_remove_source_branch: Option<bool>,
    /// Same as `created_at`: a merge request is complete when it is created.
    #[schema(value_type = String)]
    pub prepared_at: Ts,
    /// Present for merge requests from forks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_collaboration: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_maintainer_to_push: Option<bool>,
    pub reference: String,
    pub references: References,
    pub web_url: String,
    pub time_stats: TimeStatsEntity,
    pub squash: bool,
    pub task_completion_status: TaskCompletion,
    pub has_conflicts: bool,
    pub blocking_discussions_resolved: bool,
    pub approvals_before_merge: Option<i64>,
}

impl MergeRequestEntity {
    /// What belongs to them is looked up once for all of them.
    pub fn all(
        tx: &mut Tx<'_>,
        urls: &Urls,
        rows: Vec<MergeRequest>,
        view: &MergeRequestView,
    ) -> Result<Vec<Self>> {
        let around = MergeRequestContext::load(tx, urls, &rows)?;
        Ok(rows.into_iter().map(|row| Self::new(urls, row, &around, view)).collect())
    }

    /// One alone, of which something is known.
    pub fn one_with(
        tx: &mut Tx<'_>,
        urls: &Urls,
        row: MergeRequest,
        view: &MergeRequestView,
        known: &ItemHints<'_>,
    ) -> Result<Self> {
        let around = MergeRequestContext::of_one(tx, urls, &row, known)?;
        Ok(Self::new(urls, row, &around, view))
    }

    #[expect(clippy::too_many_lines, reason = "a record of many fields, one a line")]
    pub fn new(
        urls: &Urls,
        row: MergeRequest,
        around: &MergeRequestContext,
        view: &MergeRequestView,
    ) -> Self {
        let user = |id: UserId| around.users.get(&id).map(|user| BriefUser::of(urls, user));
        let users = |ids: Vec<UserId>| ids.into_iter().filter_map(user).collect::<Vec<_>>();
        let labels: &[Label] = around.labels.get(&row.id.0).map_or(&[], Vec::as_slice);
        let path = around.path(row.project_id);
        let references = References::new(format!("!{}", row.iid), path, &view.from);
        let facts: Facts = around.facts(&row);
        let assignees = users(around.assignees_of(row.id));
        let merge_user = row.merge_user_id.and_then(user);
        let merged = row.state == MergeRequestState::Merged;
        let collaboration = row.is_from_fork().then(|| around.allows_collaboration(row.id));
        let html = |text: &str| markup::render(text, Format::Markdown, &Links::none());
        let html = |text: &str| view.render_html.then(|| html(text));
        Self {
            title_html: view.render_html.then(|| markup::inline(&row.title)),
            description_html: html(row.description.as_deref().unwrap_or_default()),
            id: row.id.0,
            iid: row.iid,
            project_id: row.project_id.0,
            title: row.title,
            description: row.description,
            state: row.state,
            created_at: row.created_at,
            updated_at: row.updated_at,
            merged_by: merge_user.clone().filter(|_| merged),
            merge_user,
            merged_at: row.merged_at,
            closed_by: row.closed_by_id.and_then(user),
            closed_at: row.closed_at,
            target_branch: row.target_branch,
            source_branch: row.source_branch,
            user_notes_count: row.user_notes_count,
            upvotes: row.upvotes,
            downvotes: row.downvotes,
            author: user(row.author_id),
            assignee: assignees.first().cloned(),
            assignees,
            reviewers: users(around.reviewers_of(row.id)),
            source_project_id: row.source_project_id.map(|id| id.0),
            target_project_id: row.project_id.0,
            labels: LabelNames::new(labels, view.with_labels_details),
            draft: row.draft,
            work_in_progress: row.draft,
            milestone: row.milestone_id.and_then(|id| around.milestones.get(&id.0).cloned()),
            merge_when_pipeline_succeeds: row.auto_merge.is_some(),
            merge_status: row.merge_status,
            detailed_merge_status: facts.detailed_merge_status(),
            sha: row.head_sha,
            merge_commit_sha: row.merge_commit_sha,
            squash_commit_sha: row.squash_commit_sha,
            discussion_locked: row.discussion_locked,
            should_remove_source_branch: row.should_remove_source_branch,
            force_remove_source_branch: row.force_remove_source_branch,
            prepared_at: row.created_at,
            allow_collaboration: collaboration,
            allow_maintainer_to_push: collaboration,
            reference: references.relative.clone(),
            references,
            web_url: urls.at(&format!("{path}/-/merge_requests/{}", row.iid)),
            time_stats: TimeStatsEntity::new(urls, row.time_estimate, row.total_time_spent),
            squash: row.squash,
            task_completion_status: TaskCompletion {
                count: row.task_count,
                completed_count: row.task_completed_count,
            },
            has_conflicts: row.merge_status == MergeStatus::CannotBeMerged,
            blocking_discussions_resolved: !(facts.demands.resolved_threads
                && facts.has_open_threads),
            approvals_before_merge: row.approvals_before_merge,
        }
    }
}

/// Short form of a merge request, for `view=simple`.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SimpleMergeRequestEntity {
    pub id: i64,
    pub iid: i64,
    pub project_id: i64,
    pub title: String,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub state: MergeRequestState,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    pub web_url: String,
}

impl SimpleMergeRequestEntity {
    pub fn all(tx: &mut Tx<'_>, urls: &Urls, rows: Vec<MergeRequest>) -> Result<Vec<Self>> {
        let projects: Vec<_> = rows.iter().map(|row| row.project_id).collect();
        let paths = org::hierarchy::project_paths(tx, &projects)?;
        let entity = |row: MergeRequest| {
            let path = paths.get(&row.project_id).map_or("", String::as_str);
            Self {
                web_url: urls.at(&format!("{path}/-/merge_requests/{}", row.iid)),
                id: row.id.0,
                iid: row.iid,
                project_id: row.project_id.0,
                title: row.title,
                description: row.description,
                state: row.state,
                created_at: row.created_at,
                updated_at: row.updated_at,
            }
        };
        Ok(rows.into_iter().map(entity).collect())
    }
}
