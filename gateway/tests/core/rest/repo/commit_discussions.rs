//! Discussions of commits.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer},
    Visibility::Private,
};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// `ada`'s project, and the path of the discussions of its newest commit.
fn set_up(app: &TestApp) -> (Person<'_>, kernel::ids::ProjectId, String) {
    let project = app.project_from(&Fixture::new());
    (app.person("ada"), project, format!("/projects/{project}/repository/commits/main/discussions"))
}

#[actix_web::test]
async fn a_thread_is_begun_answered_and_read() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app);
    let eve = app.person("eve");

    let thread = eve.post(&path, json!({ "body": "Why?" })).await.created();
    assert_eq!(
        (thread["id"].as_str().map(str::len), &thread["individual_note"]),
        (Some(40), &json!(false))
    );
    let note = &thread["notes"][0];
    assert_eq!((&note["type"], &note["body"]), (&json!("DiscussionNote"), &json!("Why?")));
    assert_eq!(
        (&note["noteable_type"], &note["noteable_id"], &note["noteable_iid"]),
        (&json!("Commit"), &Value::Null, &Value::Null)
    );
    assert_eq!((&note["resolvable"], &note["author"]["username"]), (&json!(false), &json!("eve")));
    assert_eq!(
        (note.get("position"), note.get("commit_id"), note.get("resolved")),
        (None, None, None)
    );
    let one = format!("{path}/{}", thread["id"].as_str().expect("an id"));
    let answer = ada.post(&format!("{one}/notes"), json!({ "body": "So" })).await.created();
    assert_eq!(answer["type"], "DiscussionNote");

    let read = ada.get(&one).await.ok();
    assert_eq!((&read["notes"][0], &read["notes"][1]), (note, &answer));
    assert_eq!(ada.get(&format!("{one}/notes?per_page=1&page=2")).await.each("body"), ["So"]);
    assert_eq!(ada.get(&format!("{one}/notes/{}", answer["id"])).await.ok(), answer);
    let comments = format!("/projects/{project}/repository/commits/main/comments");
    assert_eq!(ada.get(&comments).await.each("note"), ["Why?", "So"]);
}

#[actix_web::test]
async fn discussions_are_listed_oldest_first_and_come_by_page() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app);
    let comment = json!({ "note": "A plain comment" });
    ada.post(&format!("/projects/{project}/repository/commits/main/comments"), comment)
        .await
        .created();
    let thread = ada.post(&path, json!({ "body": "First" })).await.created();
    ada.post(&path, json!({ "body": "Second" })).await.created();
    let reply = format!("{path}/{}/notes", thread["id"].as_str().expect("an id"));
    ada.post(&reply, json!({ "body": "Late" })).await.created();

    let listed = ada.get(&path).await;
    assert_eq!(listed.header("x-total"), Some("3"));
    let listed = listed.ok();
    let first: Vec<&Value> = (0..3).map(|at| &listed[at]["notes"][0]["body"]).collect();
    assert_eq!(first, ["A plain comment", "First", "Second"]);
    assert_eq!(
        (&listed[0]["individual_note"], &listed[0]["notes"][0]["type"]),
        (&json!(true), &Value::Null)
    );
    assert_eq!(listed[1]["notes"][1]["body"], "Late");
    let page = ada.get(&format!("{path}?per_page=2&page=2")).await.ok();
    assert_eq!(page, json!([listed[2]]));
    let topic = path.replace("/main/", "/topic/");
    assert_eq!(ada.get(&topic).await.ok(), json!([]));
    let lone = format!("{path}/{}/notes", listed[0]["id"].as_str().expect("an id"));
    let refusal = json!({ "message": "400 Bad request - Discussion can not be replied to." });
    ada.post(&lone, json!({ "body": "No" })).await.refused(400, refusal);
    let elsewhere = topic + "/" + thread["id"].as_str().expect("an id");
    ada.get(&elsewhere).await.refused(404, json!({ "message": "404 Discussion Not Found" }));
}

#[actix_web::test]
async fn a_thread_stays_at_a_place_in_the_diff() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app);
    let commit = ada.get(&format!("/projects/{project}/repository/commits/main")).await.ok();
    let (head, parent) = (commit["id"].clone(), commit["parent_ids"][0].clone());
    let at = |line: i64, head: &Value| {
        json!({ "body": "Here", "position": {
            "base_sha": parent, "start_sha": parent, "head_sha": head, "position_type": "text",
            "old_path": "two.txt", "new_path": "two.txt", "new_line": line,
        } })
    };

    let thread = ada.post(&path, at(3, &head)).await.created();
    let note = &thread["notes"][0];
    assert_eq!((&note["type"], &note["position"]["new_line"]), (&json!("DiffNote"), &json!(3)));
    assert_eq!((&note["position"]["head_sha"], note.get("commit_id")), (&head, None));
    let reply = format!("{path}/{}/notes", thread["id"].as_str().expect("an id"));
    let answer = ada.post(&reply, json!({ "body": "Yes" })).await.created();
    assert_eq!((&answer["type"], &answer["position"]), (&note["type"], &note["position"]));
    let comments = ada.get(&path.replace("/discussions", "/comments")).await.ok();
    assert_eq!((&comments[1]["path"], &comments[1]["line"]), (&json!("two.txt"), &json!(3)));
    let no_line =
        r#"400 Bad request - Note {:line_code=>["can't be blank", "must be a valid line code"]}"#;
    ada.post(&path, at(99, &head)).await.refused(400, json!({ "message": no_line }));
    let elsewhere = r#"400 Bad request - Note {:commit_id=>["does not match the diff refs"]}"#;
    ada.post(&path, at(3, &parent)).await.refused(400, json!({ "message": elsewhere }));
}

#[actix_web::test]
async fn notes_are_changed_and_taken_back_by_their_authors_and_maintainers() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app);
    let (dev, max) =
        (app.member(project, "dev", Developer), app.member(project, "max", Maintainer));
    let thread = ada.post(&path, json!({ "body": "One" })).await.created();
    let one = format!("{path}/{}", thread["id"].as_str().expect("an id"));
    let note = format!("{one}/notes/{}", thread["notes"][0]["id"]);

    let forbidden = json!({ "message": "403 Forbidden" });
    dev.put(&note, json!({ "body": "Mine" })).await.refused(403, forbidden.clone());
    dev.delete(&note).await.refused(403, forbidden);
    assert_eq!(max.put(&note, json!({ "body": "Two" })).await.ok()["body"], "Two");
    let unsettled = json!({ "message": "400 Bad request - Note is not resolvable" });
    ada.put(&note, json!({ "resolved": true })).await.refused(400, unsettled);
    ada.put(&note, json!({})).await.with(400);
    let answer = dev.post(&format!("{one}/notes"), json!({ "body": "Three" })).await.created();
    dev.delete(&format!("{one}/notes/{}", answer["id"])).await.with(204);
    assert_eq!(ada.get(&one).await.ok()["notes"].as_array().map(Vec::len), Some(1));
    let old = ada.sending("If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT");
    old.delete(&note).await.with(412);
    ada.delete(&note).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Discussion Not Found" }));
    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    let of_commits: Vec<&String> =
        kinds.iter().filter(|kind| kind.starts_with("commit.")).collect();
    assert_eq!(of_commits.len(), 5);
}

#[actix_web::test]
async fn what_says_nothing_or_is_for_others_is_refused() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app);
    let missing = json!({ "error": "body is missing" });
    ada.post(&path, json!({})).await.refused(400, missing);
    let blank = json!({ "message": "400 Bad request - Note {:note=>[\"can't be blank\"]}" });
    ada.post(&path, json!({ "body": " " })).await.refused(400, blank);
    let dated = json!({ "body": "Old", "created_at": "2020-02-02T02:02:02Z" });
    let made = ada.post(&path, dated.clone()).await.created();
    assert_eq!(made["notes"][0]["created_at"], "2020-02-02T02:02:02.000Z");
    let made = app.person("eve").post(&path, dated).await.created();
    assert_ne!(made["notes"][0]["created_at"], "2020-02-02T02:02:02.000Z");
    let absent = json!({ "message": "404 Commit Not Found" });
    ada.get(&path.replace("/main/", "/nowhere/")).await.refused(404, absent);
    app.anonymous().get(&path).await.with(401);
    app.anonymous().post(&path, json!({ "body": "x" })).await.with(401);
    ada.put(&format!("/projects/{project}"), json!({ "visibility": "private" })).await.ok();
    app.person("eve").get(&path).await.with(404);
    app.member(project, "gus", Guest).get(&path).await.with(403);
    let hidden = app.project(&ada, "hidden", Private);
    let there = path.replace(&format!("/projects/{project}/"), &format!("/projects/{hidden}/"));
    ada.get(&there).await.with(404);
}
