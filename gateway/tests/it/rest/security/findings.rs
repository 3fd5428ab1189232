//! Vulnerabilities as an import keeps them.

use kernel::ids::{PipelineId, ProjectId};
use security::vulnerability::{
    Confidence, Finding, Identifier, ReportType, Severity, VulnerabilityStore as _,
};
use serde_json::json;

use crate::support::TestApp;

pub(crate) fn identifier(kind: &str, value: &str, name: &str) -> Identifier {
    let (kind, value, name) = (kind.to_owned(), value.to_owned(), name.to_owned());
    Identifier { kind, value, name, url: None }
}

/// One of a scanner of source code.
pub(crate) fn finding(title: &str) -> Finding {
    Finding {
        uuid: format!("uuid of {title}"),
        report_type: ReportType::Sast,
        scanner_id: "semgrep".to_owned(),
        scanner_name: "Semgrep".to_owned(),
        scanner_vendor: Some("Semgrep Inc.".to_owned()),
        title: title.to_owned(),
        description: None,
        message: None,
        solution: None,
        severity: Severity::High,
        confidence: Confidence::Unknown,
        identifiers: Vec::new(),
        location: json!({}),
        links: Vec::new(),
    }
}

pub(crate) fn keep(app: &TestApp, project: ProjectId, finding: Finding) {
    app.write(move |tx| tx.save_finding(project, PipelineId(1), &finding));
}
