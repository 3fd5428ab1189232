//! Validation of a report against the schema of its version.

use serde_json::Value;

use super::fields::text;
use crate::vulnerability::ReportType;

/// So many problems are told of one report.
const TOLD: usize = 20;

/// Validation errors of a report, as sentences.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<String>);

impl Problems {
    pub(super) fn add(&mut self, sentence: impl Into<String>) {
        if self.0.len() < TOLD {
            self.0.push(sentence.into());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_sentences(self) -> Vec<String> {
        self.0
    }

    fn require(&mut self, of: &Value, place: &str, names: &[&str]) {
        let missing: Vec<&str> =
            names.iter().copied().filter(|name| of.get(name).is_none()).collect();
        if !missing.is_empty() {
            self.add(format!("{place} is missing required keys: {}", missing.join(", ")));
        }
    }

    fn expect_text(&mut self, of: &Value, place: &str, names: &[&str]) {
        for name in names {
            match of.get(name) {
                Some(Value::String(value)) if !value.trim().is_empty() => {}
                Some(Value::String(_)) => self.add(format!("property '{place}/{name}' is empty")),
                Some(_) => self.add(format!("property '{place}/{name}' is not of type: string")),
                None => {}
            }
        }
    }

    /// The version; from the first number on that is known, with what the others mean.
    pub(super) fn check_version(
        &mut self,
        kind: ReportType,
        version: Option<&Value>,
    ) -> Option<u32> {
        let Some(version) = version else {
            self.add(format!(
                "Report version not provided, {kind} report type supports versions: 14.x, 15.x"
            ));
            return None;
        };
        let Some(version) = version.as_str() else {
            self.add("property '/version' is not of type: string");
            return None;
        };
        let parts: Vec<Option<u32>> = version.split('.').map(|part| part.parse().ok()).collect();
        match parts.as_slice() {
            [Some(major @ (14 | 15)), Some(_), Some(_)] => Some(*major),
            _ => {
                let version: String = version.chars().take(32).collect();
                self.add(format!(
                    "Version {version} for report type {kind} is unsupported, supported versions for this report type are: 14.x, 15.x"
                ));
                None
            }
        }
    }

    /// What is said of the scan as a whole; older reports need not.
    pub(super) fn check_scan(&mut self, kind: ReportType, major: u32, scan: Option<&Value>) {
        let Some(scan) = scan else {
            if major >= 15 {
                self.add("root is missing required keys: scan");
            }
            return;
        };
        if !scan.is_object() {
            return self.add("property '/scan' is not of type: object");
        }
        let all = ["analyzer", "end_time", "scanner", "start_time", "status", "type"];
        let all = if major >= 15 { &all[..] } else { &all[2..3] };
        self.require(scan, "property '/scan'", all);
        self.expect_text(scan, "/scan", &["end_time", "start_time", "status", "type"]);
        for tool in ["analyzer", "scanner"] {
            let Some(named) = scan.get(tool) else { continue };
            let place = format!("/scan/{tool}");
            if !named.is_object() {
                self.add(format!("property '{place}' is not of type: object"));
                continue;
            }
            let needed = match (tool, major >= 15) {
                (_, true) => &["id", "name", "version", "vendor"][..],
                (_, false) => &["id", "name"],
            };
            self.require(named, &format!("property '{place}'"), needed);
            self.expect_text(named, &place, &["id", "name", "version"]);
        }
        if text(scan, "type").is_some_and(|told| !is_of_kind(kind, told)) {
            self.add(format!("property '/scan/type' is not: {kind}"));
        }
    }

    /// What newer forms ask of a finding beyond what all do.
    pub(super) fn require_id(&mut self, number: usize) {
        self.add(format!("property '/vulnerabilities/{number}' is missing required keys: id"));
    }

    /// One of the findings.
    pub(super) fn check_finding(&mut self, number: usize, finding: &Value) {
        let place = format!("/vulnerabilities/{number}");
        if !finding.is_object() {
            return self.add(format!("property '{place}' is not of type: object"));
        }
        self.require(finding, &format!("property '{place}'"), &["identifiers", "location"]);
        if finding.get("location").is_some_and(|location| !location.is_object()) {
            self.add(format!("property '{place}/location' is not of type: object"));
        }
        self.expect_text(finding, &place, &["id"]);
        let optional = ["name", "message", "description", "solution", "severity", "confidence"];
        for name in optional {
            let is_odd = |value: &Value| !value.is_string() && !value.is_null();
            if finding.get(name).is_some_and(is_odd) {
                self.add(format!("property '{place}/{name}' is not of type: string"));
            }
        }
        match finding.get("identifiers").map(Value::as_array) {
            None => {}
            Some(None) => self.add(format!("property '{place}/identifiers' is not of type: array")),
            Some(Some(all)) if all.is_empty() => {
                self.add(format!("property '{place}/identifiers' has fewer than 1 items"));
            }
            Some(Some(all)) => {
                for (number, one) in all.iter().enumerate() {
                    self.check_identifier(&format!("{place}/identifiers/{number}"), one);
                }
            }
        }
    }

    fn check_identifier(&mut self, place: &str, identifier: &Value) {
        if !identifier.is_object() {
            return self.add(format!("property '{place}' is not of type: object"));
        }
        self.require(identifier, &format!("property '{place}'"), &["type", "name", "value"]);
        self.expect_text(identifier, place, &["type", "name", "value"]);
    }
}

/// One scanner makes two kinds of reports.
fn is_of_kind(kind: ReportType, told: &str) -> bool {
    use kernel::TextEnum as _;
    let is_api_scan = matches!(kind, ReportType::Dast | ReportType::ApiFuzzing);
    told == kind.as_str() || (is_api_scan && matches!(told, "dast" | "api_fuzzing"))
}
