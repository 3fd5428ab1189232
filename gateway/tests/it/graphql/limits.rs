//! What queries may cost, and how often they may be asked.

use gateway::app::Limits;
use serde_json::json;

use super::review::ask;
use crate::support::TestApp;

const ENDPOINT: &str = "//api/graphql";

#[actix_web::test]
async fn callers_may_spend_as_much_as_they_are_trusted() {
    let app = TestApp::new();
    let query = "{ queryComplexity { score limit } }";
    for (who, limit) in [(app.anonymous(), 200), (app.person("ada"), 250), (app.admin(), 300)] {
        let answer = ask(&who, query).await;
        assert_eq!(answer["queryComplexity"], json!({ "score": 3, "limit": limit }));
    }
}

#[actix_web::test]
async fn a_query_that_costs_too_much_is_refused() {
    let app = TestApp::new();
    let fields: Vec<_> = (0..201).map(|n| format!("a{n}: echo(text: \"a\")")).collect();
    let body = json!({ "query": format!("{{ {} }}", fields.join(" ")) });
    let answer = app.anonymous().post(ENDPOINT, body.clone()).await.ok();
    let expected = "Query has complexity of 201, which exceeds max complexity of 200";
    assert_eq!(answer, json!({ "errors": [{ "message": expected }] }));
    assert_eq!(app.person("ada").post(ENDPOINT, body).await.ok().get("errors"), None);
}

#[actix_web::test]
async fn a_query_that_is_too_long_is_refused() {
    let app = TestApp::new();
    let long = format!("{{ echo(text: \"a\") }} #{}", "x".repeat(10_000));
    let expected = json!({ "errors": [{ "message": "Query too large" }] });
    app.anonymous().post(ENDPOINT, json!({ "query": long })).await.refused(422, expected);
}

#[actix_web::test]
async fn the_whole_schema_can_be_asked_for_by_anybody() {
    let app = TestApp::new();
    let query = "{ __schema { queryType { name } types { name kind fields { name args { name type { name } } } } } }";
    let answer = ask(&app.anonymous(), query).await;
    assert_eq!(answer["__schema"]["queryType"], json!({ "name": "Query" }));
}

#[actix_web::test]
async fn the_queries_of_a_batch_ask_for_the_schema_together() {
    let app = TestApp::new();
    let query = "{ __schema { types { fields { name args { name description } } } } }";
    let batch = |size: usize| json!(vec![json!({ "query": query }); size]);
    let one = app.anonymous().post(ENDPOINT, batch(1)).await.ok();
    assert_eq!(one[0].get("errors"), None);
    let answer = app.anonymous().post(ENDPOINT, batch(80)).await.ok();
    let refused = json!({ "errors": [{ "message": "The query asks for too much of the schema" }] });
    assert_eq!((&answer[0], &answer[79]), (&refused, &refused));
}

#[actix_web::test]
async fn a_query_that_is_refused_counts_for_its_batch() {
    let app = TestApp::new();
    let fields: Vec<_> = (0..201).map(|n| format!("a{n}: echo(text: \"a\")")).collect();
    let large = format!("{{ {} }}", fields.join(" "));
    let batch = json!([{ "query": large }, { "query": "{ echo(text: \"b\") }" }]);
    let answer = app.anonymous().post(ENDPOINT, batch).await.ok();
    let expected = "Query has complexity of 202, which exceeds max complexity of 200";
    assert_eq!(answer[1], json!({ "errors": [{ "message": expected }] }));
}

#[actix_web::test]
async fn who_asks_too_often_waits() {
    let limits = Limits { address_per_minute: 2, ..Limits::default() };
    let app = TestApp::with_limits(limits);
    let nobody = app.anonymous();
    let nobody = nobody.from("192.0.2.1");
    let body = || json!({ "query": "{ __typename }" });
    for status in [200, 200, 429] {
        assert_eq!(nobody.post(ENDPOINT, body()).await.status, status);
    }
}
