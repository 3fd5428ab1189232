//! Releases in project archives.

use db::archive::{Column, Relation, is_one_of, is_sha};

use super::link::{LinkType, is_link_path, is_link_url};
use crate::git::RefName;

pub static RELATIONS: &[&Relation] = &[&RELEASES, &LINKS];

/// They come after the milestones, of which a copy has those of the project itself.
pub static MILESTONES: Relation = Relation {
    name: "release_milestones",
    table: "release_milestones",
    scope: "release_id IN (SELECT id FROM releases WHERE project_id = $1)",
    key: &["release_id", "milestone_id"],
    columns: &[Column::row("release_id", "releases"), Column::row("milestone_id", "milestones")],
    signed: None,
};

static LINKS: Relation = Relation {
    name: "release_links",
    table: "release_links",
    scope: "release_id IN (SELECT id FROM releases WHERE project_id = $1)",
    key: &["id"],
    columns: &[
        Column::row("release_id", "releases"),
        Column::line("name"),
        Column::choice("url", is_link_url),
        Column::choice("filepath", is_link_path).optional(),
        Column::choice("link_type", is_one_of::<LinkType>),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

static RELEASES: Relation = Relation {
    name: "releases",
    table: "releases",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::choice("tag", is_tag),
        Column::line("name"),
        Column::text("description").optional(),
        // Nobody where the author's account is gone.
        Column::author("author_id").optional(),
        Column::choice("sha", is_release_sha),
        Column::moment("released_at"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: Some("description"),
};

fn is_tag(name: &str) -> bool {
    RefName::tag(name).is_ok_and(|tag| tag.is_storable())
}

/// A release that never had a commit has an empty one.
fn is_release_sha(word: &str) -> bool {
    word.is_empty() || is_sha(word)
}
