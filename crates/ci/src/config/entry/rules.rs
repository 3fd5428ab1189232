//! `rules`: the first that fits says whether there is a job, and how it runs.

use std::sync::Arc;

use super::{Entry, Needs, Path, Report, Values, fields::Fields, needs, script, variables};
use crate::config::{
    duration::LONGEST_DELAY,
    expression::Expression,
    node::{Map, Node},
};

const MOST_PATHS: usize = 50;

const KEYS: &[&str] = &[
    "if",
    "changes",
    "exists",
    "when",
    "start_in",
    "allow_failure",
    "variables",
    "needs",
    "interruptible",
];
const WORKFLOW_KEYS: &[&str] = &[
    "if",
    "changes",
    "exists",
    "when",
    "start_in",
    "allow_failure",
    "variables",
    "needs",
    "auto_cancel",
];
const INCLUDE_KEYS: &[&str] = &["if", "changes", "exists", "when"];
const TIMES: &[&str] = &["on_success", "on_failure", "always", "never", "manual", "delayed"];
const WORKFLOW_TIMES: &[&str] = &["always", "never"];

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rule {
    pub(crate) condition: Option<Arc<Expression>>,
    pub(crate) changes: Option<Changes>,
    pub(crate) exists: Option<Exists>,
    pub(crate) when: Option<String>,
    /// As written.
    pub(crate) start_in: Option<String>,
    pub(crate) allow_failure: Option<bool>,
    pub(crate) interruptible: Option<bool>,
    pub(crate) variables: Option<Values>,
    pub(crate) needs: Option<Needs>,
    pub(crate) auto_cancel: Option<Node>,
    /// Whether it says nothing but when.
    pub(crate) is_bare: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Changes {
    pub(crate) paths: Vec<String>,
    pub(crate) compare_to: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Exists {
    pub(crate) paths: Vec<String>,
    /// Of another project, with its ref.
    pub(crate) project: Option<(String, Option<String>)>,
}

/// The owner of `rules`.
#[derive(Clone, Copy)]
struct Kind {
    keys: &'static [&'static str],
    times: &'static [&'static str],
}

const OF_JOB: Kind = Kind { keys: KEYS, times: TIMES };
const OF_WORKFLOW: Kind = Kind { keys: WORKFLOW_KEYS, times: WORKFLOW_TIMES };
const OF_INCLUDE: Kind = Kind { keys: INCLUDE_KEYS, times: WORKFLOW_TIMES };

pub(super) fn job_rules(report: &mut Report, entry: Entry<'_>) -> Option<Vec<Rule>> {
    rules(report, entry, OF_JOB)
}

pub(super) fn workflow_rules(report: &mut Report, entry: Entry<'_>) -> Option<Vec<Rule>> {
    rules(report, entry, OF_WORKFLOW)
}

/// Rules of an `include`, whose problems are told before all others.
pub(crate) fn include_rules(report: &mut Report, node: &Node) -> Option<Vec<Rule>> {
    let include = Path::of("include");
    rules(report, Entry { node, path: &include.child("rules") }, OF_INCLUDE)
}

/// Whether it is a list of mappings, with lists in it that are not too deep.
pub(super) fn is_list(node: &Node) -> bool {
    let each = &mut |item: &Node| item.as_map().map(|_| ());
    node.as_list().is_some_and(|items| script::flatten(items, script::DEEPEST, each).is_some())
}

fn rules(report: &mut Report, entry: Entry<'_>, kind: Kind) -> Option<Vec<Rule>> {
    if entry.node.is_blank() {
        report.config(entry.path, "can't be blank");
    }
    let Some(items) = entry.node.as_list() else {
        report.config(entry.path, "should be a array");
        return None;
    };
    if items.is_empty() {
        return None;
    }
    let mut nodes = Vec::new();
    let flat = script::flatten(items, script::DEEPEST, &mut |item| {
        nodes.push(item);
        Some(())
    });
    if flat.is_none() {
        report.config(entry.path, "should be an array containing hashes and arrays of hashes");
        return None;
    }
    let path = entry.path.child("rule");
    nodes.into_iter().map(|node| rule(report, Entry { node, path: &path }, kind)).collect()
}

fn rule(report: &mut Report, entry: Entry<'_>, kind: Kind) -> Option<Rule> {
    if entry.node.is_blank() {
        report.config(entry.path, "can't be blank");
    }
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mark = report.mark();
    let mut rule = own(&mut Fields::of(report, entry.path, map), kind);
    if map.is_empty() || !report.is_clean_since(mark) {
        return None;
    }
    rule.is_bare = map.len() == 1 && rule.when.is_some();
    inner(report, entry.path, map, &mut rule);
    report.is_clean_since(mark).then_some(rule)
}

fn own(fields: &mut Fields<'_, '_>, kind: Kind) -> Rule {
    let when = fields.get("when").map(|node| node.scalar().unwrap_or_default());
    let start_in = start_in(fields, when.as_deref() == Some("delayed"));
    let rule = Rule {
        condition: fields.expression("if"),
        start_in,
        allow_failure: fields.flag("allow_failure"),
        interruptible: fields.flag("interruptible"),
        when,
        ..Rule::default()
    };
    if let Some(word) = rule.when.as_deref().filter(|word| !kind.times.contains(word)) {
        fields.wrong("when", &format!("unknown value: {word}"));
    }
    fields.known(kind.keys);
    rule
}

/// What a delayed job needs, and no other may have.
fn start_in(fields: &mut Fields<'_, '_>, delayed: bool) -> Option<String> {
    if delayed {
        if fields.get("start_in").is_none_or(Node::is_blank) {
            fields.wrong("start_in", "can't be blank");
        }
        return fields.duration("start_in", Some(LONGEST_DELAY));
    }
    if fields.map.contains("start_in") {
        fields.report.config(fields.path, "contains disallowed keys: start_in");
    }
    None
}

fn inner(report: &mut Report, path: &Path<'_>, map: &Map, rule: &mut Rule) {
    if let Some(node) = map.present("changes") {
        rule.changes = changes(report, Entry { node, path: &path.child("changes") });
    }
    if let Some(node) = map.present("exists") {
        rule.exists = exists(report, Entry { node, path: &path.child("exists") });
    }
    if let Some(node) = map.present("variables") {
        let path = path.child("variables");
        rule.variables =
            variables::variables(report, Entry { node, path: &path }, variables::PLAIN);
    }
    if let Some(node) = map.present("needs") {
        rule.needs = needs::needs(
            report,
            Entry { node, path: &path.child("needs") },
            needs::NeedsOwner::Rule,
        );
    }
    if let Some(node) = map.present("auto_cancel") {
        super::workflow::auto_cancel(report, Entry { node, path: &path.child("auto_cancel") });
        rule.auto_cancel = Some(node.clone());
    }
}

fn changes(report: &mut Report, entry: Entry<'_>) -> Option<Changes> {
    match entry.node {
        Node::List(_) => {
            let paths = paths(report, entry)?;
            Some(Changes { paths, compare_to: None })
        }
        Node::Map(map) => {
            let mut fields = Fields::of(report, entry.path, map);
            fields.known(&["paths", "compare_to"]);
            if fields.get("paths").is_none() {
                fields.wrong("paths", "can't be blank");
            }
            let paths = fields.texts("paths");
            if paths.as_ref().is_some_and(|paths| paths.len() > MOST_PATHS) {
                let text = format!("has too many entries (maximum {MOST_PATHS})");
                fields.wrong("paths", &text);
            }
            let compare_to = fields.text("compare_to");
            let clean = fields.is_clean();
            paths.filter(|_| clean).map(|paths| Changes { paths, compare_to })
        }
        _ => {
            report.problem(entry.path, "should be an array or a hash");
            None
        }
    }
}

fn exists(report: &mut Report, entry: Entry<'_>) -> Option<Exists> {
    match entry.node {
        Node::Map(map) => {
            let mut fields = Fields::of(report, entry.path, map);
            fields.known(&["paths", "project", "ref"]);
            let paths = fields.texts("paths");
            if paths.as_ref().is_none_or(Vec::is_empty) {
                fields.wrong("paths", "can't be blank");
            }
            let (project, reference) = (fields.text("project"), fields.text("ref"));
            let clean = fields.is_clean();
            let project = project.map(|project| (project, reference));
            paths.filter(|_| clean).map(|paths| Exists { paths, project })
        }
        // One path was always taken for a list of one.
        Node::Text(path) => Some(Exists { paths: vec![path.to_string()], project: None }),
        _ => paths(report, entry).map(|paths| Exists { paths, project: None }),
    }
}

fn paths(report: &mut Report, entry: Entry<'_>) -> Option<Vec<String>> {
    let Some(paths) = super::fields::texts(entry.node) else {
        report.config(entry.path, "should be an array of strings");
        return None;
    };
    if paths.len() > MOST_PATHS {
        report.config(entry.path, &format!("has too many entries (maximum {MOST_PATHS})"));
        return None;
    }
    Some(paths)
}
