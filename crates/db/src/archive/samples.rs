//! A relation of which tests write rows.

use super::{Cell, Column, Relation};

pub(super) const LABELS: Relation = Relation {
    name: "labels",
    table: "labels",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::line("name"),
        Column::line("color"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

/// A label of a project.
pub(super) fn label(project: i64, name: &str) -> Vec<Cell> {
    let word = |text: &str| Cell::Word(text.to_owned());
    let dates = [Cell::Number(0), Cell::Number(0)];
    [vec![Cell::Number(project), word(name), word("#ff0000")], dates.to_vec()].concat()
}
