//! What the installation is set to.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn administrators_change_what_new_things_are_like() {
    let app = TestApp::new();
    let root = app.admin();
    let path = "/application/settings";

    let before = root.get(path).await.ok();
    let wanted = json!({ "default_group_visibility": "public", "personal_access_token_prefix": "fw-", "minimum_password_length": 12 });
    let after = root.put(path, wanted).await.ok();

    assert_eq!(
        (&before["default_branch_name"], &before["default_branch_protection"]),
        (&json!("main"), &json!(2))
    );
    assert_eq!(after["minimum_password_length"], 12);
    let group = root.post("/groups", json!({ "name": "Open", "path": "open" })).await.created();
    assert_eq!(group["visibility"], "public");
    let tokens = format!("/users/{}/personal_access_tokens", app.user("root").id);
    let token = root.post(&tokens, json!({ "name": "x", "scopes": ["api"] })).await.created();
    assert!(token["token"].as_str().is_some_and(|secret| secret.starts_with("fw-")));
}

#[actix_web::test]
async fn settings_that_cannot_be_are_refused_and_change_nothing() {
    let app = TestApp::new();
    let root = app.admin();
    let path = "/application/settings";

    let short =
        json!({ "message": { "minimum_password_length": ["must be greater than or equal to 8"] } });
    root.put(path, json!({ "minimum_password_length": 1 })).await.refused(400, short);
    let odd = json!({ "error": "default_branch_protection does not have a valid value" });
    root.put(path, json!({ "default_branch_protection": 9 })).await.refused(400, odd);
    assert_eq!(root.put(path, json!({})).await.status, 400);
    assert_eq!(root.get(path).await.ok()["minimum_password_length"], 8);
    assert_eq!(app.person("ada").get(path).await.status, 403);
    assert_eq!(app.anonymous().get(path).await.status, 401);
}
