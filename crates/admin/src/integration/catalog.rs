//! Looking a kind of integration up.

use serde_json::Value;

use super::{kinds::KINDS, model::Values, parameter::Parameter};
use crate::flags::{Flag, Flags};

/// The category of an integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A text for people is sent to an address.
    Chat,
    /// What happened is sent as it is.
    Build,
    /// Messages of commits are searched for what they name.
    Tracker,
    /// Nothing is sent: references become links.
    Issues,
    /// Nothing is sent.
    Silent,
    /// Letters.
    Mail,
    /// It asks, and is answered.
    Commands,
    /// A single product with an interface of its own.
    Own,
}

/// A kind of integration.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// With dashes.
    pub slug: &'static str,
    pub title: &'static str,
    pub class: Class,
    pub parameters: &'static [Parameter],
    /// Which events can be switched on and off.
    pub events: &'static [Flag],
}

/// What is on in a fresh record.
const ON: [Flag; 12] = [
    Flag::Commits,
    Flag::Push,
    Flag::Issues,
    Flag::ConfidentialIssues,
    Flag::MergeRequests,
    Flag::TagPush,
    Flag::Notes,
    Flag::ConfidentialNotes,
    Flag::WikiPages,
    Flag::Pipelines,
    Flag::Jobs,
    Flag::Comments,
];

impl Kind {
    /// All of them.
    pub fn all() -> &'static [Self] {
        KINDS
    }

    /// The kind with this slug, in either spelling.
    pub fn find(slug: &str) -> Option<&'static Self> {
        let slug = slug.replace('_', "-");
        KINDS.iter().find(|kind| kind.slug == slug)
    }

    pub fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        self.parameters.iter().find(|one| one.name == name)
    }

    /// The required parameters that are not given, in their order.
    pub fn missing(&self, is_given: impl Fn(&Parameter) -> bool) -> Vec<&'static Parameter> {
        self.parameters.iter().filter(|one| one.required && !is_given(one)).collect()
    }

    /// Whether values say where to send, of a kind that has several ways to.
    pub(super) fn has_address(&self, values: &Values) -> bool {
        let is_set = |name: &&str| {
            let value = values.get(*name).and_then(Value::as_str);
            value.is_some_and(|text| !text.trim().is_empty())
        };
        self.slug != "datadog" || ["datadog_site", "api_url"].iter().any(is_set)
    }

    /// What is on in a fresh record.
    pub fn initial_flags(&self) -> Flags {
        let flags = Flags::of(&ON);
        match self.slug {
            "datadog" => flags.with(Flag::Pipelines, false).with(Flag::Jobs, false),
            _ => flags,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Kind;

    #[test]
    fn every_kind_has_a_slug_of_its_own_and_every_parameter_one_meaning() {
        let slugs: BTreeSet<_> = Kind::all().iter().map(|kind| kind.slug).collect();
        assert_eq!(slugs.len(), Kind::all().len());
        for kind in Kind::all() {
            let names: BTreeSet<_> = kind.parameters.iter().map(|one| one.name).collect();
            assert_eq!(names.len(), kind.parameters.len(), "{}", kind.slug);
            for parameter in kind.parameters {
                let initial = parameter.initial();
                assert!(parameter.required || parameter.takes(&initial), "{}", parameter.name);
            }
        }
    }

    #[test]
    fn both_spellings_name_a_kind() {
        let dashed = Kind::find("unify-circuit").map(|kind| kind.title);
        assert_eq!(Kind::find("unify_circuit").map(|kind| kind.title), dashed);
        assert!(dashed.is_some() && Kind::find("nothing").is_none());
    }
}
