//! The OpenAPI document, derived from the routes, parameters and entities that serve requests.

mod summary;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use utoipa::{ToSchema, openapi};

use crate::{
    extract::params::{ParamDoc, object_schema},
    route::RouteRow,
};

/// The schemas that operations refer to, collected while they are described.
#[derive(Default)]
pub struct Schemas(BTreeMap<String, Value>);

impl Schemas {
    /// A reference to the schema of `T`, or the schema itself where it has no name of its own.
    pub fn of<T: ToSchema>(&mut self) -> Value {
        let mut inner: Vec<(String, openapi::RefOr<openapi::schema::Schema>)> = Vec::new();
        T::schemas(&mut inner);
        for (name, schema) in inner {
            self.0.insert(name, serde_json::to_value(schema).unwrap_or_default());
        }
        let schema = serde_json::to_value(T::schema()).unwrap_or_default();
        let name = T::name().into_owned();
        if schema.get("type").and_then(Value::as_str) != Some("object") || name.contains('<') {
            return schema;
        }
        self.0.insert(name.clone(), schema);
        json!({ "$ref": format!("#/components/schemas/{name}") })
    }
}

/// What a handler's types say of it.
pub struct Operation {
    pub params: Vec<ParamDoc>,
    pub paged: bool,
    pub keyset: bool,
    pub answer: AnswerDoc,
}

/// The successful answers of an operation.
pub struct AnswerDoc(Vec<(u16, Option<(&'static str, Value)>)>);

impl AnswerDoc {
    pub fn json(status: u16, schema: Value) -> Self {
        Self(vec![(status, Some(("application/json", schema)))])
    }

    pub fn bytes(status: u16) -> Self {
        let schema = json!({ "type": "string", "format": "binary" });
        Self(vec![(status, Some(("application/octet-stream", schema)))])
    }

    pub fn empty(status: u16) -> Self {
        Self(vec![(status, None)])
    }

    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        for (status, body) in other.0 {
            if self.0.iter().all(|(known, _)| *known != status) {
                self.0.push((status, body));
            }
        }
        self
    }

    fn into_json(self) -> Map<String, Value> {
        let answers = self.0.into_iter().map(|(status, body)| {
            let mut answer = json!({ "description": "success" });
            if let Some((kind, schema)) = body {
                answer["content"] = json!({ kind: { "schema": schema } });
            }
            (status.to_string(), answer)
        });
        answers.collect()
    }
}

/// The document about these routes.
pub fn document(tables: &[&'static [RouteRow]]) -> Value {
    let mut schemas = Schemas::default();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for row in tables.iter().copied().flatten() {
        let operation = (row.describe)(&mut schemas);
        paths
            .entry(row.full_pattern())
            .or_default()
            .insert(row.method.to_ascii_lowercase(), operation_json(row, operation));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Forgeway",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "security": [{ "token": [] }, {}],
        "paths": paths,
        "components": {
            "schemas": schemas.0,
            "securitySchemes": {
                "token": { "type": "apiKey", "in": "header", "name": "PRIVATE-TOKEN" },
            },
        },
    })
}

fn operation_json(row: &RouteRow, operation: Operation) -> Value {
    let mut in_path: Vec<Value> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for name in row.pattern.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    {
        let declared = operation.params.iter().find(|param| param.name == name);
        let schema =
            declared.map_or_else(|| json!({ "type": "string" }), |param| param.schema.clone());
        in_path.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        names.push(name);
    }
    let others: Vec<ParamDoc> =
        operation.params.into_iter().filter(|param| !names.contains(&param.name)).collect();
    let mut answers = operation.answer.into_json();
    answers.insert(
        "default".to_owned(),
        json!({ "description": "a failure, as `message` or `error`" }),
    );
    let mut described = json!({
        "operationId": summary::operation_id(row.method, &row.full_pattern()),
        "summary": summary::summary(row.method, row.pattern).unwrap_or_default(),
        "tags": [row.resource],
        "responses": answers,
        "x-ability": row.ability,
        "x-anonymous": row.open,
    });
    let mut parameters = in_path;
    if matches!(row.method, "GET" | "HEAD" | "DELETE") {
        parameters.extend(others.iter().map(in_query));
        if operation.paged {
            parameters.push(json!({ "name": "page", "in": "query", "schema": { "type": "integer", "minimum": 1, "default": 1 } }));
            parameters.push(json!({ "name": "per_page", "in": "query", "schema": { "type": "integer", "minimum": 1, "maximum": 100, "default": 20 } }));
        }
        if operation.keyset {
            parameters.push(json!({ "name": "pagination", "in": "query", "schema": { "type": "string", "enum": ["keyset", "legacy"] } }));
        }
    } else if !others.is_empty() {
        let schema = object_schema(&others);
        described["requestBody"] = json!({
            "required": others.iter().any(|param| param.required),
            "content": {
                "application/json": { "schema": schema },
                "application/x-www-form-urlencoded": { "schema": schema },
                "multipart/form-data": { "schema": schema },
            },
        });
    }
    described["parameters"] = Value::Array(parameters);
    described
}

fn in_query(param: &ParamDoc) -> Value {
    let mut described = json!({ "name": param.name, "in": "query", "required": param.required, "schema": param.schema });
    if param.schema["type"] == "array" {
        described["name"] = json!(format!("{}[]", param.name));
    }
    if param.schema["type"] == "object" {
        described["style"] = json!("deepObject");
    }
    if !param.text.is_empty() {
        described["description"] = json!(param.text);
    }
    described
}
