//! Asking for a job.

use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use super::client::{Answer, Client, Content};

/// The server holds a request for a minute or so; proxies before it may take longer to give up.
const PATIENCE: Duration = Duration::from_secs(120);

/// What this program can do.
const FEATURES: &[&str] = &[
    "variables",
    "raw_variables",
    "artifacts",
    "artifacts_exclude",
    "upload_multiple_artifacts",
    "upload_raw_artifacts",
    "cache",
    "fallback_cache_keys",
    "refspecs",
    "masking",
    "multi_build_steps",
    "return_exit_code",
    "trace_checksum",
    "trace_size",
    "cancelable",
    "cancel_gracefully",
];

/// What containers can do beyond that.
const CONTAINER_FEATURES: &[&str] =
    &["image", "services", "service_variables", "service_multiple_aliases", "image_executor_opts"];

/// The outcome of a job request.
pub(crate) enum JobAnswer {
    /// A job as the server wrote it.
    Job(Value),
    Nothing,
    /// Others were faster: ask again soon.
    Conflict,
    /// The token is not known any more.
    Refused,
    /// The server has trouble, or too many ask.
    Unwell {
        wait: Option<Duration>,
        message: String,
    },
}

impl Client {
    pub(super) fn info(&self) -> Value {
        let mut features: serde_json::Map<String, Value> =
            FEATURES.iter().map(|name| ((*name).to_owned(), json!(true))).collect();
        if self.executor != "shell" {
            features
                .extend(CONTAINER_FEATURES.iter().map(|name| ((*name).to_owned(), json!(true))));
        }
        json!({
            "name": "forgeway-runner",
            "version": env!("CARGO_PKG_VERSION"),
            "revision": "HEAD",
            "platform": std::env::consts::OS,
            "architecture": std::env::consts::ARCH,
            "executor": self.executor,
            "shell": "bash",
            "features": features,
        })
    }

    /// Asks for a job. With the cursor of the last answer the server may keep the request until there is one.
    pub(crate) fn request_job(&self, cursor: &mut Option<String>, hold: bool) -> Result<JobAnswer> {
        let mut body = json!({
            "token": self.token, "system_id": self.system_id, "info": self.info(),
        });
        if let Some(cursor) = cursor.as_ref().filter(|_| hold) {
            body["last_update"] = json!(cursor);
        }
        let headers = [("RUNNER-TOKEN", self.token.as_str())];
        let content = Content::Json(&body);
        let answer = self.send_once("POST", "/jobs/request", &headers, &content, PATIENCE)?;
        if let Some(new) = answer.header("X-GitLab-Last-Update") {
            *cursor = Some(new.to_owned());
        }
        Ok(understand(&answer))
    }
}

fn understand(answer: &Answer) -> JobAnswer {
    match answer.status {
        201 => match answer.json() {
            Ok(job) => JobAnswer::Job(job),
            Err(_not_json) => JobAnswer::Unwell {
                wait: None,
                message: "the server sent a job that is no JSON".to_owned(),
            },
        },
        204 => JobAnswer::Nothing,
        409 => JobAnswer::Conflict,
        401 | 403 => JobAnswer::Refused,
        _ => JobAnswer::Unwell { wait: answer.retry_after(), message: answer.message() },
    }
}
