//! Boards and their lists.

use db::archive::{Column, Relation};
use kernel::values::LARGEST_INTEGER;

use super::choices::is_one_of;
use crate::board::LimitMetric;

const OWN: &str = "board_id IN (SELECT boards.id FROM boards WHERE boards.project_id = $1)";
pub(super) const NAME: Column = Column::line("name");
pub(super) const HIDE_BACKLOG: Column = Column::flag("hide_backlog_list");
pub(super) const HIDE_CLOSED: Column = Column::flag("hide_closed_list");
pub(super) const DISPLAY: Column = Column::flag("display_colors");
pub(super) const BOARD: Column = Column::row("board_id", "boards");
pub(super) const POSITION: Column = Column::count("position");
pub(super) const ISSUES: Column = Column::number("max_issue_count", 0, LARGEST_INTEGER);
pub(super) const WEIGHT: Column = Column::number("max_issue_weight", 0, LARGEST_INTEGER);
pub(super) const METRIC: Column =
    Column::choice("limit_metric", is_one_of::<LimitMetric>).optional();
pub(super) const CREATED: Column = Column::moment("created_at");
pub(super) const UPDATED: Column = Column::moment("updated_at");

pub(super) static BOARDS: Relation = Relation {
    name: "boards",
    table: "boards",
    scope: "project_id = $1 AND item_kind = 'Issue'",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::fixed("item_kind", "'Issue'"),
        NAME,
        HIDE_BACKLOG,
        HIDE_CLOSED,
        DISPLAY,
        Column::row("milestone_id", "milestones").optional(),
        Column::person("assignee_id").optional(),
        Column::count("weight").optional(),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

pub(super) static BOARD_LABELS: Relation = Relation {
    name: "board_labels",
    table: "board_labels",
    scope: OWN,
    key: &["board_id", "label_id"],
    columns: &[BOARD, Column::row("label_id", "labels")],
    signed: None,
};

/// Lists that belong to every board.
pub(super) static PLAIN_LISTS: Relation = Relation {
    name: "board_lists",
    table: "board_lists",
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.project_id = $1) \
        AND kind IN ('backlog', 'closed')",
    key: &["id"],
    columns: &[
        BOARD,
        Column::choice("kind", is_plain_list),
        POSITION,
        ISSUES,
        WEIGHT,
        METRIC,
        CREATED,
        UPDATED,
    ],
    signed: None,
};

fn is_plain_list(word: &str) -> bool {
    matches!(word, "backlog" | "closed")
}

pub(super) static LABEL_LISTS: Relation = Relation {
    name: "board_label_lists",
    table: "board_lists",
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.project_id = $1) \
        AND kind = 'label'",
    key: &["id"],
    columns: &[
        BOARD,
        Column::fixed("kind", "'label'"),
        Column::row("label_id", "labels"),
        POSITION,
        ISSUES,
        WEIGHT,
        METRIC,
        CREATED,
        UPDATED,
    ],
    signed: None,
};

pub(super) static ASSIGNEE_LISTS: Relation = Relation {
    name: "board_assignee_lists",
    table: "board_lists",
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.project_id = $1) \
        AND kind = 'assignee'",
    key: &["id"],
    columns: &[
        BOARD,
        Column::fixed("kind", "'assignee'"),
        Column::person("user_id"),
        POSITION,
        ISSUES,
        WEIGHT,
        METRIC,
        CREATED,
        UPDATED,
    ],
    signed: None,
};

pub(super) static MILESTONE_LISTS: Relation = Relation {
    name: "board_milestone_lists",
    table: "board_lists",
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.project_id = $1) \
        AND kind = 'milestone'",
    key: &["id"],
    columns: &[
        BOARD,
        Column::fixed("kind", "'milestone'"),
        Column::row("milestone_id", "milestones"),
        POSITION,
        ISSUES,
        WEIGHT,
        METRIC,
        CREATED,
        UPDATED,
    ],
    signed: None,
};
