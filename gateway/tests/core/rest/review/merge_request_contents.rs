//! What merge requests hold: their commits, files and versions, and the people around them.

use kernel::{AccessLevel::Developer, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A project of `ada`'s whose merge request has two commits on `topic`; the newest is told.
async fn set_up(ada: &Person<'_>) -> (Value, String, String) {
    let project = ada.filled_project("Engine", "public").await;
    ada.commit(&project, "topic", "a.txt").await;
    let head = ada.commit(&project, "topic", "b.txt").await;
    ada.commit(&project, "main", "main.txt").await;
    ada.propose(&project, "topic", "Add it").await;
    (project.clone(), format!("/projects/{project}/merge_requests/1"), head)
}

#[actix_web::test]
async fn its_commits_are_those_that_the_target_lacks() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (_, path, head) = set_up(&ada).await;

    let first = ada.get(&format!("{path}/commits?per_page=1")).await;

    assert_eq!((first.header("x-total"), first.header("x-next-page")), (Some("2"), Some("2")));
    assert_eq!(first.each("id"), [head]);
    let titles = ada.get(&format!("{path}/commits")).await.each("title");
    assert_eq!(titles, ["Change b.txt", "Change a.txt"]);
}

#[actix_web::test]
async fn its_files_are_shown_in_every_form() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (_, path, _) = set_up(&ada).await;

    let changes = ada.get(&format!("{path}/changes")).await.ok();
    assert_eq!((&changes["iid"], &changes["overflow"]), (&json!(1), &json!(false)));
    let names: Vec<&Value> = changes["changes"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| &file["new_path"])
        .collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
    let diffs = ada.get(&format!("{path}/diffs?per_page=1&page=2")).await;
    assert_eq!(diffs.header("x-total"), Some("2"));
    assert_eq!(diffs.each("new_path"), ["b.txt"]);
    let unified = ada.get(&format!("{path}/changes?unidiff=true&access_raw_diffs=true")).await.ok();
    let text = unified["changes"][0]["diff"].as_str().expect("a text");
    assert!(text.starts_with("--- /dev/null\n+++ b/a.txt\n@@"), "{text}");
    let raw = ada.get(&format!("{path}/raw_diffs")).await;
    assert_eq!(raw.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(raw.bytes.starts_with(b"diff --git a/a.txt b/a.txt\nnew file mode 100644\n"));
}

#[actix_web::test]
async fn each_version_stays_what_it_was() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, path, head) = set_up(&ada).await;
    ada.commit(&project, "stable", "stable.txt").await;
    ada.put(&path, json!({ "target_branch": "stable" })).await.ok();

    let versions = ada.get(&format!("{path}/versions")).await.ok();

    let list = versions.as_array().expect("versions");
    assert_eq!(list.len(), 2);
    assert!(list[0]["id"].as_i64() > list[1]["id"].as_i64());
    let keys = [
        "id",
        "head_commit_sha",
        "base_commit_sha",
        "start_commit_sha",
        "created_at",
        "merge_request_id",
        "state",
        "real_size",
    ];
    assert!(keys.iter().all(|key| list[0].get(key).is_some()));
    assert_eq!((&list[1]["real_size"], &list[1]["state"]), (&json!("2"), &json!("collected")));
    let first = ada.get(&format!("{path}/versions/{}", list[1]["id"])).await.ok();
    assert_eq!(first["commits"][0]["id"], head);
    assert_eq!(first["diffs"][1]["new_path"], "b.txt");
    ada.get(&format!("{path}/versions/0"))
        .await
        .refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn a_merge_request_that_holds_nothing_shows_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, ..) = set_up(&ada).await;
    ada.propose(&project, "nowhere", "Later").await;
    let path = format!("/projects/{project}/merge_requests/2");
    for part in ["commits", "diffs", "versions"] {
        assert_eq!(ada.get(&format!("{path}/{part}")).await.ok(), json!([]), "{part}");
    }
    assert_eq!(ada.get(&format!("{path}/changes")).await.ok()["changes"], json!([]));
    assert_eq!(ada.get(&format!("{path}/raw_diffs")).await.bytes, b"");
}

#[actix_web::test]
async fn people_subscribe_and_are_counted_where_they_take_part() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, path, _) = set_up(&ada).await;
    let dora = app.member(ProjectId(project.as_i64().expect("an id")), "dora", Developer);
    let user = app.user("dora").id.0;
    ada.put(&path, json!({ "reviewer_ids": [user] })).await.ok();

    let subscribed = dora.post(&format!("{path}/subscribe"), json!({})).await.created();
    assert_eq!(subscribed["subscribed"], true);
    assert_eq!(dora.post(&format!("{path}/subscribe"), json!({})).await.status, 304);
    let ended = dora.post(&format!("{path}/unsubscribe"), json!({})).await.created();
    assert_eq!(ended["subscribed"], false);
    assert_eq!(dora.post(&format!("{path}/unsubscribe"), json!({})).await.status, 304);
    assert_eq!(ada.get(&format!("{path}/participants")).await.each("username"), ["ada", "dora"]);
    let reviewers = ada.get(&format!("{path}/reviewers")).await.ok();
    assert_eq!(
        (&reviewers[0]["state"], &reviewers[0]["user"]["id"]),
        (&json!("unreviewed"), &json!(user))
    );
    assert!(reviewers[0]["created_at"].is_string());
}

#[actix_web::test]
async fn a_commit_tells_which_merge_requests_brought_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _, head) = set_up(&ada).await;

    let commits = format!("/projects/{project}/repository/commits");
    assert_eq!(ada.get(&format!("{commits}/{head}/merge_requests")).await.each("iid"), [1]);
    assert_eq!(ada.get(&format!("{commits}/topic/merge_requests")).await.each("iid"), [1]);
    assert_eq!(ada.get(&format!("{commits}/main/merge_requests")).await.ok(), json!([]));
    let missing = ada.get(&format!("{commits}/{}/merge_requests", "0".repeat(40))).await;
    missing.refused(404, json!({ "message": "404 Commit Not Found" }));
}

#[actix_web::test]
async fn commits_of_the_target_are_shown_beside() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, path, _) = set_up(&ada).await;
    let main = ada.get(&format!("/projects/{project}/repository/commits/main")).await.ok();
    let main = main["id"].as_str().expect("a commit").to_owned();
    let context = format!("{path}/context_commits");

    let added = ada.post(&context, json!({ "commits": [main] })).await.created();
    assert_eq!(added[0]["id"], main);
    assert_eq!(ada.get(&context).await.each("id"), std::slice::from_ref(&main));
    let many: Vec<String> = (0..21).map(|_| main.clone()).collect();
    let text = "Context commits array size should not be more than 20";
    ada.post(&context, json!({ "commits": many })).await.refused(400, json!({ "message": text }));
    let unknown = json!({ "message": "One or more context commits' sha is not valid." });
    let nothing = "0".repeat(40);
    ada.post(&context, json!({ "commits": [nothing] })).await.refused(400, unknown.clone());
    ada.delete(&format!("{context}?commits[]={nothing}")).await.refused(400, unknown);
    ada.delete(&format!("{context}?commits[]={main}")).await.with(204);
    assert_eq!(ada.get(&context).await.ok(), json!([]));
}

#[actix_web::test]
async fn it_names_the_issues_that_it_closes_and_the_pipelines_of_its_commits() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, path, head) = set_up(&ada).await;
    let issues = format!("/projects/{project}/issues");
    ada.post(&issues, json!({ "title": "Bug" })).await.created();
    let secret = json!({ "title": "Hole", "confidential": true });
    ada.post(&issues, secret).await.created();
    ada.put(&path, json!({ "description": "Closes #1, #2" })).await.ok();

    assert_eq!(ada.get(&format!("{path}/closes_issues")).await.each("iid"), [1, 2]);
    let eve = app.person("eve");
    assert_eq!(eve.get(&format!("{path}/closes_issues")).await.each("iid"), [1]);
    assert_eq!(ada.get(&format!("{path}/pipelines")).await.ok(), json!([]));
    let status = json!({ "state": "running", "ref": "topic" });
    ada.post(&format!("/projects/{project}/statuses/{head}"), status).await.created();
    assert_eq!(ada.get(&format!("{path}/pipelines")).await.each("sha"), [json!(head)]);
    let shown = ada.get(&path).await.ok();
    assert_eq!(
        (&shown["pipeline"]["sha"], &shown["pipeline"]["status"]),
        (&json!(head), &json!("running"))
    );
    assert!(shown["head_pipeline"]["detailed_status"].is_object());
}
