//! Pages of lists.

use serde_json::{Value, json};

use super::{data, message};

fn titles(arguments: &str) -> Value {
    let data = data(&format!("{{ books{arguments} {{ nodes {{ title }} }} }}"));
    let nodes = data["books"]["nodes"].as_array().cloned().unwrap_or_default();
    nodes.into_iter().map(|mut node| node["title"].take()).collect()
}

fn cursor(number: usize) -> String {
    let data = data("{ books { edges { cursor } } }");
    data["books"]["edges"][number]["cursor"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_list_has_edges_cursors_and_a_count() {
    let data = data(
        "{ books(first: 1) { count edges { cursor node { title } } \
         pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }",
    );
    let books = &data["books"];
    assert_eq!(books["count"], 3);
    assert_eq!(books["edges"][0]["node"], json!({ "title": "Emma" }));
    assert_eq!(books["pageInfo"]["endCursor"], books["edges"][0]["cursor"]);
    assert_eq!(books["pageInfo"]["hasNextPage"], true);
    assert_eq!(books["pageInfo"]["hasPreviousPage"], false);
}

#[test]
fn an_empty_list_has_no_cursors() {
    let data = data("{ films { pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }");
    let expected = json!({
        "startCursor": null, "endCursor": null, "hasNextPage": false, "hasPreviousPage": false,
    });
    assert_eq!(data["films"]["pageInfo"], expected);
}

#[test]
fn pages_go_forwards_and_backwards() {
    let first = cursor(0);
    let last = cursor(2);
    assert_eq!(titles(&format!("(first: 1, after: \"{first}\")")), json!(["Dune"]));
    assert_eq!(titles(&format!("(last: 1, before: \"{last}\")")), json!(["Dune"]));
    assert_eq!(titles("(last: 2)"), json!(["Dune", "Ulysses"]));
    assert_eq!(titles(&format!("(after: \"{first}\", before: \"{last}\")")), json!(["Dune"]));
}

#[test]
fn whoever_goes_backwards_learns_what_stands_before() {
    let data = data("{ books(last: 1) { pageInfo { hasNextPage hasPreviousPage } } }");
    let expected = json!({ "hasNextPage": false, "hasPreviousPage": true });
    assert_eq!(data["books"]["pageInfo"], expected);
}

#[test]
fn only_one_end_can_be_asked_for() {
    let text = message("{ books(first: 1, last: 1) { count } }");
    assert_eq!(text, "Can only provide either `first` or `last`, not both");
}

#[test]
fn a_cursor_that_nobody_was_given_is_refused() {
    for odd in ["x", "e30x", "bnVsbA", "eyJpZCI6NX0", "eyJpZCI6IjUifQ"] {
        let text = message(&format!("{{ books(after: \"{odd}\") {{ count }} }}"));
        assert_eq!(text, "Please provide a valid cursor", "{odd}");
    }
}
