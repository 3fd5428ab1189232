//! The document that the API writes about itself is one that client generators take.

use std::collections::BTreeSet;

use gateway::{openapi, rest};
use serde_json::{Value, json};

/// Each value of an object with this key, at any depth.
fn each_of<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| each_of(value, key, found)),
        Value::Object(map) => {
            found.extend(map.get(key));
            map.values().for_each(|value| each_of(value, key, found));
        }
        _ => {}
    }
}

#[test]
fn whatever_the_document_refers_to_is_in_it() {
    let document = openapi::document(&rest::described());

    let mut references = Vec::new();
    each_of(&document, "$ref", &mut references);

    assert!(references.len() > 1000);
    for reference in references.into_iter().filter_map(Value::as_str) {
        let pointer = reference.strip_prefix('#').expect("a place in this document");
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
}

#[test]
fn no_two_types_share_a_name_in_the_document() {
    let mut schemas = openapi::Schemas::default();

    for (_, describe) in rest::described() {
        let _described = describe(&mut schemas);
    }

    assert_eq!(schemas.clashes(), Vec::<&str>::new());
}

#[test]
fn an_operation_names_a_parameter_once() {
    let document = openapi::document(&rest::described());

    let mut lists = Vec::new();
    each_of(&document["paths"], "parameters", &mut lists);

    for list in lists.into_iter().filter_map(Value::as_array) {
        let mut names: Vec<_> = list
            .iter()
            .map(|param| (&param["in"], &param["name"]))
            .map(|pair| format!("{pair:?}"))
            .collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    }
}

#[test]
fn a_file_is_sent_as_multipart_alone() {
    let document = openapi::document(&rest::described());
    let body = |path: &str| document["paths"][path]["post"]["requestBody"]["content"].clone();

    let (upload, project) = (body("/api/v4/projects/{id}/uploads"), body("/api/v4/projects"));

    assert_eq!(upload.as_object().unwrap().keys().collect::<Vec<_>>(), ["multipart/form-data"]);
    let schemas = &document["components"]["schemas"];
    assert_eq!(
        project["application/json"]["schema"]["$ref"],
        "#/components/schemas/PostApiV4ProjectsBody"
    );
    assert!(schemas["PostApiV4ProjectsBody"]["properties"]["avatar"].is_null());
    assert!(schemas["PostApiV4ProjectsForm"]["properties"]["avatar"].is_object());
}

#[test]
fn an_answer_that_depends_on_the_caller_is_described_in_both_forms() {
    let document = openapi::document(&rest::described());
    let answer = |path: &str| {
        document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
            .clone()
    };
    let forms = json!([
        { "$ref": "#/components/schemas/AdminUser" },
        { "$ref": "#/components/schemas/SingleUser" },
    ]);

    assert_eq!(answer("/api/v4/users/{id}"), json!({ "anyOf": forms }));
    assert_eq!(
        answer("/api/v4/users")["items"]["anyOf"][1]["$ref"],
        "#/components/schemas/BriefUser"
    );
}

#[test]
fn every_operation_of_the_document_has_its_own_name_and_a_summary() {
    let document = openapi::document(&rest::described());

    let mut names = BTreeSet::new();
    let paths = document["paths"].as_object().unwrap().values();
    for operation in paths.filter_map(Value::as_object).flat_map(|path| path.values()) {
        let name = operation["operationId"].as_str().unwrap();
        assert!(names.insert(name), "{name} names two operations");
        assert_ne!(operation["summary"], "", "openapi/summary.rs knows no words for {name}");
    }
}
