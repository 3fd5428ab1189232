//! `cache`: files kept from one job to the next ones.

use percent_encoding::percent_decode_str;

use super::{Entry, Path, Report, fields::Fields};
use crate::config::{
    node::{Map, Node},
    options::Cache,
};

const KEYS: &[&str] =
    &["key", "untracked", "paths", "when", "policy", "unprotect", "fallback_keys"];
const POLICIES: &[&str] = &["pull-push", "push", "pull"];
const TIMES: &[&str] = &["on_success", "on_failure", "always"];
const MOST: usize = 4;
const MOST_FILES: usize = 2;

/// A cache as written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CacheEntry {
    /// Without a key where that comes from files.
    pub(crate) cache: Cache,
    pub(crate) key_files: Option<KeyFiles>,
}

/// Files whose state in the commit makes the key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyFiles {
    pub(crate) files: Vec<String>,
    pub(crate) prefix: Option<String>,
}

enum CacheKey {
    Text(String),
    Files(KeyFiles),
}

pub(super) fn caches(report: &mut Report, entry: Entry<'_>) -> Option<Vec<CacheEntry>> {
    // One cache and a list of them are told of by different names.
    let many = entry.path.renamed("caches");
    let one = entry.path.renamed("cache");
    let nodes = match entry.node {
        Node::Map(_) => std::slice::from_ref(entry.node),
        Node::List(list) if list.items().len() > MOST => {
            report.config(&many, &format!("no more than {MOST} caches can be created"));
            return None;
        }
        Node::List(list) => list.items(),
        _ => {
            report.config(&many, "can only be a hash or an array");
            return None;
        }
    };
    nodes.iter().map(|node| cache(report, Entry { node, path: &one })).collect()
}

fn cache(report: &mut Report, entry: Entry<'_>) -> Option<CacheEntry> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mark = report.mark();
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(KEYS);
    let policy = policy(&mut fields);
    let when = fields.choice("when", TIMES, "should be one of: on_success, on_failure, always");
    let fallback_keys = fields.texts("fallback_keys").unwrap_or_default();
    if !fields.is_clean() {
        return None;
    }
    let key = match map.present("key") {
        Some(node) => key(report, Entry { node, path: &entry.path.child("key") }),
        None => Some(CacheKey::Text("default".to_owned())),
    };
    let untracked = child_flag(report, entry.path, map, "untracked");
    let unprotect = child_flag(report, entry.path, map, "unprotect");
    let paths = map.present("paths").and_then(|node| {
        let texts = super::fields::texts(node);
        if texts.is_none() {
            report.config(&entry.path.child("paths"), "should be an array of strings");
        }
        texts
    });
    let when = when.unwrap_or_else(|| "on_success".to_owned());
    let (key, key_files) = match key? {
        CacheKey::Text(text) => (text, None),
        CacheKey::Files(files) => (String::new(), Some(files)),
    };
    let cache = Cache { key, paths, untracked, policy, when, unprotect, fallback_keys };
    report.is_clean_since(mark).then_some(CacheEntry { cache, key_files })
}

/// One of three words, or a variable that comes to one.
fn policy(fields: &mut Fields<'_, '_>) -> String {
    let node = fields.get("policy").unwrap_or(&Node::Null);
    match node.as_text() {
        Some(word) if POLICIES.contains(&word) || word.starts_with('$') => word.to_owned(),
        _ => {
            if !node.is_blank() {
                fields.wrong("policy", "should be a variable or one of: pull-push, push, pull");
            }
            "pull-push".to_owned()
        }
    }
}

fn child_flag(report: &mut Report, path: &Path<'_>, map: &Map, key: &str) -> Option<bool> {
    let node = map.present(key)?;
    if node.as_bool().is_none() {
        report.config(&path.child(key), "should be a boolean value");
    }
    node.as_bool()
}

fn key(report: &mut Report, entry: Entry<'_>) -> Option<CacheKey> {
    match entry.node {
        Node::Text(text) => {
            if let Some(problem) = unfit(text) {
                report.config(entry.path, problem);
                return None;
            }
            Some(CacheKey::Text(text.to_string()))
        }
        Node::Map(map) => key_of_files(report, entry.path, map),
        _ => {
            report.config(entry.path, "should be a hash, a string or a symbol");
            None
        }
    }
}

/// A key becomes a part of a path on the runner.
fn unfit(key: &str) -> Option<&'static str> {
    let plain = percent_decode_str(key).decode_utf8_lossy();
    if plain.contains('/') {
        return Some("cannot contain the \"/\" character");
    }
    matches!(&*plain, "." | "..").then_some("cannot be \".\" or \"..\"")
}

fn key_of_files(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<CacheKey> {
    let mark = report.mark();
    let mut fields = Fields::of(report, path, map);
    fields.known(&["files", "prefix"]);
    if !map.contains("files") {
        fields.report.config(path, "missing required keys: files");
    }
    if !fields.is_clean() {
        return None;
    }
    let files = files(
        report,
        Entry { node: map.get("files").unwrap_or(&Node::Null), path: &path.child("files") },
    );
    let prefix = map.present("prefix").and_then(|node| {
        let prefix = node.as_text().map(str::to_owned);
        if prefix.is_none() {
            report.config(&path.child("prefix"), "should be a string");
        } else if let Some(problem) = prefix.as_deref().and_then(unfit) {
            report.config(&path.child("prefix"), problem);
        }
        prefix
    });
    report.is_clean_since(mark).then_some(CacheKey::Files(KeyFiles { files: files?, prefix }))
}

fn files(report: &mut Report, entry: Entry<'_>) -> Option<Vec<String>> {
    let Some(files) = super::fields::texts(entry.node) else {
        report.config(entry.path, "should be an array of strings");
        return None;
    };
    match files.len() {
        0 => report.config(entry.path, "requires at least 1 item"),
        1..=MOST_FILES => return Some(files),
        _ => {
            report.config(entry.path, &format!("has too many items (maximum is {MOST_FILES})"));
        }
    }
    None
}
