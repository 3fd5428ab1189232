//! `jobs`: every top-level name that is no keyword.

use std::sync::Arc;

use kernel::values::length_fault;

use super::{
    CacheEntry, Inheritance, Needs, Path, Policy, Report, Rule, Values, bridge,
    default::DefaultKeywords, job,
};
use crate::config::{
    node::{Key, Map, Node},
    options::{AllowFailureCriteria, Options},
};

const LONGEST_NAME: usize = 255;

/// By whom it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A runner.
    Build,
    /// The server: it makes another pipeline, or follows one.
    Bridge,
}

/// Whether a failure is no harm.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum AllowFailure {
    /// Not said: only a manual job may fail then.
    #[default]
    Unsaid,
    Said(bool),
    Codes(AllowFailureCriteria),
}

/// A job as configured, before it is known what it is run for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JobEntry {
    pub(crate) name: Arc<str>,
    pub(crate) kind: Kind,
    pub(crate) stage: String,
    pub(crate) when: Option<String>,
    pub(crate) allow_failure: AllowFailure,
    pub(crate) only: Option<Policy>,
    pub(crate) except: Option<Policy>,
    pub(crate) rules: Option<Vec<Rule>>,
    pub(crate) variables: Values,
    pub(crate) inheritance: Inheritance,
    pub(crate) needs: Option<Needs>,
    pub(crate) tags: Option<Vec<String>>,
    pub(crate) interruptible: Option<bool>,
    pub(crate) resource_group: Option<String>,
    pub(crate) coverage: Option<String>,
    /// Its caches, where the key of one comes from files; the options have all others.
    pub(crate) unkeyed_caches: Option<Vec<CacheEntry>>,
    pub(crate) options: Arc<Options>,
}

impl JobEntry {
    /// Whether it may fail when no rule says otherwise.
    pub(crate) fn is_ignored(&self) -> bool {
        match &self.allow_failure {
            AllowFailure::Unsaid => self.when.as_deref() == Some("manual"),
            AllowFailure::Said(allowed) => *allowed,
            AllowFailure::Codes(_) => false,
        }
    }

    pub(crate) fn needed_jobs(&self) -> Option<&[super::Need]> {
        self.needs.as_ref()?.jobs.as_deref()
    }
}

/// The kind of a top-level entry.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Sort {
    Hidden,
    Visible(Kind),
}

pub(super) fn sort(name: &Key, node: &Node) -> Option<Sort> {
    if name.as_str().starts_with('.') {
        return Some(Sort::Hidden);
    }
    let map = node.as_map()?;
    if map.contains("script") {
        return Some(Sort::Visible(Kind::Build));
    }
    let bridges = map.contains("trigger") || map.contains("needs");
    bridges.then_some(Sort::Visible(Kind::Bridge))
}

/// The defaults and names against which jobs are validated.
pub(super) struct JobContext<'s> {
    pub(super) default: &'s DefaultKeywords,
    /// Whether the workflow has rules of its own.
    pub(super) has_workflow_rules: bool,
}

pub(super) fn jobs(
    report: &mut Report,
    entries: &[(&Key, &Node)],
    around: &JobContext<'_>,
) -> Vec<JobEntry> {
    let (mark, path) = (report.mark(), Path::of("jobs"));
    let sorts: Vec<Option<Sort>> = entries.iter().map(|(key, node)| sort(key, node)).collect();
    for ((key, _), _) in entries.iter().zip(&sorts).filter(|(_, sort)| sort.is_none()) {
        report.attribute(
            &path,
            key.as_str(),
            "config should implement a script: or a trigger: keyword",
        );
    }
    if !sorts.iter().any(|sort| matches!(sort, Some(Sort::Visible(_)))) {
        report.config(&path, "should contain at least one visible job");
    }
    if !report.is_clean_since(mark) {
        return Vec::new();
    }
    let visible = entries.iter().zip(sorts).filter_map(|((key, node), sort)| match sort {
        Some(Sort::Visible(kind)) => Some((*key, node.as_map()?, kind)),
        _ => None,
    });
    let mut jobs = Vec::with_capacity(entries.len());
    jobs.extend(visible.filter_map(|(key, map, kind)| one(report, &path, key, map, kind, around)));
    jobs
}

fn one(
    report: &mut Report,
    jobs: &Path<'_>,
    key: &Key,
    map: &Map,
    kind: Kind,
    around: &JobContext<'_>,
) -> Option<JobEntry> {
    let path = jobs.child(key.as_str());
    let mark = report.mark();
    ensure_name(report, &path, key);
    let named = report.is_clean_since(mark);
    let read = match kind {
        Kind::Build => job::job(report, &path, map, around),
        Kind::Bridge => bridge::bridge(report, &path, map, around),
    };
    read.filter(|_| named).map(|job| JobEntry { name: key.to_shared(), ..job })
}

fn ensure_name(report: &mut Report, path: &Path<'_>, key: &Key) {
    if key.as_str().trim().is_empty() {
        report.attribute(path, "name", "can't be blank");
    }
    if !key.is_text() {
        report.attribute(path, "name", "should be a symbol");
    }
    if let Some(text) = length_fault(key.as_str(), LONGEST_NAME) {
        report.attribute(path, "name", &text);
    }
}
