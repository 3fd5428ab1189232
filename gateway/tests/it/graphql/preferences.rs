//! What people set for themselves by GraphQL.

use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::TestApp;

#[actix_web::test]
async fn a_notice_is_closed_for_whoever_closes_it_and_told_to_them_alone() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let payload = "userCallout { featureName dismissedAt }";
    let input = r#"featureName: "web_ide_alert_dismissed""#;

    let closed = mutate(&ada, "userCalloutCreate", input, payload).await["userCallout"].clone();

    assert_eq!(closed["featureName"], "WEB_IDE_ALERT_DISMISSED");
    app.clock.advance(time::Duration::hours(1));
    let again = mutate(&ada, "userCalloutCreate", input, payload).await["userCallout"].clone();
    assert_ne!(again["dismissedAt"], closed["dismissedAt"]);
    mutate(&ada, "userCalloutCreate", r#"featureName: "cluster_hint""#, payload).await;
    let own = ask(&ada, "{ currentUser { callouts { nodes { featureName } } } }").await;
    let callouts = &own["currentUser"]["callouts"];
    assert_eq!(nodes(callouts, "featureName"), ["CLUSTER_HINT", "WEB_IDE_ALERT_DISMISSED"]);
    let of_ada = r#"{ user(username: "ada") { callouts { nodes { featureName } } } }"#;
    assert_eq!(ask(&eve, of_ada).await["user"]["callouts"], Value::Null);
    let odd = mutate(&ada, "userCalloutCreate", r#"featureName: "a b""#, payload).await;
    assert_eq!(odd["errors"], json!(["Feature name is not included in the list"]));
    let query = format!("mutation {{ userCalloutCreate(input: {{ {input} }}) {{ errors }} }}");
    assert_eq!(refusal(&app.anonymous(), &query).await, REFUSED);
}

#[actix_web::test]
async fn the_order_of_issues_is_kept_beside_other_preferences() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let payload = "userPreferences { issuesSort }";
    let update = async |input: &str| {
        mutate(&ada, "userPreferencesUpdate", input, payload).await["userPreferences"]["issuesSort"]
            .clone()
    };
    ada.put("/user/preferences", json!({ "view_diffs_file_by_file": true })).await.ok();

    assert_eq!(update("issuesSort: CREATED_DESC").await, "CREATED_DESC");

    assert_eq!(update(r#"clientMutationId: "x""#).await, "CREATED_DESC", "nothing is changed");
    let kept = ada.get("/user/preferences").await.ok();
    assert_eq!(kept["view_diffs_file_by_file"], true);
    assert_eq!(update("issuesSort: null").await, Value::Null);
    let query = "mutation { userPreferencesUpdate(input: {}) { errors } }";
    assert_eq!(refusal(&app.anonymous(), query).await, REFUSED);
}
