//! How often the database is asked for one call: what is written here is noticed when it grows.

use kernel::Visibility::Public;
use serde_json::json;

use crate::support::TestApp;

/// How many statements, and which, for whoever looks at a failure.
fn ensure_at_most(app: &TestApp, most: usize) {
    let asked = app.statements();
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

    ensure_at_most(&app, 17);
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

    ensure_at_most(&app, 13);
}
