//! Paths of the files in an archive.

use db::archive::Relation;

/// The version of the layout, which the file [`VERSION`] has.
pub(super) const FORMAT: &str = "0.2.4";
pub(super) const VERSION: &str = "VERSION";
pub(super) const PROJECT: &str = "tree/project.json";
pub(super) const GROUPS: &str = "tree/groups.ndjson";
pub(super) const USERS: &str = "tree/users.ndjson";
pub(super) const UPLOADS: &str = "tree/project/uploads.ndjson";
pub(super) const LFS_OBJECTS: &str = "tree/project/lfs_objects.ndjson";
pub(super) const REPOSITORY: &str = "project.bundle";
pub(super) const WIKI: &str = "project.wiki.bundle";
pub(super) const GROUP_WIKI: &str = "group.wiki.bundle";

/// The file of an upload: its secret alone, since names may be longer than headers.
pub(super) fn upload(secret: &str) -> String {
    format!("uploads/{secret}")
}

pub(super) fn lfs_object(id: &str) -> String {
    format!("lfs-objects/{id}")
}

pub(super) fn of_project(relation: &Relation) -> String {
    format!("tree/project/{}.ndjson", relation.name)
}

pub(super) fn of_group(group: i64, relation: &Relation) -> String {
    format!("tree/groups/{group}/{}.ndjson", relation.name)
}

/// What archives of projects hold of tables, each after those that it names.
pub(super) fn project_relations() -> Vec<&'static Relation> {
    let parts = [
        repo::protection::archive::RELATIONS,
        repo::release::archive::RELATIONS,
        review::archive::PROJECT,
        &[&repo::release::archive::MILESTONES],
        ci::schedule::archive::RELATIONS,
        deployments::environment::archive::RELATIONS,
        deployments::protection::archive::RELATIONS,
    ];
    parts.into_iter().flatten().copied().collect()
}

pub(super) fn group_relations() -> Vec<&'static Relation> {
    review::archive::GROUP.to_vec()
}

/// Whether a path is one of an archive; all others are left alone.
pub(super) fn is_known(path: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let is_lines = |name: &str| name.strip_suffix(".ndjson").is_some_and(is_word);
    let is_hex = |name: &str, length: usize| {
        name.len() == length && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [VERSION | REPOSITORY | WIKI | GROUP_WIKI] | ["tree", "project.json"] => true,
        ["tree", name] | ["tree", "project", name] => is_lines(name),
        ["tree", "groups", id, name] => id.parse::<u32>().is_ok() && is_lines(name),
        ["uploads", secret] => is_hex(secret, 32),
        ["lfs-objects", id] => is_hex(id, 64),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use db::archive::Field;

    use super::{group_relations, is_known, of_project, project_relations};

    #[test]
    fn every_relation_comes_after_those_that_it_names() {
        for all in [project_relations(), group_relations()] {
            let mut known: HashSet<&str> = HashSet::from(["projects"]);
            for relation in all {
                known.insert(relation.table);
                for column in relation.columns {
                    let named: Vec<&str> = match column.field {
                        Field::Row(of) => vec![of],
                        Field::Kind(kinds) => kinds.iter().map(|(_, of)| *of).collect(),
                        _ => Vec::new(),
                    };
                    for of in named {
                        assert!(known.contains(of), "{} names {of}", relation.name);
                    }
                }
                assert!(is_known(&of_project(relation)), "{}", relation.name);
            }
        }
    }

    #[test]
    fn only_what_the_layout_has_is_taken_out_of_an_archive() {
        for path in ["VERSION", "tree/project/issues.ndjson", "tree/groups/7/labels.ndjson"] {
            assert!(is_known(path), "{path}");
        }
        for path in [
            "../VERSION",
            "/VERSION",
            "tree/../../x.ndjson",
            "tree/groups/../x.ndjson",
            "uploads/../../secrets.key",
            "uploads/0123456789abcdef0123456789abcdeg",
            "tree/project/.ndjson",
            "hooks/post-receive",
        ] {
            assert!(!is_known(path), "{path}");
        }
    }
}
