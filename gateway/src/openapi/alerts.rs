//! The addresses at which monitors send alerts. They lie below projects and outside of the API, so no table has them.

use serde_json::{Map, Value, json};

use super::summary;

struct Address {
    /// From the server's root.
    path: &'static str,
    summary: &'static str,
    names: &'static [(&'static str, &'static str)],
    /// Whether nothing but calls of Prometheus is taken.
    of_prometheus: bool,
}

const PROJECT: (&str, &str) = ("project_path", "Full path of the project.");

const ADDRESSES: [Address; 3] = [
    Address {
        path: "/{project_path}/alerts/notify.json",
        summary: "Send an alert to the first integration of a project",
        names: &[PROJECT],
        of_prometheus: false,
    },
    Address {
        path: "/{project_path}/alerts/notify/{name}/{endpoint_id}.json",
        summary: "Send an alert to an integration of a project",
        names: &[
            PROJECT,
            ("name", "What the integration is called, for people."),
            ("endpoint_id", "Which integration it is: 16 hexadecimal digits."),
        ],
        of_prometheus: false,
    },
    Address {
        path: "/{project_path}/prometheus/alerts/notify.json",
        summary: "Send alerts of Prometheus to a project",
        names: &[PROJECT],
        of_prometheus: true,
    },
];

const KEY: &str = "Show the key of the integration as `Authorization: Bearer KEY`, or as the password of a user \
                   without a name. The end `.json` may be left out.";

/// What can be asked at each address.
pub(super) fn operations() -> impl Iterator<Item = (String, Map<String, Value>)> {
    ADDRESSES.iter().map(|address| {
        let described = Map::from_iter([("post".to_owned(), operation(address))]);
        (address.path.to_owned(), described)
    })
}

fn operation(address: &Address) -> Value {
    let parameter = |(name, text): &(&str, &str)| {
        json!({
            "name": name, "in": "path", "required": true, "description": text,
            "schema": { "type": "string" },
        })
    };
    let parameters: Vec<Value> = address.names.iter().map(parameter).collect();
    let schema = if address.of_prometheus { call_of_prometheus() } else { alert() };
    json!({
        "operationId": summary::operation_id("POST", address.path),
        "summary": address.summary,
        "description": KEY,
        "tags": ["Alert intake"],
        "parameters": parameters,
        "requestBody": { "content": { "application/json": { "schema": schema } } },
        "responses": responses(address.of_prometheus),
        "security": [{ "alertKey": [] }, { "alertPassword": [] }],
    })
}

fn responses(of_prometheus: bool) -> Value {
    let touched = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "iid": { "type": "integer" }, "title": { "type": "string" } },
            "required": ["iid", "title"],
        },
    });
    let mut responses = json!({
        "201": { "description": "a call of Prometheus was taken" },
        "400": { "description": "the payload is too large, or nothing could be stored" },
        "401": { "description": "the key is wrong" },
        "404": { "description": "there is no such project" },
    });
    match of_prometheus {
        true => responses["422"] = json!({ "description": "the payload is no call of Prometheus" }),
        false => {
            responses["200"] = json!({
                "description": "the alerts that this is about",
                "content": { "application/json": { "schema": touched } },
            });
            responses["403"] = json!({ "description": "there is no active integration" });
        }
    }
    responses
}

fn alert() -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "oneOf": [text(), { "type": "array", "items": text() }] });
    json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "default": "New: Alert" },
            "description": text(),
            "start_time": { "type": "string", "format": "date-time" },
            "end_time": { "type": "string", "format": "date-time", "description": "End time; resolves the alert." },
            "service": text(),
            "monitoring_tool": text(),
            "hosts": texts(),
            "severity": {
                "type": "string", "default": "critical",
                "enum": ["critical", "high", "medium", "low", "info", "unknown"],
            },
            "fingerprint": texts(),
            "gitlab_environment_name": text(),
        },
        "additionalProperties": true,
    })
}

fn call_of_prometheus() -> Value {
    json!({
        "type": "object",
        "required": [
            "alerts", "version", "groupKey", "status", "receiver", "groupLabels", "commonLabels",
            "commonAnnotations", "externalURL",
        ],
        "properties": {
            "version": { "type": "string", "enum": ["4"] },
            "alerts": { "type": "array", "items": { "type": "object", "additionalProperties": true } },
        },
        "additionalProperties": true,
    })
}
