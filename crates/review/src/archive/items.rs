//! Issues, merge requests, and what people say about them.

use db::archive::{ArchiveRow, Column, Field, Relation};
use kernel::{
    TextEnum as _,
    values::{LARGEST_INTEGER, is_indexable_ref},
};
use serde_json::{Value, json};

use super::choices::{ITEM_KINDS, LAST_NUMBER, is_one_of, is_sha, is_stored_position};
use crate::{
    issue::{APART, HealthStatus, IssueState, IssueType, Severity},
    item::time::MOST_SPENT,
    merge_request::{
        MergeRequestState, MergeStatus, merge::mergeability_store::LOOKS_OF_COPY,
        mergeability::CheckStep,
    },
    note::NoteType,
};

/// How far from the middle an issue is in the order that people give them: the last number has room for many that are put
/// behind it, and between two of them fits what is halfway.
const FARTHEST: i64 = 1 << 60;
const _: () = assert!(LAST_NUMBER < FARTHEST / APART / 2);

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
        Column::number("weight", 0, LARGEST_INTEGER).optional(),
        Column::choice("health_status", is_one_of::<HealthStatus>).optional(),
        Column::moment("due_date").optional(),
        Column::number("relative_position", -FARTHEST, FARTHEST),
        Column::count("time_estimate"),
        Column::number("total_time_spent", 0, MOST_SPENT),
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
        Column::choice("merge_status", is_one_of::<MergeStatus>),
        // What git says first was so in the source, and is no news to anybody.
        Column::fixed("looks", LOOKS_OF_COPY),
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
        Column::number("total_time_spent", 0, MOST_SPENT),
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

/// Whoever wanted it merged when its pipeline succeeds is named until then alone. Git is asked again whether what is open
/// can be merged here; without the project that it came from it cannot.
pub(super) fn correct_merge_request(row: &mut ArchiveRow) {
    let word = |name: &str| row.get(name).and_then(Value::as_str);
    let state = word("state").and_then(MergeRequestState::find);
    let is_open = matches!(state, Some(MergeRequestState::Opened | MergeRequestState::Locked));
    let has_source = row.get("source_project_id").is_some_and(|id| !id.is_null());
    let step = if has_source { CheckStep::Changed } else { CheckStep::Clashes };
    let status = word("merge_status").and_then(MergeStatus::find).filter(|_| is_open);
    if let Some(status) = status {
        row.insert("merge_status".to_owned(), json!(status.after(step)));
    }
    if state != Some(MergeRequestState::Merged) {
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
        Column::choice("position", is_stored_position).optional(),
        Column::choice("original_position", is_stored_position).optional(),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::correct_merge_request;

    #[test]
    fn git_is_asked_again_of_what_is_open_and_comes_from_a_branch_that_is_there() {
        for (state, source, status, copy) in [
            ("opened", json!(7), "can_be_merged", "unchecked"),
            ("opened", json!(7), "checking", "unchecked"),
            ("locked", json!(7), "can_be_merged", "unchecked"),
            ("opened", json!(7), "cannot_be_merged", "cannot_be_merged_recheck"),
            ("opened", Value::Null, "can_be_merged", "cannot_be_merged"),
            ("closed", json!(7), "cannot_be_merged", "cannot_be_merged"),
            ("merged", json!(7), "can_be_merged", "can_be_merged"),
        ] {
            let row =
                json!({ "state": state, "source_project_id": source, "merge_status": status });
            let mut row = row.as_object().unwrap().clone();
            correct_merge_request(&mut row);
            assert_eq!(row["merge_status"], copy, "{state} {source} {status}");
        }
    }
}
