//! Variables, and values in the forms that the schema demands.

use std::{collections::HashMap, sync::Arc};

use serde_json::{Value, json};

use super::{data, limits, message, query, respond};
use crate::{Request, Upload};

fn asked(text: &str, variables: Value) -> Value {
    let request = Request { variables, ..query(text) };
    respond(request, limits()).body
}

#[expect(clippy::needless_pass_by_value, reason = "callers hand over what they need no more")]
fn given(declared: &str, argument: &str, value: Value) -> Value {
    let text = format!("query q($x: {declared}) {{ given({argument}: $x) }}");
    let mut answer = asked(&text, json!({ "x": value }));
    match answer.get("errors") {
        Some(errors) => errors[0]["message"].clone(),
        None => answer["data"]["given"][argument].take(),
    }
}

#[test]
fn one_value_stands_for_a_list_of_it() {
    let literal = data("{ given(texts: \"a\") }");
    assert_eq!(literal["given"]["texts"], json!(["a"]));
    assert_eq!(given("[String!]", "texts", json!("a")), json!(["a"]));
}

#[test]
fn defaults_stand_for_what_was_not_given() {
    assert_eq!(data("{ given }"), json!({ "given": { "genre": "NOVEL" } }));
    let by = data("{ given(by: {name: \"a\"}) }");
    assert_eq!(by["given"]["by"], json!({ "name": "a", "born": 1900 }));
    let text = "query q($x: Int = 5, $y: Genre) { given(number: $x, genre: $y) }";
    assert_eq!(asked(text, Value::Null)["data"]["given"], json!({ "number": 5, "genre": "NOVEL" }));
    assert_eq!(asked(text, json!({ "x": null }))["data"]["given"]["number"], Value::Null);
}

#[test]
fn a_type_of_two_names_is_declared_by_either() {
    assert_eq!(given("Kind", "genre", json!("POEM")), "POEM");
    let listed = "query q($k: [Kind!]) { given(by: {name: \"a\", genres: $k}) }";
    let by = asked(listed, json!({ "k": ["POEM"] }));
    assert_eq!(by["data"]["given"]["by"]["genres"], json!(["POEM"]));
    assert_eq!(
        given("Kind!", "genre", json!("PROSE")),
        "Variable $x of type Genre! was provided invalid value"
    );
}

#[test]
fn variables_stand_inside_of_values() {
    let text = "query q($n: String!, $g: Genre!) { given(by: {name: $n, genres: [$g]}, any: {a: [$n, 1.5]}) }";
    let answer = asked(text, json!({ "n": "a", "g": "POEM" }));
    let by = json!({ "name": "a", "born": 1900, "genres": ["POEM"] });
    assert_eq!(answer["data"]["given"]["by"], by);
    assert_eq!(answer["data"]["given"]["any"], json!({ "a": ["a", 1.5] }));
}

#[test]
fn a_variable_that_is_not_given_is_refused() {
    let answer = asked("query q($id: BookID!) { book(id: $id) { title } }", json!({}));
    let error = &answer["errors"][0];
    assert_eq!(error["message"], "Variable $id of type BookID! was provided invalid value");
    let problems = json!([{ "path": [], "explanation": "Expected value to not be null" }]);
    assert_eq!(error["extensions"], json!({ "value": null, "problems": problems }));
    assert_eq!(error["locations"], json!([{ "line": 1, "column": 9 }]));
}

#[test]
fn values_of_variables_are_told_with_their_paths() {
    let start = "Variable $x of type By was provided invalid value for ";
    assert_eq!(
        given("By", "by", json!({})),
        format!("{start}name (Expected value to not be null)")
    );
    assert_eq!(
        given("By", "by", json!({ "name": "a", "born": "no" })),
        format!("{start}born (Could not coerce value \"no\" to Int)")
    );
    assert_eq!(
        given("By", "by", json!({ "name": "a", "genres": ["x"] })),
        format!("{start}genres.0 (Expected \"x\" to be one of: NOVEL, POEM)")
    );
    assert_eq!(
        given("By", "by", json!({ "name": "a", "age": 1 })),
        format!("{start}age (Field is not defined on By)")
    );
}

#[test]
fn numbers_are_whole_and_within_their_range() {
    let refused = "Variable $x of type Int was provided invalid value";
    for odd in [json!(1.5), json!("1"), json!(3_000_000_000_i64), json!(true), json!([1])] {
        assert_eq!(given("Int", "number", odd), refused);
    }
    let huge = message("{ given(number: 99999999999999999999999999) }");
    assert!(huge.starts_with("Argument 'number' on Field 'given' has an invalid value"), "{huge}");
}

#[test]
fn times_begin_with_a_day() {
    assert_eq!(given("Time", "at", json!("2023-01-05T10:11:12Z")), "2023-01-05T10:11:12Z");
    assert_eq!(given("Time", "at", json!("2023-01-05")), "2023-01-05");
    let refused = message("{ given(at: \"2023-02-31\") }");
    assert_eq!(refused, "no time information in \"2023-02-31\"");
}

#[test]
fn variables_are_declared_used_and_of_fitting_types() {
    let says = |text: &str| message(text);
    assert_eq!(
        says("query q($x: Int) { cost { score } }"),
        "Variable $x is declared by q but not used"
    );
    assert_eq!(
        says("{ given(number: $x) }"),
        "Variable $x is used by anonymous query but not declared"
    );
    assert_eq!(
        says("query q($x: String) { given(number: $x) }"),
        "Type mismatch on variable $x and argument number (String / Int)"
    );
    assert_eq!(
        says("query q($x: String) { echo(text: $x) }"),
        "Nullability mismatch on variable $x and argument text (String / String!)"
    );
    assert_eq!(
        says("query q($x: String) { given(texts: $x) }"),
        "List dimension mismatch on variable $x and argument texts (String / [String!])"
    );
    assert_eq!(
        says("query q($x: Book) { given(any: $x) }"),
        "Book isn't a valid input type (on $x)"
    );
}

#[test]
fn variables_of_fragments_belong_to_the_operation() {
    let text = "query q($x: Int) { ...f } fragment f on Query { given(number: $x) }";
    assert_eq!(asked(text, json!({ "x": 7 }))["data"]["given"]["number"], 7);
}

#[test]
fn files_stand_for_their_variables() {
    let upload =
        Upload { name: "a.txt".to_owned(), content_type: String::new(), content: "a".into() };
    let uploads = HashMap::from([("f".to_owned(), Arc::new(upload))]);
    let mut registry = crate::Registry::<super::Library>::new(&[
        "scalar Upload type Query { size(file: Upload!): Int } type Mutation { x(input: X): P } \
         type Subscription { s: Int } input X { a: Int } type P { errors: [String!]! }",
    ]);
    registry.query().lookup("size", |_, arguments, _| async move {
        Ok(arguments.upload("file").map(|upload| upload.content.len()).into())
    });
    registry.mutation("x", |_, _| async { Ok(crate::Payload::new()) });
    registry.subscription(
        "s",
        |_, _| async { Ok(|(): &()| true) },
        |_: Arc<()>, _, _| async { Ok(Some(1.into())) },
    );
    let schema = registry.build().expect("a schema");
    let text = "query q($f: Upload!) { size(file: $f) }";
    let request = Request { variables: json!({ "f": null }), uploads, ..query(text) };
    let answer = super::now(schema.execute(request, Arc::default(), limits()));
    assert_eq!(answer.body, json!({ "data": { "size": 1 } }));
}
