//! Runners at work in a round: what a job has written and brought is there, byte by byte, once the job has ended, and no job
//! is handed over twice.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Context as _, Result};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::json;

use super::ledger::{Ledger, SharedLedger};
use crate::{
    client::Client,
    runner::{Job, JobAnswer, Runner},
    server::Installation,
};

/// Pipelines are made by calls alone, so that no push waits for one.
const TEXT: &str = "workflow: {rules: [{if: $CI_PIPELINE_SOURCE == \"api\"}]}\n\
                    one: {script: x}\ntwo: {script: x}\nthree: {script: x}\n";
const REST: Duration = Duration::from_millis(20);
const BETWEEN_PIPELINES: Duration = Duration::from_millis(100);
/// Pieces of a job's log, and lines of each.
const PIECES: usize = 20;
const LINES: usize = 40;
/// Numbers in an archive: enough for several blocks on their way to the disk.
const ARCHIVE: usize = 100_000;
/// A log is sent again from where the server has it; each attempt but the last brings it further.
const ATTEMPTS: usize = 9;

/// A job that was handed over, and what was acknowledged of it.
pub(super) struct JobRecord {
    job: Job,
    project: i64,
    /// All that was sent of its log.
    log: Vec<u8>,
    acknowledged: usize,
    has_archive: bool,
    has_ended: bool,
}

/// Gives a project jobs, and makes runners for them.
pub(super) fn prepare(
    installation: &Installation,
    client: &Client,
    project: i64,
) -> Result<Vec<Runner>> {
    let actions = json!([{ "action": "create", "file_path": ".gitlab-ci.yml", "content": TEXT }]);
    let body = json!({ "branch": "main", "commit_message": "Jobs", "actions": actions });
    client.post(&format!("/projects/{project}/repository/commits"), &body)?.json()?;
    let fields = json!({ "runner_type": "project_type", "project_id": project });
    let create = |name| Runner::create(client, &installation.root(), &fields, name);
    ["r_one", "r_two"].into_iter().map(create).collect()
}

/// Makes one more pipeline.
pub(super) fn make_pipeline(client: &Client, project: i64) -> Result<()> {
    client.post(&format!("/projects/{project}/pipeline"), &json!({ "ref": "main" }))?.json()?;
    std::thread::sleep(BETWEEN_PIPELINES);
    Ok(())
}

/// Does jobs until the server is gone.
pub(super) fn work(runner: &Runner, project: i64, ledger: &SharedLedger, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        if let Err(error) = do_one(runner, project, ledger) {
            if !stop.load(Ordering::SeqCst) {
                ledger.refuse("runner", &format!("{error:#}"));
            }
            return;
        }
    }
}

fn do_one(runner: &Runner, project: i64, ledger: &SharedLedger) -> Result<()> {
    let JobAnswer::Job(job) = runner.request(None)? else {
        std::thread::sleep(REST);
        return Ok(());
    };
    ledger.write().add_job(job.id, JobRecord::new(job.clone(), project));
    let note = |change: &dyn Fn(&mut JobRecord)| {
        ledger.write().jobs.get_mut(&job.id).map(change).context("an unknown job")
    };
    let mut sent = 0;
    for number in 0..PIECES {
        let piece = piece(job.id, number);
        // From here on the server may have it.
        note(&|record| record.log.extend_from_slice(&piece))?;
        job.write(sent, &piece)?.ensure(202, "a piece of a log")?;
        sent += piece.len();
        note(&|record| record.acknowledged = sent)?;
    }
    job.upload(archive(job.id).as_slice())?.ensure(201, "an archive")?;
    note(&|record| record.has_archive = true)?;
    job.succeed(sent)?.ensure(200, "the end of a job")?;
    note(&|record| record.has_ended = true)
}

fn piece(job: i64, number: usize) -> Vec<u8> {
    let lines = (0..LINES).map(|line| format!("job {job}, piece {number}, line {line}\n"));
    lines.collect::<String>().into_bytes()
}

fn archive(job: i64) -> Vec<u8> {
    let mut random = StdRng::seed_from_u64(job.unsigned_abs());
    (0..ARCHIVE).flat_map(|_| random.random::<u64>().to_le_bytes()).collect()
}

impl Ledger {
    /// Notes that a job was handed over; once more is once too often.
    pub(super) fn add_job(&mut self, id: i64, record: JobRecord) {
        if self.jobs.insert(id, record).is_some() {
            self.twice.push(id);
        }
    }
}

impl JobRecord {
    fn new(job: Job, project: i64) -> Self {
        let (log, acknowledged) = (Vec::new(), 0);
        Self { job, project, log, acknowledged, has_archive: false, has_ended: false }
    }

    /// Brings a job to its end as a runner does whose server was away; what is odd about it otherwise.
    fn finish(&mut self) -> Result<Option<String>> {
        let mut start = self.acknowledged;
        for _ in 0..ATTEMPTS {
            let is_whole = start == self.log.len();
            let reply = match (is_whole, self.has_archive) {
                (false, _) => self.job.write(start, &self.log[start..])?,
                (true, false) => self.job.upload(archive(self.job.id).as_slice())?,
                (true, true) => self.job.succeed(self.log.len())?,
            };
            match (reply.status, reply.length) {
                (202 | 416, Some(length)) if length <= self.log.len() => start = length,
                (201, _) => self.has_archive = true,
                // The server lacks some of the log: it says how much when it is sent again.
                (412, _) => start = 0,
                (200, _) => self.has_ended = true,
                // Its end was written down, and the server could not say so any more.
                (403, _) if reply.job.as_deref() == Some("success") => self.has_ended = true,
                _ => return Ok(Some(format!("job {}: {}", self.job.id, reply.told()))),
            }
            if self.has_ended {
                return Ok(None);
            }
        }
        Ok(Some(format!("job {} does not come to its end", self.job.id)))
    }

    fn check(&self, client: &Client) -> Result<Vec<String>> {
        let own = format!("/projects/{}/jobs/{}", self.project, self.job.id);
        let mut found = Vec::new();
        let status = client.get(&own)?.json()?["status"].clone();
        if status != "success" {
            found.push(format!("job {}: it has ended well and is {status}", self.job.id));
        }
        let log = client.get(&format!("{own}/trace"))?.body;
        if log != self.log {
            let (has, sent) = (log.len(), self.log.len());
            found.push(format!("job {}: its log has {has} bytes of {sent}", self.job.id));
        }
        if client.get(&format!("{own}/artifacts"))?.body != archive(self.job.id) {
            found.push(format!("job {}: its archive is another one", self.job.id));
        }
        Ok(found)
    }
}

/// Ends what was running when the server was killed.
pub(super) fn resume(ledger: &mut Ledger) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for record in ledger.jobs.values_mut().filter(|record| !record.has_ended) {
        found.extend(record.finish()?);
    }
    Ok(found)
}

/// What is missing of jobs that have ended, and which were handed over twice.
pub(super) fn check(installation: &Installation, ledger: &Ledger) -> Result<Vec<String>> {
    let client = installation.client();
    let twice = ledger.twice.iter().map(|id| format!("job {id} was handed over twice"));
    let mut found: Vec<String> = twice.collect();
    for record in ledger.jobs.values().filter(|record| record.has_ended) {
        found.extend(record.check(&client)?);
    }
    Ok(found)
}
