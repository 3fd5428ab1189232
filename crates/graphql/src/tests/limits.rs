//! Query cost and its limits.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::{Library, ask, built, data, limits, message, now, query, respond};
use crate::{Limits, Outcome};

fn score(selections: &str) -> serde_json::Value {
    let data = data(&format!("{{ cost {{ score limit }} {selections} }}"));
    assert_eq!(data["cost"]["limit"], 250);
    // The question itself costs three.
    json!(data["cost"]["score"].as_u64().unwrap_or_default() - 3)
}

#[test]
fn each_field_costs_one() {
    assert_eq!(score("shelf { title author { name } }"), 4);
}

#[test]
fn lists_cost_by_their_pages() {
    assert_eq!(score("books { nodes { title } }"), 6);
    assert_eq!(score("books(first: 50) { nodes { title } }"), 4);
    assert_eq!(score("books(first: 1000) { nodes { title } }"), 6);
    assert_eq!(score("books(sort: \"a\") { nodes { title } }"), 8);
    assert_eq!(score("books(search: \"a\") { nodes { title } }"), 16);
    assert_eq!(score("books(iids: \"1\") { nodes { title } }"), 3);
}

#[test]
fn some_fields_have_a_price_of_their_own() {
    assert_eq!(score("shelf { dear }"), 127);
}

#[test]
fn a_query_that_costs_too_much_is_refused() {
    let text = "{ a: shelf { dear } b: shelf { dear } }";
    let answer = ask(text);
    let expected = "Query has complexity of 254, which exceeds max complexity of 250";
    assert_eq!(answer, json!({ "errors": [{ "message": expected }] }));
}

#[test]
fn many_queries_cost_together() {
    let requests = || ["a", "b"].map(|_| query("{ shelf { dear } }")).into();
    let (schema, library) = (built(), Arc::new(Library::default()));
    let answer = now(schema.execute_batch(requests(), library, limits()));
    let expected = "Query has complexity of 254, which exceeds max complexity of 250";
    assert_eq!(answer.body[0]["errors"][0]["message"], expected);
    assert_eq!(answer.body[1]["errors"][0]["message"], expected);
}

#[test]
fn a_query_that_is_too_deep_is_refused() {
    let limits = Limits { depth: 2, ..limits() };
    let answer = respond(query("{ shelf { author { name } } }"), limits);
    let expected = "Query has depth of 3, which exceeds max depth of 2";
    assert_eq!(answer.body["errors"][0]["message"], expected);
}

#[test]
fn a_query_that_goes_in_circles_is_refused() {
    let twice = "{ shelf { sequel { sequel { title } } } }";
    assert_eq!(ask(twice).get("errors"), None);
    let text = message("{ shelf { sequel { sequel { sequel { title } } } } }");
    assert!(text.starts_with("Recursive query - too many of fields '{\"sequel\"=>3}' detected"));
}

#[test]
fn lists_in_lists_are_no_circle_by_their_nodes() {
    let text = "{ books { nodes { author { books { nodes { author { name } } } } } } }";
    assert_eq!(ask(text).get("errors"), None);
}

#[test]
fn some_fields_can_be_asked_for_once() {
    let answer = ask("{ shelf { pages { count } } }");
    assert_eq!(answer["data"]["shelf"][0]["pages"], json!({ "count": 0 }));
    assert_eq!(answer["data"]["shelf"][1]["pages"], json!(null));
    let expected = "\"pages\" field can be requested only for 1 Book(s) at a time.";
    assert_eq!(answer["errors"][0]["message"], expected);
}

#[test]
fn a_query_has_at_most_ten_thousand_characters() {
    let text = format!("{{ echo(text: \"a\") }} #{}", "é".repeat(9_979));
    let fits = text.chars().count() == 10_000;
    assert!(fits, "{}", text.chars().count());
    assert_eq!(respond(query(&text), limits()).outcome, Outcome::Answered);
    let longer = respond(query(&format!("{text}x")), limits());
    assert_eq!(longer.outcome, Outcome::Unprocessable);
    assert_eq!(longer.body, json!({ "errors": [{ "message": "Query too large" }] }));
}

#[test]
fn a_query_ends_when_its_time_is_up() {
    let limits = Limits { time: Duration::ZERO, ..limits() };
    let answer = respond(query("{ slow }"), limits);
    assert_eq!(answer.outcome, Outcome::TimedOut);
}

#[test]
fn longer_pages_than_usual_cost_accordingly() {
    let score = |arguments: &str| {
        let text =
            format!("{{ shelf {{ author {{ books{arguments} {{ count }} }} }} cost {{ score }} }}");
        data(&text)["cost"]["score"].clone()
    };
    let usual = score("");
    assert_eq!(score("(first: 100)"), usual);
    // The connection and its count, once more for each hundred.
    assert_eq!(score("(first: 500)"), json!(usual.as_u64().map(|usual| usual + 4 * 2)));
    assert_eq!(score("(first: 9000)"), score("(first: 500)"));
}
