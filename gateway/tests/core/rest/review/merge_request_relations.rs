//! Issues that merge requests have to do with, and merge requests that are proposed twice at once.

use futures_util::future::join_all;
use kernel::AccessLevel::Reporter;
use serde_json::{Value, json};

use crate::support::TestApp;

#[actix_web::test]
async fn issues_that_are_closed_or_named_are_related() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "public").await;
    let issues = format!("/projects/{project}/issues");
    for title in ["Closed", "Named", "Said", "Whispered", "Else"] {
        ada.post(&issues, json!({ "title": title })).await.created();
    }
    ada.post(&issues, json!({ "title": "Secret", "confidential": true })).await.created();
    ada.commit(&project, "topic", "topic.txt").await;
    let new = json!({ "title": "Fix", "source_branch": "topic", "target_branch": "main",
        "description": "Closes #1, see #2 and #6" });
    ada.post(&format!("/projects/{project}/merge_requests"), new).await.created();
    let request = format!("/projects/{project}/merge_requests/1");
    let say = async |body: Value| {
        ada.post(&format!("{request}/notes"), body).await.created();
    };
    say(json!({ "body": "And #3" })).await;
    say(json!({ "body": "And #4", "internal": true })).await;
    app.work().await;

    let related = ada.get(&format!("{request}/related_issues?per_page=3")).await;
    assert_eq!(related.header("x-total"), Some("4"));
    assert_eq!(related.each("iid"), [1, 2, 3]);
    let eve = app.person("eve").get(&format!("{request}/related_issues")).await;
    assert_eq!(eve.each("iid"), [1, 2, 3]);
    app.anonymous().get(&format!("{request}/related_issues")).await.with(401);
}

#[actix_web::test]
async fn of_two_who_propose_the_same_one_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "public").await;
    ada.commit(&project, "topic", "topic.txt").await;
    let path = format!("/projects/{project}/merge_requests");
    let new = json!({ "title": "Fix", "source_branch": "topic", "target_branch": "main" });

    let all = join_all((0..4).map(|_| ada.post(&path, new.clone()))).await;

    let mut told: Vec<u16> = all.iter().map(|answer| answer.status).collect();
    told.sort_unstable();
    assert_eq!(told, [201, 409, 409, 409]);
    assert_eq!(ada.get(&path).await.each("state"), ["opened"]);
}

#[actix_web::test]
async fn of_two_that_are_opened_again_one_stays_closed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "public").await;
    ada.commit(&project, "topic", "topic.txt").await;
    let path = format!("/projects/{project}/merge_requests");
    for iid in 1..=2 {
        ada.propose(&project, "topic", "Fix").await;
        ada.put(&format!("{path}/{iid}"), json!({ "state_event": "close" })).await.ok();
    }

    let paths = [1, 2].map(|iid| format!("{path}/{iid}"));
    let reopen = json!({ "state_event": "reopen" });
    let all = join_all(paths.iter().map(|path| ada.put(path, reopen.clone()))).await;

    let mut told: Vec<u16> = all.iter().map(|answer| answer.status).collect();
    told.sort_unstable();
    assert_eq!(told, [200, 409]);
}

#[actix_web::test]
async fn the_whole_difference_is_sent_as_git_prints_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "public").await;
    let text = "a line of text\n".repeat(40_000);
    ada.commit_text(&project, "topic", "long.txt", &text).await;
    ada.propose(&project, "topic", "Add it").await;
    ada.propose(&project, "nowhere", "Later").await;
    let path = |iid: i64| format!("/projects/{project}/merge_requests/{iid}/raw_diffs");

    let sent = ada.get(&path(1)).await;

    assert_eq!(sent.header("content-type"), Some("text/plain; charset=utf-8"));
    let shown = String::from_utf8_lossy(&sent.bytes);
    assert!(shown.starts_with("diff --git a/long.txt b/long.txt\n"));
    assert_eq!(shown.lines().filter(|line| *line == "+a line of text").count(), 40_000);
    assert!(ada.head(&path(1)).await.bytes.is_empty());
    assert!(ada.get(&path(2)).await.bytes.is_empty());
}

#[actix_web::test]
async fn groups_and_everybody_are_mentioned_as_far_as_they_may_look() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", kernel::Visibility::Private);
    for name in ["rita", "rob"] {
        app.member(project, name, Reporter);
    }
    let crew = ada.group("crew", None).await;
    let inner = ada.group("inner", Some(crew)).await;
    ada.adds("rita", 20, &format!("/groups/{inner}")).await;
    ada.adds("eve", 20, &format!("/groups/{inner}")).await;
    let issue = app.issue(project, &ada);
    let notes = format!("/projects/{project}/issues/{issue}/notes");

    ada.post(&notes, json!({ "body": "See, @crew/inner and @rita" })).await.created();
    assert_eq!(app.asked_of("rita"), [("mentioned".to_owned(), "Issue".to_owned())]);
    assert_eq!((app.asked_of("eve"), app.asked_of("rob")), (vec![], vec![]));
    assert_eq!(app.asked_of("ada"), []);
    app.person("rob").post(&notes, json!({ "body": "@crew/inner is hidden" })).await.created();
    ada.post(&notes, json!({ "body": "@all look" })).await.created();
    assert_eq!(app.asked_of("rob"), [("directly_addressed".to_owned(), "Issue".to_owned())]);
    assert_eq!(app.asked_of("eve"), []);
}
