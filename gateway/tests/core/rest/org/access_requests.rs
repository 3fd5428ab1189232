//! People who ask to become members.

use kernel::Visibility;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn who_asks_is_let_in_by_those_who_manage_members() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "tool", Visibility::Public);
    let path = format!("/projects/{project}/access_requests");

    let asked = bob.post(&path, json!({})).await.created();
    assert_eq!(asked["username"], "bob");
    assert_eq!(asked["requested_at"], "2026-01-01T00:00:00.000Z");
    let again = json!({ "message": { "user_id": ["already exists in source"] } });
    bob.post(&path, json!({})).await.refused(400, again);
    assert_eq!(bob.get(&path).await.status, 403, "the list is for those who manage members");
    assert_eq!(ada.get(&path).await.each("username"), ["bob"]);
    let members = format!("/projects/{project}/members");
    assert_eq!(ada.delete(&format!("{members}/{}", asked["id"])).await.status, 404);
    assert_eq!(ada.get(&members).await.each("username"), ["ada"]);
    assert!(app.letters().iter().any(|text| text.contains("requested access to the")));

    let approve = format!("{path}/{}/approve", asked["id"]);
    assert_eq!(ada.put(&approve, json!({})).await.created()["access_level"], 30);
    assert!(ada.get(&path).await.each("id").is_empty());
    let gone = json!({ "message": "404 Not found" });
    ada.put(&approve, json!({})).await.refused(404, gone);
    assert_eq!(bob.post(&path, json!({})).await.status, 403, "a member has no need to ask");
}

#[actix_web::test]
async fn a_request_is_denied_or_withdrawn() {
    let app = TestApp::new();
    let (ada, bob, eve) = (app.person("ada"), app.person("bob"), app.person("eve"));
    let group = ada.group_with("g1", json!({ "visibility": "public" })).await;
    let path = format!("/groups/{group}/access_requests");
    let one = format!("{path}/{}", app.user("bob").id);

    bob.post(&path, json!({})).await.created();
    assert_eq!(eve.delete(&one).await.status, 403);
    let old = ada.sending("If-Unmodified-Since", "Mon, 01 Jan 2024 00:00:00 GMT");
    assert_eq!(old.delete(&one).await.status, 412);
    assert_eq!(ada.delete(&one).await.status, 204);
    bob.post(&path, json!({})).await.created();
    assert_eq!(bob.delete(&one).await.status, 204);
    assert_eq!(bob.delete(&one).await.status, 404);
}

#[actix_web::test]
async fn nobody_asks_where_asking_is_off_or_nothing_is_to_be_seen() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let closed = ada
        .group_with("g1", json!({ "visibility": "public", "request_access_enabled": false }))
        .await;
    let hidden = ada.group("hidden", None).await;

    let ask = async |group| bob.post(&format!("/groups/{group}/access_requests"), json!({})).await;
    ask(closed).await.refused(403, json!({ "message": "403 Forbidden" }));
    ask(hidden).await.refused(404, json!({ "message": "404 Group Not Found" }));
    let nobody = app.anonymous();
    let asked = nobody.post(&format!("/groups/{closed}/access_requests"), json!({})).await;
    assert_eq!(asked.status, 401);
}

#[actix_web::test]
async fn whoever_is_added_has_asked_enough() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let group = ada.group_with("g1", json!({ "visibility": "public" })).await;
    let path = format!("/groups/{group}/access_requests");
    bob.post(&path, json!({})).await.created();

    let approve = format!("{path}/{}/approve", app.user("bob").id);
    let level = json!({ "message": { "access_level": ["is not included in the list"] } });
    ada.put(&approve, json!({ "access_level": 7 })).await.refused(400, level);
    ada.adds("bob", 20, &format!("/groups/{group}")).await;

    assert!(ada.get(&path).await.each("id").is_empty());
}
