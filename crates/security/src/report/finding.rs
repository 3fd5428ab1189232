//! From a part of a report to a finding.

use kernel::{TextEnum, ids::ProjectId};
use serde_json::Value;

use super::{
    fields::{bounded, cut, text},
    fingerprint::{of_identifier, of_place},
    identity::uuid,
};
use crate::vulnerability::{Confidence, Finding, Identifier, Link, ReportType, Severity};

const TITLE: usize = 255;
const DESCRIPTION: usize = 15_000;
const MESSAGE: usize = 3_000;
const SOLUTION: usize = 7_000;
const SHORT: usize = 255;
const URL: usize = 2_048;
/// So many identifiers and links of one finding are kept.
const IDENTIFIERS: usize = 20;
const LINKS: usize = 100;
/// Bytes of a place, written as JSON.
const LOCATION: usize = 64 << 10;

/// The scanner that found something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scanner {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) vendor: Option<String>,
}

impl Scanner {
    pub(super) fn of(value: &Value) -> Option<Self> {
        let id = bounded(value, "id", SHORT)?;
        let vendor = value.get("vendor").and_then(|vendor| bounded(vendor, "name", SHORT));
        let name = bounded(value, "name", SHORT).unwrap_or_else(|| id.clone());
        Some(Self { id, name, vendor })
    }
}

/// A finding that keeps to its form; its scanner may be named by the report as a whole. `None` where something is missing
/// that would tell it from others.
pub(super) fn finding(kind: ReportType, project: ProjectId, value: &Value) -> Option<Finding> {
    let identifiers = identifiers(value);
    let first = of_identifier(identifiers.first()?);
    let place = of_place(kind, value)?;
    let scanner = value.get("scanner").and_then(Scanner::of);
    let nameless = || Scanner { id: String::new(), name: String::new(), vendor: None };
    let scanner = scanner.unwrap_or_else(nameless);
    let location = value.get("location").filter(|place| place.to_string().len() <= LOCATION);
    Some(Finding {
        uuid: uuid(kind, &first, &place, project),
        report_type: kind,
        scanner_id: scanner.id,
        scanner_name: scanner.name,
        scanner_vendor: scanner.vendor,
        title: title(value, &identifiers),
        description: bounded(value, "description", DESCRIPTION),
        message: bounded(value, "message", MESSAGE),
        solution: bounded(value, "solution", SOLUTION),
        severity: level(value, "severity", Severity::Unknown),
        confidence: level(value, "confidence", Confidence::Unknown),
        identifiers,
        location: location.cloned().unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        links: links(value),
    })
}

fn identifiers(finding: &Value) -> Vec<Identifier> {
    let all = finding.get("identifiers").and_then(Value::as_array).into_iter().flatten();
    let identifier = |one: &Value| {
        Some(Identifier {
            kind: bounded(one, "type", SHORT)?,
            value: bounded(one, "value", SHORT)?,
            name: bounded(one, "name", SHORT)?,
            url: bounded(one, "url", URL),
        })
    };
    all.filter_map(identifier).take(IDENTIFIERS).collect()
}

fn links(finding: &Value) -> Vec<Link> {
    let all = finding.get("links").and_then(Value::as_array).into_iter().flatten();
    let link = |one: &Value| {
        Some(Link { name: bounded(one, "name", SHORT), url: bounded(one, "url", URL)? })
    };
    all.filter_map(link).take(LINKS).collect()
}

/// What it is called: by itself, else by its best known identifier and its file.
fn title(finding: &Value, identifiers: &[Identifier]) -> String {
    if let Some(own) = text(finding, "message").or_else(|| text(finding, "name")) {
        return cut(own, TITLE);
    }
    let of_kind = |kind: &str| identifiers.iter().find(|one| one.kind.eq_ignore_ascii_case(kind));
    let best = of_kind("cve").or_else(|| of_kind("cwe")).or_else(|| identifiers.first());
    let name = best.map(|one| one.name.as_str()).unwrap_or_default();
    let file = finding.get("location").and_then(|location| text(location, "file"));
    cut(&file.map_or_else(|| name.to_owned(), |file| format!("{name} in {file}")), TITLE)
}

/// A word of a closed list, whatever its letter case.
fn level<T: TextEnum>(finding: &Value, name: &str, otherwise: T) -> T {
    let word = text(finding, name).map(str::to_lowercase);
    word.and_then(|word| T::find(&word)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use kernel::ids::ProjectId;
    use serde_json::{Value, json};

    use super::finding;
    use crate::vulnerability::{Confidence, ReportType::Sast, Severity};

    fn raw() -> Value {
        json!({
            "identifiers": [
                { "type": "rule", "name": "Rule 1", "value": "1" },
                { "type": "cwe", "name": "CWE-79", "value": "79" },
            ],
            "location": { "file": "a.rb", "start_line": 1 },
        })
    }

    #[test]
    fn a_title_is_found_somewhere() {
        let title = |value: &Value| finding(Sast, ProjectId(1), value).unwrap().title;
        let mut value = raw();
        assert_eq!(title(&value), "CWE-79 in a.rb");
        value["name"] = json!("Name");
        assert_eq!(title(&value), "Name");
        value["message"] = json!("Message");
        assert_eq!(title(&value), "Message");
        value["message"] = json!("x".repeat(1_000));
        assert_eq!(title(&value).len(), 255);
    }

    #[test]
    fn levels_are_read_in_any_letter_case() {
        let mut value = raw();
        for (word, severity) in [
            ("Critical", Severity::Critical),
            ("INFO", Severity::Info),
            ("Grave", Severity::Unknown),
        ] {
            value["severity"] = json!(word);
            assert_eq!(finding(Sast, ProjectId(1), &value).unwrap().severity, severity);
        }
        value["severity"] = json!(null);
        let found = finding(Sast, ProjectId(1), &value).unwrap();
        assert_eq!((found.severity, found.confidence), (Severity::Unknown, Confidence::Unknown));
    }

    #[test]
    fn what_has_no_identity_is_none() {
        let mut value = raw();
        value["location"] = json!({});
        assert_eq!(finding(Sast, ProjectId(1), &value), None);
        let mut value = raw();
        value["identifiers"] = json!([]);
        assert_eq!(finding(Sast, ProjectId(1), &value), None);
    }
}
