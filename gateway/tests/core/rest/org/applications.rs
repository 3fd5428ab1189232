//! Applications: `gateway/src/rest/org/applications.rs`.

use serde_json::{Value, json};

use crate::support::TestApp;

fn wanted() -> Value {
    json!({ "name": "Board", "redirect_uri": "https://board.example.com/back", "scopes": "api read_user" })
}

#[actix_web::test]
async fn an_application_is_made_with_a_secret_that_is_shown_once() {
    let app = TestApp::new();
    let root = app.admin();

    let made = root.post("/applications", wanted()).await.created();

    let keys: Vec<&String> = made.as_object().expect("an object").keys().collect();
    let expected =
        ["id", "application_id", "application_name", "callback_url", "confidential", "secret"];
    assert_eq!(keys, expected);
    assert_eq!((&made["application_name"], &made["confidential"]), (&json!("Board"), &json!(true)));
    assert_eq!(made["callback_url"], "https://board.example.com/back");
    assert_eq!(made["secret"].as_str().map(str::len), Some(64));
    let listed = root.get("/applications").await.ok();
    assert_eq!(listed[0]["application_id"], made["application_id"]);
    assert_eq!(listed[0].get("secret"), None);
}

#[actix_web::test]
async fn applications_come_page_by_page_for_administrators_alone() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let first = root.post("/applications", wanted()).await.created();
    let mut other = wanted();
    other["confidential"] = json!(false);
    let second = root.post("/applications", other).await.created();

    let ids = root.get("/applications?per_page=1&page=2").await.each("id");

    assert_eq!((ids, &second["confidential"]), (vec![second["id"].clone()], &json!(false)));
    assert_eq!(app.anonymous().get("/applications").await.status, 401);
    assert_eq!(ada.get("/applications").await.status, 403);
    assert_eq!(ada.post("/applications", wanted()).await.status, 403);
    let one = format!("/applications/{}", first["id"]);
    assert_eq!(ada.delete(&one).await.status, 403);
    assert_eq!(root.delete(&one).await.status, 204);
    assert_eq!(root.delete(&one).await.status, 404);
}

#[actix_web::test]
async fn addresses_and_scopes_that_cannot_be_used_are_refused() {
    let app = TestApp::new();
    let root = app.admin();
    let cases = [
        ("redirect_uri", "/back", "must be an absolute URI."),
        ("redirect_uri", "https://a.example.com/#x", "cannot contain a fragment."),
        (
            "redirect_uri",
            "https://a.example.com\njavascript:alert(1)",
            "is forbidden by the server.",
        ),
        ("redirect_uri", " ", "can't be blank"),
        ("scopes", "api everything", "doesn't match configured on the server."),
        ("name", " ", "can't be blank"),
    ];
    for (field, value, text) in cases {
        let mut body = wanted();
        body[field] = json!(value);
        let fault = json!({ "message": { field: [text] } });
        root.post("/applications", body).await.refused(400, fault);
    }
    let missing = json!({ "error": "name is missing, redirect_uri is missing, scopes is missing" });
    root.post("/applications", json!({})).await.refused(400, missing);
}

#[actix_web::test]
async fn who_makes_and_removes_an_application_is_audited() {
    let app = TestApp::new();
    let root = app.admin();
    let made = root.post("/applications", wanted()).await.created();
    root.delete(&format!("/applications/{}", made["id"])).await;

    let query = "/audit_events?entity_type=Gitlab::Audit::InstanceScope";
    let names = root.get(query).await.each("event_name");

    assert_eq!(
        names[..2],
        [json!("oauth_application_deleted"), json!("oauth_application_created")]
    );
    let first = &root.get(query).await.ok()[1];
    assert_eq!(first["details"]["target_details"], "Board");
    assert!(!root.get(query).await.ok().to_string().contains(made["secret"].as_str().unwrap()));
}
