//! What tests of issues, merge requests and notes ask.

use serde_json::{Value, json};

use crate::support::Person;

pub(super) const REFUSED: &str = "The resource that you are attempting to access does not exist or \
                                  you don't have permission to perform this action";

/// The whole answer to a query or mutation.
pub(super) async fn answer(person: &Person<'_>, query: &str) -> Value {
    person.post("//api/graphql", json!({ "query": query })).await.ok()
}

/// The data of an answer without errors.
pub(super) async fn ask(person: &Person<'_>, query: &str) -> Value {
    let answer = answer(person, query).await;
    assert_eq!(answer["errors"], Value::Null, "{query}");
    answer["data"].clone()
}

/// What a mutation answers with, its input in the form of the language.
pub(super) async fn mutate(person: &Person<'_>, name: &str, input: &str, payload: &str) -> Value {
    let query = format!("mutation {{ {name}(input: {{ {input} }}) {{ errors {payload} }} }}");
    ask(person, &query).await[name].clone()
}

/// The message by which somebody is refused.
pub(super) async fn refusal(person: &Person<'_>, query: &str) -> Value {
    answer(person, query).await["errors"][0]["message"].clone()
}

/// One field of each node of a connection.
pub(super) fn nodes(connection: &Value, field: &str) -> Vec<Value> {
    let nodes = connection["nodes"].as_array().expect("nodes");
    nodes.iter().map(|node| node[field].clone()).collect()
}
