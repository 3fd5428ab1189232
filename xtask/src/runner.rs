//! A runner that executes nothing: it takes jobs, writes their logs, brings files and says how they ended.

use std::{
    io::{Cursor, Read},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use ureq::{
    Agent, AsSendBody, SendBody,
    http::{Request, request::Builder},
};

use crate::client::Client;

/// Longer than a request is held open, and than a large file takes.
const PATIENCE: Duration = Duration::from_secs(600);
/// What jobs may ask of a runner.
const FEATURES: [&str; 4] =
    ["refspecs", "upload_multiple_artifacts", "artifacts_exclude", "return_exit_code"];
const CURSOR: &str = "X-GitLab-Last-Update";
const BOUNDARY: &str = "forgeway-xtask";

pub(crate) struct Runner {
    pub(crate) id: i64,
    agent: Agent,
    api: String,
    token: String,
    name: String,
}

/// A job in a runner's hands.
#[derive(Clone)]
pub(crate) struct Job {
    agent: Agent,
    api: String,
    pub(crate) id: i64,
    token: String,
}

pub(crate) enum JobAnswer {
    Job(Job),
    /// With the cursor for the next request.
    Nothing(String),
}

pub(crate) struct Reply {
    pub(crate) status: u16,
    /// How the job is.
    pub(crate) job: Option<String>,
    /// Bytes of the log that the server has.
    pub(crate) length: Option<usize>,
    told: String,
}

impl Runner {
    /// Makes a runner on the server; `name` tells it from other programs.
    pub(crate) fn create(client: &Client, root: &str, fields: &Value, name: &str) -> Result<Self> {
        let made = client.post("/user/runners", fields)?.json()?;
        let token = made["token"].as_str().context("a runner without a token")?.to_owned();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .build();
        let agent = Agent::new_with_config(config);
        let id = made["id"].as_i64().context("a runner without an id")?;
        Ok(Self { id, agent, api: format!("{root}/api/v4"), token, name: name.to_owned() })
    }

    /// Asks for a job. With a cursor that still holds the server keeps the request open.
    pub(crate) fn request(&self, cursor: Option<&str>) -> Result<JobAnswer> {
        let features: serde_json::Map<String, Value> =
            FEATURES.iter().map(|name| ((*name).to_owned(), json!(true))).collect();
        let info = json!({ "name": "xtask", "features": features });
        let mut body = json!({ "token": self.token, "system_id": self.name, "info": info });
        if let Some(cursor) = cursor {
            body["last_update"] = json!(cursor);
        }
        let request = Request::post(format!("{}/jobs/request", self.api));
        let request = request.header("Content-Type", "application/json");
        let mut answer = self.agent.run(request.body(body.to_string())?)?;
        let status = answer.status().as_u16();
        let cursor = answer.headers().get(CURSOR).and_then(|cursor| cursor.to_str().ok());
        match (status, cursor.map(str::to_owned)) {
            (204, Some(cursor)) => Ok(JobAnswer::Nothing(cursor)),
            (409, _) => Ok(JobAnswer::Nothing(String::new())),
            (201, _) => {
                let payload = answer.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
                let payload: Value = serde_json::from_slice(&payload)?;
                Ok(JobAnswer::Job(Job {
                    agent: self.agent.clone(),
                    api: self.api.clone(),
                    id: payload["id"].as_i64().context("a job without an id")?,
                    token: payload["token"].as_str().context("a job without a token")?.to_owned(),
                }))
            }
            _ => bail!("the request for a job was answered {status}"),
        }
    }
}

impl Job {
    fn send(&self, request: Builder, body: impl AsSendBody) -> Result<Reply> {
        let mut answer = self.agent.run(request.header("JOB-TOKEN", &self.token).body(body)?)?;
        let header = |name: &str| {
            let value = answer.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        let (job, range) = (header("Job-Status"), header("Range"));
        let length = range.and_then(|range| range.split_once('-')?.1.parse().ok());
        let status = answer.status().as_u16();
        let told = answer.body_mut().read_to_string()?;
        Ok(Reply { status, job, length, told: format!("{status} {told}") })
    }

    /// Adds a piece to the log, which has so many bytes before it.
    pub(crate) fn write(&self, start: usize, piece: &[u8]) -> Result<Reply> {
        let end = (start + piece.len()).saturating_sub(1);
        let request = Request::patch(format!("{}/jobs/{}/trace", self.api, self.id))
            .header("Content-Type", "text/plain")
            .header("Content-Range", format!("{start}-{end}"));
        self.send(request, piece)
    }

    /// Brings an archive whose length nobody is told before.
    pub(crate) fn upload(&self, content: impl Read) -> Result<Reply> {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.zip\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        let tail = format!("\r\n--{BOUNDARY}--\r\n");
        let mut body = Cursor::new(head).chain(content).chain(Cursor::new(tail));
        let request = Request::post(format!("{}/jobs/{}/artifacts", self.api, self.id))
            .header("Content-Type", format!("multipart/form-data; boundary={BOUNDARY}"));
        self.send(request, SendBody::from_reader(&mut body))
    }

    /// Fetches what was brought, and forgets it; how many bytes that were.
    pub(crate) fn fetch(&self) -> Result<u64> {
        let request = Request::get(format!("{}/jobs/{}/artifacts", self.api, self.id));
        let answer = self.agent.run(request.header("JOB-TOKEN", &self.token).body(())?)?;
        ensure!(answer.status().is_success(), "the archive was answered {}", answer.status());
        Ok(std::io::copy(&mut answer.into_body().into_reader(), &mut std::io::sink())?)
    }

    /// Says that the job has succeeded, and how long the log is that was sent.
    pub(crate) fn succeed(&self, length: usize) -> Result<Reply> {
        let body = json!({ "state": "success", "output": { "bytesize": length } });
        let request = Request::put(format!("{}/jobs/{}", self.api, self.id))
            .header("Content-Type", "application/json");
        self.send(request, body.to_string())
    }
}

impl Reply {
    /// The status and the body.
    pub(crate) fn told(&self) -> &str {
        &self.told
    }

    /// # Errors
    /// Unless it has this status.
    pub(crate) fn ensure(&self, status: u16, what: &str) -> Result<()> {
        ensure!(self.status == status, "{what}: {}", self.told);
        Ok(())
    }
}
