//! What auditors may do with vulnerabilities: `crates/forge/src/security/readers.rs`.

use kernel::ids::ProjectId;
use serde_json::json;

use super::{
    findings::{finding, keep},
    vulnerability_exports::{at, lines, of_project},
};
use crate::support::TestApp;

#[actix_web::test]
async fn an_auditor_exports_every_project_and_group_and_changes_nothing() {
    let app = TestApp::new();
    let keeper = app.person("keeper");
    let group = keeper.group("tools", None).await;
    let wanted = json!({ "name": "hammer", "namespace_id": group, "visibility": "private" });
    let id = keeper.post("/projects", wanted).await.created()["id"].as_i64().expect("an id");
    keep(&app, ProjectId(id), finding("Weak hash"));
    let (eve, user) = (app.person("eve"), app.user("eve").id);
    let of_group = format!("/security/groups/{group}/vulnerability_exports");
    for path in [&of_project(ProjectId(id)), &of_group] {
        eve.post(path, json!({})).await.with(404);
    }
    app.admin().put(&format!("/users/{user}"), json!({ "auditor": true })).await.ok();

    for path in [&of_project(ProjectId(id)), &of_group] {
        assert!(lines(&eve, path).await.contains("Weak hash"), "{path}");
    }

    let export = eve.post(&of_project(ProjectId(id)), json!({})).await.created();
    eve.get(&format!("/projects/{id}/vulnerabilities")).await.with(404);
    app.admin().put(&format!("/users/{user}"), json!({ "auditor": false })).await.ok();
    eve.get(&at(&export)).await.with(403);
}
