//! Documents that want to do harm.

use std::fmt::Write as _;

use proptest::prelude::{ProptestConfig, Strategy, prop, proptest};

use super::{ask, limits, message, query, respond};
use crate::Outcome;

#[test]
fn a_thousand_aliases_cost_too_much() {
    let mut text = String::from("{");
    for number in 0..1_000 {
        let _ = write!(text, " a{number}:cost{{score}}");
    }
    text.truncate(9_990);
    let whole = text.rfind(" a").unwrap_or(0);
    text.truncate(whole);
    text.push('}');
    assert!(message(&text).contains("exceeds max complexity of 250"));
}

#[test]
fn fragments_that_double_each_other_end() {
    let mut text = String::from("{ shelf { ...f0 } }");
    for number in 0..30 {
        let next = number + 1;
        let _ = write!(
            text,
            " fragment f{number} on Book {{ a{number}: author {{ name }} \
             x: author {{ books {{ nodes {{ ...f{next} }} }} }} \
             y: author {{ books {{ nodes {{ ...f{next} }} }} }} }}"
        );
    }
    text.push_str(" fragment f30 on Book { title }");
    let said = message(&text);
    assert!(said.contains("Query too large") || said.contains("exceeds"), "{said}");
}

#[test]
fn deep_documents_are_refused() {
    for (open, close) in [("{a", "}"), ("{a(b:[", ""), ("{a(b:{c:", "")] {
        let text = format!("{}{}", open.repeat(1_000), close.repeat(1_000));
        assert!(message(&text).starts_with("Parse error on"));
    }
    let lists = format!("{{ given(any: {}1{}) }}", "[".repeat(4_000), "]".repeat(4_000));
    assert!(message(&lists).starts_with("Parse error on"));
    let types = format!("query q($a: {}Int{}) {{ x }}", "[".repeat(4_000), "]".repeat(4_000));
    assert!(message(&types).starts_with("Parse error on"));
}

#[test]
fn fragments_in_fragments_in_fragments_are_refused() {
    let chain = |step: &str| {
        let mut text = String::from("{ shelf { ...f0 } }");
        let count = 9_000 / (step.len() + 32);
        for number in 0..count {
            let next = step.replace("NEXT", &format!("...f{}", number + 1));
            let _ = write!(text, " fragment f{number} on Book {{ {next} }}");
        }
        let _ = write!(text, " fragment f{count} on Book {{ title }}");
        message(&text)
    };
    assert_eq!(chain("NEXT"), "Query too large");
    assert_eq!(chain("... { NEXT }"), "Query too large");
    assert_eq!(chain("sequel { NEXT }"), "Query too large");
}

#[test]
fn huge_numbers_are_refused() {
    let text = format!("{{ given(number: {}) }}", "9".repeat(5_000));
    assert!(message(&text).contains("invalid value"));
    let text = format!("{{ books(first: -{}) {{ count }} }}", "9".repeat(50));
    assert!(message(&text).contains("invalid value"));
}

#[test]
fn texts_with_zero_bytes_are_refused() {
    let said = message("{ echo(text: \"a\\u0000\") }");
    assert!(said.starts_with("Argument 'text' on Field 'echo' has an invalid value"), "{said}");
    let mut request = query("query q($t: String!) { echo(text: $t) }");
    request.variables = serde_json::json!({ "t": "a\0" });
    let answer = respond(request, limits());
    let said = answer.body["errors"][0]["message"].as_str().unwrap_or_default();
    assert!(said.starts_with("Variable $t of type String! was provided invalid value"), "{said}");
}

#[test]
fn the_schema_cannot_be_asked_for_over_and_over() {
    let mut text = String::from("{");
    for number in 0..150 {
        let _ = write!(text, " a{number}: __schema {{ types {{ fields {{ args {{ name }} }} }} }}");
    }
    text.push('}');
    assert_eq!(message(&text), "The query asks for too much of the schema");
    let nested =
        "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }";
    assert!(message(nested).starts_with("Recursive query"));
}

#[test]
fn a_variable_deeper_than_its_type_is_refused() {
    let mut value = serde_json::json!(1);
    for _ in 0..120 {
        value = serde_json::json!([value]);
    }
    let mut request = query("query q($x: [String!]) { given(texts: $x) }");
    request.variables = serde_json::json!({ "x": value });
    let answer = respond(request, limits());
    assert_eq!(answer.outcome, Outcome::Answered);
    assert!(answer.body["errors"].is_array());
}

/// Words of the language, in any order.
fn documents() -> impl Strategy<Value = String> {
    let words = vec![
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ":",
        "$x",
        "@skip(if: true)",
        "...",
        "on",
        "Book",
        "query",
        "mutation",
        "fragment",
        "f",
        "shelf",
        "title",
        "things",
        "books",
        "first",
        "1",
        "-1.5e9",
        "\"a\"",
        "\"\"\"b\"\"\"",
        "null",
        "true",
        "given",
        "any",
        "by",
        "name",
        "__schema",
        "types",
        "__typename",
        "note",
        "input",
        "text",
        "=",
        "!",
        "Int",
        "#\n",
        "{ shelf { title } }",
        "... on Person { name }",
        "(first: 1)",
        "author",
        "nodes",
        "count",
    ];
    prop::collection::vec(prop::sample::select(words), 0..40).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_document_is_answered(text in documents()) {
        let answer = ask(&text);
        proptest::prop_assert!(answer.get("data").is_some() || answer["errors"].is_array());
    }

    #[test]
    fn every_text_is_answered(text in "\\PC{0,60}") {
        ask(&text);
    }
}
