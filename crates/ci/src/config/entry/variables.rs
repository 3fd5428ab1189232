//! `variables`: names with their values, and with what people are told of them.

use std::sync::Arc;

use super::{Entry, Path, Report};
use crate::config::{
    node::{Map, Node},
    ordered_map::OrderedMap,
};

/// The value of a variable entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub text: Arc<str>,
    /// Whether names in it are left alone.
    pub raw: bool,
}

/// In the order written.
pub(crate) type Values = OrderedMap<Arc<str>, Value>;

/// Keys that a variable may have when it is a mapping.
pub(super) const GLOBAL: &[&str] = &["value", "description", "expand", "options"];
pub(super) const OF_JOB: &[&str] = &["value", "expand"];
/// Where no mapping is known.
pub(super) const PLAIN: &[&str] = &[];

pub(super) fn variables(
    report: &mut Report,
    entry: Entry<'_>,
    keys: &'static [&'static str],
) -> Option<Values> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash of key value pairs, value can be a hash");
        return None;
    };
    let mark = report.mark();
    let mut values = Values::with_capacity(map.len());
    for (key, node) in map.iter() {
        let path = entry.path.child(key.as_str());
        let value = match node {
            Node::Map(map) => described(report, &path, map, keys),
            node => plain(report, node),
        };
        if let Some(value) = value {
            values.insert(key.to_shared(), value);
        }
    }
    report.is_clean_since(mark).then_some(values)
}

fn plain(report: &mut Report, node: &Node) -> Option<Value> {
    let Some(text) = scalar(node) else {
        report.problems.push("variable definition must be either a string or a hash".to_owned());
        return None;
    };
    Some(Value { text, raw: false })
}

fn scalar(node: &Node) -> Option<Arc<str>> {
    match node {
        Node::Text(text) => Some(Arc::clone(text)),
        node => node.scalar().map(Arc::from),
    }
}

/// `{value: …, description: …, options: […], expand: …}`.
fn described(
    report: &mut Report,
    path: &Path<'_>,
    map: &Map,
    keys: &'static [&'static str],
) -> Option<Value> {
    let mark = report.mark();
    let text = map.get("value").map_or_else(|| Some(Arc::from("")), scalar);
    if text.is_none() {
        report.attribute(path, "config_value", "must be an alphanumeric string");
    }
    let description = map.present("description").map_or(Some(Arc::from("")), scalar);
    if description.is_none() {
        report.attribute(path, "config_description", "must be an alphanumeric string");
    }
    let expand = map.present("expand").map(Node::as_bool);
    if expand == Some(None) {
        report.attribute(path, "config_expand", "should be a boolean value");
    }
    if keys.is_empty() {
        report.config(path, "must be a string");
    } else if let Some(unknown) = super::unknown_keys(map, &[keys]) {
        report.config(path, &format!("uses invalid data keys: {unknown}"));
    }
    options(report, path, map);
    let raw = expand.flatten().is_some_and(|expand| !expand);
    text.filter(|_| report.is_clean_since(mark)).map(|text| Value { text, raw })
}

/// What the value may be, when that is given.
fn options(report: &mut Report, path: &Path<'_>, map: &Map) {
    let Some(node) = map.present("options") else { return };
    let Some(options) = super::fields::texts(node) else {
        report.attribute(path, "config_options", "should be an array of strings");
        return;
    };
    let value = map.get("value").and_then(Node::as_text);
    if !options.is_empty() && !options.iter().any(|option| Some(option.as_str()) == value) {
        report.config(path, "value must be present in options");
    }
}

pub(super) fn as_json(values: &Values) -> serde_json::Map<String, serde_json::Value> {
    let json = |value: &Value| serde_json::Value::String(value.text.to_string());
    values.iter().map(|(key, value)| (key.to_string(), json(value))).collect()
}
