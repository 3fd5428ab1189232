//! How often the database is asked for one call: what is written here is noticed when it grows.

use kernel::Visibility::Public;
use serde_json::json;

use super::merge_request_approvals::forge;
use crate::support::TestApp;

/// How many statements, and which, for whoever looks at a failure.
fn ensure_at_most(app: &TestApp, most: usize) {
    let mut asked = app.statements();
    // That somebody was there is noted beside the call, now and then.
    let beside = ["UPDATE `access_tokens`", "UPDATE `users`"];
    asked.retain(|sql| beside.iter().all(|one| !sql.starts_with(one)));
    assert!(asked.len() <= most, "{} statements:\n{}", asked.len(), asked.join("\n"));
}

#[actix_web::test]
async fn an_issue_is_written_with_few_statements() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issues = format!("/projects/{project}/issues");
    let new = json!({ "title": "One", "description": "What is to be done" });
    ada.post(&issues, new.clone()).await.created();
    app.statements();

    ada.post(&issues, new).await.created();

    ensure_at_most(&app, 14);
}

#[actix_web::test]
async fn a_note_is_written_with_few_statements() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let notes = format!("/projects/{project}/issues/{}/notes", app.issue(project, &ada));
    ada.post(&notes, json!({ "body": "Yes" })).await.created();
    app.statements();

    ada.post(&notes, json!({ "body": "No" })).await.created();

    ensure_at_most(&app, 12);
}

#[actix_web::test]
async fn a_merge_request_is_read_with_few_statements() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    app.work().await;
    forge.dev.get(&forge.at).await.ok();
    app.statements();

    forge.dev.get(&forge.at).await.ok();

    ensure_at_most(&app, 14);
}
