//! Errors of queries that do not fit the schema.

use serde_json::{Value, json};

use super::{ask, limits, message, query, respond};
use crate::Limits;

fn error(text: &str) -> Value {
    let mut answer = ask(text);
    assert_eq!(answer.get("data"), None);
    answer["errors"][0].take()
}

#[test]
fn a_word_in_the_wrong_place_is_told_with_its_kind() {
    assert_eq!(message("{ shelf }}"), "Parse error on \"}\" (RCURLY) at [1, 10]");
    assert_eq!(message("{ shelf { } }"), "Parse error on \"}\" (RCURLY) at [1, 11]");
    assert_eq!(message("{ shelf("), "Unexpected end of document");
    assert_eq!(message(""), "Unexpected end of document");
    assert_eq!(message("{ ? }"), "Parse error on \"?\" (UNKNOWN_CHAR) at [1, 3]");
    assert_eq!(error("x { a }")["locations"], json!([{ "line": 1, "column": 1 }]));
}

#[test]
fn an_unknown_field_is_told_with_its_type() {
    let expected = json!({
        "message": "Field 'foo' doesn't exist on type 'Book'",
        "locations": [{ "line": 1, "column": 11 }],
        "path": ["query", "shelf", "foo"],
        "extensions": { "code": "undefinedField", "typeName": "Book", "fieldName": "foo" },
    });
    assert_eq!(error("{ shelf { foo } }"), expected);
}

#[test]
fn objects_want_selections_and_scalars_none() {
    assert_eq!(
        message("{ shelf }"),
        "Field must have selections (field 'shelf' returns Book but has no selections. Did you mean 'shelf { ... }'?)"
    );
    assert_eq!(
        message("{ echo(text: \"a\") { x } }"),
        "Selections can't be made on scalars (field 'echo' returns String but has selections [x])"
    );
}

#[test]
fn a_missing_argument_is_told() {
    let error = error("{ book { title } }");
    assert_eq!(error["message"], "Field 'book' is missing required arguments: id");
    assert_eq!(error["extensions"]["code"], "missingRequiredArguments");
    assert_eq!(error["path"], json!(["query", "book"]));
}

#[test]
fn a_value_of_another_type_is_told() {
    let error = error("{ books(first: \"x\") { count } }");
    let text =
        "Argument 'first' on Field 'books' has an invalid value (\"x\"). Expected type 'Int'.";
    assert_eq!(error["message"], text);
    assert_eq!(error["extensions"]["code"], "argumentLiteralsIncompatible");
    assert_eq!(
        message("{ given(genre: NOVELS) }"),
        "Argument 'genre' on Field 'given' has an invalid value (NOVELS). Expected type 'Genre'."
    );
    assert_eq!(
        message("{ given(by: {name: 5}) }"),
        "Argument 'name' on InputObject 'By' has an invalid value (5). Expected type 'String!'."
    );
    assert_eq!(
        message("{ given(by: {}) }"),
        "Argument 'name' on InputObject 'By' is required. Expected type String!"
    );
}

#[test]
fn an_unknown_argument_is_told() {
    let error = error("{ books(second: 1) { count } }");
    assert_eq!(error["message"], "Field 'books' doesn't accept argument 'second'");
    assert_eq!(error["extensions"]["code"], "argumentNotAccepted");
}

#[test]
fn an_id_of_another_class_is_told() {
    let of = |id: &str| message(&format!("{{ book(id: \"{id}\") {{ title }} }}"));
    assert_eq!(
        of("gid://gitlab/User/1"),
        "\"gid://gitlab/User/1\" does not represent an instance of Book"
    );
    assert_eq!(of("x"), "\"x\" is not a valid Global ID");
    assert_eq!(of("gid://x/Book/1"), "\"gid://x/Book/1\" is not a Gitlab Global ID");
}

#[test]
fn fragments_are_defined_used_finite_and_of_fitting_types() {
    assert_eq!(message("{ ...f }"), "Fragment f was used, but not defined");
    assert_eq!(
        message("{ cost { score } } fragment f on Book { title }"),
        "Fragment f was defined, but not used"
    );
    let circle = "{ shelf { ...f } } fragment f on Book { ...g } fragment g on Book { ...f }";
    assert_eq!(message(circle), "Fragment f contains an infinite loop");
    assert_eq!(
        message("{ shelf { ... on Person { name } } }"),
        "Fragment on Person can't be spread inside Book"
    );
    assert_eq!(
        message("{ ... on Nobody { x } }"),
        "No such type Nobody, so it can't be a fragment condition"
    );
}

#[test]
fn fields_with_the_same_name_in_the_answer_must_be_the_same() {
    assert_eq!(
        message("{ shelf { a: title a: id } }"),
        "Field 'a' has a field conflict: title or id?"
    );
    let text = message("{ a: echo(text: \"a\") a: echo(text: \"b\") }");
    assert!(text.starts_with("Field 'a' has an argument conflict"), "{text}");
}

#[test]
fn directives_are_known_and_stand_where_they_may() {
    assert_eq!(message("{ cost @foo { score } }"), "Directive @foo is not defined");
    assert_eq!(
        message("query @skip(if: true) { cost { score } }"),
        "'@skip' can't be applied to queries (allowed: fields, fragment spreads, inline fragments)"
    );
    assert_eq!(
        message("{ cost @skip { score } }"),
        "Directive 'skip' is missing required arguments: if"
    );
}

#[test]
fn the_operation_is_named_where_there_are_several() {
    let two = "query a { echo(text: \"a\") } query b { echo(text: \"b\") }";
    assert_eq!(message(two), "An operation name is required");
    let mut named = query(two);
    named.operation_name = Some("b".to_owned());
    assert_eq!(respond(named, limits()).body, json!({ "data": { "echo": "b" } }));
    let mut unknown = query(two);
    unknown.operation_name = Some("c".to_owned());
    let answer = respond(unknown, limits());
    assert_eq!(answer.body["errors"][0]["message"], "No operation named \"c\"");
}

#[test]
fn at_most_five_errors_are_told() {
    let answer = ask("{ a b c d e f g }");
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(5));
}

#[test]
fn deprecated_members_can_count_as_absent() {
    let limits = || Limits { without_deprecated: true, ..limits() };
    let text = "{ shelf { oldTitle } }";
    assert_eq!(ask(text).get("errors"), None);
    let answer = respond(query(text), limits());
    assert_eq!(answer.body["errors"][0]["extensions"]["code"], "undefinedField");
    let answer = respond(query("{ given(genre: POEM) }"), limits());
    assert_eq!(answer.body["errors"][0]["extensions"]["code"], "argumentLiteralsIncompatible");
}

#[test]
fn fields_of_one_name_have_values_of_one_form_whatever_has_them() {
    let refusal = error("{ things { ... on Book { x: title } ... on Person { x: name } } }");
    assert_eq!(refusal["message"], "Field 'x' has a field conflict: String or String!?");
    assert_eq!(refusal["extensions"]["code"], "fieldConflict");
    let below = "{ things { ... on Book { x: pages { count } } ... on Person { x: books { count: nodes { id } } } } }";
    assert_eq!(message(below), "Field 'count' has a field conflict: Int! or [Book]?");
    let alike =
        "{ things { ... on Book { x: pages { count } } ... on Person { x: books { count } } } }";
    assert_eq!(ask(alike).get("errors"), None);
}
