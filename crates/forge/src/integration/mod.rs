//! Integrations at work: what each kind is sent of what happens.

mod build;
mod chat;
mod other;
mod tracker;

use admin::{
    flags::Flag,
    integration::{Class, Integration, Values},
};
use serde_json::{Value, json};

/// What is sent to a product of others.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) method: &'static str,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) verify: bool,
}

impl Message {
    fn json(url: String, body: &Value) -> Self {
        Self { method: "POST", url, headers: Vec::new(), body: body.to_string(), verify: true }
    }

    fn header(mut self, name: &str, value: String) -> Self {
        self.headers.push((name.to_owned(), value));
        self
    }

    fn verifying(self, verify: bool) -> Self {
        Self { verify, ..self }
    }
}

/// What an integration is sent; nothing where it wants nothing of this.
pub(crate) fn message(
    row: &Integration,
    values: &Values,
    flag: Flag,
    payload: &Value,
) -> Option<Message> {
    let kind = row.kind()?;
    if !is_wanted_branch(values, payload) {
        return None;
    }
    match kind.class {
        Class::Chat => chat::message(kind.slug, values, flag, payload),
        Class::Build => build::message(kind.slug, values, payload),
        Class::Tracker => tracker::message(kind.slug, values, payload),
        Class::Own => other::message(kind.slug, values, payload),
        Class::Issues | Class::Silent | Class::Commands | Class::Mail => None,
    }
}

fn text<'v>(values: &'v Values, name: &str) -> Option<&'v str> {
    values.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

fn is_on(values: &Values, name: &str) -> bool {
    values.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// An address with a path behind it.
fn below(base: &str, path: &str) -> String {
    format!("{}/{path}", base.trim_end_matches('/'))
}

/// The branch of a push or a pipeline; nothing for tags and other events.
fn branch(payload: &Value) -> Option<&str> {
    let attributes = &payload["object_attributes"];
    match payload["object_kind"].as_str()? {
        "push" => payload["ref"].as_str()?.strip_prefix("refs/heads/"),
        "pipeline" if attributes["tag"] != json!(true) => attributes["ref"].as_str(),
        _ => None,
    }
}

/// Whether the branch is one of those that the integration is told of.
fn is_wanted_branch(values: &Values, payload: &Value) -> bool {
    let Some(branch) = branch(payload) else { return true };
    if let Some(listed) = text(values, "restrict_to_branch") {
        return listed.split(',').any(|one| one.trim() == branch);
    }
    let is_default = payload["project"]["default_branch"].as_str() == Some(branch);
    let is_protected = payload["ref_protected"] == json!(true);
    match text(values, "branches_to_be_notified") {
        Some("default") => is_default,
        Some("protected") => is_protected,
        Some("default_and_protected") => is_default || is_protected,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::is_wanted_branch;

    #[test]
    fn only_branches_that_are_wanted_are_told_of() {
        let payload = json!({
            "object_kind": "push", "ref": "refs/heads/dev", "project": { "default_branch": "main" },
        });
        for (values, wanted) in [
            (json!({}), true),
            (json!({ "restrict_to_branch": "main, dev" }), true),
            (json!({ "restrict_to_branch": "main" }), false),
            (json!({ "branches_to_be_notified": "default" }), false),
            (json!({ "branches_to_be_notified": "all" }), true),
        ] {
            let Value::Object(values) = values else { continue };
            assert_eq!(is_wanted_branch(&values, &payload), wanted, "{values:?}");
        }
    }
}
