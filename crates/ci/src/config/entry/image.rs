//! `image` and `services`: what a job runs in, and what runs beside it.

use super::{Entry, Path, Report, fields::Fields, variables};
use crate::config::{
    node::{Map, Node},
    options::{Image, Service},
};

const IMAGE_KEYS: &[&str] = &["name", "entrypoint", "ports", "pull_policy", "docker", "kubernetes"];
const SERVICE_KEYS: &[&str] = &[
    "name",
    "entrypoint",
    "ports",
    "pull_policy",
    "docker",
    "kubernetes",
    "command",
    "alias",
    "variables",
];
const POLICIES: &[&str] = &["always", "never", "if-not-present"];

pub(super) fn image(report: &mut Report, entry: Entry<'_>) -> Option<Image> {
    match entry.node {
        Node::Text(name) => named(report, entry.path, name),
        Node::Map(map) => {
            let mut fields = Fields::of(report, entry.path, map);
            fields.known(IMAGE_KEYS);
            image_of(&mut fields)
        }
        _ => {
            report.config(entry.path, "should be a hash or a string");
            None
        }
    }
}

pub(super) fn services(report: &mut Report, entry: Entry<'_>) -> Option<Vec<Service>> {
    let Some(items) = entry.node.as_list() else {
        report.config(entry.path, "should be a array");
        return None;
    };
    let path = entry.path.child("service");
    items.iter().map(|node| service(report, Entry { node, path: &path })).collect()
}

fn service(report: &mut Report, entry: Entry<'_>) -> Option<Service> {
    let map = match entry.node {
        Node::Text(name) => {
            let image = named(report, entry.path, name)?;
            return Some(Service { image, ..Service::default() });
        }
        Node::Map(map) => map,
        _ => {
            report.config(entry.path, "should be a hash or a string");
            return None;
        }
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(SERVICE_KEYS);
    let (command, alias) = (fields.texts("command"), fields.text("alias"));
    let image = image_of(&mut fields);
    let clean = fields.is_clean();
    let values = map.present("variables").filter(|_| clean).map(|node| {
        let path = entry.path.child("variables");
        variables::variables(report, Entry { node, path: &path }, variables::PLAIN)
    });
    let variables = values.flatten().map(|values| variables::as_json(&values));
    Some(Service { image: image?, alias, command, variables })
}

fn named(report: &mut Report, path: &Path<'_>, name: &str) -> Option<Image> {
    if name.trim().is_empty() {
        report.attribute(path, "name", "can't be blank");
        return None;
    }
    Some(Image { name: name.to_owned(), ..Image::default() })
}

fn image_of(fields: &mut Fields<'_, '_>) -> Option<Image> {
    if fields.map.contains("ports") {
        fields.report.config(fields.path, "contains disallowed keys: ports");
    }
    let name = fields.required_text("name");
    let entrypoint = fields.texts("entrypoint");
    let executor_opts = executor_options(fields.map);
    if !fields.is_clean() {
        return None;
    }
    let pull_policy = match fields.get("pull_policy") {
        Some(node) => Some(pull_policy(fields, node)?),
        None => None,
    };
    Some(Image { name: name?, entrypoint, pull_policy, executor_opts })
}

fn pull_policy(fields: &mut Fields<'_, '_>, node: &Node) -> Option<Vec<String>> {
    let path = fields.path.child("pull_policy");
    let Some(policies) = super::fields::one_or_more_texts(node) else {
        fields.report.config(&path, "should be an array of strings or a string");
        return None;
    };
    let unknown: Vec<&str> =
        policies.iter().map(String::as_str).filter(|word| !POLICIES.contains(word)).collect();
    if !unknown.is_empty() {
        let text = format!("contains unknown values: {}", unknown.join(", "));
        fields.report.config(&path, &text);
        return None;
    }
    Some(policies)
}

fn executor_options(map: &Map) -> Option<serde_json::Value> {
    let options: serde_json::Map<_, _> = ["docker", "kubernetes"]
        .into_iter()
        .filter_map(|kind| Some((kind.to_owned(), crate::config::json::value(map.present(kind)?))))
        .collect();
    (!options.is_empty()).then_some(serde_json::Value::Object(options))
}
