//! `environment`: where a job deploys to.

use std::sync::LazyLock;

use kernel::values::length_fault;
use regex::Regex;

use super::{Entry, Report, fields::Fields};
use crate::config::{node::Node, options::Environment};

const KEYS: &[&str] =
    &["name", "url", "action", "on_stop", "kubernetes", "auto_stop_in", "deployment_tier"];
const ACTIONS: &[&str] = &["start", "stop", "prepare", "verify", "access"];
const TIERS: &[&str] = &["production", "staging", "testing", "development", "other"];
const LONGEST_URL: usize = 255;
const NAME_PROBLEM: &str = "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'";

static NAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\A[-A-Za-z0-9_\\${}. ]([-A-Za-z0-9_\\/${}. ]*[-A-Za-z0-9_\\${}. ])?\z").ok()
});

/// Whether an environment may be called so.
pub fn is_name(name: &str) -> bool {
    NAME.as_ref().is_some_and(|regex| regex.is_match(name))
}

pub(super) fn environment(report: &mut Report, entry: Entry<'_>) -> Option<Environment> {
    let map = match entry.node {
        Node::Text(name) => {
            let mark = report.mark();
            ensure_name(report, entry, entry.node);
            let environment = Environment { name: name.to_string(), ..Environment::default() };
            return report.is_clean_since(mark).then_some(environment);
        }
        Node::Map(map) => map,
        _ => {
            report.config(entry.path, "should be a hash or a string");
            return None;
        }
    };
    let mark = report.mark();
    ensure_name(report, entry, map.get("name").unwrap_or(&Node::Null));
    let environment = attributes(&mut Fields::of(report, entry.path, map));
    report.is_clean_since(mark).then_some(environment)
}

fn ensure_name(report: &mut Report, entry: Entry<'_>, node: &Node) {
    if node.is_blank() {
        report.attribute(entry.path, "name", "can't be blank");
        return;
    }
    if !node.as_text().is_some_and(is_name) {
        report.attribute(entry.path, "name", NAME_PROBLEM);
    }
}

fn attributes(fields: &mut Fields<'_, '_>) -> Environment {
    fields.known(KEYS);
    let url = fields.text("url");
    if let Some(text) = url.as_ref().and_then(|url| length_fault(url, LONGEST_URL)) {
        fields.wrong("url", &text);
    }
    let action =
        fields.choice("action", ACTIONS, "should be start, stop, prepare, verify, or access");
    let deployment_tier = fields.choice(
        "deployment_tier",
        TIERS,
        "must be one of production, staging, testing, development, other",
    );
    let kubernetes = fields.get("kubernetes");
    if kubernetes.is_some_and(|node| node.as_map().is_none()) {
        fields.wrong("kubernetes", "should be a hash");
    }
    Environment {
        name: fields.get("name").and_then(Node::as_text).unwrap_or_default().to_owned(),
        url,
        on_stop: fields.text("on_stop"),
        action,
        auto_stop_in: fields.text("auto_stop_in"),
        deployment_tier,
        kubernetes: kubernetes.map(crate::config::json::value),
    }
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_hold_letters_digits_and_a_few_signs() {
        for name in ["a", "review/$CI_COMMIT_REF_SLUG", "a b", "a.b_c-d", "${X}"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "/a", "a/", "a;b", "ä", "a\n"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
