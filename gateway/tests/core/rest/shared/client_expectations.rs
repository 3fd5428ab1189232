//! What the tests of widely used clients expect of repositories, call for call.

use kernel::{AccessLevel::Maintainer, Visibility::Private};
use repo::testing::Fixture;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn the_first_file_of_an_empty_project_makes_its_default_branch() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let path = format!("/projects/{}", app.project(&ada, "new", Private));

    let file = json!({ "branch": "main", "content": "Hello", "commit_message": "First" });
    let made = ada.post(&format!("{path}/repository/files/README.md"), file).await.created();

    assert_eq!(made, json!({ "file_path": "README.md", "branch": "main" }));
    assert_eq!(ada.get(&path).await.ok()["default_branch"], "main");
    let read = ada.get(&format!("{path}/repository/files/README.md?ref=HEAD")).await.ok();
    assert_eq!((&read["ref"], &read["content"]), (&json!("HEAD"), &json!("SGVsbG8=")));
}

#[actix_web::test]
async fn a_status_is_pinned_to_the_pipeline_that_the_commit_names() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    let commit = format!("/projects/{project}/repository/commits/main");
    let report = format!("/projects/{project}/statuses/main");
    let first = json!({ "state": "pending", "context": "lint", "description": "Waits" });
    ada.post(&report, first).await.created();

    let pipeline = ada.get(&commit).await.ok()["last_pipeline"]["id"].clone();
    let second = json!({ "state": "success", "context": "test", "pipeline_id": pipeline });
    let made = ada.post(&report, second).await.created();

    assert_eq!(made["pipeline_id"], pipeline);
    assert_eq!(ada.get(&format!("{commit}/statuses")).await.each("name"), ["lint", "test"]);
    assert!(ada.get(&format!("{commit}/refs")).await.ok().is_array());
    assert_eq!(ada.get(&format!("{commit}/merge_requests")).await.ok(), json!([]));
}

#[actix_web::test]
async fn two_requests_for_one_archive_give_the_same_bytes() {
    let app = TestApp::new();
    let path = format!("/projects/{}/repository", app.project_from(&Fixture::new()));
    let nobody = app.anonymous();

    for ending in ["zip", "tar", "tar.gz", "tgz", "gz", "tar.bz2", "tbz", "tbz2", "tb2", "bz2"] {
        let one = nobody.get(&format!("{path}/archive.{ending}?sha=main")).await;
        let other = nobody.get(&format!("{path}/archive.{ending}?sha=main")).await;
        assert_eq!(one.status, 200, "{ending}");
        assert!(!one.bytes.is_empty() && one.bytes == other.bytes, "{ending}");
    }
}

#[actix_web::test]
async fn names_with_odd_signs_are_found_by_their_address() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let mia = app.member(project, "mia", Maintainer);
    let path = format!("/projects/{project}");

    let rules = format!("{path}/protected_branches");
    mia.post(&rules, json!({ "name": "*-stable" })).await.created();
    mia.delete(&format!("{rules}/%2A-stable")).await.with(204);
    let labels = format!("{path}/labels");
    mia.post(&labels, json!({ "name": "plain", "color": "#112233" })).await.created();
    let renamed = json!({ "new_name": "Label: that requires encoding" });
    mia.put(&format!("{labels}/plain"), renamed).await.ok();

    let found = mia.get(&format!("{labels}/Label%3A%20that%20requires%20encoding")).await.ok();
    assert_eq!(found["name"], "Label: that requires encoding");
    assert_eq!(mia.get(&rules).await.ok(), json!([]));
}

#[actix_web::test]
async fn empty_parts_of_a_path_say_nothing() {
    let app = TestApp::new();
    let root = app.admin();
    let made = root.post("/features//faster", json!({ "value": true })).await.created();
    assert_eq!((&made["name"], &made["state"]), (&json!("faster"), &json!("on")));
    assert_eq!(root.get("//api/v4//version").await.status, 200);
    assert_eq!(root.delete("/features//faster").await.status, 204);
    assert_eq!(root.get("/features//").await.ok(), json!([]));
    assert_eq!(root.get("/features//faster//slower").await.status, 404);
}
