//! The run over runners: jobs are handed over to those who wait for them and done, their logs and artifacts are kept, and
//! artifacts expire.

use std::time::UNIX_EPOCH;

use anyhow::{Context as _, Result};
use diesel::{QueryableByName, RunQueryDsl as _, sql_query, sql_types::BigInt};
use serde_json::json;

use super::{
    expiry, job_contents, job_speed,
    people::{id, post},
    report::Report,
    waiting_runners,
};
use crate::{
    client::Client,
    migrate::Connection,
    runner::{Job, JobAnswer, Runner},
    server::Installation,
};

/// Jobs of each pipeline that is made for its jobs.
pub(super) const JOBS_OF_PIPELINE: usize = 200;

/// How much there is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Runners that wait.
    pub(super) waiting: usize,
    /// Jobs that are handed to those, one after the other.
    pub(super) hand_overs: usize,
    /// Jobs that are done as quickly as that goes.
    pub(super) jobs: usize,
    /// Logs that are written at once.
    pub(super) logs: usize,
    /// Bytes of the large artifact.
    pub(super) artifact: u64,
    /// Artifacts that expire.
    pub(super) expiring: usize,
}

impl Size {
    /// All of it, or one part in `scale`.
    pub(super) fn whole(scale: i64) -> Self {
        let scale = usize::try_from(scale.max(1)).unwrap_or(1);
        let part = |whole: usize, least: usize| (whole / scale).max(least);
        let artifact = part(1_000_000_000, 1_000_000).try_into().unwrap_or(u64::MAX);
        Self {
            waiting: part(100, 10),
            hand_overs: part(100, 10),
            jobs: part(5_000, JOBS_OF_PIPELINE),
            logs: part(1_000, 20),
            artifact,
            expiring: part(100_000, 1_000),
        }
    }
}

pub(super) struct Run {
    pub(super) installation: Installation,
    pub(super) size: Size,
}

/// A line of the report.
pub(super) type Note = (&'static str, String);

impl Run {
    pub(super) fn report(self, database: &'static str) -> Result<Report> {
        let (installation, size) = (&self.installation, self.size);
        let server = installation.start()?;
        let client = installation.client();
        let mut notes = waiting_runners::measure(installation, &server, size)?;
        notes.push(job_speed::measure(installation, &client, size)?);
        notes.extend(job_contents::measure(installation, &server, size)?);
        server.stop()?;
        notes.extend(expiry::measure(installation, size)?);
        for (what, figure) in &notes {
            println!("{what}: {figure}");
        }
        let (cases, transport, compared) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Report { database, cases, transport, compared, notes })
    }
}

/// A project whose pipelines have so many jobs; a push makes none.
pub(super) fn project_of_jobs(client: &Client, name: &str, jobs: usize) -> Result<i64> {
    let fields = json!({ "name": name, "default_branch": "main" });
    let project = id(&post(client, "/projects", &fields)?)?;
    let job = |n: usize| format!("job-{n}: {{script: [make {n}]}}\n");
    let by_calls = "workflow: {rules: [{if: $CI_PIPELINE_SOURCE == \"api\"}]}\n".to_owned();
    let text = by_calls + &(0..jobs).map(job).collect::<String>();
    let action = json!({ "action": "create", "file_path": ".gitlab-ci.yml", "content": text });
    let body = json!({ "branch": "main", "commit_message": "Jobs", "actions": [action] });
    post(client, &format!("/projects/{project}/repository/commits"), &body)?;
    Ok(project)
}

pub(super) fn make_pipeline(client: &Client, project: i64) -> Result<()> {
    post(client, &format!("/projects/{project}/pipeline"), &json!({ "ref": "main" }))?;
    Ok(())
}

/// A runner of a project.
pub(super) fn runner_of(installation: &Installation, project: i64, name: &str) -> Result<Runner> {
    let fields = json!({ "runner_type": "project_type", "project_id": project });
    Runner::create(&installation.client(), &installation.root(), &fields, name)
}

/// A job that has to be there.
pub(super) fn take(runner: &Runner) -> Result<Job> {
    match runner.request(None)? {
        JobAnswer::Job(job) => Ok(job),
        JobAnswer::Nothing(_) => anyhow::bail!("no job was handed over"),
    }
}

/// Microseconds since 1970, as rows tell time.
pub(super) fn now() -> Result<i64> {
    UNIX_EPOCH.elapsed()?.as_micros().try_into().context("a time far from now")
}

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// The column `number` of a query.
pub(super) fn numbers(address: &str, query: &str) -> Result<Vec<i64>> {
    let rows: Vec<Number> = match &mut Connection::open(address)? {
        Connection::Sqlite(connection) => sql_query(query).load(connection)?,
        Connection::Postgres(connection) => sql_query(query).load(connection)?,
    };
    Ok(rows.into_iter().map(|row| row.number).collect())
}

/// The value below which lie so many hundredths of all.
pub(super) fn percentile(values: &mut [f64], hundredths: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = (values.len() * hundredths / 100).min(values.len().saturating_sub(1));
    values.get(place).copied().unwrap_or_default()
}
