//! What an issue tells of how it was closed.

use serde_json::{Value, json};

use super::merge_stage::Stage;
use crate::support::TestApp;

async fn told(stage: &Stage<'_>, iid: i64) -> Vec<Value> {
    stage.ada.get(&format!("{}/issues/{iid}/notes?sort=asc", stage.home)).await.each("body")
}

#[actix_web::test]
async fn an_issue_tells_which_merge_request_or_commit_closed_it() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.issues(4);
    stage.propose("feature", json!({ "description": "Closes #1" })).await;
    stage.commit_saying("feature", None, "more.txt", "more\n", "More\n\nFixes #2").await;
    stage.merge(1, json!({})).await.ok();
    let sha = stage.commit_saying("main", None, "a.txt", "a\n", "Write\n\nCloses #3").await;
    stage
        .ada
        .put(&format!("{}/issues/4", stage.home), json!({ "state_event": "close" }))
        .await
        .ok();

    for (iid, told_last) in [
        (1, "closed via merge request !1".to_owned()),
        (2, "closed via merge request !1".to_owned()),
        (3, format!("closed via commit {sha}")),
        (4, "closed".to_owned()),
    ] {
        assert_eq!(told(&stage, iid).await.last(), Some(&json!(told_last)), "{iid}");
    }
}

#[actix_web::test]
async fn a_merge_request_that_somebody_may_not_read_is_not_told() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let open = app.project(&stage.ada, "open", kernel::Visibility::Public);
    app.issue(open, &stage.ada);
    stage.propose("feature", json!({ "description": "Closes ada/open#1" })).await;

    stage.merge(1, json!({})).await.ok();

    let issue = format!("/projects/{open}/issues/1");
    assert_eq!(stage.ada.get(&issue).await.ok()["state"], "closed");
    let notes = stage.ada.get(&format!("{issue}/notes")).await.each("body");
    assert!(notes.contains(&json!("closed via merge request ada/forge!1")), "{notes:?}");
    let seen = app.person("eve").get(&format!("{issue}/notes")).await.each("body");
    assert_eq!(seen, Vec::<Value>::new());
}

#[actix_web::test]
async fn only_incidents_have_a_severity() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "private").await;
    let issues = format!("/projects/{project}/issues");
    for (kind, severity) in [("issue", "UNKNOWN"), ("incident", "HIGH")] {
        let new = json!({ "title": kind, "issue_type": kind });
        let one = format!("{issues}/{}", ada.post(&issues, new).await.created()["iid"]);
        ada.post(&format!("{one}/notes"), json!({ "body": "/severity high" })).await;
        assert_eq!(ada.get(&one).await.ok()["severity"], severity, "{kind}");
    }
}
