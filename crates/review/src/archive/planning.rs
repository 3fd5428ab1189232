//! Labels and milestones.

use db::archive::{Column, Relation};
use kernel::values::LARGEST_INTEGER;

use super::choices::{LAST_NUMBER, is_color, is_one_of};
use crate::milestone::MilestoneState;

/// Those of the project, and those of groups above it that its items have or had, that its boards show, or that it orders:
/// the copy has them itself.
pub(super) static LABELS: Relation = Relation {
    name: "labels",
    table: "labels",
    scope: "(project_id = $1 OR (project_id IS NULL \
        AND id IN (SELECT MIN(named.id) FROM labels AS named \
            WHERE named.project_id IS NULL AND named.id IN (\
                SELECT label_id FROM item_labels WHERE project_id = $1 \
                UNION SELECT label_id FROM resource_events WHERE project_id = $1 \
                UNION SELECT label_id FROM label_priorities WHERE project_id = $1 \
                UNION SELECT board_labels.label_id FROM board_labels \
                    JOIN boards ON boards.id = board_labels.board_id WHERE boards.project_id = $1 \
                UNION SELECT board_lists.label_id FROM board_lists \
                    JOIN boards ON boards.id = board_lists.board_id WHERE boards.project_id = $1) \
            GROUP BY named.name) \
        AND name NOT IN (SELECT own.name FROM labels AS own WHERE own.project_id = $1)))",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::line("name"),
        Column::choice("color", is_color),
        Column::text("description").optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

pub(super) static LABEL_PRIORITIES: Relation = Relation {
    name: "label_priorities",
    table: "label_priorities",
    scope: "project_id = $1",
    key: &["label_id"],
    columns: &[
        Column::home("project_id"),
        Column::row("label_id", "labels"),
        Column::number("priority", 0, LARGEST_INTEGER),
    ],
    signed: None,
};

pub(super) static MILESTONES: Relation = Relation {
    name: "milestones",
    table: "milestones",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::number("iid", 1, LAST_NUMBER),
        Column::line("title"),
        Column::text("description").optional(),
        Column::choice("state", is_one_of::<MilestoneState>),
        Column::moment("start_date").optional(),
        Column::moment("due_date").optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};
