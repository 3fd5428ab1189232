//! Integrations at work: what each kind is sent of what happens.

mod build;
mod chat;
pub(crate) mod external;
pub(crate) mod jira;
pub(crate) mod letters;
mod other;
mod tracker;

use admin::{
    flags::Flag,
    integration::{Class, Integration, Values},
};
use serde_json::{Value, json};

/// A message to an external service.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) method: &'static str,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    pub(crate) verify: bool,
    /// Whether the key of the delivery ends the URL, so that the receiver knows a repeat.
    keyed: bool,
}

impl Message {
    fn json(url: String, body: &Value) -> Self {
        Self {
            method: "POST",
            url,
            headers: Vec::new(),
            body: body.to_string(),
            verify: true,
            keyed: false,
        }
    }

    /// A message that replaces what was sent with the same key.
    fn put(url: String, body: &Value) -> Self {
        Self { method: "PUT", keyed: true, ..Self::json(url, body) }
    }

    /// The URL to which a delivery with this key goes.
    pub(crate) fn url_for(&self, key: &str) -> String {
        match self.keyed {
            true => below(&self.url, key),
            false => self.url.clone(),
        }
    }

    fn header(mut self, name: &str, value: String) -> Self {
        self.headers.push((name.to_owned(), value));
        self
    }

    fn verifying(self, verify: bool) -> Self {
        Self { verify, ..self }
    }
}

/// Whether an integration writes letters.
pub(crate) fn is_by_mail(row: &Integration) -> bool {
    row.kind().is_some_and(|kind| kind.class == Class::Mail)
}

/// Whether an integration may be told of an event by several messages.
pub(crate) fn has_parts(row: &Integration) -> bool {
    row.kind().is_some_and(|kind| kind.class == Class::Tracker)
}

/// The parts of an event that an integration is told one by one; none where one message says all of it.
pub(crate) fn parts(row: &Integration, payload: &Value) -> Vec<Value> {
    tracker::parts(&row.slug, payload)
}

/// What an integration is sent; nothing where its kind has no words for this.
pub(crate) fn message(
    row: &Integration,
    values: &Values,
    flag: Flag,
    payload: &Value,
) -> Option<Message> {
    let kind = row.kind()?;
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

/// A value as a part of an address.
fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
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

/// Traits of an event, besides its flag, that integrations filter by; an unknown trait excludes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EventTraits<'a> {
    /// That of a push, or of a pipeline that is not for a tag.
    pub(crate) branch: Option<&'a str>,
    pub(crate) is_default: bool,
    pub(crate) is_protected: bool,
    pub(crate) pipeline: Option<PipelineState>,
}

/// The state of a pipeline in messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PipelineState {
    /// It has not ended, or in another way than these.
    Unfinished,
    Failed,
    Passed,
    /// It passed, and the one before it had failed.
    Fixed,
}

/// Whether an integration is told on this occasion.
pub(crate) fn is_wanted(row: &Integration, occasion: &EventTraits<'_>) -> bool {
    let values = row.properties().unwrap_or_default();
    let is_for_people = row.kind().is_some_and(|kind| {
        kind.class == Class::Chat || ["matrix", "telegram", "pipelines-email"].contains(&kind.slug)
    });
    is_wanted_branch(&values, occasion)
        && (!is_for_people || is_wanted_pipeline(&values, occasion.pipeline))
}

/// Whether it asks if branches are protected.
pub(crate) fn asks_for_protection(row: &Integration) -> bool {
    let values = row.properties().unwrap_or_default();
    matches!(text(&values, "branches_to_be_notified"), Some("protected" | "default_and_protected"))
}

/// Whether of pipelines that passed it is told only of the first.
pub(crate) fn asks_for_fixes(row: &Integration) -> bool {
    is_on(&row.properties().unwrap_or_default(), "notify_only_broken_pipelines")
}

/// Whether the branch is one of those that the integration is told of.
fn is_wanted_branch(values: &Values, occasion: &EventTraits<'_>) -> bool {
    let Some(branch) = occasion.branch else { return true };
    if is_on(values, "notify_only_default_branch") && !occasion.is_default {
        return false;
    }
    if let Some(listed) = text(values, "restrict_to_branch") {
        return listed.split(',').any(|one| one.trim() == branch);
    }
    match text(values, "branches_to_be_notified") {
        Some("default") => occasion.is_default,
        Some("protected") => occasion.is_protected,
        Some("default_and_protected") => occasion.is_default || occasion.is_protected,
        _ => true,
    }
}

/// Only pipelines that have ended are told of; of some receivers only those that failed, and the first that passed again.
fn is_wanted_pipeline(values: &Values, pipeline: Option<PipelineState>) -> bool {
    match pipeline {
        None | Some(PipelineState::Failed | PipelineState::Fixed) => true,
        Some(PipelineState::Passed) => !is_on(values, "notify_only_broken_pipelines"),
        Some(PipelineState::Unfinished) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{EventTraits, PipelineState, is_wanted_branch, is_wanted_pipeline};

    #[test]
    fn only_branches_that_are_wanted_are_told_of() {
        let dev = EventTraits { branch: Some("dev"), is_protected: true, ..EventTraits::default() };
        for (values, wanted) in [
            (json!({}), true),
            (json!({ "restrict_to_branch": "main, dev" }), true),
            (json!({ "restrict_to_branch": "main" }), false),
            (json!({ "branches_to_be_notified": "default" }), false),
            (json!({ "branches_to_be_notified": "protected" }), true),
            (json!({ "branches_to_be_notified": "default_and_protected" }), true),
            (json!({ "branches_to_be_notified": "all" }), true),
        ] {
            let Value::Object(values) = values else { continue };
            assert_eq!(is_wanted_branch(&values, &dev), wanted, "{values:?}");
        }
    }

    #[test]
    fn only_ends_of_pipelines_are_told_and_of_some_only_failures_and_what_mended_them() {
        use PipelineState::{Failed, Fixed, Passed, Unfinished};
        let Value::Object(mut values) = json!({}) else { return };
        let told = |values: &_| {
            [Failed, Fixed, Passed, Unfinished].map(|state| is_wanted_pipeline(values, Some(state)))
        };
        assert_eq!(told(&values), [true, true, true, false]);
        values.insert("notify_only_broken_pipelines".to_owned(), json!(true));
        assert_eq!(told(&values), [true, true, false, false]);
    }
}
