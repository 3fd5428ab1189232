//! The parts of a configuration, read from values into their types: one file for each family of keywords.
//!
//! A part first tells all of its own problems. Only when it has none are the parts inside it read, in a fixed order, so
//! that the first problem of a configuration is always the same one.

mod artifacts;
mod bridge;
mod cache;
mod default;
mod environment;
mod fields;
mod image;
mod inherit;
mod job;
mod jobs;
mod needs;
mod parallel;
mod policy;
mod release;
mod retry;
mod root;
mod rules;
mod script;
mod trigger;
mod variables;
mod workflow;

use std::{collections::HashMap, fmt, sync::Arc};

pub(super) use cache::{CacheEntry, KeyFiles};
pub use environment::is_name as is_environment_name;
pub(crate) use inherit::Inheritance;
pub use jobs::Kind;
pub(super) use jobs::{AllowFailure, JobEntry};
pub use needs::Need;
pub(super) use needs::Needs;
pub(super) use policy::Policy;
pub(super) use root::{DEFAULT_STAGES, root};
pub(super) use rules::{Changes, Exists, Rule, include_rules};
pub(crate) use variables::{Value as VariableValue, Values};
pub(super) use workflow::Workflow;

use super::{
    expression::{Expression, pattern::Patterns},
    node::{Map, Node},
};

/// The path of a value in error messages: `jobs:build:artifacts`.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    key: &'a str,
}

impl<'a> Path<'a> {
    pub(crate) fn of(key: &'a str) -> Self {
        Self { parent: None, key }
    }

    fn child(&'a self, key: &'a str) -> Self {
        Self { parent: Some(self), key }
    }

    /// The same place by another name.
    fn renamed(&self, key: &'a str) -> Self {
        Self { parent: self.parent, key }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}:")?;
        }
        f.write_str(self.key)
    }
}

/// A value and where it stands.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) node: &'a Node,
    pub(crate) path: &'a Path<'a>,
}

/// Errors and warnings found while a configuration is read.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) problems: Vec<String>,
    pub(crate) warnings: Vec<String>,
    pub(crate) patterns: Patterns,
    /// Conditions read before: the same one stands in many jobs.
    expressions: HashMap<Arc<str>, Option<Arc<Expression>>, ahash::RandomState>,
}

impl Report {
    pub(crate) fn with(patterns: Patterns) -> Self {
        Self { patterns, ..Self::default() }
    }

    /// Notes a problem. All of its letters become small, names of jobs included.
    fn problem(&mut self, path: &Path<'_>, text: &str) {
        self.problems.push(format!("{path} {text}").to_lowercase());
    }

    /// A problem of the value itself.
    fn config(&mut self, path: &Path<'_>, text: &str) {
        self.problem(path, &format!("config {text}"));
    }

    /// A problem of an attribute of a mapping.
    fn attribute(&mut self, path: &Path<'_>, attribute: &str, text: &str) {
        self.problem(path, &format!("{} {text}", spelled(attribute)));
    }

    fn warn(&mut self, path: &Path<'_>, text: &str) {
        self.warnings.push(format!("{path} {text}"));
    }

    /// How many problems there are: what has noted none since then is clean.
    fn mark(&self) -> usize {
        self.problems.len()
    }

    fn is_clean_since(&self, mark: usize) -> bool {
        self.problems.len() == mark
    }

    fn expression(&mut self, text: &Arc<str>) -> Option<Arc<Expression>> {
        if let Some(known) = self.expressions.get(text) {
            return known.clone();
        }
        let expression = Expression::parse(text, &mut self.patterns).map(Arc::new);
        self.expressions.insert(Arc::clone(text), expression.clone());
        expression
    }
}

/// A name as people say it: `expire_in` is "expire in".
fn spelled(name: &str) -> String {
    name.trim_start_matches('_').replace(['_', '.'], " ")
}

/// The names of keys that are not among those, with commas.
fn unknown_keys(map: &Map, known: &[&[&str]]) -> Option<String> {
    let is_known = |name: &str| known.iter().any(|names| names.contains(&name));
    let unknown = |key: &&super::node::Key| !key.is_text() || !is_known(key.as_str());
    let names: Vec<String> = map.keys().filter(unknown).map(ToString::to_string).collect();
    (!names.is_empty()).then(|| names.join(", "))
}
