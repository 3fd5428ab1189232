//! What an archive does not hold: people and commits that its rows name, and rows that no import takes.

use std::collections::BTreeSet;

use admin::import::OmittedRow;
use db::archive::{ArchiveRow, Relation};
use repo::git::Oid;
use serde_json::Value;

use super::{left_out, people};

/// Columns with ids of commits, or with places between commits, by the names of relations.
const COMMITS: [(&str, &[&str]); 8] = [
    (
        "merge_requests",
        &["head_sha", "base_sha", "start_sha", "merge_commit_sha", "squash_commit_sha"],
    ),
    ("merge_request_versions", &["head_commit_sha", "base_commit_sha", "start_commit_sha"]),
    ("merge_request_context_commits", &["sha"]),
    ("notes", &["position", "original_position", "commit_id"]),
    ("commit_notes", &["sha", "position"]),
    ("releases", &["sha"]),
    ("pipelines", &["sha", "before_sha"]),
    ("deployments", &["sha"]),
];
/// The commits of a place.
const ENDS: [&str; 3] = ["base_sha", "start_sha", "head_sha"];
/// Commits of one archive.
const MOST_COMMITS: usize = 1_000_000;

/// People and commits that rows name, and rows that are left out.
#[derive(Debug, Default)]
pub(super) struct Citations {
    pub(super) people: BTreeSet<i64>,
    pub(super) commits: BTreeSet<Oid>,
    /// The first of them.
    pub(super) left_out: Vec<OmittedRow>,
}

impl Citations {
    /// Notes what a row names.
    pub(super) fn note(&mut self, relation: &Relation, row: &ArchiveRow) {
        people::note(relation, row, &mut self.people);
        let columns = COMMITS.iter().find(|(name, _)| *name == relation.name);
        for column in columns.map(|(_, columns)| *columns).unwrap_or_default() {
            if self.commits.len() < MOST_COMMITS {
                let text = row.get(*column).and_then(Value::as_str);
                self.commits.extend(text.map(commits_of).unwrap_or_default());
            }
        }
    }

    /// Notes a row that the archive does not hold, and why.
    pub(super) fn leave_out(&mut self, relation: &Relation, id: Option<i64>, reason: String) {
        if self.left_out.len() < left_out::MOST {
            self.left_out.push(OmittedRow { relation: relation.name.to_owned(), id, reason });
        }
    }
}

fn commits_of(text: &str) -> Vec<Oid> {
    if let Ok(id) = text.parse() {
        return vec![id];
    }
    let place: Value = serde_json::from_str(text).unwrap_or_default();
    ENDS.iter().filter_map(|name| place[*name].as_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{COMMITS, Oid, commits_of};
    use crate::archive::layout::project_relations;

    #[test]
    fn what_names_commits_is_a_column_of_an_archive() {
        let all = project_relations();
        for (name, columns) in COMMITS {
            let relation = all.iter().find(|relation| relation.name == name).unwrap();
            for wanted in columns {
                let is_there = relation.columns.iter().any(|column| column.name == *wanted);
                assert!(is_there, "{name}: {wanted}");
            }
        }
    }

    #[test]
    fn commits_are_named_alone_and_by_places_between_them() {
        let (one, other) = ("a".repeat(40), "b".repeat(40));
        let place = format!("{{\"base_sha\":\"{one}\",\"head_sha\":\"{other}\",\"x\":null}}");
        let [first, second] = [&one, &other].map(|text| text.parse::<Oid>().unwrap());
        assert_eq!(commits_of(&one), [first]);
        assert_eq!(commits_of(&place), [first, second]);
        for nothing in ["", "main", "{", "[]", "null", "{\"head_sha\":7}"] {
            assert!(commits_of(nothing).is_empty(), "{nothing}");
        }
    }
}
