//! Requests to a running server, as an API client sends them.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;
use ureq::{
    Agent,
    http::{Method, Request},
};

/// Longer than the slowest answer that is still a success.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Clone)]
pub(crate) struct Client {
    agent: Agent,
    root: String,
    token: String,
    /// Sent beside the token.
    authorization: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    /// What was asked, for messages.
    request: String,
    pub(crate) status: u16,
    /// Whether it says when to come back.
    pub(crate) retry_after: bool,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn new(root: &str, token: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .max_idle_connections_per_host(32)
            .build();
        Self {
            agent: Agent::new_with_config(config),
            root: root.to_owned(),
            token: token.to_owned(),
            authorization: None,
        }
    }

    /// The same with a header `Authorization`.
    pub(crate) fn authorized(&self, value: String) -> Self {
        Self { authorization: Some(value), ..self.clone() }
    }

    /// `path` begins behind `/api/v4`.
    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        self.send(Method::GET, &format!("/api/v4{path}"), None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send(Method::POST, &format!("/api/v4{path}"), Some(body))
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send(Method::PUT, &format!("/api/v4{path}"), Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Result<Answer> {
        self.send(Method::DELETE, &format!("/api/v4{path}"), None)
    }

    /// A page that is not of the API.
    pub(crate) fn page(&self, path: &str) -> Result<Answer> {
        self.send(Method::GET, path, None)
    }

    /// As [`page`](Self::page), with something to say.
    pub(crate) fn post_page(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send(Method::POST, path, Some(body))
    }

    fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Answer> {
        let asked = format!("{method} {path}");
        let request = Request::builder().method(method).uri(format!("{}{path}", self.root));
        let mut request =
            request.header("PRIVATE-TOKEN", &self.token).header("Content-Type", "application/json");
        if let Some(value) = &self.authorization {
            request = request.header("Authorization", value);
        }
        let sent = match body {
            Some(body) => self.agent.run(request.body(body.to_string())?),
            None => self.agent.run(request.body(())?),
        };
        let mut answer = sent.with_context(|| asked.clone())?;
        let retry_after = answer.headers().contains_key("retry-after");
        let body = answer.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
        Ok(Answer { request: asked, status: answer.status().as_u16(), retry_after, body })
    }
}

impl Answer {
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The JSON of a success; anything else is an error that tells the answer.
    pub(crate) fn json(&self) -> Result<Value> {
        if !self.is_success() {
            bail!("{}", self.told());
        }
        serde_json::from_slice(&self.body).with_context(|| self.told())
    }

    /// Request, status and the beginning of the body.
    pub(crate) fn told(&self) -> String {
        let text = String::from_utf8_lossy(&self.body).chars().take(300).collect::<String>();
        format!("{}: {} {text}", self.request, self.status)
    }
}
