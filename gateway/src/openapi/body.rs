//! The bodies that operations take.

use serde_json::{Map, Value, json};

use super::schemas::Schemas;
use crate::extract::params::{ParamDoc, object_schema};

/// The body of an operation in each form that can carry its parameters: a file needs multipart.
pub(super) fn request(operation: &str, params: &[ParamDoc], schemas: &mut Schemas) -> Value {
    let (files, plain): (Vec<ParamDoc>, Vec<ParamDoc>) =
        params.iter().cloned().partition(|param| param.schema["format"] == "binary");
    let name = capitalized(operation);
    let mut content = Map::new();
    let mut add = |kind: &str, schema: &Value| {
        content.insert(kind.to_owned(), json!({ "schema": schema }));
    };
    if !plain.is_empty() && files.iter().all(|file| !file.required) {
        let schema = schemas.add(&format!("{name}Body"), object_schema(&plain));
        add("application/json", &schema);
        add("application/x-www-form-urlencoded", &schema);
        if files.is_empty() {
            add("multipart/form-data", &schema);
        }
    }
    if !files.is_empty() {
        let schema = schemas.add(&format!("{name}Form"), object_schema(params));
        add("multipart/form-data", &schema);
    }
    json!({ "required": params.iter().any(|param| param.required), "content": content })
}

fn capitalized(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
