//! What people say of themselves for a while.

use serde_json::{Value, json};
use time::Duration;

use crate::support::TestApp;

fn nothing() -> Value {
    json!({ "emoji": null, "message": null, "availability": null, "message_html": "", "clear_status_at": null })
}

#[actix_web::test]
async fn everybody_sees_what_somebody_says() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let said = json!({ "emoji": "coffee", "message": "<b> at :coffee:", "availability": "busy" });

    let set = ada.put("/user/status", said).await.ok();

    assert_eq!((&set["emoji"], &set["message"]), (&json!("coffee"), &json!("<b> at :coffee:")));
    assert_eq!((&set["availability"], &set["clear_status_at"]), (&json!("busy"), &json!(null)));
    let html = set["message_html"].as_str().unwrap_or_default();
    assert!(html.starts_with("&lt;b&gt; at <gl-emoji title=\"hot beverage\""), "{html}");
    assert_eq!(ada.get("/user/status").await.ok(), set);
    assert_eq!(app.anonymous().get("/users/ADA/status").await.ok(), set);
    let by_id = format!("/users/{}/status", app.user("ada").id);
    assert_eq!(app.anonymous().get(&by_id).await.ok(), set);
    app.person("bob");
    assert_eq!(app.anonymous().get("/users/bob/status").await.ok(), nothing());
    let nobody = json!({ "message": "404 User Not Found" });
    app.anonymous().get("/users/eve/status").await.refused(404, nobody);
    app.anonymous()
        .get("/user/status")
        .await
        .refused(401, json!({ "message": "401 Unauthorized" }));
}

#[actix_web::test]
async fn a_status_ends_by_itself() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let said = json!({ "message": "away", "clear_status_after": "30_minutes" });

    let set = ada.put("/user/status", said).await.ok();
    assert_eq!(set["clear_status_at"], "2026-01-01T00:30:00.000Z");
    app.clock.advance(Duration::minutes(29));
    assert_eq!(ada.get("/user/status").await.ok(), set);
    app.clock.advance(Duration::minutes(1));

    assert_eq!(ada.get("/user/status").await.ok(), nothing());
    let rows = |app: &TestApp| app.row_counts()["user_statuses"];
    assert_eq!(rows(&app), 1);
    app.write(org::status::actions::clear_ended);
    assert_eq!(rows(&app), 0);
}

#[actix_web::test]
async fn what_is_left_out_is_cleared_or_kept() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let said = json!({ "emoji": "coffee", "message": "hi", "availability": "busy", "clear_status_after": "1_day" });
    ada.put("/user/status", said).await.ok();

    let changed = ada.patch("/user/status", json!({ "message": "there" })).await.ok();
    assert_eq!((&changed["emoji"], &changed["message"]), (&json!("coffee"), &json!("there")));
    assert_eq!(changed["availability"], "busy");
    assert!(changed["clear_status_at"].is_string());

    let set =
        ada.put("/user/status", json!({ "message": "new", "availability": "gone" })).await.ok();
    assert_eq!(
        (&set["emoji"], &set["availability"]),
        (&json!("speech_balloon"), &json!("not_set"))
    );
    assert_eq!(set["clear_status_at"], json!(null));
    assert_eq!(ada.put("/user/status", json!({})).await.ok(), nothing());
}

#[actix_web::test]
async fn what_cannot_be_said_is_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let before = ada.put("/user/status", json!({ "message": "hi" })).await.ok();

    let told = json!({ "message": { "emoji": ["is not a valid emoji name"] } });
    ada.put("/user/status", json!({ "emoji": "nonsense" })).await.refused(400, told);
    let told = json!({ "message": { "message": ["is too long (maximum is 100 characters)"] } });
    ada.put("/user/status", json!({ "message": "x".repeat(101) })).await.refused(400, told);
    let told = json!({ "error": "clear_status_after does not have a valid value" });
    ada.put("/user/status", json!({ "clear_status_after": "1_year" })).await.refused(400, told);

    assert_eq!(ada.get("/user/status").await.ok(), before);
}
