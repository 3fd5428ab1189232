//! What clients ask most, a project with a page of issues, costs few statements.

use kernel::ids::ProjectId;
use serde_json::json;

use super::review::ask;
use crate::support::{TestApp, ci};

const BOARD: &str = "{ project(fullPath: \"ada/site\") { id name fullPath webUrl \
    pipelines(first: 1) { nodes { id iid status ref } } \
    issues(first: 20) { count nodes { id iid title state webUrl \
    labels(first: 10) { nodes { title color } } assignees(first: 10) { nodes { username name avatarUrl } } } \
    pageInfo { endCursor hasNextPage } } } }";

#[actix_web::test]
async fn a_project_with_its_newest_pipeline_and_issues_costs_few_statements() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.post("/projects", json!({ "name": "site" })).await.created();
    let project = ProjectId(project["id"].as_i64().expect("an id"));
    ci::commit(&ada, project, "main", "Build", "build:\n  script: make\n").await;
    for n in 0..3 {
        let new = json!({ "title": format!("Issue {n}"), "labels": "one,two", "assignee_ids": [app.user("ada").id.0] });
        ada.post(&format!("/projects/{project}/issues"), new).await.created();
    }

    let cost = app.cost(async || drop(ask(&ada, BOARD).await)).await;

    assert!(cost <= 26, "{cost} statements");
}
