//! How people want to see things, and what waits for them.

use serde_json::{Value, json};

use crate::support::{Person, TestApp};

#[actix_web::test]
async fn preferences_are_ones_own_and_keep() {
    let app = TestApp::new();
    let ada = app.person("ada");

    let first = ada.get("/user/preferences").await.ok();
    let changed =
        ada.put("/user/preferences", json!({ "view_diffs_file_by_file": true })).await.ok();

    assert_eq!(first["user_id"], app.user("ada").id.0);
    assert_eq!(first["view_diffs_file_by_file"], false);
    assert_eq!(first["show_whitespace_in_diffs"], true);
    assert_eq!(changed["id"], first["id"]);
    assert_eq!(changed["view_diffs_file_by_file"], true);
    assert_eq!(changed["show_whitespace_in_diffs"], true);
    let other = json!({ "show_whitespace_in_diffs": false });
    let changed = ada.put("/user/preferences", other).await.ok();
    assert_eq!(ada.get("/user/preferences").await.ok(), changed);
    assert_eq!(changed["view_diffs_file_by_file"], true);
    let told = json!({ "error": "view_diffs_file_by_file, show_whitespace_in_diffs are missing, at least one parameter \
        must be provided" });
    ada.put("/user/preferences", json!({})).await.refused(400, told);
    assert_eq!(
        app.person("bob").get("/user/preferences").await.ok()["view_diffs_file_by_file"],
        false
    );
}

#[actix_web::test]
async fn nothing_waits_where_nothing_can_be_assigned() {
    let app = TestApp::new();

    let counts = app.person("ada").get("/user_counts").await.ok();

    assert_eq!(
        counts,
        json!({ "merge_requests": 0, "assigned_issues": 0, "assigned_merge_requests": 0,
            "review_requested_merge_requests": 0, "todos": 0 })
    );
    app.anonymous()
        .get("/user_counts")
        .await
        .refused(401, json!({ "message": "401 Unauthorized" }));
}

async fn assigned(person: &Person<'_>) -> Value {
    person.get("/user_counts").await.ok()["assigned_issues"].clone()
}

#[actix_web::test]
async fn what_somebody_cannot_read_any_more_does_not_wait_for_them() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = json!({ "name": "secret", "visibility": "private" });
    let project = ada.post("/projects", project).await.created()["id"].clone();
    let place = format!("/projects/{project}");
    ada.adds("bob", 30, &place).await;
    let issue = json!({ "title": "one", "assignee_ids": [app.user("bob").id] });
    ada.post(&format!("{place}/issues"), issue).await.created();
    assert_eq!(assigned(&bob).await, 1);

    ada.delete(&format!("{place}/members/{}", app.user("bob").id)).await.with(204);
    assert_eq!(assigned(&bob).await, 0);
    ada.adds("bob", 30, &place).await;
    assert_eq!(assigned(&bob).await, 1);
    ada.post(&format!("{place}/archive"), json!({})).await.created();
    assert_eq!(assigned(&bob).await, 0, "nothing is to be done in an archive");
}
