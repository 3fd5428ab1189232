//! Jobs of all kinds, the groups of which one runs at a time, and what came of their tests.

use db::archive::{ArchiveRow, Column, Field, LAST_NUMBER, Relation, is_one_of};
use kernel::{TextEnum as _, values::is_web_url};
use serde_json::Value;

use super::status_of_copy;
use crate::{
    config::{When, duration},
    coverage,
    job::JobKind,
    report::junit::LONGEST_TIME,
    resource_group::ProcessMode,
};

/// Characters of a name, which has the values of a matrix in it, of a stage, and of an environment: any part of a
/// configuration.
const LONGEST_NAME: usize = 4 << 20;
/// Bytes of the names of all that a job waits for.
const LONGEST_NEEDS: usize = 8 << 20;
/// Characters of an address.
const LONGEST_ADDRESS: usize = 255;
/// Seconds.
const LONGEST_DELAY: i64 = duration::LONGEST_DELAY.cast_signed();
const LONGEST_TIMEOUT: i64 = duration::LONGEST_TIMEOUT.cast_signed();

/// Who holds one is not told: nobody runs in a copy.
pub(super) static RESOURCE_GROUPS: Relation = Relation {
    name: "resource_groups",
    table: "resource_groups",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::line("key"),
        Column::choice("process_mode", is_one_of::<ProcessMode>),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

pub(super) static JOBS: Relation = Relation {
    name: "jobs",
    table: "jobs",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::row("pipeline_id", "pipelines"),
        Column::choice("kind", is_one_of::<JobKind>),
        Column::new("stage", Field::Text(LONGEST_NAME)),
        Column::number("stage_position", 0, LAST_NUMBER),
        Column::new("name", Field::Text(LONGEST_NAME)),
        // Those of its pipeline, with which it is completed.
        Column::fixed("sha", "''"),
        Column::fixed("ref_name", "''"),
        Column::fixed("tag", "FALSE"),
        Column::fixed("protected", "FALSE"),
        Column::word("status", status_of_copy),
        Column::flag("retried"),
        Column::flag("allow_failure"),
        Column::line("failure_reason").optional(),
        Column::person("user_id").optional(),
        Column::choice("target_url", is_target_url).optional(),
        Column::line("description").optional(),
        Column::decimal("coverage", -coverage::LARGEST, coverage::LARGEST).optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
        Column::moment("queued_at").optional(),
        Column::moment("started_at").optional(),
        Column::moment("finished_at").optional(),
        Column::row("spec_id", "job_specs").strict(),
        Column::number("position", 0, LAST_NUMBER),
        Column::choice("run_when", is_one_of::<When>),
        Column::choice("needs", is_needs).optional(),
        Column::flag("interruptible"),
        Column::number("attempt", 0, LAST_NUMBER),
        Column::new("environment", Field::Text(LONGEST_NAME)).optional(),
        Column::row("resource_group_id", "resource_groups").optional(),
        Column::number("start_in", 0, LONGEST_DELAY).optional(),
        Column::moment("scheduled_at").optional(),
        Column::number("timeout", 0, LONGEST_TIMEOUT).optional(),
        Column::moment("erased_at").optional(),
    ],
    signed: None,
};

/// The tests themselves are read again from their report, where the archive has it.
pub(super) static TEST_SUITES: Relation = Relation {
    name: "test_suites",
    table: "test_suites",
    scope: "pipeline_id IN (SELECT pipelines.id FROM pipelines WHERE pipelines.project_id = $1)",
    key: &["job_id"],
    columns: &[
        Column::row("job_id", "jobs"),
        Column::row("pipeline_id", "pipelines"),
        Column::new("name", Field::Text(LONGEST_NAME)),
        Column::decimal("total_time", -LONGEST_TIME, LONGEST_TIME),
        Column::number("success_count", 0, LAST_NUMBER),
        Column::number("failed_count", 0, LAST_NUMBER),
        Column::number("skipped_count", 0, LAST_NUMBER),
        Column::number("error_count", 0, LAST_NUMBER),
        Column::text("suite_error").optional(),
        Column::fixed("cases_size", "0"),
    ],
    signed: None,
};

/// Whether it is told what a job does, unless that is done elsewhere. Servers write no other rows.
pub fn has_work(row: &ArchiveRow) -> bool {
    let kind = row.get("kind").and_then(Value::as_str).and_then(JobKind::find);
    match row.get("spec_id") {
        None | Some(Value::Null) => kind == Some(JobKind::External),
        Some(id) => id.as_i64().is_some_and(|id| id > 0),
    }
}

fn is_target_url(text: &str) -> bool {
    text.chars().count() <= LONGEST_ADDRESS && is_web_url(text)
}

/// Names as the jobs of a pipeline are moved by them.
fn is_needs(text: &str) -> bool {
    text.len() <= LONGEST_NEEDS && serde_json::from_str::<Vec<String>>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{has_work, is_needs, is_target_url};

    #[test]
    fn only_what_is_done_elsewhere_needs_no_specification() {
        for (row, has) in [
            (json!({ "kind": "build", "spec_id": 7 }), true),
            (json!({ "kind": "external", "spec_id": null }), true),
            (json!({ "kind": "external" }), true),
            (json!({ "kind": "build", "spec_id": null }), false),
            (json!({ "kind": "bridge" }), false),
            (json!({ "kind": "build", "spec_id": 0 }), false),
        ] {
            assert_eq!(has_work(row.as_object().unwrap()), has, "{row}");
        }
    }

    #[test]
    fn needs_are_names_and_addresses_lead_into_the_web() {
        assert!(is_needs(r#"["make", "lint"]"#) && is_needs("[]"));
        for bad in ["", "null", r#"{"job": 1}"#, "[1]", r#"["make""#] {
            assert!(!is_needs(bad), "{bad}");
        }
        assert!(is_target_url("https://ci.example.com/7"));
        assert!(!is_target_url("javascript:alert(1)"));
        assert!(!is_target_url(&format!("https://ci.example.com/{}", "x".repeat(255))));
    }
}
