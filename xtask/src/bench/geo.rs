//! The run over nodes: the statuses of twenty of them in one answer, each with every counter.

use anyhow::{Context as _, Result, ensure};
use diesel::connection::SimpleConnection as _;
use serde_json::{Map, Value, json};

use super::{
    cases::{CONSTANT, Case, LONG_CONSTANT, case},
    people::{id, post},
    report::{Report, megabytes},
    wrk::{Generator, Measurement},
};
use crate::{client::Client, migrate::Connection, server::Installation};

/// Beside the primary.
const SECONDARIES: i64 = 19;
/// In microseconds since 1970: a status of then is fresh for long.
const LATER: i64 = 4_000_000_000_000_000;
const STATUSES: &str = "/geo_nodes/status?per_page=20";
const ALL: &str = "status of 20 nodes";
/// What the statuses are to reach of a constant answer, by the bytes that are sent in a second: they are many times as long.
const GOAL: f64 = 0.30;

pub(super) struct Run<'a> {
    pub(super) installation: Installation,
    pub(super) generator: &'a Generator,
}

impl Run<'_> {
    pub(super) fn report(&self, database: &'static str) -> Result<Report> {
        let server = self.installation.start()?;
        let client = self.installation.client();
        let root = self.installation.root();
        let new = json!({ "name": root, "url": root, "primary": true });
        let primary = id(&post(&client, "/geo_nodes", &new)?)?;
        let counters = counters(&read(&client, &format!("/geo_nodes/{primary}/status"))?)?;
        server.stop()?;
        fill(&self.installation.database_address(), primary, &counters)?;
        let server = self.installation.start()?;
        let (all, long) = (length(&client, STATUSES, 20)?, client.page("/-/api")?.body.len());
        let cases = vec![
            (CONSTANT, self.measured(&constant(CONSTANT, "/-/liveness"))?),
            (LONG_CONSTANT, self.measured(&constant(LONG_CONSTANT, "/-/api"))?),
            (ALL, self.measured(&case(ALL, [STATUSES.to_owned()]))?),
            ("nodes", self.measured(&case("nodes", ["/geo_nodes".to_owned()]))?),
        ];
        let mut notes = vec![
            ("length of the statuses", format!("{all} bytes")),
            ("resident after the run", megabytes(&server)?),
        ];
        notes.extend(ratios(&cases, all, long));
        server.stop()?;
        Ok(Report { database, cases, transport: Vec::new(), compared: Vec::new(), notes })
    }

    fn measured(&self, case: &Case) -> Result<Measurement> {
        let figures = self.generator.measure(&self.installation.root(), &case.requests)?;
        println!(
            "{}: {:.0} a second, p90 {:.1} ms, {} failed",
            case.name, figures.per_second, figures.p90, figures.failed
        );
        Ok(figures)
    }
}

fn constant(name: &'static str, path: &str) -> Case {
    Case { name, requests: vec![format!("GET {path}")], connections: None }
}

/// Bytes a second of answers that are so long.
fn throughput(cases: &[(&'static str, Measurement)], name: &str, length: usize) -> f64 {
    let found = cases.iter().find(|(known, _)| *known == name);
    let length = u32::try_from(length).map_or(f64::MAX, f64::from);
    found.map_or(0.0, |(_, figures)| figures.per_second * length)
}

/// The statuses beside the constant answers: by answers and by bytes a second, the latter with whether the goal is met.
fn ratios(
    cases: &[(&'static str, Measurement)],
    all: usize,
    long: usize,
) -> [(&'static str, String); 2] {
    let answers = throughput(cases, ALL, 1) / throughput(cases, CONSTANT, 1);
    let bytes = throughput(cases, ALL, all) / throughput(cases, LONG_CONSTANT, long);
    let verdict = if bytes >= GOAL { "met" } else { "missed" };
    let (answers, bytes) =
        (format!("{answers:.3}"), format!("{bytes:.2}, the goal of {GOAL:.2} is {verdict}"));
    println!("statuses beside the constant answer: {answers}; by bytes beside 7 kB: {bytes}");
    [
        ("statuses a second beside the constant answer", answers),
        ("statuses, bytes a second beside those of the constant answer of 7 kB", bytes),
    ]
}

fn read(client: &Client, path: &str) -> Result<Value> {
    let answer = client.get(path)?;
    ensure!(answer.status == 200, "{path}: {}", answer.status);
    Ok(serde_json::from_slice(&answer.body)?)
}

/// How long a list of so many is.
fn length(client: &Client, path: &str, many: usize) -> Result<usize> {
    let answer = client.get(path)?;
    let list: Vec<Value> = serde_json::from_slice(&answer.body)?;
    ensure!(list.len() == many, "{} statuses instead of {many}", list.len());
    Ok(answer.body.len())
}

/// Every counter that a status has, each with a value: what a secondary reports.
fn counters(status: &Value) -> Result<String> {
    let fields = status.as_object().context("a status is an object")?;
    let names = fields.keys().filter(|name| name.ends_with("_count"));
    let counted: Map<String, Value> =
        names.zip(1_000_000_i64..).map(|(name, value)| (name.clone(), json!(value))).collect();
    Ok(Value::Object(counted).to_string())
}

/// Secondaries beside the primary, and a report of each.
fn fill(address: &str, primary: i64, counters: &str) -> Result<()> {
    let script = format!(
        "BEGIN;\n\
         INSERT INTO geo_nodes (name, name_key, url, is_primary, enabled, files_max_capacity, repos_max_capacity, \
         verification_max_capacity, container_repositories_max_capacity, minimum_reverification_interval, \
         selective_sync_shards, sync_object_storage, access_key, sealed, created_at, updated_at) \
         WITH RECURSIVE n(i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {SECONDARIES}) \
         SELECT 'copy ' || n.i, 'copy ' || n.i, 'https://copy-' || n.i || '.test/', FALSE, TRUE, 10, 25, 100, 10, 7, \
         '[]', FALSE, 'bench-' || n.i, '', 0, 0 FROM n;\n\
         DELETE FROM geo_node_statuses;\n\
         INSERT INTO geo_node_statuses (node_id, db_replication_lag_seconds, last_event_id, last_event_at, \
         cursor_last_event_id, cursor_last_event_at, last_successful_status_check_at, version, revision, counters, \
         updated_at) SELECT id, CASE id WHEN {primary} THEN NULL ELSE 3 END, 1000000, {LATER}, 999999, {LATER}, \
         {LATER}, '17.0.0', '0123abcd', '{counters}', {LATER} FROM geo_nodes;\n\
         COMMIT;\n"
    );
    match &mut Connection::open(address)? {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => connection.batch_execute(&script)?,
    }
    Ok(())
}
