//! Issues, merge requests, and what people say about them.

use db::archive::{ArchiveRow, Column, Field, Relation};
use kernel::{TextEnum as _, values::is_indexable_ref};
use serde_json::Value;

use super::choices::{ITEM_KINDS, LAST_NUMBER, is_one_of, is_position, is_sha};
use crate::{
    issue::{HealthStatus, IssueState, IssueType, Severity},
    merge_request::MergeRequestState,
    note::NoteType,
};

pub(super) static ISSUES: Relation = Relation {
    name: "issues",
    table: "issues",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::number("iid", 1, LAST_NUMBER),
        Column::line("title"),
        Column::text("description").optional(),
        Column::choice("state", is_one_of::<IssueState>),
        Column::choice("issue_type", is_one_of::<IssueType>),
        Column::choice("severity", is_one_of::<Severity>),
        Column::author("author_id"),
        Column::flag("confidential"),
        Column::flag("discussion_locked").optional(),
        Column::row("milestone_id", "milestones").optional(),
        Column::number("weight", 0, i64::MAX).optional(),
        Column::choice("health_status", is_one_of::<HealthStatus>).optional(),
        Column::moment("due_date").optional(),
        Column::number("relative_position", -(1 << 50), 1 << 50),
        Column::count("time_estimate"),
        Column::count("total_time_spent"),
        Column::count("user_notes_count"),
        Column::count("merge_requests_count"),
        Column::count("blocking_issues_count"),
        Column::count("upvotes"),
        Column::count("downvotes"),
        Column::count("task_count"),
        Column::count("task_completed_count"),
        Column::moment("closed_at").optional(),
        Column::person("closed_by_id").optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
        Column::moment("last_edited_at").optional(),
        Column::person("last_edited_by_id").optional(),
        Column::person("updated_by_id").optional(),
    ],
    signed: Some("description"),
};

/// Issues that say what another one of the project says, which may be younger.
pub(super) static DUPLICATES: Relation = Relation {
    name: "issue_duplicates",
    table: "issues",
    scope: "project_id = $1 AND duplicated_to_id IN \
        (SELECT originals.id FROM issues AS originals WHERE originals.project_id = $1)",
    key: &["id"],
    columns: &[Column::itself("issues"), Column::row("duplicated_to_id", "issues")],
    signed: None,
};

/// What came from a fork keeps its commits, and has no source any more. What was to be merged when its pipeline succeeds
/// waits for none, and what was being merged is open.
pub(super) static MERGE_REQUESTS: Relation = Relation {
    name: "merge_requests",
    table: "merge_requests",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::number("iid", 1, LAST_NUMBER),
        Column::row("source_project_id", "projects").optional(),
        Column::choice("source_branch", is_indexable_ref),
        Column::choice("target_branch", is_indexable_ref),
        Column::line("title"),
        Column::text("description").optional(),
        Column::word("state", state_of_copy),
        Column::flag("draft"),
        Column::author("author_id"),
        Column::row("milestone_id", "milestones").optional(),
        Column::fixed("merge_status", "'unchecked'"),
        Column::text("merge_error").optional(),
        Column::choice("head_sha", is_sha).optional(),
        Column::choice("base_sha", is_sha).optional(),
        Column::choice("start_sha", is_sha).optional(),
        Column::count("changes_count").optional(),
        Column::choice("merge_commit_sha", is_sha).optional(),
        Column::choice("squash_commit_sha", is_sha).optional(),
        Column::person("merge_user_id").optional(),
        Column::moment("merged_at").optional(),
        Column::person("closed_by_id").optional(),
        Column::moment("closed_at").optional(),
        Column::flag("discussion_locked").optional(),
        Column::flag("squash"),
        Column::flag("allow_collaboration"),
        Column::flag("should_remove_source_branch").optional(),
        Column::flag("force_remove_source_branch").optional(),
        Column::count("approvals_before_merge").optional(),
        Column::flag("approved"),
        Column::count("unresolved_threads"),
        Column::count("time_estimate"),
        Column::count("total_time_spent"),
        Column::count("user_notes_count"),
        Column::count("upvotes"),
        Column::count("downvotes"),
        Column::count("task_count"),
        Column::count("task_completed_count"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
        Column::moment("last_edited_at").optional(),
        Column::person("last_edited_by_id").optional(),
        Column::person("updated_by_id").optional(),
    ],
    signed: Some("description"),
};

/// Whoever wanted it merged when its pipeline succeeds is named until then alone.
pub(super) fn correct_merge_request(row: &mut ArchiveRow) {
    if row.get("state").and_then(Value::as_str).and_then(MergeRequestState::find)
        != Some(MergeRequestState::Merged)
    {
        row.insert("merge_user_id".to_owned(), Value::Null);
    }
}

/// What was being merged is open in a copy.
fn state_of_copy(word: &str) -> Option<&'static str> {
    Some(match MergeRequestState::find(word)? {
        MergeRequestState::Locked => MergeRequestState::Opened.as_str(),
        state => state.as_str(),
    })
}

/// Sentences about items of other projects and of groups stay behind with those: not everybody may read them.
pub(super) static NOTES: Relation = Relation {
    name: "notes",
    table: "notes",
    scope: "project_id = $1 AND (source_kind IS NULL OR source_project_id = $1)",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::new("item_kind", Field::Kind(ITEM_KINDS)),
        Column::new("item_id", Field::Item("item_kind")),
        Column::choice("discussion", is_sha),
        Column::choice("note_type", is_one_of::<NoteType>).optional(),
        Column::text("body"),
        Column::author("author_id"),
        Column::flag("is_system"),
        Column::flag("internal"),
        Column::choice("position", is_position).optional(),
        Column::choice("original_position", is_position).optional(),
        // As it was given: threads may name what is no commit.
        Column::text("commit_id").optional(),
        Column::person("resolved_by_id").optional(),
        Column::moment("resolved_at").optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
        Column::new("source_kind", Field::Kind(ITEM_KINDS)).optional(),
        Column::new("source_id", Field::Item("source_kind")).strict(),
        Column::row("source_project_id", "projects").strict(),
    ],
    signed: Some("body"),
};
