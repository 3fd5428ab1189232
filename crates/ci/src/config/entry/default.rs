//! Keywords that a job may have of its own or take from `default`.

use super::{
    CacheEntry, Entry, Inheritance, Path, Report, artifacts, cache, fields, image, release, retry,
    script,
};
use crate::config::{
    duration,
    node::{Map, Node},
    options::{Artifacts, Hooks, Image, Retry, Service},
};

pub(super) const KEYS: &[&str] = &[
    "after_script",
    "artifacts",
    "before_script",
    "cache",
    "hooks",
    "id_tokens",
    "image",
    "interruptible",
    "retry",
    "services",
    "tags",
    "timeout",
];
const MOST_TAGS: usize = 50;

/// The values of those keywords, with the commands of the job itself. What is absent is not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DefaultKeywords {
    pub(super) interruptible: Option<bool>,
    pub(super) before_script: Option<Vec<String>>,
    pub(super) script: Option<Vec<String>>,
    pub(super) after_script: Option<Vec<String>>,
    pub(super) hooks: Option<Hooks>,
    pub(super) cache: Option<Vec<CacheEntry>>,
    pub(super) image: Option<Image>,
    pub(super) services: Option<Vec<Service>>,
    /// Seconds.
    pub(super) timeout: Option<u64>,
    pub(super) retry: Option<Retry>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) artifacts: Option<Artifacts>,
    pub(super) id_tokens: Option<serde_json::Value>,
}

impl DefaultKeywords {
    pub(super) fn read(report: &mut Report, path: &Path<'_>, map: &Map) -> Self {
        let mut part = Part { report, path, map };
        Self {
            interruptible: part.read("interruptible", flag),
            before_script: part.read("before_script", script::script),
            script: part.read("script", script::script),
            after_script: part.read("after_script", script::script),
            hooks: part.read("hooks", release::hooks),
            cache: part.read("cache", cache::caches),
            image: part.read("image", image::image),
            services: part.read("services", image::services),
            timeout: part.read("timeout", timeout),
            retry: part.read("retry", retry::retry),
            tags: part.read("tags", tags),
            artifacts: part.read("artifacts", artifacts::artifacts),
            id_tokens: part.read("id_tokens", release::id_tokens),
        }
    }

    /// Takes over what is not given, as far as that is wanted.
    pub(super) fn fill(&mut self, from: &Self, inheritance: &Inheritance) {
        let takes = |key| inheritance.takes(key);
        fill(&mut self.interruptible, &from.interruptible, takes("interruptible"));
        fill(&mut self.before_script, &from.before_script, takes("before_script"));
        fill(&mut self.after_script, &from.after_script, takes("after_script"));
        fill(&mut self.hooks, &from.hooks, takes("hooks"));
        fill(&mut self.cache, &from.cache, takes("cache"));
        fill(&mut self.image, &from.image, takes("image"));
        fill(&mut self.services, &from.services, takes("services"));
        fill(&mut self.timeout, &from.timeout, takes("timeout"));
        fill(&mut self.retry, &from.retry, takes("retry"));
        fill(&mut self.tags, &from.tags, takes("tags"));
        fill(&mut self.artifacts, &from.artifacts, takes("artifacts"));
        fill(&mut self.id_tokens, &from.id_tokens, takes("id_tokens"));
    }
}

fn fill<T: Clone>(own: &mut Option<T>, from: &Option<T>, wanted: bool) {
    if own.is_none() && wanted {
        own.clone_from(from);
    }
}

/// A mapping of which one part after another is read.
pub(super) struct Part<'p, 'a> {
    pub(super) report: &'p mut Report,
    pub(super) path: &'a Path<'a>,
    pub(super) map: &'a Map,
}

impl Part<'_, '_> {
    pub(super) fn read<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Report, Entry<'_>) -> Option<T>,
    ) -> Option<T> {
        let node = self.map.present(key)?;
        read(self.report, Entry { node, path: &self.path.child(key) })
    }
}

pub(super) fn default(report: &mut Report, entry: Entry<'_>) -> Option<DefaultKeywords> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mut fields = fields::Fields::of(report, entry.path, map);
    fields.known(KEYS);
    let clean = fields.is_clean();
    clean.then(|| DefaultKeywords::read(report, entry.path, map))
}

pub(super) fn flag(report: &mut Report, entry: Entry<'_>) -> Option<bool> {
    let flag = entry.node.as_bool();
    if flag.is_none() {
        report.config(entry.path, "should be a boolean value");
    }
    flag
}

fn timeout(report: &mut Report, entry: Entry<'_>) -> Option<u64> {
    match entry.node.as_text().and_then(duration::seconds) {
        Some(seconds) if seconds > duration::LONGEST_TIMEOUT => {
            report.config(entry.path, "should not exceed the limit");
            None
        }
        Some(seconds) => Some(seconds),
        None => {
            report.config(entry.path, "should be a duration");
            None
        }
    }
}

fn tags(report: &mut Report, entry: Entry<'_>) -> Option<Vec<String>> {
    let tags = fields::texts(entry.node);
    match &tags {
        None => report.config(entry.path, "should be an array of strings"),
        Some(tags) if tags.len() > MOST_TAGS => {
            let text = format!("must be less than the limit of {MOST_TAGS} tags");
            report.config(entry.path, &text);
        }
        Some(_) => {}
    }
    tags
}

pub(super) fn stage(report: &mut Report, entry: Entry<'_>) -> Option<String> {
    let stage = entry.node.as_text().map(str::to_owned);
    if stage.is_none() {
        report.config(entry.path, "should be a string");
    }
    stage
}

/// `/…/`: what stands between the slashes.
pub(super) fn coverage(report: &mut Report, entry: Entry<'_>) -> Option<String> {
    let pattern = entry.node.as_text().filter(|text| report.patterns.is_valid(text));
    if pattern.is_none() {
        report.config(entry.path, "must be a regular expression with re2 syntax");
    }
    let text = match entry.node {
        Node::Text(text) => text.get(1..text.len().saturating_sub(1)),
        _ => None,
    };
    text.map(str::to_owned)
}
