//! Several people who change one issue at once.

use futures_util::future::join_all;
use kernel::Visibility::Private;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn of_those_who_change_an_issue_at_once_all_are_heard() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let issues = format!("/projects/{project}/issues");
    ada.post(&issues, json!({ "title": "One" })).await.created();
    let path = format!("{issues}/1");
    let changes = [
        json!({ "title": "Two" }),
        json!({ "description": "What is told" }),
        json!({ "weight": 3 }),
        json!({ "due_date": "2026-05-05" }),
        json!({ "discussion_locked": true }),
    ];

    for answer in join_all(changes.iter().map(|change| ada.put(&path, change.clone()))).await {
        answer.ok();
    }

    let kept = ada.get(&path).await.ok();
    for change in &changes {
        for (field, value) in change.as_object().expect("fields") {
            assert_eq!(&kept[field], value, "{field}");
        }
    }
}

#[actix_web::test]
async fn of_those_who_move_an_issue_at_once_one_does() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let from = app.project(&ada, "from", Private);
    let there = ["one", "two", "three"].map(|name| app.project(&ada, name, Private));
    let issue = json!({ "title": "One" });
    ada.post(&format!("/projects/{from}/issues"), issue).await.created();
    let path = format!("/projects/{from}/issues/1/move");

    let moves = there.iter().map(|to| ada.post(&path, json!({ "to_project_id": to.0 })));
    let answers = join_all(moves).await;

    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 400, 400]);
    assert_eq!(ada.get("/issues?state=opened").await.each("title").len(), 1);
}
