//! One delivery as a request: where it goes, with which headers and which body.

use std::time::Duration;

use admin::{
    delivery::{HookEvent, Receiver},
    hook::Hook,
    integration::Integration,
    owner::Owner,
};
use kernel::Result;
use outbound::Post;
use secrets::Vault;
use serde_json::Value;

use crate::{integration, version::API_VERSION};

/// How long a receiver may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a body.
const LARGEST: usize = 25 << 20;
const REDACTED: &str = "[REDACTED]";

/// A request to send.
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The names of the headers that people set themselves. Their values are nobody's business.
    own_headers: Vec<String>,
    pub(crate) body: String,
    pub(crate) verify: bool,
    /// Whether system hooks' rules count for it.
    pub(crate) is_system: bool,
    /// The address without what nobody is to see.
    pub(crate) shown_url: String,
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request").field("url", &self.shown_url).finish_non_exhaustive()
    }
}

impl Request {
    /// To a webhook.
    pub(super) fn to_hook(
        base: &str,
        vault: &Vault,
        hook: &Hook,
        event: &HookEvent,
        key: &str,
    ) -> Result<Self> {
        let secrets = hook.secrets(vault)?;
        let mut headers = common_headers(base, event, Receiver::Hook(hook.id), key);
        headers.push(("X-Gitlab-Webhook-UUID".to_owned(), hook.uuid.clone()));
        if let Some(token) = &secrets.token {
            headers.push(("X-Gitlab-Token".to_owned(), token.replace(['\r', '\n'], "")));
        }
        let own_headers = secrets.custom_headers.keys().cloned().collect();
        for (name, value) in secrets.custom_headers.clone() {
            replace_header(&mut headers, name, value);
        }
        let body = match &hook.custom_webhook_template {
            Some(template) => rendered(template, &event.payload),
            None => event.payload.clone(),
        };
        Ok(Self {
            method: "POST",
            url: secrets.address(),
            headers,
            own_headers,
            body,
            verify: hook.enable_ssl_verification,
            is_system: hook.home() == Owner::Instance,
            shown_url: secrets.url.clone(),
        })
    }

    /// To an integration; nothing where such a kind is not told of such events.
    pub(super) fn to_integration(
        base: &str,
        vault: &Vault,
        row: &Integration,
        event: &HookEvent,
        key: &str,
    ) -> Result<Option<Self>> {
        let values = row.values(vault)?;
        let payload: Value =
            serde_json::from_str(&event.payload).map_err(kernel::Error::internal)?;
        let Some(message) = integration::message(row, &values, event.trigger_name, &payload) else {
            return Ok(None);
        };
        let mut headers = common_headers(base, event, Receiver::Integration(row.id), key);
        let url = message.url_for(key);
        for (name, value) in message.headers {
            replace_header(&mut headers, name, value);
        }
        Ok(Some(Self {
            method: message.method,
            shown_url: format!("integration {}", row.slug),
            url,
            headers,
            own_headers: Vec::new(),
            body: message.body,
            verify: message.verify,
            is_system: false,
        }))
    }

    pub(super) fn is_too_large(&self) -> bool {
        self.body.len() > LARGEST
    }

    pub(super) fn post(&self) -> Post<'_> {
        Post {
            method: self.method,
            url: &self.url,
            headers: &self.headers,
            body: self.body.as_bytes(),
            verify: self.verify,
            time: PATIENCE,
        }
    }

    /// Host and port, by which receivers share their places.
    pub(super) fn host(&self) -> String {
        host_of(&self.url)
    }

    /// The headers as the log keeps them.
    pub(super) fn shown_headers(&self) -> String {
        let is_secret = |name: &str| {
            ["X-Gitlab-Token", "Authorization"].iter().any(|one| one.eq_ignore_ascii_case(name))
                || self.own_headers.iter().any(|one| one == name)
        };
        let shown = self.headers.iter().map(|(name, value)| {
            let value = if is_secret(name) { REDACTED } else { value.as_str() };
            (name.clone(), Value::from(value))
        });
        Value::Object(shown.collect()).to_string()
    }
}

/// Host and port of an address.
pub(super) fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
    place.rsplit('@').next().unwrap_or_default().to_ascii_lowercase()
}

/// Adds a header in place of one of the same name.
fn replace_header(headers: &mut Vec<(String, String)>, name: String, value: String) {
    headers.retain(|(one, _)| !one.eq_ignore_ascii_case(&name));
    headers.push((name, value));
}

fn common_headers(
    base: &str,
    event: &HookEvent,
    receiver: Receiver,
    key: &str,
) -> Vec<(String, String)> {
    let version = env!("CARGO_PKG_VERSION");
    [
        ("Content-Type", "application/json"),
        ("User-Agent", &format!("Forgeway/{version} (API {API_VERSION})")),
        ("Idempotency-Key", key),
        ("X-Gitlab-Event", &event.header),
        ("X-Gitlab-Event-UUID", &event.uuid_for(receiver)),
        ("X-Gitlab-Instance", base),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec()
}

/// A template with the values of the payload in place of `{{path.to.value}}`.
fn rendered(template: &str, payload: &str) -> String {
    let payload: Value = serde_json::from_str(payload).unwrap_or_default();
    let mut parts = template.split("{{");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((path, rest)) = part.split_once("}}") else {
            text.push_str("{{");
            text.push_str(part);
            continue;
        };
        let mut value = &payload;
        for name in path.trim().split('.') {
            value = match name.parse::<usize>() {
                Ok(at) => value.get(at).unwrap_or(&Value::Null),
                Err(_) => value.get(name).unwrap_or(&Value::Null),
            };
        }
        match value {
            // Inside of the template's own quotes.
            Value::String(inner) => {
                let quoted = Value::from(inner.as_str()).to_string();
                text.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
            }
            value => text.push_str(&value.to_string()),
        }
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::rendered;

    #[test]
    fn a_template_names_values_of_the_payload() {
        let payload = r#"{"object_kind":"push","user":{"name":"A \"B\""},"commits":[{"id":"1"}]}"#;
        let template = r#"{"k":"{{object_kind}}","u":"{{user.name}}","c":{{commits.0}},"n":{{x}}}"#;
        let text = rendered(template, payload);
        assert_eq!(text, r#"{"k":"push","u":"A \"B\"","c":{"id":"1"},"n":null}"#);
    }
}
