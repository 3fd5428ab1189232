//! Forks, and the ties between projects.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use crate::{rest::repo::collaboration::Fork, support::TestApp};

#[actix_web::test]
async fn a_fork_has_the_branches_of_its_source() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let wanted =
        json!({ "name": "Engine", "visibility": "public", "initialize_with_readme": true });
    let source = ada.post("/projects", wanted).await.created()["id"].clone();
    let bob = app.person("bob");

    let made = bob.post(&format!("/projects/{source}/fork"), json!({})).await.created();

    assert_eq!(made["path_with_namespace"], "bob/engine");
    assert_eq!(
        (&made["default_branch"], &made["import_status"]),
        (&json!("main"), &json!("finished"))
    );
    assert_eq!(made["forked_from_project"]["id"], source);
    assert_eq!(made["readme_url"], "http://forge.test/bob/engine/-/blob/main/README.md");
    assert_eq!(ada.get(&format!("/projects/{source}")).await.ok()["forks_count"], 1);
    assert_eq!(
        ada.get(&format!("/projects/{source}/forks")).await.each("id"),
        [made["id"].clone()]
    );
    assert_eq!(bob.get("/projects/bob%2Fengine/languages").await.ok(), json!({}));
    let imported = bob.get("/projects?imported=true").await.ok();
    assert_eq!(imported, json!([]), "a fork comes from here");
}

#[actix_web::test]
async fn a_fork_needs_a_free_place_and_the_right_to_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (open, hidden) = (app.project(&ada, "open", Public), app.project(&ada, "hidden", Private));
    let bob = app.person("bob");
    let fork = format!("/projects/{open}/fork");

    let taken = json!({ "name": ["has already been taken"], "path": ["has already been taken"] });
    ada.post(&fork, json!({})).await.refused(409, json!({ "message": taken }));
    let elsewhere = bob.post(&fork, json!({ "namespace_path": "ada" })).await;
    elsewhere.refused(404, json!({ "message": "404 Target Namespace Not Found" }));
    bob.post(&format!("/projects/{hidden}/fork"), json!({})).await.with(404);
    ada.put(&format!("/projects/{open}"), json!({ "forking_access_level": "disabled" })).await.ok();
    bob.post(&fork, json!({})).await.refused(404, json!({ "message": "404 Not Found" }));
}

#[actix_web::test]
async fn whoever_may_not_read_the_code_takes_no_copy_of_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let wanted =
        json!({ "name": "Engine", "visibility": "private", "initialize_with_readme": true });
    let source = ada.post("/projects", wanted).await.created()["id"].clone();
    let project = app.project_id("ada/engine");
    let (guest, reporter) =
        (app.member(project, "gil", Guest), app.member(project, "rob", Reporter));
    let fork = format!("/projects/{source}/fork");
    let own = app.project(&guest, "own", Private);

    let refused = guest.post(&fork, json!({ "path": "copy", "name": "copy" })).await;

    refused.refused(404, json!({ "message": "404 Not Found" }));
    guest.get("/projects/gil%2Fcopy").await.with(404);
    let tied = guest.post(&format!("/projects/{own}/fork/{source}"), json!({})).await;
    tied.refused(404, json!({ "message": "404 Project Not Found" }));
    reporter.post(&fork, json!({})).await.created();
}

#[actix_web::test]
async fn owners_tie_and_untie_a_fork() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (source, other) = (app.project(&ada, "source", Public), app.project(&ada, "other", Public));

    let tied = ada.post(&format!("/projects/{other}/fork/{source}"), json!({})).await.created();

    assert_eq!(tied["forked_from_project"]["id"], source.0);
    let again = ada.post(&format!("/projects/{other}/fork/{source}"), json!({})).await;
    again.refused(409, json!({ "message": "Project already forked" }));
    ada.delete(&format!("/projects/{other}/fork")).await.with(204);
    ada.delete(&format!("/projects/{other}/fork")).await.with(304);
    assert_eq!(ada.get(&format!("/projects/{source}")).await.ok()["forks_count"], 0);
}

/// How the merge request from `bob`'s fork stands, and that it is not merged.
async fn is_closed(app: &TestApp, project: &Value) {
    let one = format!("/projects/{project}/merge_requests/1");
    let shown = app.person("ada").get(&one).await.ok();
    let stands = (&shown["state"], &shown["detailed_merge_status"]);
    assert_eq!(stands, (&json!("closed"), &json!("not_open")));
    let merge = app.person("ada").put(&format!("{one}/merge"), json!({})).await;
    merge.refused(405, json!({ "message": "405 Method Not Allowed" }));
}

#[actix_web::test]
async fn a_merge_request_is_closed_with_its_fork() {
    let app = TestApp::new();
    let Fork { project, fork } = Fork::new(&app).await;

    app.person("bob").delete(&format!("/projects/{fork}")).await.with(202);

    is_closed(&app, &project).await;
    let shown = app.person("ada").get(&format!("/projects/{project}/merge_requests/1")).await.ok();
    assert_eq!(shown["closed_by"]["username"], "bob");
    app.work().await;
    is_closed(&app, &project).await;
}

#[actix_web::test]
async fn a_merge_request_is_closed_when_its_source_is_no_fork_any_more() {
    let app = TestApp::new();
    let Fork { project, fork } = Fork::new(&app).await;

    app.person("bob").delete(&format!("/projects/{fork}/fork")).await.with(204);

    is_closed(&app, &project).await;
}

#[actix_web::test]
async fn a_merge_request_is_closed_with_the_group_of_its_fork() {
    let app = TestApp::new();
    let Fork { project, fork } = Fork::new(&app).await;
    let bob = app.person("bob");
    let group = bob.group("orchid", None).await;
    bob.put(&format!("/projects/{fork}/transfer"), json!({ "namespace": group })).await.ok();

    bob.delete(&format!("/groups/{group}")).await.with(202);
    app.work().await;

    is_closed(&app, &project).await;
}
