//! Scans, vulnerabilities, and what people said of those.

use db::archive::{ArchiveRow, Column, Field, Relation, is_one_of};
use kernel::{TextEnum as _, ids::ProjectId};
use serde_json::{Map, Value};

use super::choices::is_list_of;
use crate::{
    report::uuid_in_copy,
    scan::ScanStatus,
    vulnerability::{Confidence, DismissalReason, Identifier, Link, ReportType, Severity, State},
};

/// Bytes of the longest place.
const LONGEST_PLACE: usize = 64 << 10;
/// Characters of what somebody says of a vulnerability.
const LONGEST_COMMENT: usize = 50_000;

pub(super) static SCANS: Relation = Relation {
    name: "security_scans",
    table: "security_scans",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::row("pipeline_id", "pipelines"),
        Column::row("job_id", "jobs"),
        Column::choice("report_type", is_one_of::<ReportType>),
        Column::choice("status", is_one_of::<ScanStatus>),
        Column::choice("errors", is_list_of::<String>),
        Column::choice("warnings", is_list_of::<String>),
        Column::count("findings"),
        Column::flag("on_default_branch"),
        Column::moment("created_at"),
    ],
    signed: None,
};

pub(super) static VULNERABILITIES: Relation = Relation {
    name: "vulnerabilities",
    table: "vulnerabilities",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        // Another one in a copy: see `uuid_of_copy`.
        Column::line("uuid"),
        Column::choice("report_type", is_one_of::<ReportType>),
        Column::line("scanner_id"),
        Column::line("scanner_name"),
        Column::line("scanner_vendor").optional(),
        Column::line("title"),
        Column::text("description").optional(),
        Column::text("message").optional(),
        Column::text("solution").optional(),
        Column::choice("severity", is_one_of::<Severity>),
        Column::choice("confidence", is_one_of::<Confidence>),
        Column::choice("state", is_one_of::<State>),
        Column::choice("identifiers", is_list_of::<Identifier>),
        Column::choice("location", is_place),
        Column::choice("links", is_list_of::<Link>),
        Column::flag("resolved_on_default_branch"),
        Column::choice("dismissal_reason", is_one_of::<DismissalReason>).optional(),
        // 0 where that pipeline is gone.
        Column::row("pipeline_id", "pipelines").or_zero(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

pub(super) static CHANGES: Relation = Relation {
    name: "vulnerability_changes",
    table: "vulnerability_changes",
    scope: "vulnerability_id IN \
        (SELECT vulnerabilities.id FROM vulnerabilities WHERE vulnerabilities.project_id = $1)",
    key: &["id"],
    columns: &[
        Column::row("vulnerability_id", "vulnerabilities"),
        Column::person("user_id").optional(),
        Column::choice("state", is_one_of::<State>),
        Column::choice("dismissal_reason", is_one_of::<DismissalReason>).optional(),
        Column::new("comment", Field::Text(LONGEST_COMMENT)),
        Column::moment("created_at"),
    ],
    signed: None,
};

/// The UUID of an archive's vulnerability in the copy of its project. A UUID names the project, so that reports of the
/// copy know the vulnerability, and nobody brings one along that is another project's.
pub fn uuid_of_copy(row: &ArchiveRow, source: ProjectId, copy: ProjectId) -> String {
    let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
    let identifiers: Vec<Identifier> =
        serde_json::from_str(text("identifiers")).unwrap_or_default();
    let kind = ReportType::find(text("report_type"));
    let location: Value = serde_json::from_str(text("location")).unwrap_or_default();
    uuid_in_copy(text("uuid"), (kind, identifiers.first(), &location), (source, copy))
}

fn is_place(text: &str) -> bool {
    text.len() <= LONGEST_PLACE && serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use kernel::ids::ProjectId;
    use serde_json::{Value, json};

    use super::{is_list_of, is_place, uuid_of_copy};
    use crate::{
        report::uuid_of_finding,
        vulnerability::{Identifier, ReportType::Sast},
    };

    fn row(uuid: &str) -> serde_json::Map<String, Value> {
        let identifiers = r#"[{"external_type":"cwe","external_id":"79","name":"CWE-79"}]"#;
        let location = r#"{"file":"a.rb","start_line":1}"#;
        let row = json!({ "uuid": uuid, "report_type": "sast", "identifiers": identifiers,
                          "location": location });
        row.as_object().unwrap().clone()
    }

    #[test]
    fn reports_of_a_copy_know_the_vulnerabilities_that_came_along() {
        let first = Identifier {
            kind: "cwe".to_owned(),
            value: "79".to_owned(),
            name: "CWE-79".to_owned(),
            url: None,
        };
        let location = json!({ "file": "a.rb", "start_line": 1 });
        let of_project = |project| uuid_of_finding(Sast, &first, &location, project).unwrap();
        let (source, copy) = (ProjectId(1), ProjectId(2));

        let moved = uuid_of_copy(&row(&of_project(source)), source, copy);

        assert_eq!(moved, of_project(copy));
    }

    #[test]
    fn a_vulnerability_whose_place_does_not_tell_its_identity_gets_one_of_the_copys_own() {
        let known = "0f6e9a3c-1111-5222-8333-444455556666";
        let of_copy = |copy| uuid_of_copy(&row(known), ProjectId(1), ProjectId(copy));
        assert!(of_copy(2) != known && of_copy(2) != of_copy(3));
    }

    #[test]
    fn json_is_of_the_type_that_is_read_later() {
        assert!(
            is_list_of::<Identifier>("[]") && is_place("{}") && is_list_of::<String>("[\"a\"]")
        );
        assert!(!is_list_of::<Identifier>("[{\"name\":1}]") && !is_list_of::<String>("{}"));
        assert!(!is_place("[]") && !is_place(&format!("{{\"a\":\"{}\"}}", "x".repeat(64 << 10))));
    }
}
