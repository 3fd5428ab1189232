//! `inherit`: which defaults and which global variables a job takes.

use super::{Entry, Path, Report, default, fields::Fields};
use crate::config::node::{Map, Node};

/// The inherited part of defaults or variables.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Inheritance {
    #[default]
    All,
    None,
    Of(Vec<String>),
}

impl Inheritance {
    pub(crate) fn takes(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Of(names) => names.iter().any(|taken| taken == name),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Inherit {
    pub(super) default: Inheritance,
    pub(super) variables: Inheritance,
}

pub(super) fn inherit(report: &mut Report, entry: Entry<'_>) -> Option<Inherit> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(&["default", "variables"]);
    if !fields.is_clean() {
        return None;
    }
    Some(Inherit {
        default: part(report, entry.path, map, "default", Some(default::KEYS)),
        variables: part(report, entry.path, map, "variables", None),
    })
}

fn part(
    report: &mut Report,
    path: &Path<'_>,
    map: &Map,
    key: &str,
    known: Option<&[&str]>,
) -> Inheritance {
    let path = path.child(key);
    match map.present(key) {
        None | Some(Node::Bool(true)) => Inheritance::All,
        Some(Node::Bool(false)) => Inheritance::None,
        Some(node @ Node::List(_)) => {
            let names = super::fields::texts(node);
            if names.is_none() {
                report.config(&path, "should be an array of strings");
            }
            let names = names.unwrap_or_default();
            let unknown = |name: &&str| known.is_some_and(|known| !known.contains(name));
            let unknown: Vec<&str> = names.iter().map(String::as_str).filter(unknown).collect();
            if !unknown.is_empty() {
                let text = format!("contains unknown values: {}", unknown.join(", "));
                report.config(&path, &text);
            }
            Inheritance::Of(names)
        }
        Some(_) => {
            report.problem(&path, "should be a bool or array of strings");
            Inheritance::All
        }
    }
}
