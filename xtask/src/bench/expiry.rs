//! Very many artifacts expire at once: whether those who write meanwhile notice.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use diesel::connection::SimpleConnection as _;
use serde_json::json;

use super::{
    job_speed::PROJECT,
    runners::{Note, Size, numbers, percentile},
};
use crate::{client::Client, migrate::Connection, server::Installation};

/// How long is written before anything expires.
const BEFORE: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(600);
/// A job has one artifact of each.
const KINDS: [&str; 20] = [
    "sast",
    "secret_detection",
    "dependency_scanning",
    "container_scanning",
    "cluster_image_scanning",
    "dast",
    "license_scanning",
    "accessibility",
    "codequality",
    "performance",
    "browser_performance",
    "load_performance",
    "terraform",
    "requirements",
    "coverage_fuzzing",
    "api_fuzzing",
    "archive",
    "lsif",
    "cobertura",
    "metrics",
];

pub(super) fn measure(installation: &Installation, size: Size) -> Result<Vec<Note>> {
    let server = installation.start()?;
    let client = installation.client();
    let project = client.get(&format!("/projects/root%2F{PROJECT}"))?.json()?["id"]
        .as_i64()
        .context("a project without an id")?;
    let begun = Instant::now();
    let mut quiet = write_while(&client, project, || Ok(begun.elapsed() < BEFORE))?;
    server.stop()?;
    let made = fill(installation, project, size.expiring)?;
    let server = installation.start()?;
    let begun = Instant::now();
    let address = installation.database_address();
    let mut beside = write_while(&client, project, || {
        ensure!(begun.elapsed() < PATIENCE, "artifacts do not expire");
        Ok(left(&address)? > 0)
    })?;
    let took = begun.elapsed().as_secs_f64();
    server.stop()?;
    let figures = format!(
        "p50 {:.1} ms, p99 {:.1} ms; without that p50 {:.1} ms, p99 {:.1} ms",
        percentile(&mut beside, 50),
        percentile(&mut beside, 99),
        percentile(&mut quiet, 50),
        percentile(&mut quiet, 99)
    );
    Ok(vec![
        ("artifacts that expire", format!("{made}, gone within {took:.1} s")),
        ("issues written meanwhile", figures),
    ])
}

/// How many rows of artifacts have expired and are there.
fn left(address: &str) -> Result<i64> {
    let query = "SELECT count(*) AS number FROM job_artifacts WHERE expires_at = 1";
    numbers(address, query)?.first().copied().context("no number")
}

/// Milliseconds that each write took.
fn write_while(
    client: &Client,
    project: i64,
    mut goes_on: impl FnMut() -> Result<bool>,
) -> Result<Vec<f64>> {
    let mut waits = Vec::new();
    for n in 0.. {
        let begun = Instant::now();
        let body = json!({ "title": format!("Issue {n}") });
        client.post(&format!("/projects/{project}/issues"), &body)?.json()?;
        waits.push(begun.elapsed().as_secs_f64() * 1_000.0);
        thread::sleep(Duration::from_millis(5));
        if n % 20 == 0 && !goes_on()? {
            break;
        }
    }
    Ok(waits)
}

/// Gives jobs artifacts that have expired, each with its file; how many that are.
fn fill(installation: &Installation, project: i64, wanted: usize) -> Result<usize> {
    let jobs = wanted.div_ceil(KINDS.len());
    let query = format!(
        "SELECT id AS number FROM jobs WHERE project_id = {project} ORDER BY id LIMIT {jobs}"
    );
    let address = installation.database_address();
    let jobs = numbers(&address, &query)?;
    let last = jobs.last().context("there are no jobs")?;
    let kinds: Vec<String> = KINDS.iter().map(|kind| format!("SELECT '{kind}' AS kind")).collect();
    let script = format!(
        "INSERT INTO job_artifacts (job_id, project_id, pipeline_id, file_type, file_format, filename, size, sha256, \
         location, expires_at, locked, created_at) \
         SELECT j.id, j.project_id, j.pipeline_id, k.kind, 'raw', 'x', 1, '', \
         j.project_id || '/expiring/' || j.id || '/' || k.kind, 1, FALSE, 1 \
         FROM jobs j CROSS JOIN ({}) k WHERE j.project_id = {project} AND j.id <= {last};\n\
         UPDATE work_schedules SET next_at = 1 WHERE kind = 'artifact.remove_expired';\n",
        kinds.join(" UNION ALL ")
    );
    match &mut Connection::open(&address)? {
        Connection::Sqlite(connection) => connection.batch_execute(&script)?,
        Connection::Postgres(connection) => connection.batch_execute(&script)?,
    }
    let folder = installation.data.join("artifacts").join(project.to_string()).join("expiring");
    for job in &jobs {
        let folder = folder.join(job.to_string());
        fs::create_dir_all(&folder)?;
        for kind in KINDS {
            fs::write(folder.join(kind), "x")?;
        }
    }
    Ok(jobs.len() * KINDS.len())
}
