//! Requests to the API of a source: JSON, page by page, with its rate limits.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use kernel::{Error, Ts, task::spawn_blocking};
use outbound::{AnswerHead, Client, Exchange, FetchError, FetchLimits};
use serde_json::Value;

use super::SourceError;
use crate::Forge;

/// A page of an API, and how long it may take.
const PAGE: FetchLimits = FetchLimits { bytes: 32 << 20, time: Duration::from_secs(60) };
/// Seconds to wait where a source says that it is asked too often, and not until when.
const USUAL_WAIT: i64 = 60;
/// No source is waited for longer at once: a day.
const LONGEST_WAIT: i64 = 86_400;

/// Sends a request and follows redirects in its own way.
type Sender = fn(&Client, &Exchange<'_>, &mut Vec<u8>) -> Result<AnswerHead, FetchError>;

/// A source as it is asked. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SourceClient {
    client: Arc<Client>,
    headers: Arc<Vec<(String, String)>>,
    now: Ts,
}

/// A page as it came.
#[derive(Clone, Debug)]
pub(crate) struct SourcePage {
    pub(crate) body: Value,
    /// Whether another page follows, where the source says so.
    pub(crate) has_next: Option<bool>,
    /// Seconds until the source is to be asked again.
    pub(crate) pause: Option<i64>,
}

/// `Basic` credentials as a header.
pub(crate) fn basic(username: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{username}:{password}")))
}

impl SourceClient {
    pub(crate) fn new(forge: &Forge, authorization: Option<String>) -> Self {
        let mut headers = vec![("Accept".to_owned(), "application/json".to_owned())];
        headers.extend(authorization.map(|text| ("Authorization".to_owned(), text)));
        Self {
            client: Arc::new(forge.courier.rules.web().client()),
            headers: Arc::new(headers),
            now: forge.db.clock().now(),
        }
    }

    /// Gets a JSON document.
    pub(crate) async fn get(&self, url: String) -> Result<SourcePage, SourceError> {
        let (head, body) = self.fetch("GET", url, Vec::new(), Vec::new(), PAGE).await?;
        self.ensure_answered(&head)?;
        let body = serde_json::from_slice(&body)
            .map_err(|_cut| SourceError::malformed("the answer of the source"))?;
        let link = head.header("link");
        Ok(SourcePage {
            body,
            has_next: link.map(|text| text.contains("rel=\"next\"")),
            pause: self.exhausted(&head),
        })
    }

    /// Posts a JSON document.
    pub(crate) async fn post(
        &self,
        url: String,
        body: &Value,
        kind: &str,
    ) -> Result<Value, SourceError> {
        self.post_by(Client::exchange, url, body, kind).await
    }

    /// As [`post`](Self::post), but the document goes on where redirects lead; credentials do not go to another host.
    pub(crate) async fn post_through_redirects(
        &self,
        url: String,
        body: &Value,
        kind: &str,
    ) -> Result<Value, SourceError> {
        self.post_by(Client::exchange_through_redirects, url, body, kind).await
    }

    async fn post_by(
        &self,
        send: Sender,
        url: String,
        body: &Value,
        kind: &str,
    ) -> Result<Value, SourceError> {
        let headers = [("Content-Type", kind), ("Accept", kind)];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let body = body.to_string().into_bytes();
        let (head, answer) = self.fetch_by(send, "POST", url, headers, body, PAGE).await?;
        self.ensure_answered(&head)?;
        serde_json::from_slice(&answer)
            .map_err(|_cut| SourceError::malformed("the answer of the source"))
    }

    /// Sends a request and keeps the answer in memory. Headers given here stand for those of the same name.
    pub(crate) async fn fetch(
        &self,
        method: &'static str,
        url: String,
        own: Vec<(String, String)>,
        body: Vec<u8>,
        limits: FetchLimits,
    ) -> Result<(AnswerHead, Vec<u8>), SourceError> {
        self.fetch_by(Client::exchange, method, url, own, body, limits).await
    }

    async fn fetch_by(
        &self,
        send: Sender,
        method: &'static str,
        url: String,
        own: Vec<(String, String)>,
        body: Vec<u8>,
        limits: FetchLimits,
    ) -> Result<(AnswerHead, Vec<u8>), SourceError> {
        let client = Arc::clone(&self.client);
        let is_own = |name: &str| own.iter().any(|(one, _)| one == name);
        let mut headers: Vec<_> =
            self.headers.iter().filter(|(name, _)| !is_own(name)).cloned().collect();
        headers.extend(own);
        let done = spawn_blocking(move || {
            let mut kept = Vec::new();
            let request = Exchange { method, url: &url, headers: &headers, body: &body, limits };
            Ok((send(&client, &request, &mut kept)?, kept))
        });
        done.await.map_err(Error::internal)?
    }

    pub(crate) fn headers(&self) -> Arc<Vec<(String, String)>> {
        Arc::clone(&self.headers)
    }

    pub(crate) fn agent(&self) -> Arc<Client> {
        Arc::clone(&self.client)
    }

    /// # Errors
    /// For every status that is no success.
    pub(crate) fn ensure_answered(&self, head: &AnswerHead) -> Result<(), SourceError> {
        match head.status {
            200..300 => Ok(()),
            429 => Err(SourceError::RateLimited { seconds: self.wait(head) }),
            403 if self.exhausted(head).is_some() || head.header("retry-after").is_some() => {
                Err(SourceError::RateLimited { seconds: self.wait(head) })
            }
            status => Err(SourceError::of_status(status)),
        }
    }

    fn wait(&self, head: &AnswerHead) -> i64 {
        let after = head.header("retry-after").and_then(|text| text.trim().parse().ok());
        let seconds: i64 = after.or(self.exhausted(head)).unwrap_or(USUAL_WAIT);
        seconds.clamp(1, LONGEST_WAIT)
    }

    /// Seconds until there are requests left again, where none is.
    fn exhausted(&self, head: &AnswerHead) -> Option<i64> {
        let number = |name| head.header(name).and_then(|text| text.trim().parse::<i64>().ok());
        if number("x-ratelimit-remaining") != Some(0) {
            return None;
        }
        let reset = number("x-ratelimit-reset")?;
        Some(reset.saturating_sub(self.now.unix()).clamp(1, LONGEST_WAIT))
    }
}
