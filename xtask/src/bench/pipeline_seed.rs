//! Very many pipelines of one project at once: one is made through the API, then copied with its jobs inside the database.

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
    pub(super) pipelines: i64,
}

/// Jobs of the pipeline that is copied.
pub(super) const JOBS: i64 = 50;

impl Size {
    /// A million jobs, or one part in `scale` of them.
    pub(super) fn whole(scale: i64) -> Self {
        Self { pipelines: (20_000 / scale.max(1)).max(10) }
    }
}

/// The pipeline that is copied, and commits that the copies are of.
pub(super) struct Template {
    pub(super) project: i64,
    pub(super) pipeline: i64,
    pub(super) shas: Vec<String>,
}

/// Returns the ids of the pipeline and the job before the first copy.
pub(super) fn fill(address: &str, from: &Template, size: Size) -> Result<(i64, i64)> {
    let mut connection = Connection::open(address)?;
    let mut last = |table: &str| {
        let query = format!("SELECT max(id) AS number FROM {table}");
        seed::number(&mut connection, &query)?.with_context(|| format!("{table} is empty"))
    };
    let before = (last("pipelines")?, last("jobs")?);
    let tables = schema::tables(&mut connection)?;
    let table = |name: &str| {
        let found = tables.iter().find(|table| table.name == name);
        found.with_context(|| format!("there is no table {name}"))
    };
    let pipelines = pipelines(table("pipelines")?, from, before.0, size);
    let jobs = jobs(table("jobs")?, from, before.0);
    let project = from.project;
    let script = format!(
        "BEGIN;\n{pipelines}{jobs}UPDATE pipeline_numbers SET last = \
         (SELECT max(iid) FROM pipelines WHERE project_id = {project}) WHERE project_id = {project};\nCOMMIT;\n"
    );
    match &mut connection {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => {
            connection.batch_execute(&script)?;
            connection.batch_execute(
                "SELECT setval(pg_get_serial_sequence('pipelines', 'id'), (SELECT max(id) FROM pipelines));",
            )?;
            // What autovacuum does within a minute.
            connection.batch_execute("VACUUM ANALYZE")?;
        }
    }
    Ok(before)
}

/// One in ten failed; branches and commits come again and again.
fn pipelines(table: &Table, from: &Template, before: i64, size: Size) -> String {
    let shas: Vec<String> =
        from.shas.iter().enumerate().map(|(n, sha)| format!("WHEN {n} THEN '{sha}'")).collect();
    let sha = format!("CASE n.i % {} {} END", from.shas.len(), shas.join(" "));
    let value = |column: &str| {
        Some(match column {
            "id" => format!("{before} + n.i"),
            "iid" => "1000 + n.i".to_owned(),
            "sha" => sha.clone(),
            "ref_name" => {
                "CASE n.i % 2 WHEN 0 THEN 'main' ELSE 'branch-' || n.i % 1000 END".to_owned()
            }
            "status" => status("n.i"),
            "created_at" | "updated_at" => format!("t.{column} + n.i"),
            _ => return None,
        })
    };
    let with = format!(
        "n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {})",
        size.pipelines
    );
    Copies { source: from.pipeline, with, rows: "n", value: &value }.text(table, "id")
}

/// The jobs of the template, in each of its copies.
fn jobs(table: &Table, from: &Template, before: i64) -> String {
    let names: Vec<&str> = table
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .filter(|name| *name != "id")
        .collect();
    let value = |name: &&str| match *name {
        "pipeline_id" => "p.id".to_owned(),
        "sha" | "ref_name" | "created_at" | "updated_at" => format!("p.{name}"),
        "status" => {
            format!("CASE WHEN p.status = 'failed' THEN {} ELSE p.status END", status("t.id"))
        }
        _ => format!("t.{name}"),
    };
    let values: Vec<String> = names.iter().map(value).collect();
    format!(
        "INSERT INTO jobs ({}) SELECT {} FROM pipelines p, jobs t \
         WHERE p.id > {before} AND t.pipeline_id = {} ORDER BY p.id, t.id;\n",
        names.join(", "),
        values.join(", "),
        from.pipeline
    )
}

fn status(number: &str) -> String {
    format!("CASE {number} % 10 WHEN 0 THEN 'failed' ELSE 'success' END")
}
