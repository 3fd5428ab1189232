//! What operations answer with.

use serde_json::{Map, Value, json};

/// The successful answers of an operation.
pub struct AnswerDoc(Vec<(u16, Option<(&'static str, Value)>)>);

impl AnswerDoc {
    pub fn json(status: u16, schema: Value) -> Self {
        Self(vec![(status, Some(("application/json", schema)))])
    }

    /// An answer that says in words what was done.
    pub fn message(status: u16) -> Self {
        let schema = json!({
            "type": "object",
            "properties": { "message": { "type": "string" } },
            "required": ["message"],
        });
        Self::json(status, schema)
    }

    pub fn bytes(status: u16) -> Self {
        let schema = json!({ "type": "string", "format": "binary" });
        Self(vec![(status, Some(("application/octet-stream", schema)))])
    }

    pub fn empty(status: u16) -> Self {
        Self(vec![(status, None)])
    }

    /// Either these answers or those; two with one status are alternatives.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        for (status, body) in other.0 {
            match self.0.iter_mut().find(|(known, _)| *known == status) {
                Some((_, known)) => *known = either(known.take(), body),
                None => self.0.push((status, body)),
            }
        }
        self
    }

    pub(super) fn into_json(self) -> Map<String, Value> {
        let answers = self.0.into_iter().map(|(status, body)| {
            let mut answer = json!({ "description": "success" });
            if let Some((kind, schema)) = body {
                answer["content"] = json!({ kind: { "schema": schema } });
            }
            (status.to_string(), answer)
        });
        let mut answers: Map<String, Value> = answers.collect();
        answers.insert("default".to_owned(), json!({ "$ref": "#/components/responses/Failure" }));
        answers
    }
}

type Body = Option<(&'static str, Value)>;

/// What is sent as JSON is described; where the other answer is a stream, it is the same text.
fn either(left: Body, right: Body) -> Body {
    match (left, right) {
        (Some((kind, left)), Some((other, right))) if kind == other => {
            Some((kind, alternatives(left, &right)))
        }
        (Some(body), _) | (None, Some(body)) => Some(body),
        (None, None) => None,
    }
}

fn alternatives(left: Value, right: &Value) -> Value {
    if left == *right {
        return left;
    }
    match left["type"] == "array" && right["type"] == "array" {
        true => json!({
            "type": "array",
            "items": alternatives(left["items"].clone(), &right["items"]),
        }),
        false => json!({ "oneOf": [left, right] }),
    }
}

/// What every operation answers with where it fails.
pub(super) fn failure() -> Value {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let schema = json!({
        "type": "object",
        "properties": {
            "message": {
                "description": "What is wrong: a text, several, or texts by field.",
                "anyOf": [{ "type": "string" }, texts, { "type": "object", "additionalProperties": true }],
            },
            "error": {
                "description": "What is wrong with the parameters or the token, or a code of OAuth.",
                "anyOf": [{ "type": "string" }, texts],
            },
            "error_description": { "type": "string" },
        },
    });
    json!({
        "description": "A failure. Read `error`, and else `message`.",
        "content": { "application/json": { "schema": schema } },
    })
}
