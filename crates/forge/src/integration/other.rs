//! Products with an interface of their own.

use admin::integration::Values;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};

use super::{Message, below, chat, text};

pub(super) fn message(slug: &str, values: &Values, payload: &Value) -> Option<Message> {
    match slug {
        "campfire" => {
            let subdomain = text(values, "subdomain").unwrap_or("www");
            let (token, room) = (text(values, "token")?, text(values, "room").unwrap_or("1"));
            let url = format!("https://{subdomain}.campfirenow.com/room/{room}/speak.json");
            let line = chat::line(payload)?;
            let message =
                Message::json(url, &json!({ "message": { "type": "TextMessage", "body": line } }));
            Some(message.header("Authorization", basic(token, "X")))
        }
        "datadog" => Some(datadog(values, payload)?),
        "pushover" => {
            let line = chat::line(payload)?;
            let body = json!({
                "token": text(values, "api_key")?,
                "user": text(values, "user_key")?,
                "device": text(values, "device"),
                "priority": text(values, "priority"),
                "sound": text(values, "sound"),
                "title": payload["project"]["path_with_namespace"],
                "message": line,
                "url": payload["project"]["web_url"],
            });
            Some(Message::json("https://api.pushover.net/1/messages.json".to_owned(), &body))
        }
        "telegram" => {
            let host = text(values, "hostname").unwrap_or("https://api.telegram.org");
            let url = below(host, &format!("bot{}/sendMessage", text(values, "token")?));
            let body = json!({
                "chat_id": text(values, "room")?,
                "message_thread_id": values.get("thread").filter(|thread| !thread.is_null()),
                "text": chat::line(payload)?,
                "parse_mode": "markdown",
            });
            Some(Message::json(url, &body))
        }
        "packagist" => {
            let server = text(values, "server").unwrap_or("https://packagist.org");
            let (name, token) = (text(values, "username")?, text(values, "token")?);
            let url =
                below(server, &format!("api/update-package?username={name}&apiToken={token}"));
            Some(Message::json(url, payload))
        }
        _ => None,
    }
}

fn datadog(values: &Values, payload: &Value) -> Option<Message> {
    let site = text(values, "datadog_site").unwrap_or("datadoghq.com");
    let base = match text(values, "api_url") {
        Some(url) => url.to_owned(),
        None => format!("https://webhook-intake.{site}/api/v2/webhook"),
    };
    let mut query = format!("dd-api-key={}", text(values, "api_key")?);
    for (name, value) in [("service", "datadog_service"), ("env", "datadog_env")] {
        if let Some(value) = text(values, value) {
            query.push_str(&format!("&{name}={}", encoded(value)));
        }
    }
    if let Some(tags) = text(values, "datadog_tags") {
        let tags: Vec<String> = tags.lines().map(|tag| encoded(tag.trim())).collect();
        query.push_str(&format!("&tags={}", tags.join(",")));
    }
    let sign = if base.contains('?') { '&' } else { '?' };
    Some(Message::json(format!("{base}{sign}{query}"), payload))
}

fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{name}:{password}")))
}

fn encoded(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}
