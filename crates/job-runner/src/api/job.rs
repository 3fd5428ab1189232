//! Updates of a running job: its log and its state.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::client::{Answer, Client, Content};

/// The calls of one job, with its token.
pub(crate) struct JobCall<'c> {
    pub(crate) client: &'c Client,
    pub(crate) id: u64,
    pub(crate) token: &'c str,
}

/// The state of the job, as the server's response shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    GoOn,
    /// Stop, but run what comes after the script.
    Cancel,
    /// Stop at once.
    Abort,
}

impl Verdict {
    fn of(answer: &Answer, is_put: bool) -> Self {
        match answer.header("Job-Status") {
            Some("canceled" | "failed") => Self::Abort,
            _ if answer.status == 403 || (is_put && answer.status == 404) => Self::Abort,
            Some("canceling") => Self::Cancel,
            _ => Self::GoOn,
        }
    }
}

/// The server's response to an update of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobUpdate {
    pub(crate) status: u16,
    pub(crate) verdict: Verdict,
    /// How long to wait before the next piece.
    pub(crate) interval: Option<Duration>,
    /// Bytes of log that the server has, where it says so.
    pub(crate) stored: Option<usize>,
}

impl JobUpdate {
    fn of(answer: &Answer, is_put: bool) -> Self {
        let seconds = answer.header("X-GitLab-Trace-Update-Interval");
        let stored = answer.header("Range").and_then(|range| range.rsplit_once('-'));
        Self {
            status: answer.status,
            verdict: Verdict::of(answer, is_put),
            interval: seconds.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs),
            stored: stored.and_then(|(_, end)| end.trim().parse().ok()),
        }
    }
}

/// The final state of a job, as reported to the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FinalState {
    Success,
    Failed { reason: String, exit_code: Option<i32> },
}

/// Bytes and CRC-32 of the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogSum {
    pub(crate) size: usize,
    pub(crate) crc32: u32,
}

impl JobCall<'_> {
    fn headers(&self) -> [(&str, &str); 1] {
        [("JOB-TOKEN", self.token)]
    }

    /// Sends a piece of the log that begins at `start`.
    pub(crate) fn append(&self, start: usize, piece: &[u8], debug: bool) -> Result<JobUpdate> {
        let path = format!("/jobs/{}/trace?debug_trace={debug}", self.id);
        let range = format!("{start}-{}", start + piece.len().saturating_sub(1));
        let headers = [("JOB-TOKEN", self.token), ("Content-Range", &range)];
        let content = Content::Text(piece);
        let answer = self.client.send_once(
            "PATCH",
            &path,
            &headers,
            &content,
            super::client::ANSWER_TIMEOUT,
        )?;
        Ok(JobUpdate::of(&answer, false))
    }

    /// Says that the job still runs.
    pub(crate) fn keep_alive(&self, log: LogSum) -> Result<JobUpdate> {
        self.put(json!({ "state": "running" }), log)
    }

    /// Says how the job ended.
    pub(crate) fn finish(&self, state: &FinalState, log: LogSum) -> Result<JobUpdate> {
        let body = match state {
            FinalState::Success => json!({ "state": "success" }),
            FinalState::Failed { reason, exit_code } => {
                let mut body = json!({ "state": "failed", "failure_reason": reason });
                if let Some(code) = exit_code {
                    body["exit_code"] = json!(code);
                }
                body
            }
        };
        self.put(body, log)
    }

    fn put(&self, mut body: Value, log: LogSum) -> Result<JobUpdate> {
        let checksum = format!("crc32:{:08x}", log.crc32);
        body["token"] = json!(self.token);
        body["info"] = self.client.info();
        body["checksum"] = json!(checksum);
        body["output"] = json!({ "checksum": checksum, "bytesize": log.size });
        let path = format!("/jobs/{}", self.id);
        let answer = self.client.send_once(
            "PUT",
            &path,
            &self.headers(),
            &Content::Json(&body),
            super::client::ANSWER_TIMEOUT,
        )?;
        Ok(JobUpdate::of(&answer, true))
    }
}
