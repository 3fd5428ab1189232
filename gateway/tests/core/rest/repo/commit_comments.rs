//! Comments on commits.

use kernel::AccessLevel;
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::TestApp;

#[actix_web::test]
async fn comments_are_listed_oldest_first() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let comments = format!("/projects/{project}/repository/commits/main/comments");
    let grace = app.person("grace");

    let first = grace.post(&comments, json!({ "note": "First" })).await.created();
    grace.post(&comments, json!({ "note": "Second" })).await.created();

    assert_eq!(first["author"]["username"], "grace");
    assert_eq!(first["created_at"], "2026-01-01T00:00:00.000Z");
    assert_eq!(
        (&first["path"], &first["line"], &first["line_type"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let page = app.anonymous().get(&format!("{comments}?per_page=1&page=2")).await;
    assert_eq!(page.header("x-total"), Some("2"));
    assert_eq!(page.each("note"), [json!("Second")]);
    let other = format!("/projects/{project}/repository/commits/topic/comments");
    assert_eq!(app.anonymous().get(&other).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_comment_stays_at_a_line_that_the_commit_changed() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let comments = format!("/projects/{project}/repository/commits/main/comments");
    let ada = app.person("ada");
    let at = |line: i64, kind: &str| json!({ "note": "n", "path": "two.txt", "line": line, "line_type": kind });

    let added = ada.post(&comments, at(3, "new")).await.created();
    assert_eq!(
        (&added["path"], &added["line"], &added["line_type"]),
        (&json!("two.txt"), &json!(3), &json!("new"))
    );
    for elsewhere in [at(1, "new"), at(9, "new"), at(2, "old")] {
        assert_eq!(ada.post(&comments, elsewhere).await.created()["path"], Value::Null);
    }
}

#[actix_web::test]
async fn comments_that_say_nothing_are_refused() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let comments = |sha: &str| format!("/projects/{project}/repository/commits/{sha}/comments");
    let ada = app.person("ada");
    let guest = app.member(project, "guest", AccessLevel::Guest);

    let missing = json!({ "error": "note is missing" });
    ada.post(&comments("main"), json!({})).await.refused(400, missing);
    let missing = json!({ "error": "line is missing" });
    ada.post(&comments("main"), json!({ "note": "n", "path": "a" })).await.refused(400, missing);
    let blank = json!({ "message": "400 Bad request - Note {:note=>[\"can't be blank\"]}" });
    ada.post(&comments("main"), json!({ "note": " " })).await.refused(400, blank);
    let absent = json!({ "message": "404 Commit Not Found" });
    ada.post(&comments("nowhere"), json!({ "note": "n" })).await.refused(404, absent);
    let nobody = json!({ "message": "401 Unauthorized" });
    app.anonymous().post(&comments("main"), json!({ "note": "n" })).await.refused(401, nobody);
    assert_eq!(guest.post(&comments("main"), json!({ "note": "n" })).await.status, 201);
    assert_eq!(app.anonymous().get(&comments("main")).await.header("x-total"), Some("1"));
}
