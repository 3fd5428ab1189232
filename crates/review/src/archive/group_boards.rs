//! Boards of groups, of issues and of epics, and their lists.

use db::archive::{Column, Relation};

use super::boards::{
    self, BOARD, CREATED, DISPLAY, HIDE_BACKLOG, HIDE_CLOSED, ISSUES, METRIC, NAME, POSITION,
    UPDATED, WEIGHT,
};

const HOME: Column = Column::home("namespace_id");

pub(super) static BOARDS: Relation = Relation {
    name: "boards",
    table: "boards",
    scope: "namespace_id = $1 AND item_kind = 'Issue'",
    key: &["id"],
    columns: &[
        HOME,
        Column::fixed("item_kind", "'Issue'"),
        NAME,
        HIDE_BACKLOG,
        HIDE_CLOSED,
        DISPLAY,
        Column::row("milestone_id", "milestones").optional(),
        Column::row("iteration_id", "iterations").optional(),
        Column::row("iteration_cadence_id", "iteration_cadences").optional(),
        Column::person("assignee_id").optional(),
        Column::count("weight").optional(),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

/// Boards of epics have labels alone: epics have no milestones, iterations and weights.
pub(super) static EPIC_BOARDS: Relation = Relation {
    name: "epic_boards",
    table: "boards",
    scope: "namespace_id = $1 AND item_kind = 'Epic'",
    key: &["id"],
    columns: &[
        HOME,
        Column::fixed("item_kind", "'Epic'"),
        NAME,
        HIDE_BACKLOG,
        HIDE_CLOSED,
        DISPLAY,
        CREATED,
        UPDATED,
    ],
    signed: None,
};

pub(super) static BOARD_LABELS: Relation = Relation {
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.namespace_id = $1)",
    ..boards::BOARD_LABELS
};

pub(super) static PLAIN_LISTS: Relation = Relation {
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.namespace_id = $1) \
        AND kind IN ('backlog', 'closed')",
    ..boards::PLAIN_LISTS
};

pub(super) static LABEL_LISTS: Relation = Relation {
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.namespace_id = $1) \
        AND kind = 'label'",
    ..boards::LABEL_LISTS
};

pub(super) static ASSIGNEE_LISTS: Relation = Relation {
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.namespace_id = $1) \
        AND kind = 'assignee'",
    ..boards::ASSIGNEE_LISTS
};

pub(super) static MILESTONE_LISTS: Relation = Relation {
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.namespace_id = $1) \
        AND kind = 'milestone'",
    ..boards::MILESTONE_LISTS
};

pub(super) static ITERATION_LISTS: Relation = Relation {
    name: "board_iteration_lists",
    table: "board_lists",
    scope: "board_id IN (SELECT boards.id FROM boards WHERE boards.namespace_id = $1) \
        AND kind = 'iteration'",
    key: &["id"],
    columns: &[
        BOARD,
        Column::fixed("kind", "'iteration'"),
        Column::row("iteration_id", "iterations"),
        POSITION,
        ISSUES,
        WEIGHT,
        METRIC,
        CREATED,
        UPDATED,
    ],
    signed: None,
};
