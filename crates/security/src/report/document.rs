//! A whole report. Of its findings only one lies in memory as it was written.

use std::{
    fmt,
    io::{BufReader, Read},
};

use kernel::ids::ProjectId;
use serde::de::{
    DeserializeSeed, Deserializer as _, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Value, error::Category};

use super::{
    bounded,
    check::Problems,
    fields::strip_zeros,
    finding::{Scanner, finding},
};
use crate::vulnerability::{Finding, ReportType};

/// Bytes of a report.
pub const REPORT_SIZE_LIMIT: u64 = 64 << 20;
/// Findings of a report.
pub const FINDING_LIMIT: usize = 20_000;

const NO_JSON: &str = "JSON parsing failed";
const NO_REPORT: &str = "Invalid report format";
const TOO_LARGE: &str = "Report is too large";

/// A report that keeps to its form.
#[derive(Debug, Default)]
pub struct Report {
    /// Those who found something, and the one that the report names.
    pub scanners: Vec<String>,
    pub findings: Vec<Finding>,
    /// What was passed over.
    pub warnings: Vec<String>,
}

/// Reasons for which a report is rejected, as sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFault(pub Vec<String>);

impl ReportFault {
    pub fn one(sentence: impl Into<String>) -> Self {
        Self(vec![sentence.into()])
    }
}

/// Reads a report of a project.
///
/// # Errors
/// With what is wrong, where it does not keep to its form.
pub fn read(
    kind: ReportType,
    project: ProjectId,
    source: impl Read,
) -> Result<Report, ReportFault> {
    let mut left = source.take(REPORT_SIZE_LIMIT + 1);
    let mut draft = Draft::new(kind, project);
    let outcome = {
        let mut json = serde_json::Deserializer::from_reader(BufReader::new(&mut left));
        let read = json.deserialize_any(Root(&mut draft));
        read.and_then(|()| json.end())
    };
    if left.limit() == 0 {
        return Err(ReportFault::one(TOO_LARGE));
    }
    match outcome {
        Ok(()) => draft.finish(),
        Err(cause) => Err(match cause.classify() {
            Category::Io => ReportFault::one(format!("{kind} security report parsing failed")),
            Category::Data if draft.is_object => {
                draft.problems.add(format!("{kind} security report parsing failed"));
                ReportFault(draft.problems.into_sentences())
            }
            Category::Data => ReportFault::one(NO_REPORT),
            Category::Syntax | Category::Eof => ReportFault::one(NO_JSON),
        }),
    }
}

/// The parts of a report read so far.
struct Draft {
    kind: ReportType,
    project: ProjectId,
    is_object: bool,
    version: Option<Value>,
    scan: Option<Value>,
    has_findings: bool,
    findings: Vec<Finding>,
    without_identity: usize,
    /// The first finding without an ID; reports before version 15 need none.
    without_id: Option<usize>,
    has_zeros: bool,
    problems: Problems,
}

impl Draft {
    fn new(kind: ReportType, project: ProjectId) -> Self {
        Self {
            kind,
            project,
            is_object: false,
            version: None,
            scan: None,
            has_findings: false,
            findings: Vec::new(),
            without_identity: 0,
            without_id: None,
            has_zeros: false,
            problems: Problems::default(),
        }
    }

    fn take(&mut self, number: usize, mut value: Value) {
        self.has_zeros |= strip_zeros(&mut value);
        self.problems.check_finding(number, &value);
        if self.problems.is_empty() && value.get("id").is_none() {
            self.without_id.get_or_insert(number);
        }
        // Nothing is kept of a report with problems.
        if !self.problems.is_empty() {
            self.findings.clear();
            return;
        }
        match finding(self.kind, self.project, &value) {
            Some(found) => self.findings.push(found),
            None => self.without_identity += 1,
        }
    }

    fn finish(mut self) -> Result<Report, ReportFault> {
        if !self.has_findings {
            self.problems.add("root is missing required keys: vulnerabilities");
        }
        self.has_zeros |= self.scan.as_mut().is_some_and(strip_zeros);
        if let Some(major) = self.problems.check_version(self.kind, self.version.as_ref()) {
            if let Some(number) = self.without_id.filter(|_| major >= 15) {
                self.problems.require_id(number);
            }
            self.problems.check_scan(self.kind, major, self.scan.as_ref());
        }
        if !self.problems.is_empty() {
            return Err(ReportFault(self.problems.into_sentences()));
        }
        let named = self.scan.as_ref().and_then(|scan| scan.get("scanner"));
        let named = named.and_then(Scanner::of);
        let mut report = Report::default();
        if self.has_zeros {
            report.warnings.push("Escaped null characters were removed".to_owned());
        }
        if self.without_identity > 0 {
            let count = self.without_identity;
            report.warnings.push(format!("{count} findings without an identity were left out"));
        }
        for mut found in self.findings {
            if let Some(Scanner { id, name, vendor }) = &named {
                (found.scanner_id, found.scanner_name) = (id.clone(), name.clone());
                found.scanner_vendor.clone_from(vendor);
            }
            report.findings.push(found);
        }
        let own = report.findings.iter().map(|found| found.scanner_id.clone());
        report.scanners = named.iter().map(|one| one.id.clone()).chain(own).collect();
        report.scanners.sort_unstable();
        report.scanners.dedup();
        Ok(report)
    }
}

/// The object that a report is.
struct Root<'d>(&'d mut Draft);

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        self.0.is_object = true;
        while let Some(name) = fields.next_key::<String>()? {
            match name.as_str() {
                "version" => {
                    self.0.version = Some(bounded::with(|any| fields.next_value_seed(any))?);
                }
                "scan" => self.0.scan = Some(bounded::with(|any| fields.next_value_seed(any))?),
                "vulnerabilities" if self.0.has_findings => {
                    return Err(A::Error::custom("vulnerabilities are told twice"));
                }
                "vulnerabilities" => {
                    self.0.has_findings = true;
                    fields.next_value_seed(Findings(self.0))?;
                }
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// The list of findings, each looked at as it comes.
struct Findings<'d>(&'d mut Draft);

impl<'de> DeserializeSeed<'de> for Findings<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Findings<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        let mut number = 0;
        while let Some(value) = bounded::with(|any| all.next_element_seed(any))? {
            if number == FINDING_LIMIT {
                self.0.problems.add(format!("more than {FINDING_LIMIT} vulnerabilities"));
                return Err(A::Error::custom("too many"));
            }
            self.0.take(number, value);
            number += 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
