//! HTTP: requests with their time limits, and what comes back.

use std::{borrow::Cow, net::IpAddr, path::Path, time::Duration};

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};
use ureq::{
    Agent, Body, SendBody,
    http::{HeaderMap, Request, Response, header::HeaderName},
    tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem},
};

use crate::{clock, config::Runner};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// An answer that takes longer is given up, but for requests that the server may hold.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of an answer that is not a file.
const LARGEST_ANSWER: u64 = 16 << 20;
/// How often a request is sent when the server is overloaded.
const ATTEMPTS: u32 = 5;
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// A server as one runner sees it.
pub(crate) struct Client {
    agent: Agent,
    base: String,
    pub(super) token: String,
    pub(crate) system_id: String,
    pub(super) executor: &'static str,
}

/// The body of a request.
pub(super) enum Content<'c> {
    Json(&'c Value),
    Text(&'c [u8]),
}

/// An answer that was read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Client {
    pub(crate) fn new(runner: &Runner, system_id: &str) -> Result<Self> {
        let mut client = Self::of_server(&runner.url, runner.tls_ca_file.as_deref())?;
        client.token.clone_from(&runner.token);
        system_id.clone_into(&mut client.system_id);
        client.executor = runner.executor.name();
        Ok(client)
    }

    /// Without a token.
    pub(crate) fn of_server(url: &str, ca_file: Option<&Path>) -> Result<Self> {
        let url = url.trim_end_matches('/');
        if !url.starts_with("http://") && !url.starts_with("https://") {
            bail!("{url:?} does not begin with http:// or https://");
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A token is not taken to another address.
            .max_redirects(0)
            .user_agent(concat!("forgeway-runner/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_per_read(Some(ANSWER_TIMEOUT))
            .timeout_per_write(Some(ANSWER_TIMEOUT));
        if is_local(url) {
            config = config.proxy(None);
        }
        if let Some(file) = ca_file {
            config = config.tls_config(trusting(file)?);
        }
        Ok(Self {
            agent: config.build().into(),
            base: format!("{url}/api/v4"),
            token: String::new(),
            system_id: String::new(),
            executor: "shell",
        })
    }

    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Sends one request and reads the answer. `patience` is for how long the server may say nothing.
    pub(super) fn send_once(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        content: &Content<'_>,
        patience: Duration,
    ) -> Result<Answer> {
        let mut request = Request::builder().method(method).uri(self.address(path));
        request = request.header("Accept", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (kind, body) = match content {
            Content::Json(value) => ("application/json", Cow::Owned(serde_json::to_vec(value)?)),
            Content::Text(text) => ("text/plain", Cow::Borrowed(*text)),
        };
        // Not every proxy takes a body of unknown length.
        let request = request.header("Content-Type", kind).header("Content-Length", body.len());
        let mut reader = &*body;
        Answer::read(self.run(request.body(SendBody::from_reader(&mut reader))?, patience)?)
    }

    /// Sends a request, and again while the server is overloaded. `pause` waits between the attempts.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        content: &Content<'_>,
        pause: &dyn Fn(Duration),
    ) -> Result<Answer> {
        let mut wait = FIRST_RETRY;
        for attempt in 1.. {
            let answer = self.send_once(method, path, headers, content, ANSWER_TIMEOUT)?;
            if attempt == ATTEMPTS || !answer.is_overloaded() {
                return Ok(answer);
            }
            pause(answer.retry_after().unwrap_or(wait).min(LONGEST_RETRY));
            wait = (wait * 2).min(LONGEST_RETRY);
        }
        bail!("no attempt was made")
    }

    pub(super) fn run(
        &self,
        request: Request<SendBody<'_>>,
        patience: Duration,
    ) -> Result<Response<Body>> {
        let request =
            self.agent.configure_request(request).timeout_per_read(Some(patience)).build();
        Ok(self.agent.run(request)?)
    }
}

/// Whether an address is on this machine: no proxy leads there.
pub(crate) fn is_local(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next(),
        None => host.split(':').next(),
    };
    let name = name.unwrap_or_default();
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn trusting(file: &Path) -> Result<TlsConfig> {
    let pem = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut roots: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item? {
            roots.push(certificate);
        }
    }
    anyhow::ensure!(!roots.is_empty(), "{} holds no certificate", file.display());
    Ok(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&roots)).build())
}

impl Answer {
    pub(super) fn read(response: Response<Body>) -> Result<Self> {
        let (head, body) = response.into_parts();
        let body = body.into_with_config().limit(LARGEST_ANSWER).read_to_vec()?;
        Ok(Self { status: head.status.as_u16(), headers: head.headers, body })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(serde_json::from_slice(&self.body)?)
    }

    /// What the server says of it, for people.
    pub(crate) fn message(&self) -> String {
        let said = self.json::<Value>().ok().and_then(|body| {
            let text = body.get("message").or_else(|| body.get("error"))?;
            Some(text.as_str().map_or_else(|| text.to_string(), str::to_owned))
        });
        let said: String = said.unwrap_or_default().chars().take(500).collect();
        format!("{} {said}", self.status).trim_end().to_owned()
    }

    fn is_overloaded(&self) -> bool {
        matches!(self.status, 408 | 429 | 500 | 502..=504 | 512..)
    }

    /// For how long the server wants to be left alone.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        if let Some(at) = self.header("RateLimit-ResetTime") {
            let at = OffsetDateTime::parse(at, &Rfc2822).ok()?.unix_timestamp();
            let seconds = u64::try_from(at - clock::unix_seconds()).ok()?;
            return Some(Duration::from_secs(seconds));
        }
        let seconds = self.header("Retry-After")?.trim().parse().ok()?;
        Some(Duration::from_secs(seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::is_local;

    #[test]
    fn what_is_on_this_machine_needs_no_proxy() {
        for local in ["http://127.0.0.1:80/x", "http://a:b@localhost/", "http://[::1]:8080"] {
            assert!(is_local(local), "{local}");
        }
        for other in ["http://forge.example", "http://127.0.0.1.example", "http://[::2]/"] {
            assert!(!is_local(other), "{other}");
        }
    }
}
