//! The messages of `graphql-transport-ws`.

use graphql::Request;
use serde_json::{Map, Value, json};

/// The longest message to the server itself whose payload comes back.
const LONGEST_ECHO: usize = 1 << 10;
/// The longest id that a client may give a subscription.
const LONGEST_ID: usize = 256;

/// A message from a client.
#[derive(Debug)]
pub(super) enum ClientMessage {
    Init(Map<String, Value>),
    Ping(Option<Value>),
    Pong,
    Subscribe { id: String, request: Request },
    Complete { id: String },
}

impl ClientMessage {
    /// Reads a message.
    ///
    /// # Errors
    /// With what is wrong with a text that is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let message: Value =
            serde_json::from_str(text).map_err(|cause| format!("Invalid JSON: {cause}"))?;
        let payload = message.get("payload");
        match message.get("type").and_then(Value::as_str) {
            Some("connection_init") => match payload {
                None | Some(Value::Null) => Ok(Self::Init(Map::new())),
                Some(Value::Object(payload)) => Ok(Self::Init(payload.clone())),
                Some(_) => Err("The payload of connection_init must be an object".to_owned()),
            },
            // Numbers can come back four times as long as they were.
            Some("ping") => Ok(Self::Ping(payload.filter(|_| text.len() <= LONGEST_ECHO).cloned())),
            Some("pong") => Ok(Self::Pong),
            Some("subscribe") => {
                let request = request(payload.unwrap_or(&Value::Null))?;
                Ok(Self::Subscribe { id: id(&message)?, request })
            }
            Some("complete") => Ok(Self::Complete { id: id(&message)? }),
            _ => Err("The message has no known type".to_owned()),
        }
    }
}

fn id(message: &Value) -> Result<String, String> {
    match message.get("id").and_then(Value::as_str) {
        Some(id) if !id.is_empty() && id.len() <= LONGEST_ID => Ok(id.to_owned()),
        _ => Err("The message needs an id".to_owned()),
    }
}

fn request(payload: &Value) -> Result<Request, String> {
    let query = payload.get("query").and_then(Value::as_str);
    let query = query.ok_or("The payload of subscribe needs a query")?;
    let operation_name = match payload.get("operationName") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name.clone()),
        Some(_) => return Err("The name of the operation must be a text".to_owned()),
    };
    let variables = match payload.get("variables") {
        None | Some(Value::Null) => Value::Null,
        Some(Value::Object(variables)) => Value::Object(variables.clone()),
        Some(_) => return Err("The variables must be an object".to_owned()),
    };
    Ok(Request { query: query.to_owned(), operation_name, variables, ..Request::default() })
}

pub(super) fn ack() -> String {
    json!({ "type": "connection_ack" }).to_string()
}

pub(super) fn pong(payload: Option<Value>) -> String {
    match payload {
        Some(payload) => json!({ "type": "pong", "payload": payload }).to_string(),
        None => json!({ "type": "pong" }).to_string(),
    }
}

pub(super) fn next(id: &str, answer: &Value) -> String {
    json!({ "id": id, "type": "next", "payload": answer }).to_string()
}

pub(super) fn complete(id: &str) -> String {
    json!({ "id": id, "type": "complete" }).to_string()
}

/// That a request is not executed, with the reasons of an answer's `errors`.
pub(super) fn error(id: &str, errors: &Value) -> String {
    json!({ "id": id, "type": "error", "payload": errors }).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ClientMessage, next};

    #[test]
    fn messages_are_read_with_what_belongs_to_them() {
        let text = json!({
            "id": "1",
            "type": "subscribe",
            "payload": { "query": "{ a }", "variables": { "b": 1 }, "operationName": null },
        });
        let read = ClientMessage::parse(&text.to_string());
        let Ok(ClientMessage::Subscribe { id, request }) = read else { panic!("{read:?}") };
        assert_eq!((id.as_str(), request.query.as_str()), ("1", "{ a }"));
        assert_eq!(request.variables, json!({ "b": 1 }));
        let init = ClientMessage::parse(r#"{"type": "connection_init"}"#);
        assert!(matches!(init, Ok(ClientMessage::Init(payload)) if payload.is_empty()));
        let end = ClientMessage::parse(r#"{"type": "complete", "id": "x"}"#);
        assert!(matches!(end, Ok(ClientMessage::Complete { id }) if id == "x"));
    }

    #[test]
    fn long_payloads_of_pings_do_not_come_back() {
        let ping = |payload: &str| json!({ "type": "ping", "payload": payload }).to_string();
        let read = ClientMessage::parse(&ping("x"));
        assert!(matches!(read, Ok(ClientMessage::Ping(Some(payload))) if payload == "x"));
        let long = ClientMessage::parse(&ping(&"x".repeat(2000)));
        assert!(matches!(long, Ok(ClientMessage::Ping(None))), "{long:?}");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for text in [
            "",
            "[]",
            "5",
            r#"{"type": "next"}"#,
            r#"{"type": "connection_init", "payload": 5}"#,
            r#"{"type": "subscribe", "payload": {"query": "{ a }"}}"#,
            r#"{"type": "subscribe", "id": "", "payload": {"query": "{ a }"}}"#,
            r#"{"type": "subscribe", "id": "1"}"#,
            r#"{"type": "subscribe", "id": "1", "payload": {"query": "{ a }", "variables": []}}"#,
            r#"{"type": "complete", "id": 5}"#,
        ] {
            assert!(ClientMessage::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn answers_carry_the_id_of_their_request() {
        let text = next("7", &json!({ "data": null }));
        let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, json!({ "id": "7", "type": "next", "payload": { "data": null } }));
    }
}
