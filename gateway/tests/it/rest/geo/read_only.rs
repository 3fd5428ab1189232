//! A server that takes no writes: `gateway/src/write_refusal.rs`

use actix_web::http::Method;
use diesel::prelude::*;
use forge::geo::GeoSettings;
use geo::{
    Role,
    node::{GeoNode, NodeStore as _},
};
use kernel::{Visibility::Public, ids::GeoNodeId};
use org::user::session;
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
async fn preferences_are_read_where_nothing_is_written() {
    let app = app();
    let ada = app.person("ada");

    let shown = ada.get("/user/preferences").await.ok();

    let usual = json!({ "id": null, "user_id": app.user("ada").id, "view_diffs_file_by_file": false,
        "show_whitespace_in_diffs": true });
    assert_eq!(shown, usual);
    let stored = app.state.db.read_blocking(|tx| {
        use db::schema::user_preferences as preferences;
        let all = preferences::table.count();
        db::each_backend!(tx, |conn| all.get_result::<i64>(conn).map_err(db::error("Row")))
    });
    assert_eq!(stored.expect("rows are read"), 0);
}

#[actix_web::test]
async fn on_a_secondary_the_browser_alone_forgets_its_session() {
    let app = app();
    let _account = app.person("ada");
    let user = app.user("ada").id;
    let secret = app.write(move |tx| session::begin(tx, user));
    let browser = app.anonymous();
    let browser = browser.sending("Cookie", &format!("_forgeway_session={}", secret.reveal()));

    let left = browser.post("//users/sign_out", json!({})).await;

    assert_eq!(left.status, 303);
    let forgotten = left.header("set-cookie").unwrap_or_default();
    assert!(forgotten.contains("Max-Age=0"), "{forgotten}");
    assert!(app.write(move |tx| session::resume(tx, &secret)).is_some(), "its row is a copy");
}

#[actix_web::test]
async fn a_node_without_a_row_has_no_status_there() {
    let app = app();
    app.admin().get("/geo_nodes/1/status").await.with(404);
    assert_eq!(app.admin().get("/geo_nodes/status").await.ok(), json!([]));
}

#[actix_web::test]
async fn no_mutation_is_made_on_a_secondary() {
    let app = app();
    let ada = app.person("ada");
    let query = r#"mutation { echoCreate(input: { messages: "hi" }) { echoes errors } }"#;
    let one = json!({ "query": query });
    let told = ada.post("//api/graphql", one.clone()).await.ok();
    assert_eq!(told["errors"][0]["message"], json!(READ_ONLY));
    let many = ada.post("//api/graphql", json!([one, { "query": "{ __typename }" }])).await.ok();
    assert_eq!(many[0]["errors"][0]["message"], json!(READ_ONLY));
    assert_eq!(many[1]["data"]["__typename"], json!("Query"));
    let form = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{}\r\n\
         --edge\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n{{}}\r\n--edge--\r\n",
        json!({ "query": query })
    );
    let kind = "multipart/form-data; boundary=edge";
    let sent = ada.send_bytes(Method::POST, "//api/graphql", kind, form.as_bytes()).await;
    assert!(!String::from_utf8_lossy(&sent.bytes).contains("echoes\":[\"hi"), "{:?}", sent.body);
}

#[actix_web::test]
async fn no_mutation_is_made_in_maintenance() {
    let app = TestApp::new();
    let settings = json!({ "maintenance_mode": true, "maintenance_mode_message": "At noon" });
    app.admin().put("/application/settings", settings).await.ok();
    let query = r#"mutation { echoCreate(input: { messages: "hi" }) { echoes } }"#;

    let told = app.person("ada").post("//api/graphql", json!({ "query": query })).await.ok();

    assert_eq!(told["errors"][0]["message"], json!("At noon"));
}

#[actix_web::test]
async fn large_files_and_alerts_are_not_brought_to_a_secondary() {
    let app = app();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    let base = "//ada/engine.git/info/lfs";
    let objects = json!([{ "oid": "0".repeat(64), "size": 1 }]);
    let batch = |operation: &str| json!({ "operation": operation, "objects": objects });
    assert_eq!(ada.post(&format!("{base}/objects/batch"), batch("upload")).await.status, 403);
    ada.post(&format!("{base}/objects/batch"), batch("download")).await.ok();
    let path = format!("{base}/objects/{}/1", "0".repeat(64));
    let kind = "application/octet-stream";
    assert_eq!(ada.send_bytes(Method::PUT, &path, kind, b"x").await.status, 403);
    assert_eq!(ada.post(&format!("{base}/locks/1/unlock"), json!({})).await.status, 403);
    ada.post(&format!("{base}/locks/verify"), json!({})).await.ok();
    let pack = "//ada/engine.git/git-receive-pack";
    let kind = "application/x-git-receive-pack-request";
    assert_eq!(ada.send_bytes(Method::POST, pack, kind, b"0000").await.status, 403);
    let alert = app.anonymous().post("//ada/engine/alerts/notify.json", json!({})).await;
    alert.refused(403, json!({ "message": READ_ONLY }));
}

/// The primary that the rows of a secondary tell of.
fn elsewhere(app: &TestApp) {
    let now = app.clock.now();
    let node = GeoNode {
        id: GeoNodeId(0),
        name: "main".to_owned(),
        url: "https://main.test/forge/".to_owned(),
        internal_url: None,
        primary: true,
        enabled: true,
        files_max_capacity: 10,
        repos_max_capacity: 25,
        verification_max_capacity: 100,
        container_repositories_max_capacity: 10,
        minimum_reverification_interval: 7,
        selective_sync_type: None,
        selective_sync_shards: "[]".to_owned(),
        sync_object_storage: false,
        access_key: "0123".to_owned(),
        sealed: String::new(),
        oauth_application_id: None,
        created_at: now,
        updated_at: now,
    };
    app.write(move |tx| tx.insert_geo_node(&node));
}

#[actix_web::test]
async fn a_push_to_a_secondary_is_sent_to_the_primary() {
    let app = app();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    elsewhere(&app);
    let place = "ada/engine.git/info/refs?service=git-receive-pack";
    let sent = ada.get(&format!("//{place}")).await;
    let there = format!("https://main.test/forge/{place}");
    assert_eq!((sent.status, sent.header("location")), (307, Some(&*there)));
    let locks = ada.post("//ada/engine.git/info/lfs/locks", json!({ "path": "a.bin" })).await;
    let there = "https://main.test/forge/ada/engine.git/info/lfs/locks";
    assert_eq!((locks.status, locks.header("location")), (307, Some(there)));
    let fetch = ada.get("//ada/engine.git/info/refs?service=git-upload-pack").await;
    assert_eq!(fetch.status, 200);
}
