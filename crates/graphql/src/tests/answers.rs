//! Answers to queries that are right.

use std::sync::{Arc, atomic::Ordering};

use serde_json::{Value as Json, json};

use super::{Library, ask, built, data, limits, now, query, respond};
use crate::{Limits, Mutations, Outcome};

#[test]
fn fields_answer_in_the_order_of_the_query() {
    let data = data("{ book(id: \"gid://gitlab/Book/2\") { title id again: title } }");
    let expected = r#"{"book":{"title":"Dune","id":"gid://gitlab/Book/2","again":"Dune"}}"#;
    assert_eq!(data.to_string(), expected);
}

#[test]
fn what_is_not_there_is_null() {
    assert_eq!(data("{ book(id: \"gid://gitlab/Book/9\") { title } }"), json!({ "book": null }));
}

#[test]
fn selections_of_the_same_field_are_merged_and_resolved_once() {
    let (schema, library) = (built(), Arc::new(Library::default()));
    let text = "{ shelf { author { name } ...more } } fragment more on Book { author { __typename } title }";
    let answer = now(schema.execute(query(text), library.clone(), limits()));
    let first = json!({ "author": { "name": "Jane", "__typename": "Person" }, "title": "Emma" });
    assert_eq!(answer.body["data"]["shelf"][0], first);
    assert_eq!(library.lookups.load(Ordering::Relaxed), 3);
}

#[test]
fn objects_of_a_union_answer_by_their_types() {
    let data = data("{ things { __typename ... on Book { title } ... on Person { name } } }");
    let expected = json!([
        { "__typename": "Book", "title": "Emma" },
        { "__typename": "Person", "name": "Ada" },
    ]);
    assert_eq!(data["things"], expected);
}

#[test]
fn fragments_on_an_interface_reach_its_objects() {
    let data = data("{ things { ... on Named { title } } }");
    assert_eq!(data, json!({ "things": [{ "title": "Emma" }, {}] }));
}

#[test]
fn directives_leave_fields_out() {
    let data = data(
        "{ a: echo(text: \"a\") @skip(if: true) b: echo(text: \"b\") @include(if: true) \
         c: echo(text: \"c\") @include(if: false) }",
    );
    assert_eq!(data, json!({ "b": "b" }));
}

#[test]
fn a_field_of_a_later_version_is_left_out() {
    let data = data(
        "{ echo(text: \"a\") unheardOf @gl_introduced(version: \"16.0.0\") \
         b: echo(text: \"b\") @gl_introduced(version: \"15.7\") }",
    );
    assert_eq!(data, json!({ "echo": "a", "b": "b" }));
}

#[test]
fn what_does_not_exist_here_is_nothing() {
    let data = data(
        "{ films { nodes { title } count pageInfo { hasNextPage } } oldest { title } filmCount }",
    );
    let films = json!({ "nodes": [], "count": 0, "pageInfo": { "hasNextPage": false } });
    assert_eq!(data, json!({ "films": films, "oldest": null, "filmCount": 0 }));
}

#[test]
fn texts_and_numbers_of_any_size_come_through() {
    let data = data("{ shelf { raw } echo(text: \"0 \\ud83d\\ude00\") }");
    assert_eq!(data["shelf"][0]["raw"], json!({ "n": 9_999_999_999_i64 }));
    assert_eq!(data["echo"], "0 \u{1f600}");
}

#[test]
fn mutations_run_one_after_the_other() {
    let data = data(
        "mutation { a: note(input: {text: \"slow\", clientMutationId: \"x\"}) { notes errors clientMutationId } \
         b: note(input: {text: \"b\"}) { notes clientMutationId } }",
    );
    let expected = json!({
        "a": { "notes": ["slow"], "errors": [], "clientMutationId": "x" },
        "b": { "notes": ["slow", "b"], "clientMutationId": null },
    });
    assert_eq!(data, expected);
}

#[test]
fn a_mutation_knows_nothing_that_was_read_before_it() {
    let note = |text: &str| format!("note(input: {{ text: \"{text}\" }}) {{ renewals }}");
    let data = data(&format!("mutation {{ a: {} b: {} }}", note("a"), note("b")));
    assert_eq!(data, json!({ "a": { "renewals": 1 }, "b": { "renewals": 1 } }));
}

#[test]
fn errors_of_mutations_tell_which_one_failed() {
    let text = "mutation { a: note(input: {text: \"a\"}) { renewals } \
                b: refused(input: {}) { errors } c: note(input: {text: \"c\"}) { notes } }";
    let answer = ask(text);
    assert_eq!(answer["data"]["b"], Json::Null);
    assert_eq!(answer["data"]["c"]["notes"], json!(["a", "c"]));
    let errors = answer["errors"].as_array().expect("errors");
    assert_eq!((errors.len(), &errors[0]["path"]), (1, &json!(["b"])));
    assert_eq!(errors[0]["locations"], json!([{ "line": 1, "column": 53 }]));
}

#[test]
fn failures_of_the_business_are_in_the_payload() {
    let data = data("mutation { note(input: {text: \"\"}) { errors notes } }");
    assert_eq!(data["note"], json!({ "errors": ["Text can't be blank"], "notes": null }));
}

#[test]
fn a_field_that_fails_is_null_with_its_place_and_path() {
    let answer = ask("{\n  a: crash\n  echo(text: \"b\")\n}");
    assert_eq!(answer["data"], json!({ "a": null, "echo": "b" }));
    let text = "The resource that you are attempting to access does not exist or you don't have permission to \
                perform this action";
    let expected =
        json!([{ "message": text, "locations": [{ "line": 2, "column": 3 }], "path": ["a"] }]);
    assert_eq!(answer["errors"], expected);
}

#[test]
fn errors_tell_the_elements_of_lists_apart() {
    let answer = ask("{ shelf { huge } }");
    assert_eq!(answer["data"]["shelf"][1], json!({ "huge": null }));
    assert_eq!(answer["errors"][1]["path"], json!(["shelf", 1, "huge"]));
}

#[test]
fn nothing_where_there_must_be_something_takes_what_is_around_it_along() {
    let answer = ask("{ shelf { title missing } echo(text: \"a\") }");
    assert_eq!(answer["data"], json!({ "shelf": null, "echo": "a" }));
    let text = "Cannot return null for non-nullable field Book.missing.";
    assert_eq!(answer["errors"][0]["message"], text);
}

#[test]
fn failures_have_extensions_for_programs() {
    let answer = ask("{ crash(kind: EXTENDED) }");
    assert_eq!(answer["errors"][0]["extensions"], json!({ "spam": true, "n": 9_999_999_999_i64 }));
}

#[test]
fn some_failures_decide_over_the_whole_answer() {
    let outcome = |text: &str| {
        let response = respond(query(text), limits());
        (response.outcome, response.body.to_string())
    };
    assert_eq!(outcome("{ crash(kind: TIMEOUT) }").0, Outcome::TimedOut);
    let (failed, body) = outcome("{ crash(kind: INTERNAL) }");
    assert_eq!(failed, Outcome::Failed);
    assert_eq!(body, r#"{"errors":[{"message":"Internal server error"}]}"#);
    let (limited, _) = outcome("mutation { limited(input: {}) { errors } }");
    assert_eq!(limited, Outcome::TooManyRequests);
}

#[test]
fn a_mutation_may_be_forbidden() {
    let text = "mutation { a: note(input: {text: \"a\"}) { errors } }";
    let asked = |mutations| respond(query(text), Limits { mutations, ..limits() });
    let by_method = asked(Mutations::ForbiddenByMethod);
    assert_eq!(by_method.outcome, Outcome::Unprocessable);
    let expected = json!({ "errors": [{ "message": "Mutations are forbidden in GET requests" }] });
    assert_eq!(by_method.body, expected);
    let by_scope = asked(Mutations::ForbiddenByScope);
    assert_eq!(by_scope.body["data"], json!({ "a": null }));
    assert_eq!(by_scope.body["errors"][0]["path"], json!(["a"]));
}

#[test]
fn many_queries_answer_in_their_order() {
    let schema = built();
    let requests =
        vec![query("{ echo(text: \"a\") }"), query("{ x }"), query("{ cost { score } }")];
    let answer = now(schema.execute_batch(requests, Arc::new(Library::default()), limits()));
    assert_eq!(answer.body[0], json!({ "data": { "echo": "a" } }));
    assert_eq!(answer.body[1]["errors"][0]["extensions"]["code"], "undefinedField");
    assert_eq!(answer.body[2]["data"]["cost"]["score"], 2);
}
