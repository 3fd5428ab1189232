//! Locks of files in project archives. The files themselves are no rows.

use db::archive::{Column, Relation};

use super::locks::is_lock_path;

pub static RELATIONS: &[&Relation] = &[&LOCKS];

static LOCKS: Relation = Relation {
    name: "lfs_locks",
    table: "lfs_locks",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::choice("path", is_lock_path),
        // Nobody keeps a file to themselves in the name of somebody else.
        Column::person("user_id"),
        Column::moment("locked_at"),
    ],
    signed: None,
};
