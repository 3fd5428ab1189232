//! Products with an interface of their own.

use admin::integration::Values;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use serde_json::{Value, json};

use super::{Message, below, chat, encoded, text};

pub(super) fn message(slug: &str, values: &Values, payload: &Value) -> Option<Message> {
    match slug {
        "campfire" => {
            let subdomain = text(values, "subdomain").unwrap_or("www");
            let (token, room) = (text(values, "token")?, text(values, "room").unwrap_or("1"));
            let url =
                format!("https://{subdomain}.campfirenow.com/room/{}/speak.json", encoded(room));
            let line = chat::line(payload, chat::Markup::Markdown)?;
            let message =
                Message::json(url, &json!({ "message": { "type": "TextMessage", "body": line } }));
            Some(message.header("Authorization", basic(token, "X")))
        }
        "datadog" => Some(datadog(values, payload)?),
        "pushover" => {
            let line = chat::line(payload, chat::Markup::Markdown)?;
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
            let url = below(host, &format!("bot{}/sendMessage", encoded(text(values, "token")?)));
            let body = json!({
                "chat_id": text(values, "room")?,
                "message_thread_id": values.get("thread").filter(|thread| !thread.is_null()),
                "text": chat::line(payload, chat::Markup::Markdown)?,
                "parse_mode": "markdown",
            });
            Some(Message::json(url, &body))
        }
        "matrix" => Some(matrix(values, payload)?),
        "packagist" => {
            let server = text(values, "server").unwrap_or("https://packagist.org");
            let (name, token) = (text(values, "username")?, text(values, "token")?);
            let (name, token) = (encoded(name), encoded(token));
            let query = format!("api/update-package?username={name}&apiToken={token}");
            let url = below(server, &query);
            Some(Message::json(url, payload))
        }
        _ => None,
    }
}

fn matrix(values: &Values, payload: &Value) -> Option<Message> {
    let host = text(values, "hostname").unwrap_or("https://matrix-client.matrix.org");
    let room = encoded(text(values, "room")?);
    let path = format!("_matrix/client/v3/rooms/{room}/send/m.room.message");
    let html = chat::line(payload, chat::Markup::Html)?.replace('\n', "<br>");
    let body = json!({
        "msgtype": "m.notice",
        "body": chat::line(payload, chat::Markup::Markdown)?,
        "format": "org.matrix.custom.html",
        "formatted_body": html,
        "m.mentions": {},
    });
    let message = Message::put(below(host, &path), &body);
    Some(message.header("Authorization", format!("Bearer {}", text(values, "token")?)))
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
        let tags = tags.lines().map(str::trim).filter(|tag| !tag.is_empty());
        let tags: Vec<String> = tags.map(encoded).collect();
        query.push_str(&format!("&tags={}", tags.join(",")));
    }
    let sign = if base.contains('?') { '&' } else { '?' };
    Some(Message::json(format!("{base}{sign}{query}"), payload))
}

fn basic(name: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{name}:{password}")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::message;

    fn push() -> Value {
        json!({
            "object_kind": "push", "ref": "refs/heads/main", "user_name": "Ada", "before": "1a",
            "after": "2b", "project": { "path_with_namespace": "a/b", "web_url": "http://f/a/b" },
        })
    }

    #[test]
    fn what_is_given_is_encoded_where_it_stands_in_an_address() {
        for (slug, values, url) in [
            (
                "campfire",
                json!({ "token": "t", "subdomain": "crew", "room": "1/2" }),
                "https://crew.campfirenow.com/room/1%2F2/speak.json",
            ),
            (
                "telegram",
                json!({ "token": "1:a/b", "room": "@r" }),
                "https://api.telegram.org/bot1%3Aa%2Fb/sendMessage",
            ),
            (
                "packagist",
                json!({ "username": "a&b", "token": "t=1" }),
                "https://packagist.org/api/update-package?username=a%26b&apiToken=t%3D1",
            ),
        ] {
            let sent = message(slug, values.as_object().unwrap(), &push()).unwrap();
            assert_eq!((sent.method, sent.url.as_str()), ("POST", url));
        }
    }

    #[test]
    fn a_matrix_room_is_told_once_for_each_key() {
        let values = json!({ "token": "t", "room": "!r:x.org", "hostname": "https://m.x.org/" });
        let sent = message("matrix", values.as_object().unwrap(), &push()).unwrap();
        let url = "https://m.x.org/_matrix/client/v3/rooms/%21r%3Ax%2Eorg/send/m.room.message/k-1";
        assert_eq!((sent.method, sent.url_for("k-1").as_str()), ("PUT", url));
        assert_eq!(sent.headers, [("Authorization".to_owned(), "Bearer t".to_owned())]);
        let body: Value = serde_json::from_str(&sent.body).unwrap();
        let html = "Ada pushed to branch main of <a href=\"http://f/a/b\">a/b</a>";
        assert_eq!((&body["msgtype"], &body["formatted_body"]), (&json!("m.notice"), &json!(html)));
    }

    #[test]
    fn a_chat_room_is_spoken_to_with_its_token() {
        let values = json!({ "token": "t", "subdomain": "crew", "room": "7" });
        let sent = message("campfire", values.as_object().unwrap(), &push()).unwrap();
        assert_eq!(sent.headers, [("Authorization".to_owned(), "Basic dDpY".to_owned())]);
        let body: Value = serde_json::from_str(&sent.body).unwrap();
        assert_eq!(body["message"]["type"], "TextMessage");
        assert_eq!(body["message"]["body"], "Ada pushed to branch main of [a/b](http://f/a/b)");
    }
}
