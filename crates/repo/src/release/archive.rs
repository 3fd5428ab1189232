//! What archives of projects hold of releases.

use db::archive::{Column, Relation};

pub static RELATIONS: &[&Relation] = &[&RELEASES];

static RELEASES: Relation = Relation {
    name: "releases",
    table: "releases",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::line("tag"),
        Column::line("name"),
        Column::text("description").optional(),
        Column::author("author_id"),
        Column::choice("sha", is_sha),
        Column::moment("released_at"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: Some("description"),
};

/// A release that never had a commit has an empty one.
fn is_sha(word: &str) -> bool {
    word.is_empty() || (word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
