//! Responses of operations.

use serde_json::{Map, Value, json};

/// The answers of an operation that are no failures, and the request headers that they depend on.
pub struct AnswerDoc {
    answers: Vec<DocumentedAnswer>,
    headers: Vec<(&'static str, &'static str)>,
}

struct DocumentedAnswer {
    status: u16,
    /// What it says of itself.
    text: &'static str,
    /// One schema for each type of content; none where there is no body.
    bodies: Vec<(&'static str, Value)>,
}

const SUCCESS: &str = "success";

impl AnswerDoc {
    fn one(status: u16, bodies: Vec<(&'static str, Value)>) -> Self {
        Self {
            answers: vec![DocumentedAnswer { status, text: SUCCESS, bodies }],
            headers: Vec::new(),
        }
    }

    pub fn json(status: u16, schema: Value) -> Self {
        Self::one(status, vec![("application/json", schema)])
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
        Self::one(status, vec![("application/octet-stream", binary())])
    }

    pub fn text(status: u16) -> Self {
        Self::one(status, vec![("text/plain", json!({ "type": "string" }))])
    }

    pub fn empty(status: u16) -> Self {
        Self::one(status, Vec::new())
    }

    /// The first answer comes as text of another type, too.
    #[must_use]
    pub fn also_as(mut self, kind: &'static str) -> Self {
        if let Some(first) = self.answers.first_mut() {
            first.bodies.push((kind, json!({ "type": "string" })));
        }
        self
    }

    /// A part of the content can be had.
    #[must_use]
    pub fn with_parts(mut self, kind: &'static str) -> Self {
        let of = |status, text, bodies| DocumentedAnswer { status, text, bodies };
        self.answers.push(of(206, "the part given by `Range`", vec![(kind, binary())]));
        self.answers.push(of(416, "the range starts beyond the end", Vec::new()));
        self.heeding("Range", "Byte range: `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT`.")
    }

    /// The answer depends on this header of the request.
    #[must_use]
    pub fn heeding(mut self, header: &'static str, text: &'static str) -> Self {
        self.headers.push((header, text));
        self
    }

    /// Either these answers or those; two with one status are alternatives.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        for answer in other.answers {
            match self.answers.iter_mut().find(|known| known.status == answer.status) {
                Some(known) => {
                    known.bodies = either(std::mem::take(&mut known.bodies), answer.bodies)
                }
                None => self.answers.push(answer),
            }
        }
        self.headers.extend(other.headers);
        self
    }

    /// The request headers as parameters.
    pub(super) fn parameters(&self) -> Vec<Value> {
        let parameter = |(name, text): &(&str, &str)| json!({ "name": name, "in": "header", "schema": { "type": "string" }, "description": text });
        // A document has no say over this one: `content` of the answers stands for it.
        let named = self.headers.iter().filter(|(name, _)| *name != "Accept");
        named.map(parameter).collect()
    }

    /// What is said of the header `Accept`.
    pub(super) fn about_accept(&self) -> Option<&'static str> {
        self.headers.iter().find(|(name, _)| *name == "Accept").map(|(_, text)| *text)
    }

    pub(super) fn into_json(self) -> Map<String, Value> {
        let answers = self.answers.into_iter().map(|DocumentedAnswer { status, text, bodies }| {
            let mut answer = json!({ "description": text });
            for (kind, schema) in bodies {
                answer["content"][kind] = json!({ "schema": schema });
            }
            (status.to_string(), answer)
        });
        let mut answers: Map<String, Value> = answers.collect();
        answers.insert("default".to_owned(), json!({ "$ref": "#/components/responses/Failure" }));
        answers
    }
}

fn binary() -> Value {
    json!({ "type": "string", "format": "binary" })
}

type Bodies = Vec<(&'static str, Value)>;

/// What is sent as JSON is described; where the other answer is a stream, it is the same text.
fn either(mut left: Bodies, right: Bodies) -> Bodies {
    match (left.as_mut_slice(), right.as_slice()) {
        ([(kind, left)], [(other, right)]) if kind == other => {
            *left = alternatives(left.take(), right);
        }
        ([], _) => return right,
        _ => {}
    }
    left
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
                "description": "What is wrong with the parameters or the token, or an OAuth error code.",
                "anyOf": [{ "type": "string" }, texts],
            },
            "error_description": { "type": "string" },
        },
    });
    json!({
        "description": "An error: either `error` or `message` is set.",
        "content": { "application/json": { "schema": schema } },
    })
}
