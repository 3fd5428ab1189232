//! The schema itself: whether it fits its resolvers, and how it is told.

use serde_json::json;

use super::{Library, ask, built, data, limits, query, registry, respond};
use crate::{Limits, Registry};

#[test]
fn fields_without_resolvers_and_resolvers_without_fields_are_told() {
    let mut wrong = registry();
    wrong.query().plain("nowhere", |()| 1.into()).plain("echo", |()| 1.into());
    wrong.object::<()>("Ghost").plain("x", |()| 1.into());
    let mistakes = wrong.build().err().expect("mistakes");
    let expected = [
        "Query.echo is registered twice",
        "Ghost is registered, but no type of the schema",
        "Query.nowhere is registered, but not in the schema",
    ];
    assert_eq!(mistakes, expected);
    let empty = Registry::<Library>::new(&[super::SDL]).build().err().expect("mistakes");
    assert!(empty.contains(&"Book is registered by nobody".to_owned()), "{empty:?}");
}

#[test]
fn names_of_no_type_are_told() {
    let mut registry =
        Registry::<Library>::new(&["type Query { a: Nothing } extend type Who { b: Int }"]);
    registry.query().plain("a", |()| 1.into());
    let mistakes = registry.build().err().expect("mistakes");
    let expected = ["Who is extended, but not defined", "Query.a: there is no type Nothing"];
    assert_eq!(mistakes, expected);
}

#[test]
fn what_does_not_exist_here_is_listed() {
    assert_eq!(built().unsupported(), ["Query.filmCount", "Query.films", "Query.oldest"]);
}

#[test]
fn the_schema_is_written_in_one_piece() {
    let sdl = built().sdl();
    assert!(sdl.contains("\"\"\"\nA book.\n\"\"\"\ntype Book implements Named {\n"), "{sdl}");
    assert!(sdl.contains("  oldTitle: String @deprecated(reason: \"Use title\")\n"), "{sdl}");
    assert!(sdl.contains("  films: BookConnection\n"), "{sdl}");
    let again = Registry::<Library>::new(&[&sdl]).build().err().unwrap_or_default();
    assert!(again.iter().all(|mistake| mistake.contains("nobody")), "{again:?}");
}

#[test]
fn types_can_be_asked_for() {
    let data = data(
        "{ __type(name: \"Book\") { kind description interfaces { name } fields { name } } \
         genre: __type(name: \"Genre\") { enumValues { name } } __typename }",
    );
    assert_eq!(data["__type"]["kind"], "OBJECT");
    assert_eq!(data["__type"]["description"], "A book.");
    assert_eq!(data["__type"]["interfaces"], json!([{ "name": "Named" }]));
    let names = data["__type"]["fields"].to_string();
    assert!(names.contains("title") && !names.contains("oldTitle"), "{names}");
    assert_eq!(data["genre"]["enumValues"], json!([{ "name": "NOVEL" }]));
    assert_eq!(data["__typename"], "Query");
}

#[test]
fn the_question_of_tools_is_within_the_limits() {
    let text = "query IntrospectionQuery { __schema { queryType { name } mutationType { name } types { ...FullType } \
        directives { name description locations args { ...InputValue } } } } \
        fragment FullType on __Type { kind name description fields(includeDeprecated: true) { name description \
        args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason } inputFields { ...InputValue } \
        interfaces { ...TypeRef } enumValues(includeDeprecated: true) { name description isDeprecated \
        deprecationReason } possibleTypes { ...TypeRef } } \
        fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue } \
        fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType \
        { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } }";
    let answer = ask(text);
    assert_eq!(answer.get("errors"), None);
    let of_tools = built().introspection();
    let count =
        |answer: &serde_json::Value| answer["data"]["__schema"]["types"].as_array().map(Vec::len);
    assert_eq!(count(&answer), count(&of_tools));
}

#[test]
fn directives_of_the_schema_are_told_beside_those_of_the_language() {
    let data = data(
        "{ s: __schema { all: directives { __typename name locations isRepeatable \
         args { __typename n: name defaultValue type { kind name ofType { kind name } } } } } }",
    );
    let all = data["s"]["all"].as_array().expect("directives");
    let kind = json!({ "kind": "NON_NULL", "name": null, "ofType": { "kind": "SCALAR", "name": "String" } });
    let argument = json!({
        "__typename": "__InputValue", "n": "version", "defaultValue": null, "type": kind,
    });
    let expected = json!({
        "__typename": "__Directive", "name": "gl_introduced", "locations": ["FIELD"],
        "isRepeatable": false, "args": [argument],
    });
    assert_eq!(all.last(), Some(&expected));
    assert!(all.iter().any(|directive| directive["name"] == "include"), "{all:?}");

    let of_tools = built().introspection();
    let told = of_tools["data"]["__schema"]["directives"].as_array().expect("directives");
    let (own, other) = (told.last().expect("one"), told.first().expect("one"));
    assert_eq!(own["name"], "gl_introduced");
    let names = |of: &serde_json::Value| {
        of.as_object().map(|fields| fields.keys().cloned().collect::<Vec<_>>())
    };
    assert_eq!(names(own), names(other));
}

#[test]
fn directives_of_the_schema_tell_where_they_stand_as_tools_asked_once() {
    let data = data("{ __schema { directives { name onOperation onFragment onField } } }");
    let all = data["__schema"]["directives"].as_array().expect("directives");
    let expected = json!({
        "name": "gl_introduced", "onOperation": false, "onFragment": false, "onField": true,
    });
    assert_eq!(all.last(), Some(&expected));
}

#[test]
fn what_is_deprecated_can_count_as_absent_from_the_schema_too() {
    let told = |name: &str, without_deprecated| {
        let text = format!(
            "{{ __type(name: {name:?}) {{ fields(includeDeprecated: true) {{ name }} \
             enumValues(includeDeprecated: true) {{ name }} }} }}"
        );
        let limits = Limits { without_deprecated, ..limits() };
        respond(query(&text), limits).body["data"]["__type"].to_string()
    };
    for (name, current, old) in [
        ("Book", "title", "oldTitle"),
        ("Genre", "NOVEL", "POEM"),
        ("__Directive", "locations", "onField"),
    ] {
        let (whole, without) = (told(name, false), told(name, true));
        assert!(whole.contains(current) && whole.contains(old), "{whole}");
        assert!(without.contains(current) && !without.contains(old), "{without}");
    }
}
