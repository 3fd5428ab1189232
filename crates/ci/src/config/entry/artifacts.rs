//! `artifacts` and their reports: files that a job leaves behind.

use std::sync::LazyLock;

use kernel::values::length_fault;
use regex::Regex;
use serde_json::Value;

use super::{Entry, Path, Report, fields::Fields};
use crate::config::{
    duration,
    node::{Map, Node},
    options::Artifacts,
};

const KEYS: &[&str] = &[
    "name",
    "untracked",
    "paths",
    "reports",
    "when",
    "expire_in",
    "expose_as",
    "exclude",
    "public",
    "access",
];
const TIMES: &[&str] = &["on_success", "on_failure", "always"];
const ACCESS: &[&str] = &["none", "developer", "maintainer", "all"];
/// Every kind of report but the one of coverage takes paths.
const REPORTS: &[&str] = &[
    "junit",
    "codequality",
    "sast",
    "secret_detection",
    "dependency_scanning",
    "container_scanning",
    "cluster_image_scanning",
    "dast",
    "performance",
    "browser_performance",
    "load_performance",
    "license_scanning",
    "metrics",
    "lsif",
    "dotenv",
    "terraform",
    "accessibility",
    "coverage_fuzzing",
    "api_fuzzing",
    "requirements",
    "requirements_v2",
    "coverage_report",
    "cyclonedx",
    "annotations",
    "repository_xray",
    "sarif",
];
const COVERAGE_FORMATS: &[&str] = &["cobertura", "jacoco"];

static EXPOSED: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\A[0-9A-Za-z_][-0-9A-Za-z_ ]*\z").ok());

pub(super) fn artifacts(report: &mut Report, entry: Entry<'_>) -> Option<Artifacts> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mark = report.mark();
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(KEYS);
    let mut artifacts = own(&mut fields);
    if !fields.is_clean() {
        return None;
    }
    artifacts.reports = map
        .present("reports")
        .and_then(Node::as_map)
        .and_then(|map| reports(report, &entry.path.child("reports"), map));
    report.is_clean_since(mark).then_some(artifacts)
}

fn own(fields: &mut Fields<'_, '_>) -> Artifacts {
    let expose_as = expose_as(fields);
    let artifacts = Artifacts {
        name: fields.text("name"),
        public: fields.flag("public"),
        access: fields.choice(
            "access",
            ACCESS,
            "should be one of: none, developer, maintainer, all",
        ),
        untracked: fields.flag("untracked"),
        paths: fields.texts("paths"),
        expose_as,
        exclude: fields.texts("exclude"),
        when: fields.choice("when", TIMES, "should be one of: on_success, on_failure, always"),
        expire_in: expire_in(fields),
        reports: None,
    };
    if fields.get("reports").is_some_and(|node| node.as_map().is_none()) {
        fields.wrong("reports", "should be a hash");
    }
    artifacts
}

/// What a merge request shows: named files, under a plain name.
fn expose_as(fields: &mut Fields<'_, '_>) -> Option<String> {
    let node = fields.get("expose_as")?;
    let paths = fields.get("paths").and_then(super::fields::texts).unwrap_or_default();
    if paths.is_empty() {
        fields.wrong("paths", "can't be blank");
    }
    if paths.iter().any(|path| path.contains('*')) {
        fields.wrong("paths", "can't contain '*' when used with 'expose_as'");
    }
    let Some(name) = node.as_text() else {
        fields.wrong("expose_as", "should be a string");
        return None;
    };
    if let Some(text) = length_fault(name, 100) {
        fields.wrong("expose_as", &text);
    }
    if !EXPOSED.as_ref().is_some_and(|regex| regex.is_match(name)) {
        fields.wrong("expose_as", "can contain only letters, digits, '-', '_' and spaces");
    }
    Some(name.to_owned())
}

fn expire_in(fields: &mut Fields<'_, '_>) -> Option<String> {
    let node = fields.get("expire_in")?;
    let never = node.as_text().is_some_and(|text| text.eq_ignore_ascii_case("never"));
    if !never && node.as_text().and_then(duration::seconds).is_none() {
        fields.wrong("expire_in", "should be a duration");
    }
    node.as_text().map(str::to_owned)
}

fn reports(
    report: &mut Report,
    path: &Path<'_>,
    map: &Map,
) -> Option<serde_json::Map<String, Value>> {
    let mark = report.mark();
    let mut fields = Fields::of(report, path, map);
    fields.known(REPORTS);
    let mut reports = serde_json::Map::new();
    for kind in REPORTS.iter().filter(|kind| **kind != "coverage_report") {
        if let Some(paths) = fields.one_or_more_texts(kind) {
            reports.insert((*kind).to_owned(), paths.into());
        }
    }
    if !fields.is_clean() {
        return None;
    }
    if let Some(node) = map.present("coverage_report") {
        let path = path.child("coverage_report");
        let coverage = coverage_report(report, Entry { node, path: &path });
        reports.insert("coverage_report".to_owned(), coverage.unwrap_or(Value::Null));
    }
    report.is_clean_since(mark).then_some(reports)
}

fn coverage_report(report: &mut Report, entry: Entry<'_>) -> Option<Value> {
    let Some(map) = entry.node.as_map() else {
        report.config(entry.path, "should be a hash");
        return None;
    };
    let mut fields = Fields::of(report, entry.path, map);
    fields.known(&["coverage_format", "path"]);
    if fields.get("coverage_format").is_none() {
        fields.wrong("coverage_format", "can't be blank");
    }
    fields.choice(
        "coverage_format",
        COVERAGE_FORMATS,
        "must be one of supported formats: cobertura, jacoco.",
    );
    fields.required_text("path");
    Some(crate::config::json::value(entry.node))
}
