//! Records of issues and merge requests in archives.

use db::archive::{Column, Field, Relation};
use kernel::values::LARGEST_INTEGER;

use super::choices::{AWARDED_KINDS, ITEM_KINDS, is_emoji, is_one_of};
use crate::{
    activity::{ResourceAction, ResourceKind, ResourceState},
    issue::link::LinkType,
    item::time::MOST_SPENT,
};

const KIND: Column = Column::new("item_kind", Field::Kind(ITEM_KINDS));
const ITEM: Column = Column::new("item_id", Field::Item("item_kind"));
const OWN: &str = "project_id = $1";

pub(super) static LABELS: Relation = Relation {
    name: "item_labels",
    table: "item_labels",
    scope: OWN,
    key: &["item_kind", "item_id", "label_id"],
    columns: &[Column::home("project_id"), KIND, ITEM, Column::row("label_id", "labels")],
    signed: None,
};

pub(super) static ASSIGNEES: Relation = Relation {
    name: "item_assignees",
    table: "item_assignees",
    scope: OWN,
    key: &["item_kind", "item_id", "user_id"],
    columns: &[Column::home("project_id"), KIND, ITEM, Column::person("user_id")],
    signed: None,
};

pub(super) static PARTICIPANTS: Relation = Relation {
    name: "item_participants",
    table: "item_participants",
    scope: OWN,
    key: &["item_kind", "item_id", "user_id"],
    columns: &[Column::home("project_id"), KIND, ITEM, Column::person("user_id")],
    signed: None,
};

/// Which item speaks of which other one; no note is the description.
pub(super) static MENTIONS: Relation = Relation {
    name: "item_mentions",
    table: "item_mentions",
    scope: OWN,
    key: &["source_kind", "source_id", "note_id", "target_kind", "target_id"],
    columns: &[
        Column::home("project_id"),
        Column::new("source_kind", Field::Kind(ITEM_KINDS)),
        Column::new("source_id", Field::Item("source_kind")),
        Column::row("note_id", "notes").or_zero(),
        Column::new("target_kind", Field::Kind(ITEM_KINDS)),
        Column::new("target_id", Field::Item("target_kind")),
    ],
    signed: None,
};

pub(super) static AWARDS: Relation = Relation {
    name: "award_emoji",
    table: "award_emoji",
    scope: OWN,
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::new("item_kind", Field::Kind(AWARDED_KINDS)),
        ITEM,
        Column::person("user_id"),
        Column::choice("name", is_emoji),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

pub(super) static TIME_LOGS: Relation = Relation {
    name: "timelogs",
    table: "timelogs",
    scope: OWN,
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        KIND,
        ITEM,
        Column::author("user_id"),
        Column::number("time_spent", -MOST_SPENT, MOST_SPENT),
        Column::line("summary").optional(),
        Column::moment("spent_at"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

/// Changes of iterations are of the group's.
pub(super) static EVENTS: Relation = Relation {
    name: "resource_events",
    table: "resource_events",
    scope: "project_id = $1 AND kind <> 'iteration'",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        KIND,
        ITEM,
        Column::author("user_id"),
        Column::choice("kind", is_one_of::<ResourceKind>),
        Column::choice("action", is_one_of::<ResourceAction>).optional(),
        Column::row("label_id", "labels").optional(),
        Column::row("milestone_id", "milestones").optional(),
        Column::choice("state", is_one_of::<ResourceState>).optional(),
        Column::number("weight", 0, LARGEST_INTEGER).optional(),
        Column::moment("created_at"),
    ],
    signed: None,
};

/// Links within the project.
pub(super) static ISSUE_LINKS: Relation = Relation {
    name: "issue_links",
    table: "issue_links",
    scope: "source_id IN (SELECT issues.id FROM issues WHERE issues.project_id = $1) \
        AND target_id IN (SELECT issues.id FROM issues WHERE issues.project_id = $1)",
    key: &["id"],
    columns: &[
        Column::row("source_id", "issues"),
        Column::row("target_id", "issues"),
        Column::choice("link_type", is_one_of::<LinkType>),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};
