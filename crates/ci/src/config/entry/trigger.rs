//! `trigger`: a pipeline in another project, or a child of this one.

use super::{Entry, Path, Report, fields::Fields};
use crate::config::{
    json,
    node::{Map, Node},
    options::{Forward, Trigger},
};

const MOST_INCLUDES: usize = 3;
const STRATEGIES: &[&str] = &["depend", "mirror"];
const INCLUDE_KEYS: &[&str] = &[
    "local",
    "file",
    "remote",
    "project",
    "ref",
    "template",
    "artifact",
    "job",
    "component",
    "rules",
    "inputs",
];

pub(super) fn trigger(report: &mut Report, entry: Entry<'_>) -> Option<Trigger> {
    match entry.node {
        Node::Text(project) if project.trim().is_empty() => {
            report.config(entry.path, "can't be blank");
            None
        }
        Node::Text(project) => {
            Some(Trigger { project: Some(project.to_string()), ..Trigger::default() })
        }
        Node::Map(map) if map.contains("include") => child(report, entry.path, map),
        Node::Map(map) => cross_project(report, entry.path, map),
        _ => {
            report.problem(entry.path, "has to be either a string or a hash");
            None
        }
    }
}

fn cross_project(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<Trigger> {
    let mark = report.mark();
    let mut fields = Fields::of(report, path, map);
    fields.known(&["project", "branch", "strategy", "forward"]);
    let trigger = Trigger {
        project: fields.required_text("project"),
        branch: fields.text("branch"),
        strategy: strategy(&mut fields),
        ..Trigger::default()
    };
    if !fields.is_clean() {
        return None;
    }
    let forward = forward_of(report, path, map);
    report.is_clean_since(mark).then_some(Trigger { forward, ..trigger })
}

fn child(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<Trigger> {
    let mark = report.mark();
    let mut fields = Fields::of(report, path, map);
    fields.known(&["strategy", "include", "forward"]);
    let strategy = strategy(&mut fields);
    if !fields.is_clean() {
        return None;
    }
    let node = map.get("include").unwrap_or(&Node::Null);
    let inner = path.child("include");
    includes(report, Entry { node, path: &inner });
    let forward = forward_of(report, path, map);
    let trigger =
        Trigger { include: Some(json::value(node)), strategy, forward, ..Trigger::default() };
    report.is_clean_since(mark).then_some(trigger)
}

fn strategy(fields: &mut Fields<'_, '_>) -> Option<String> {
    fields.choice("strategy", STRATEGIES, "should be depend or mirror")
}

fn includes(report: &mut Report, entry: Entry<'_>) {
    let items = match entry.node {
        Node::List(list) => list.items(),
        Node::Text(_) | Node::Map(_) => std::slice::from_ref(entry.node),
        _ => {
            report.config(entry.path, "should be an array or a string");
            return;
        }
    };
    if items.len() > MOST_INCLUDES {
        let text = format!("is too long (maximum is {MOST_INCLUDES})");
        report.config(entry.path, &text);
        return;
    }
    let path = entry.path.child("include");
    for node in items {
        include(report, Entry { node, path: &path });
    }
}

fn include(report: &mut Report, entry: Entry<'_>) {
    let Some(map) = entry.node.as_map() else {
        if entry.node.as_text().is_none() {
            report.config(entry.path, "should be a hash or a string");
        }
        return;
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(INCLUDE_KEYS);
    if map.contains("artifact") && !map.contains("job") {
        fields.report.config(entry.path, "must specify the job where to fetch the artifact from");
    }
    if map.contains("project") && !map.contains("file") {
        fields.report.config(entry.path, "must specify the file where to fetch the config from");
    }
}

fn forward_of(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<Forward> {
    let node = map.present("forward")?;
    let path = path.child("forward");
    let Some(map) = node.as_map() else {
        report.config(&path, "should be a hash");
        return None;
    };
    let mut fields = Fields::of(report, &path, map);
    fields.known(&["yaml_variables", "pipeline_variables"]);
    Some(Forward {
        yaml_variables: fields.flag("yaml_variables"),
        pipeline_variables: fields.flag("pipeline_variables"),
    })
}
