//! What archives of projects hold of the rules for branches and tags, and of notes about commits. Groups that rules name
//! are not of the project: where more would be let through without them, they are somebody who is nowhere known, and left
//! out otherwise.

use db::archive::{Column, Relation, is_one_of, is_sha};
use kernel::{TextEnum as _, values::is_indexable_ref};

use super::AccessKind;
use crate::commit::note::{CommitNoteType, LineType};

pub static RELATIONS: &[&Relation] =
    &[&BRANCHES, &BRANCH_ACCESS, &TAGS, &TAG_ACCESS, &COMMIT_NOTES];

const CREATED: Column = Column::moment("created_at");
const UPDATED: Column = Column::moment("updated_at");
const BRANCH: Column = Column::row("protected_branch_id", "protected_branches");
const KIND: Column = Column::choice("kind", is_one_of::<AccessKind>);
const TAG: Column = Column::row("protected_tag_id", "protected_tags");
const ROLE: Column = Column::level("access_level", 0, 60).optional();
const PERSON: Column = Column::person("user_id").alternative_to("access_level");
/// Where nobody may unprotect a branch by its rule, every Maintainer may: whoever imports does it for people without an
/// account, and for groups.
const BRANCH_PERSON: Column = Column::doer("user_id", "kind", is_permission)
    .alternative_to("access_level")
    .or_zero()
    .read_as("CASE WHEN group_id IS NULL THEN user_id ELSE 0 END");

static BRANCHES: Relation = Relation {
    name: "protected_branches",
    table: "protected_branches",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        // That of the default branch is protected whatever its length.
        Column::choice("name", is_indexable_ref),
        Column::flag("allow_force_push"),
        Column::flag("code_owner_approval_required"),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

/// Roles and people in one relation, so that a copy tells them in the same order.
static BRANCH_ACCESS: Relation = Relation {
    name: "protected_branch_access",
    table: "protected_branch_access",
    scope: "protected_branch_id IN (SELECT protected_branches.id FROM protected_branches \
        WHERE protected_branches.project_id = $1) AND (group_id IS NULL OR kind = 'unprotect')",
    key: &["id"],
    columns: &[BRANCH, KIND, ROLE, BRANCH_PERSON],
    signed: None,
};

static TAGS: Relation = Relation {
    name: "protected_tags",
    table: "protected_tags",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[Column::home("project_id"), Column::line("name"), CREATED, UPDATED],
    signed: None,
};

static TAG_ACCESS: Relation = Relation {
    name: "protected_tag_access",
    table: "protected_tag_access",
    scope: "protected_tag_id IN (SELECT protected_tags.id FROM protected_tags \
        WHERE protected_tags.project_id = $1) AND group_id IS NULL",
    key: &["id"],
    columns: &[TAG, ROLE, PERSON],
    signed: None,
};

static COMMIT_NOTES: Relation = Relation {
    name: "commit_notes",
    table: "commit_notes",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::choice("sha", is_sha),
        Column::author("author_id"),
        Column::text("note"),
        Column::text("path").optional(),
        Column::count("line").optional(),
        Column::choice("line_type", is_one_of::<LineType>).optional(),
        CREATED,
        UPDATED,
        Column::choice("discussion", is_sha),
        Column::choice("note_type", is_one_of::<CommitNoteType>).optional(),
        Column::choice("position", is_position).optional(),
    ],
    signed: Some("note"),
};

/// Whether a record gives something that nobody may do without one.
fn is_permission(kind: &str) -> bool {
    AccessKind::find(kind) != Some(AccessKind::Unprotect)
}

/// Places are told again as they were given: between commits.
fn is_position(text: &str) -> bool {
    let is_between_commits = |place: serde_json::Value| {
        let commits = ["base_sha", "start_sha", "head_sha"];
        commits.into_iter().all(|name| place[name].as_str().is_some_and(is_sha))
    };
    text.len() <= 1 << 16 && serde_json::from_str(text).is_ok_and(is_between_commits)
}
