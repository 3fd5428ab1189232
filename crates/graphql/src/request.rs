//! Requests, their callers and their responses.

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde_json::{Value as Json, json};

use crate::input::Upload;

/// A query, with what belongs to it.
#[derive(Debug, Default)]
pub struct Request {
    pub query: String,
    pub operation_name: Option<String>,
    /// An object, or null.
    pub variables: Json,
    /// Files, by the paths of the variables that they stand for: `input.files.0`.
    pub uploads: HashMap<String, Arc<Upload>>,
}

/// The limits of a request.
#[derive(Clone, Debug)]
pub struct Limits {
    pub complexity: u32,
    pub depth: usize,
    pub mutations: Mutations,
    /// Whether deprecated members count as absent.
    pub without_deprecated: bool,
    /// How long the execution may take.
    pub time: Duration,
}

/// Whether a request may change anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mutations {
    Allowed,
    /// The method of the request promises that nothing changes.
    ForbiddenByMethod,
    /// The caller's token only reads.
    ForbiddenByScope,
    /// Nothing is changed at the moment; the text says why.
    Refused(String),
}

/// The outcome of a request as a whole, regardless of errors of single fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    Unprocessable,
    TooManyRequests,
    TimedOut,
    Failed,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Response {
    pub outcome: Outcome,
    pub body: Json,
}

impl Response {
    /// An answer that is nothing but a message.
    pub fn refusal(outcome: Outcome, message: &str) -> Self {
        Self { outcome, body: json!({ "errors": [{ "message": message }] }) }
    }
}
