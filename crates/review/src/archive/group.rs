//! Records of groups in archives.

use db::archive::{Column, Relation};
use kernel::values::LARGEST_INTEGER;

use super::choices::{LAST_NUMBER, is_color, is_one_of};
use crate::{issue::IssueState, milestone::MilestoneState};

const OWN: &str = "namespace_id = $1";
const HOME: Column = Column::home("namespace_id");
const NUMBER: Column = Column::number("iid", 1, LAST_NUMBER);
const CREATED: Column = Column::moment("created_at");
const UPDATED: Column = Column::moment("updated_at");

pub(super) static LABELS: Relation = Relation {
    name: "labels",
    table: "labels",
    scope: OWN,
    key: &["id"],
    columns: &[
        HOME,
        Column::line("name"),
        Column::choice("color", is_color),
        Column::text("description").optional(),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

pub(super) static MILESTONES: Relation = Relation {
    name: "milestones",
    table: "milestones",
    scope: OWN,
    key: &["id"],
    columns: &[
        HOME,
        NUMBER,
        Column::line("title"),
        Column::text("description").optional(),
        Column::choice("state", is_one_of::<MilestoneState>),
        Column::moment("start_date").optional(),
        Column::moment("due_date").optional(),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

pub(super) static CADENCES: Relation = Relation {
    name: "iteration_cadences",
    table: "iteration_cadences",
    scope: OWN,
    key: &["id"],
    columns: &[HOME, Column::line("title"), CREATED, UPDATED],
    signed: None,
};

pub(super) static ITERATIONS: Relation = Relation {
    name: "iterations",
    table: "iterations",
    scope: OWN,
    key: &["id"],
    columns: &[
        HOME,
        NUMBER,
        Column::row("cadence_id", "iteration_cadences"),
        Column::number("sequence", 0, LARGEST_INTEGER),
        Column::line("title").optional(),
        Column::text("description").optional(),
        Column::moment("start_date"),
        Column::moment("due_date"),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

pub(super) static EPICS: Relation = Relation {
    name: "epics",
    table: "epics",
    scope: OWN,
    key: &["id"],
    columns: &[
        HOME,
        NUMBER,
        Column::line("title"),
        Column::text("description").optional(),
        Column::choice("state", is_one_of::<IssueState>),
        Column::author("author_id"),
        Column::flag("confidential"),
        Column::choice("color", is_color),
        Column::moment("start_date_fixed").optional(),
        Column::flag("start_date_is_fixed"),
        Column::moment("due_date_fixed").optional(),
        Column::flag("due_date_is_fixed"),
        Column::moment("closed_at").optional(),
        CREATED,
        UPDATED,
        Column::count("upvotes"),
        Column::count("downvotes"),
    ],
    signed: Some("description"),
};
