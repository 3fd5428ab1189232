//! Full paths and full names, which tell what lies where.

use super::Namespace;

/// Of a namespace, when it moves.
#[derive(Clone, Debug)]
pub(crate) struct NewPath {
    pub name: String,
    pub path: String,
    pub full_path: String,
    pub full_name: String,
}

impl NewPath {
    pub(crate) fn below(parent: Option<&Namespace>, name: &str, path: &str) -> Self {
        Self {
            name: name.to_owned(),
            path: path.to_owned(),
            full_path: joined(parent.map(|parent| parent.full_path.as_str()), "/", path),
            full_name: joined(parent.map(|parent| parent.full_name.as_str()), " / ", name),
        }
    }
}

/// `parent/child`, or the child alone at the top.
pub(crate) fn joined(parent: Option<&str>, between: &str, child: &str) -> String {
    match parent {
        Some(parent) => format!("{parent}{between}{child}"),
        None => child.to_owned(),
    }
}

/// Between these two lie the keys of everything below a namespace, and nothing else.
pub(crate) fn below(full_path: &str) -> (String, String) {
    let key = full_path.to_lowercase();
    (format!("{key}/"), format!("{key}0"))
}
