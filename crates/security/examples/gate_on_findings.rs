//! Reads the report of a scanner and says whether something in it is too bad to go on:
//! `cargo run -p forgeway-security --example gate_on_findings -- [report.json]`.
//!
//! The reader is the one of the product: what it refuses here, a pipeline's security tab would refuse, too.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{env, error::Error, fs};

use kernel::ids::ProjectId;
use security::{
    report::{self, Report},
    vulnerability::{ReportType, Severity},
};

/// Findings that are worse than this stop a release.
const TOLERATED: Severity = Severity::Medium;

fn main() -> Result<(), Box<dyn Error>> {
    let given = env::args().nth(1);
    let text = match &given {
        Some(file) => fs::read_to_string(file)?,
        None => SAMPLE.to_owned(),
    };
    let report = report::read(ReportType::Sast, ProjectId(1), text.as_bytes())
        .map_err(|fault| fault.0.join("\n"))?;
    let stopping = intolerable(&report);
    for line in &stopping {
        println!("{line}");
    }
    if given.is_none() {
        assert_eq!(stopping, ["high: Weak hash (a.rb)"]);
    }
    Ok(())
}

fn intolerable(report: &Report) -> Vec<String> {
    let bad = report.findings.iter().filter(|finding| finding.severity > TOLERATED);
    let line = bad.map(|finding| {
        let file = finding.location["file"].as_str().unwrap_or("no file");
        format!("{}: {} ({file})", finding.severity, finding.title)
    });
    line.collect()
}

const SAMPLE: &str = r#"{
    "version": "15.0.4",
    "vulnerabilities": [
        {
            "id": "1", "name": "Weak hash", "severity": "High",
            "identifiers": [{ "type": "cwe", "name": "CWE-328", "value": "328" }],
            "location": { "file": "a.rb", "start_line": 1 }
        },
        {
            "id": "2", "name": "Debug output", "severity": "Low",
            "identifiers": [{ "type": "cwe", "name": "CWE-489", "value": "489" }],
            "location": { "file": "b.rb", "start_line": 7 }
        }
    ],
    "scan": {
        "analyzer": { "id": "semgrep", "name": "Semgrep", "version": "1", "vendor": { "name": "V" } },
        "scanner": { "id": "semgrep", "name": "Semgrep", "version": "1", "vendor": { "name": "V" } },
        "type": "sast", "status": "success",
        "start_time": "2026-01-01T00:00:00", "end_time": "2026-01-01T00:00:01"
    }
}"#;
