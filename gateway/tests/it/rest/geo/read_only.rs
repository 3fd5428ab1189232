//! A server that takes no writes: `gateway/src/write_refusal.rs`

use forge::geo::GeoSettings;
use geo::Role;
use kernel::Visibility::Public;
use serde_json::json;

use crate::support::TestApp;

const READ_ONLY: &str = "You cannot perform write operations on a read-only instance";

fn app() -> TestApp {
    TestApp::as_node(GeoSettings { node: None, role: Role::Secondary })
}

#[actix_web::test]
async fn a_secondary_refuses_whatever_writes() {
    let app = app();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    let told = json!({ "message": READ_ONLY });
    let issues = format!("/projects/{project}/issues");
    ada.post(&issues, json!({ "title": "x" })).await.refused(403, told.clone());
    ada.delete(&format!("/projects/{project}")).await.refused(403, told.clone());
    let admin = app.admin();
    let node = json!({ "name": "x", "url": "http://x.test" });
    admin.post("/geo_nodes", node).await.refused(403, told.clone());
    admin.put("/application/settings", json!({ "admin_mode": true })).await.refused(403, told);
    assert_eq!(ada.get(&issues).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_secondary_answers_what_changes_nothing() {
    let app = app();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    ada.post("/markdown", json!({ "text": "*x*" })).await.created();
    app.anonymous().post("/geo/status", json!({ "geo_node_id": 1 })).await.with(401);
    ada.get("/projects").await.ok();
    let refs = "//ada/engine.git/info/refs?service=git-upload-pack";
    assert_ne!(ada.get(refs).await.status, 403);
}

#[actix_web::test]
async fn nothing_is_pushed_to_a_secondary() {
    let app = app();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    let refused = ada.get("//ada/engine.git/info/refs?service=git-receive-pack").await;
    assert_eq!(refused.status, 403);
    assert_eq!(refused.bytes, b"You can't push code to a read-only GitLab instance.\n");
    let locked = ada.post("//ada/engine.git/info/lfs/locks", json!({ "path": "a.bin" })).await;
    assert_eq!(locked.status, 403);
}

#[actix_web::test]
async fn a_node_without_a_row_has_no_status_there() {
    let app = app();
    app.admin().get("/geo_nodes/1/status").await.with(404);
    assert_eq!(app.admin().get("/geo_nodes/status").await.ok(), json!([]));
}
