//! `release`, and other keywords that are checked and kept as they are: `id_tokens`, `secrets`, `hooks`.

use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Iso8601};

use super::{Entry, Path, Report, fields::Fields, script};
use crate::config::{json, node::Node, options::Hooks};

const KEYS: &[&str] = &[
    "tag_name",
    "tag_message",
    "name",
    "description",
    "ref",
    "milestones",
    "released_at",
    "assets",
];
const LINK_KEYS: &[&str] = &["name", "url", "filepath", "link_type"];

pub(super) fn release(report: &mut Report, entry: Entry<'_>) -> Option<Value> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mark = report.mark();
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(KEYS);
    fields.required_text("tag_name");
    fields.text("tag_message");
    fields.required_text("description");
    for key in ["name", "ref"] {
        fields.text(key);
    }
    fields.one_or_more_texts("milestones");
    let time = fields.get("released_at").map(|node| node.as_text().unwrap_or_default());
    if time.is_some_and(|time| OffsetDateTime::parse(time, &Iso8601::DEFAULT).is_err()) {
        fields.wrong("released_at", "must be a valid datetime");
    }
    if fields.is_clean()
        && let Some(node) = map.present("assets")
    {
        assets(report, Entry { node, path: &entry.path.child("assets") });
    }
    report.is_clean_since(mark).then(|| json::value(entry.node))
}

fn assets(report: &mut Report, entry: Entry<'_>) {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return;
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(&["links"]);
    let Some(links) = map.get("links").and_then(Node::as_list) else {
        fields.wrong("links", "should be an array of hashes");
        return;
    };
    let links_path = entry.path.child("links");
    for link in links {
        self::link(report, &links_path, link);
    }
}

fn link(report: &mut Report, path: &Path<'_>, node: &Node) {
    let path = path.child("link");
    let Some(map) = node.as_map() else {
        report.config(&path, "should be a hash");
        return;
    };
    let mut fields = Fields::of(report, &path, map);
    fields.known(LINK_KEYS);
    fields.required_text("name");
    fields.required_text("url");
    fields.text("filepath");
    fields.text("link_type");
}

pub(super) fn hooks(report: &mut Report, entry: Entry<'_>) -> Option<Hooks> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(&["pre_get_sources_script"]);
    if !fields.is_clean() {
        return None;
    }
    let pre_get_sources_script = map.present("pre_get_sources_script").and_then(|node| {
        let path = entry.path.child("pre_get_sources_script");
        script::script(report, Entry { node, path: &path })
    });
    Some(Hooks { pre_get_sources_script })
}

/// Names of tokens, each with whom it is for.
pub(super) fn id_tokens(report: &mut Report, entry: Entry<'_>) -> Option<Value> {
    let mark = report.mark();
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    for (name, node) in map.iter() {
        let path = entry.path.child(name.as_str());
        let Some(token) = node.as_map() else {
            report.config(&path, "should be a hash");
            continue;
        };
        let mut fields = Fields::of(report, &path, token);
        fields.known(&["aud"]);
        if !token.contains("aud") {
            fields.report.config(&path, "missing required keys: aud");
        }
        fields.one_or_more_texts("aud");
    }
    report.is_clean_since(mark).then(|| json::value(entry.node))
}

/// A mapping whose inside only whoever uses it understands.
pub(super) fn mapping(report: &mut Report, entry: Entry<'_>) -> Option<Value> {
    if entry.node.as_map().is_none() {
        report.config(entry.path, "should be a hash");
        return None;
    }
    Some(json::value(entry.node))
}
