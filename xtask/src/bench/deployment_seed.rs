//! Very many deployments of one project at once: its jobs are there, the rest is copied inside the database from one row of
//! each that was made through the API.

use anyhow::{Context as _, Result};
use diesel::connection::SimpleConnection as _;

use super::seed::{self, Copies};
use crate::{
    migrate::Connection,
    schema::{self, Table},
};

/// How much there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) deployments: i64,
    pub(super) merge_requests: i64,
}

/// Production, staging and review apps.
pub(super) const ENVIRONMENTS: i64 = 1_000;
/// A merge request comes with every 49th deployment, so that all kinds of environments have some.
const STEP: i64 = 49;

impl Size {
    /// A million deployments, or one part in `scale` of them.
    pub(super) fn whole(scale: i64) -> Self {
        let deployments = (1_000_000 / scale.max(1)).max(10_000);
        Self { deployments, merge_requests: deployments / STEP }
    }
}

/// What is copied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Templates {
    pub(super) environment: i64,
    pub(super) deployment: i64,
    pub(super) merge_request: i64,
    /// The job before the first that deploys; from there on each deployment has one.
    pub(super) job: i64,
}

/// The last ids before the copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstIds {
    pub(super) environment: i64,
    pub(super) deployment: i64,
    merge_request: i64,
}

pub(super) fn fill(address: &str, from: Templates, size: Size) -> Result<FirstIds> {
    let mut connection = Connection::open(address)?;
    let mut last = |table: &str| {
        let query = format!("SELECT max(id) AS number FROM {table}");
        seed::number(&mut connection, &query)?.with_context(|| format!("{table} is empty"))
    };
    let before = FirstIds {
        environment: last("environments")?,
        deployment: last("deployments")?,
        merge_request: last("merge_requests")?,
    };
    let tables = schema::tables(&mut connection)?;
    let table = |name: &str| {
        let found = tables.iter().find(|table| table.name == name);
        found.with_context(|| format!("there is no table {name}"))
    };
    let script = [
        "BEGIN;\n".to_owned(),
        environments(table("environments")?, from, before),
        deployments(table("deployments")?, from, before, size),
        merge_requests(table("merge_requests")?, from, before, size),
        links(before),
        "COMMIT;\n".to_owned(),
    ]
    .concat();
    match &mut connection {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => {
            connection.batch_execute(&script)?;
            for table in ["environments", "deployments", "merge_requests"] {
                let next = format!(
                    "SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}));"
                );
                connection.batch_execute(&next)?;
            }
            // What autovacuum does within a minute.
            connection.batch_execute("VACUUM ANALYZE")?;
        }
    }
    Ok(before)
}

fn numbers(last: i64) -> String {
    format!("n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {last})")
}

fn environments(table: &Table, from: Templates, before: FirstIds) -> String {
    let named = |first: &str, second: &str, others: &str| {
        format!("CASE n.i WHEN 1 THEN '{first}' WHEN 2 THEN '{second}' ELSE {others} END")
    };
    let value = |column: &str| {
        Some(match column {
            "id" => format!("{} + n.i", before.environment),
            "name" => named("production", "staging", "'review/branch-' || n.i"),
            "slug" => named("production", "staging", "'review-branch-' || n.i"),
            "tier" => named("production", "staging", "'development'"),
            "state" => "CASE WHEN n.i % 3 = 0 THEN 'stopped' ELSE 'available' END".to_owned(),
            _ => return None,
        })
    };
    let with = numbers(ENVIRONMENTS);
    Copies { source: from.environment, with, rows: "n", value: &value }.text(table, "id")
}

/// Every second goes to production, one in ten to staging; one in ten failed, and a few run.
fn deployments(table: &Table, from: Templates, before: FirstIds, size: Size) -> String {
    let status = "CASE WHEN n.i % 50000 = 1 THEN 'running' WHEN n.i % 10 = 0 THEN 'failed' ELSE 'success' END";
    let value = |column: &str| {
        Some(match column {
            "id" => format!("{} + n.i", before.deployment),
            "iid" => "1000 + n.i".to_owned(),
            "environment_id" => format!(
                "{} + CASE WHEN n.i % 2 = 0 THEN 1 WHEN n.i % 10 = 1 THEN 2 ELSE 3 + n.i % {} END",
                before.environment,
                ENVIRONMENTS - 2
            ),
            "ref_name" => {
                "CASE n.i % 2 WHEN 0 THEN 'main' ELSE 'branch-' || n.i % 1000 END".to_owned()
            }
            "job_id" => format!("{} + n.i", from.job),
            "status" => status.to_owned(),
            "created_at" => "t.created_at + n.i * 1000".to_owned(),
            // Not in the order of ids.
            "updated_at" => "t.updated_at + n.i * 7919 % 1000000 * 1000".to_owned(),
            "finished_at" => "t.created_at + n.i * 1000".to_owned(),
            _ => return None,
        })
    };
    let with = numbers(size.deployments);
    Copies { source: from.deployment, with, rows: "n", value: &value }.text(table, "id")
}

fn merge_requests(table: &Table, from: Templates, before: FirstIds, size: Size) -> String {
    let value = |column: &str| {
        Some(match column {
            "id" => format!("{} + n.i", before.merge_request),
            "iid" => "100 + n.i".to_owned(),
            "title" => "'Change number ' || n.i".to_owned(),
            "source_branch" => "'change-' || n.i".to_owned(),
            "state" => "'merged'".to_owned(),
            "created_at" | "updated_at" => format!("t.{column} + n.i * 1000"),
            _ => return None,
        })
    };
    let with = numbers(size.merge_requests);
    Copies { source: from.merge_request, with, rows: "n", value: &value }.text(table, "id")
}

fn links(before: FirstIds) -> String {
    let (deployment, merge_request) = (before.deployment, before.merge_request);
    format!(
        "INSERT INTO deployed_merge_requests (deployment_id, merge_request_id, environment_id, deployed_at, project_id) \
         SELECT d.id, m.id, d.environment_id, d.created_at, d.project_id FROM merge_requests m \
         JOIN deployments d ON d.id = {deployment} + (m.id - {merge_request}) * {STEP} WHERE m.id > {merge_request};\n"
    )
}

/// The deployment with which a merge request came.
pub(super) fn with_merge_request(before: FirstIds, number: i64) -> i64 {
    before.deployment + number * STEP
}
