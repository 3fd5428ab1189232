//! Every row of `tests/cases/composite.json`: jobs, and what they come to.

use std::fs;

use forgeway_ci::{Outcome, Status, StatusScope, composite, has_warnings};
use serde::Deserialize;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/composite.json");

#[derive(Deserialize)]
struct Row {
    name: String,
    of: String,
    jobs: Vec<RowJob>,
    expect: RowResult,
}

#[derive(Deserialize)]
struct RowJob {
    status: Status,
    allow_failure: bool,
}

#[derive(Debug, PartialEq, Deserialize)]
struct RowResult {
    status: Status,
    warnings: bool,
}

fn result(row: &Row) -> RowResult {
    let outcome = |job: &RowJob| Outcome { status: job.status, allow_failure: job.allow_failure };
    let outcomes: Vec<Outcome> = row.jobs.iter().map(outcome).collect();
    let scope = if row.of == "needed jobs" { StatusScope::Needs } else { StatusScope::Whole };
    RowResult { status: composite(&outcomes, scope), warnings: has_warnings(&outcomes) }
}

#[test]
fn jobs_come_to_the_status_of_their_row() {
    let rows: Vec<Row> = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();

    assert_eq!(rows.len(), 32);
    for row in &rows {
        assert_eq!(result(row), row.expect, "{}", row.name);
    }
}
