//! The named schemas that operations refer to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use utoipa::{ToSchema, openapi};

const PREFIX: &str = "#/components/schemas/";

/// The schemas that operations refer to, collected while they are described.
#[derive(Default)]
pub struct Schemas {
    pub(super) by_name: BTreeMap<String, Value>,
    clashes: BTreeSet<String>,
}

impl Schemas {
    /// A reference to the schema of `T`, or the schema itself where it has no name of its own.
    pub fn of<T: ToSchema>(&mut self) -> Value {
        let mut inner: Vec<(String, openapi::RefOr<openapi::schema::Schema>)> = Vec::new();
        T::schemas(&mut inner);
        for (name, schema) in inner {
            self.add(&name, serde_json::to_value(schema).unwrap_or_default());
        }
        let schema = serde_json::to_value(T::schema()).unwrap_or_default();
        let name = T::name();
        if !is_record(&schema) || UNNAMED.contains(&name.as_ref()) {
            return schema;
        }
        self.add(&name, schema)
    }

    /// Keeps a schema under its name, and returns a reference to it.
    pub(super) fn add(&mut self, name: &str, schema: Value) -> Value {
        if self.by_name.get(name).is_some_and(|other| *other != schema) {
            self.clashes.insert(name.to_owned());
        }
        self.by_name.insert(name.to_owned(), schema);
        json!({ "$ref": format!("{PREFIX}{name}") })
    }

    /// Names that two different types have; only one of them is in the document.
    pub fn clashes(&self) -> Vec<&str> {
        self.clashes.iter().map(String::as_str).collect()
    }
}

/// Types of the standard library whose schema is that of what they hold.
const UNNAMED: &[&str] = &["BTreeMap", "HashMap", "Option"];

/// Whether a schema is that of a type with fields or variants, and no plain value or list.
fn is_record(schema: &Value) -> bool {
    schema["type"] == "object"
        || ["allOf", "anyOf", "oneOf"].iter().any(|key| schema.get(key).is_some())
}
