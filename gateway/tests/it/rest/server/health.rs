//! Health pages: `gateway/src/rest/server/health.rs`.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn readiness_says_yes_only_while_requests_are_served() {
    let app = TestApp::new();
    let nobody = app.anonymous();
    let expected = |state: &str, serving: &str| {
        json!({
            "status": state,
            "database_check": [{ "status": "ok" }],
            "repositories_check": [{ "status": "ok" }],
            "room_check": [{ "status": "ok" }],
            "serving_check": [{ "status": serving }],
        })
    };

    assert_eq!(nobody.get("//-/readiness").await.with(503), expected("failed", "failed"));
    app.state.set_ready(true);
    assert_eq!(nobody.get("//-/readiness").await.ok(), expected("ok", "ok"));
    app.state.set_ready(false);
    assert_eq!(nobody.get("//-/readiness").await.status, 503);
    assert_eq!(nobody.get("//-/liveness").await.ok(), json!({ "status": "ok" }));
}

#[actix_web::test]
async fn readiness_says_no_without_the_data_folder() {
    let app = TestApp::new();
    app.state.set_ready(true);
    std::fs::remove_dir_all(app.state.data()).expect("the folder goes");

    let body = app.anonymous().get("//-/readiness").await.with(503);

    assert_eq!(body["repositories_check"][0]["status"], "failed");
    assert_eq!(body["database_check"][0]["status"], "ok");
}

#[actix_web::test]
async fn probes_ask_for_no_credential_and_look_none_up() {
    let app = TestApp::new();
    let guest = app.anonymous().sending("PRIVATE-TOKEN", "no such token");
    app.statements();

    for probe in ["//-/health", "//-/liveness"] {
        assert_eq!(guest.get(probe).await.status, 200, "{probe}");
    }

    assert_eq!(app.statements(), [""; 0]);
    assert_eq!(guest.get("/version").await.status, 401);
}
