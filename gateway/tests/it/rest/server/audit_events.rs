//! Audit events: `gateway/src/rest/server/audit_events.rs`.

use kernel::{AccessLevel::Maintainer, Visibility::Private};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn a_change_of_settings_is_audited() {
    let app = TestApp::new();
    let root = app.admin();
    root.put("/application/settings", json!({ "first_day_of_week": 1 })).await.ok();
    root.put("/application/settings", json!({ "first_day_of_week": 1 })).await.ok();

    let query = "/audit_events?entity_type=Gitlab::Audit::InstanceScope";
    let events = root.get(query).await.ok();
    assert_eq!(
        events.as_array().map(Vec::len),
        Some(1),
        "what changes nothing is no event: {events}"
    );
    let event = &events[0];
    assert_eq!(event["author_id"], json!(app.user("root").id));
    let details = &event["details"];
    assert_eq!(
        (&details["change"], &details["from"], &details["to"]),
        (&json!("first_day_of_week"), &json!("0"), &json!("1"))
    );
    assert_eq!(root.get(&format!("/audit_events/{}", event["id"])).await.ok(), *event);
    let absent = json!({ "message": "404 Audit Event Not Found" });
    root.get("/audit_events/999999").await.refused(404, absent);
    let alone = json!({ "error": "entity_type is missing" });
    root.get("/audit_events?entity_id=1").await.refused(400, alone);
}

#[actix_web::test]
async fn owners_see_what_happens_in_their_groups() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.person("bob");
    let group = ada.group("works", None).await;
    ada.adds("bob", 30, &format!("/groups/{group}")).await;

    let path = format!("/groups/{group}/audit_events");
    let events = ada.get(&path).await.ok();
    let first = &events[0];
    assert_eq!((&first["entity_type"], &first["entity_id"]), (&json!("Group"), &json!(group)));
    assert_eq!(
        (&first["details"]["add"], &first["details"]["as"]),
        (&json!("user_access"), &json!("Developer"))
    );
    assert_eq!(first["details"]["target_details"], "bob");
    assert_eq!(app.person("bob").get(&path).await.status, 403);
    let own = app.person("eve").group("others", None).await;
    let foreign = format!("/groups/{own}/audit_events/{}", first["id"]);
    assert_eq!(app.person("eve").get(&foreign).await.status, 404);
}

#[actix_web::test]
async fn maintainers_see_what_they_did_themselves() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let mia = app.member(project, "mia", Maintainer);
    let path = format!("/projects/{project}/audit_events");
    assert!(!ada.get(&path).await.each("id").is_empty());
    assert!(mia.get(&path).await.each("id").is_empty());
    app.person("bob");
    mia.adds("bob", 20, &format!("/projects/{project}")).await;
    assert_eq!(mia.get(&path).await.each("event_name"), [json!("member_created")]);
}

#[actix_web::test]
async fn audit_events_come_page_by_page_and_by_time() {
    let app = TestApp::new();
    let root = app.admin();
    for day in [1, 6, 0] {
        app.clock.advance(time::Duration::hours(1));
        root.put("/application/settings", json!({ "first_day_of_week": day })).await.ok();
    }
    let query = "entity_type=Gitlab::Audit::InstanceScope&per_page=2";
    let first =
        root.get(&format!("/audit_events?{query}&pagination=keyset&order_by=id&sort=desc")).await;
    let next = first.header("link").expect("a link").to_owned();
    let ids = first.each("id");
    assert_eq!(ids.len(), 2);
    assert!(next.contains(&format!("id_before={}", ids[1])), "{next}");
    let rest =
        root.get(&format!("/audit_events?{query}&pagination=keyset&id_before={}", ids[1])).await;
    assert_eq!(rest.each("id").len(), 1);
    let since = app.state.db.clock().now().plus(-time::Duration::minutes(30)).iso();
    let late = root.get(&format!("/audit_events?{query}&created_after={since}")).await;
    assert_eq!(late.each("id").len(), 1);
}
