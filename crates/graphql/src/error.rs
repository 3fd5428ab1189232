//! Errors of a query.

use serde_json::{Map, Value as Json, json};

use crate::document::Position;

/// An error of a query, in the form of a response's `errors`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueryError {
    pub(crate) message: String,
    pub(crate) locations: Vec<Position>,
    pub(crate) path: Option<Vec<Json>>,
    pub(crate) extensions: Option<Json>,
}

impl QueryError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), locations: Vec::new(), path: None, extensions: None }
    }

    pub(crate) fn at(message: impl Into<String>, at: Position) -> Self {
        Self { locations: vec![at], ..Self::new(message) }
    }

    /// Errors stand in the order of the document, and of the elements of lists.
    pub(crate) fn place(&self) -> impl Ord {
        let path = self.path.iter().flatten().map(|step| (step.as_u64(), step.as_str()));
        (&self.locations, path.collect::<Vec<_>>())
    }

    pub(crate) fn to_json(&self) -> Json {
        let mut error = Map::new();
        error.insert("message".to_owned(), self.message.as_str().into());
        if !self.locations.is_empty() {
            let places = self.locations.iter();
            let places = places.map(|at| json!({ "line": at.line, "column": at.column }));
            error.insert("locations".to_owned(), places.collect());
        }
        if let Some(path) = &self.path {
            error.insert("path".to_owned(), path.clone().into());
        }
        if let Some(extensions) = &self.extensions {
            error.insert("extensions".to_owned(), extensions.clone());
        }
        Json::Object(error)
    }
}
