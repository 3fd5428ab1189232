//! A job that runs while the machine is broken: what its runner was told was kept is there in the end.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;

use super::load::Load;
use crate::{
    client::Client,
    runner::{Job, JobAnswer, Reply, Runner},
    server::Installation,
};

const TEXT: &str = "job: {script: x}\n";
const LINES: usize = 200;
const ARCHIVE: usize = 200_000;
/// How long a server may take to be itself again.
const RECOVERY: Duration = Duration::from_secs(20);

pub(super) struct RunningJob {
    client: Client,
    project: i64,
    job: Job,
    /// What was acknowledged of its log.
    log: Vec<u8>,
}

impl RunningJob {
    pub(super) fn begin(installation: &Installation) -> Result<Self> {
        let client = installation.client();
        let made = client.post("/projects", &json!({ "name": "jobs" }))?.json()?;
        let project = made["id"].as_i64().context("a project without an id")?;
        let action = json!({ "action": "create", "file_path": ".gitlab-ci.yml", "content": TEXT });
        let body = json!({ "branch": "main", "commit_message": "Jobs", "actions": [action] });
        client.post(&format!("/projects/{project}/repository/commits"), &body)?.json()?;
        let fields = json!({ "runner_type": "project_type", "project_id": project });
        let runner = Runner::create(&client, &installation.root(), &fields, "r_faults")?;
        let JobAnswer::Job(job) = runner.request(None)? else { bail!("no job was handed over") };
        Ok(Self { client, project, job, log: Vec::new() })
    }

    /// Sends some lines and an archive; says whether both were kept.
    pub(super) fn round(&mut self, load: &mut Load) -> Result<bool> {
        let piece = "a line of a job's log\n".repeat(LINES);
        let reply = self.job.write(self.log.len(), piece.as_bytes())?;
        let is_written = is_kept(load, &reply, 202)?;
        if is_written {
            self.log.extend_from_slice(piece.as_bytes());
        }
        // A server that answers before it has all of it may hang up: a runner sends it again.
        let Ok(reply) = self.job.upload([7_u8; ARCHIVE].as_slice()) else { return Ok(false) };
        Ok(is_kept(load, &reply, 201)? && is_written)
    }

    /// Ends the job once the machine is well, and looks for all that was acknowledged.
    pub(super) fn finish(mut self, load: &mut Load) -> Result<()> {
        let begun = Instant::now();
        while !self.round(load)? {
            ensure!(begun.elapsed() < RECOVERY, "the job's log or archive is still refused");
            std::thread::sleep(Duration::from_millis(50));
        }
        self.job.succeed(self.log.len())?.ensure(200, "the end of the job")?;
        let own = format!("/projects/{}/jobs/{}", self.project, self.job.id);
        ensure!(self.client.get(&own)?.json()?["status"] == "success", "the job is stuck");
        let log = self.client.get(&format!("{own}/trace"))?.body;
        ensure!(log == self.log, "the log has {} bytes of {}", log.len(), self.log.len());
        let archive = self.client.get(&format!("{own}/artifacts"))?.body;
        ensure!(archive == [7_u8; ARCHIVE], "the archive has {} bytes", archive.len());
        Ok(())
    }
}

/// Whether it was kept; a runner understands 507 as trouble that passes.
fn is_kept(load: &mut Load, reply: &Reply, status: u16) -> Result<bool> {
    load.note(reply.status);
    ensure!([status, 507].contains(&reply.status), "a runner was told {}", reply.told());
    Ok(reply.status == status)
}
