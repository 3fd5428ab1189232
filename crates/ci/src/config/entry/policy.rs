//! `only` and `except`: the older way to say when a job runs.

use std::sync::Arc;

use super::{Entry, Path, Report, fields::Fields};
use crate::config::{
    expression::{Expression, pattern},
    node::{Map, Node},
};

const LIST_PROBLEM: &str = "should be an array of strings or regular expressions using re2 syntax";

/// Each part that is given is asked by itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Policy {
    pub(crate) refs: Option<Vec<String>>,
    pub(crate) variables: Option<Vec<Arc<Expression>>>,
    pub(crate) changes: Option<Vec<String>>,
    pub(crate) kubernetes: bool,
    /// As it was written, for who asks what a configuration means.
    pub(crate) written: Node,
}

impl Policy {
    /// Branches and tags, what a job runs for when nothing else is said.
    pub(crate) fn default_only() -> Self {
        let refs = ["branches", "tags"].map(str::to_owned).to_vec();
        Self { written: written(&refs), refs: Some(refs), ..Self::default() }
    }
}

fn written(refs: &[String]) -> Node {
    let list = Node::of_list(refs.iter().map(|name| Node::of_text(name)).collect());
    Node::of_map([(crate::config::node::Key::text("refs".into()), list)].into_iter().collect())
}

pub(super) fn policy(report: &mut Report, entry: Entry<'_>) -> Option<Policy> {
    match entry.node {
        Node::List(_) => {
            let refs = refs(report, entry.node);
            if refs.is_none() {
                report.config(entry.path, LIST_PROBLEM);
            }
            refs.map(|refs| Policy {
                written: written(&refs),
                refs: Some(refs),
                ..Policy::default()
            })
        }
        Node::Map(map) => complex(report, entry.path, map)
            .map(|policy| Policy { written: entry.node.clone(), ..policy }),
        _ => {
            report.problem(entry.path, "has to be either an array of conditions or a hash");
            None
        }
    }
}

/// Names, keywords and patterns; `None` when something else is among them, or a pattern is broken.
fn refs(report: &mut Report, node: &Node) -> Option<Vec<String>> {
    let names = super::fields::texts(node)?;
    let fit = |name: &String| !pattern::is_written(name) || report.patterns.is_valid(name);
    names.iter().all(fit).then_some(names)
}

fn complex(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<Policy> {
    if map.is_empty() {
        report.config(path, "can't be blank");
        return None;
    }
    let mut fields = Fields::of(report, path, map);
    fields.known(&["refs", "kubernetes", "variables", "changes"]);
    let refs = fields.get("refs").map(|node| refs(fields.report, node));
    if refs == Some(None) {
        fields.wrong("refs", LIST_PROBLEM);
    }
    let kubernetes = fields.get("kubernetes").map(|node| node.scalar().unwrap_or_default());
    if let Some(word) = kubernetes.as_ref().filter(|word| *word != "active") {
        fields.wrong("kubernetes", &format!("unknown value: {word}"));
    }
    let variables = conditions(&mut fields);
    let changes = fields.texts("changes");
    let clean = fields.is_clean();
    let policy = Policy {
        refs: refs.flatten(),
        variables,
        changes,
        kubernetes: kubernetes.is_some(),
        written: Node::Null,
    };
    clean.then_some(policy)
}

fn conditions(fields: &mut Fields<'_, '_>) -> Option<Vec<Arc<Expression>>> {
    let node = fields.get("variables")?;
    let mut texts: Vec<&Arc<str>> = Vec::new();
    for item in node.as_list().unwrap_or_default() {
        match item {
            Node::Text(text) => texts.push(text),
            _ => fields.wrong("variables", "should be an array of strings"),
        }
    }
    if node.as_list().is_none() {
        fields.wrong("variables", "should be an array of strings");
    }
    let conditions: Option<Vec<_>> =
        texts.into_iter().map(|text| fields.report.expression(text)).collect();
    if conditions.is_none() {
        fields.wrong("variables", "invalid expression syntax");
    }
    conditions
}
