//! The OpenAPI document, derived from the routes, parameters and entities that serve requests.

mod alerts;
mod answers;
mod body;
mod schemas;
mod shapes;
mod summary;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub use self::{answers::AnswerDoc, schemas::Schemas};
use crate::{
    extract::params::ParamDoc,
    route::{Description, RouteRow},
};

/// The documentation of an operation, from its handler's types.
pub struct Operation {
    pub params: Vec<ParamDoc>,
    pub paged: bool,
    pub keyset: bool,
    pub answer: AnswerDoc,
}

/// The document about these routes.
pub fn document(routes: &[(&'static RouteRow, Description)]) -> Value {
    let mut schemas = Schemas::default();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (row, describe) in routes {
        let operation = describe(&mut schemas);
        let described = operation_json(row, operation, &mut schemas);
        paths
            .entry(row.full_pattern().replace("{*", "{"))
            .or_default()
            .insert(row.method.to_ascii_lowercase(), described);
    }
    paths.extend(alerts::operations());
    let mut paths = json!(paths);
    shapes::rewrite(&mut paths, &mut schemas);
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
            "schemas": schemas.by_name,
            "responses": { "Failure": answers::failure() },
            "securitySchemes": {
                "token": { "type": "apiKey", "in": "header", "name": "PRIVATE-TOKEN" },
                "alertKey": { "type": "http", "scheme": "bearer" },
                "alertPassword": { "type": "http", "scheme": "basic" },
            },
        },
    })
}

fn operation_json(row: &RouteRow, operation: Operation, schemas: &mut Schemas) -> Value {
    let Operation { params, paged, keyset, answer } = operation;
    let id = summary::operation_id(row.method, &row.full_pattern());
    let (mut parameters, others) = in_path(row.pattern, params);
    let (headers, about) = (answer.parameters(), answer.about_accept());
    let mut described = json!({
        "operationId": id,
        "summary": summary::summary(row.method, row.pattern).unwrap_or_default(),
        "tags": [row.resource],
        "responses": answer.into_json(),
        "x-ability": row.ability,
        "x-anonymous": row.open,
    });
    if matches!(row.method, "GET" | "HEAD" | "DELETE") {
        parameters.extend(others.iter().map(in_query));
        // A list that reads one of these itself has declared it.
        let missing = paging(paged, keyset)
            .into_iter()
            .filter(|(name, _)| others.iter().all(|param| param.name != *name));
        parameters.extend(
            missing.map(|(name, schema)| json!({ "name": name, "in": "query", "schema": schema })),
        );
    } else if !others.is_empty() {
        described["requestBody"] = body::request(&id, &others, schemas);
    }
    parameters.extend(headers);
    if let Some(about) = about {
        described["description"] = json!(about);
    }
    described["parameters"] = Value::Array(parameters);
    described
}

/// The parameters that a pattern names, and the declared ones that it does not.
fn in_path(pattern: &str, declared: Vec<ParamDoc>) -> (Vec<Value>, Vec<ParamDoc>) {
    let names = pattern.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    // A star stands for all that is left of the path.
    let names: Vec<&str> = names.map(|name| name.trim_start_matches('*')).collect();
    let (named, others): (Vec<ParamDoc>, Vec<ParamDoc>) =
        declared.into_iter().partition(|param| names.contains(&param.name));
    let parameters = names.iter().map(|name| {
        let param = named.iter().find(|param| param.name == *name);
        let schema =
            param.map_or_else(|| json!({ "type": "string" }), |param| param.schema.clone());
        let mut described =
            json!({ "name": name, "in": "path", "required": true, "schema": schema });
        if let Some(param) = param.filter(|param| !param.text.is_empty()) {
            described["description"] = json!(param.text);
        }
        described
    });
    (parameters.collect(), others)
}

fn paging(paged: bool, keyset: bool) -> Vec<(&'static str, Value)> {
    let mut params = Vec::new();
    if paged {
        params.push(("page", json!({ "type": "integer", "minimum": 1, "default": 1 })));
        params.push((
            "per_page",
            json!({ "type": "integer", "minimum": 1, "maximum": 100, "default": 20 }),
        ));
    }
    if keyset {
        params.push(("pagination", json!({ "type": "string", "enum": ["keyset", "legacy"] })));
    }
    params
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
