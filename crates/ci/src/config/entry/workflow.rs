//! `workflow`: whether there is a pipeline at all, and what it is called.

use super::{Entry, Report, Rule, fields::Fields, rules};
use crate::config::node::Node;

const LONGEST_NAME: usize = 255;
const ON_NEW_COMMIT: &[&str] = &["conservative", "interruptible", "none"];
const ON_JOB_FAILURE: &[&str] = &["none", "all"];

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Workflow {
    pub(crate) rules: Option<Vec<Rule>>,
    /// As written.
    pub(crate) name: Option<String>,
    pub(crate) auto_cancel: Option<Node>,
}

pub(super) fn workflow(report: &mut Report, entry: Entry<'_>) -> Option<Workflow> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(&["rules", "name", "auto_cancel"]);
    let name = fields.text("name");
    match name.as_ref().map(|name| name.chars().count()) {
        Some(0) => fields.wrong("name", "is too short (minimum is 1 character)"),
        Some(length) if length > LONGEST_NAME => {
            fields.wrong("name", &format!("is too long (maximum is {LONGEST_NAME} characters)"));
        }
        _ => {}
    }
    if !fields.is_clean() {
        return None;
    }
    let rules = map.present("rules").map(|node| {
        rules::workflow_rules(report, Entry { node, path: &entry.path.child("rules") })
    });
    let cancel = map.present("auto_cancel");
    if let Some(node) = cancel {
        auto_cancel(report, Entry { node, path: &entry.path.child("auto_cancel") });
    }
    Some(Workflow {
        rules: rules.map(Option::unwrap_or_default),
        name,
        auto_cancel: cancel.cloned(),
    })
}

pub(super) fn auto_cancel(report: &mut Report, entry: Entry<'_>) {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return;
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(&["on_new_commit", "on_job_failure"]);
    fields.choice(
        "on_new_commit",
        ON_NEW_COMMIT,
        "must be one of: conservative, interruptible, none",
    );
    fields.choice("on_job_failure", ON_JOB_FAILURE, "must be one of: none, all");
}
