//! Several people who do something to one issue or merge request in the same moment: all of it counts, and nobody waits
//! for somebody who waits for them.

use kernel::AccessLevel::Developer;
use serde_json::{Value, json};

use super::{
    merge_request_approvals::{forge, stored},
    merge_stage::Stage,
};
use crate::support::{
    Answer, TestApp,
    epics::{epic, set_up},
};

const MERGE_REQUESTS: &str = "SELECT id FROM merge_requests ORDER BY id FOR NO KEY UPDATE";
const ISSUES: &str = "SELECT id FROM issues ORDER BY id FOR NO KEY UPDATE";

fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status).collect()
}

#[actix_web::test]
async fn approvals_of_one_moment_all_count() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let people = ["one", "two"].map(|name| app.member(forge.project, name, Developer));
    let rule = json!({ "name": "Two", "approvals_required": 2, "rule_type": "any_approver" });
    forge.rule(rule).await;
    let approve = format!("{}/approve", forge.at);

    let all = people.iter().map(|person| person.post(&approve, json!({}))).collect();
    let answers = app.at_once(MERGE_REQUESTS, all).await;

    assert_eq!(statuses(&answers), [201, 201]);
    assert_eq!(stored(&app), [true]);
    assert_eq!(forge.approvals(&forge.ada).await["approvals_left"], 0);
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn who_approves_while_another_takes_it_back_is_counted() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let [one, two] = ["one", "two"].map(|name| app.member(forge.project, name, Developer));
    let rule = json!({ "name": "One", "approvals_required": 1, "rule_type": "any_approver" });
    forge.rule(rule).await;
    forge.approve(&one).await;

    let unapprove = format!("{}/unapprove", forge.at);
    let approve = format!("{}/approve", forge.at);
    let both = vec![one.post(&unapprove, json!({})), two.post(&approve, json!({}))];
    let answers = app.at_once(MERGE_REQUESTS, both).await;

    assert_eq!(statuses(&answers), [201, 201]);
    assert_eq!(stored(&app), [true]);
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn threads_that_are_settled_in_one_moment_are_all_settled() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.set(json!({ "only_allow_merge_if_all_discussions_are_resolved": true })).await;
    let threads = format!("{}/discussions", stage.one(1));
    let mut paths = Vec::new();
    for body in ["Why?", "How?"] {
        let made = stage.ada.post(&threads, json!({ "body": body })).await.created();
        paths.push(format!("{threads}/{}", made["id"].as_str().expect("an id")));
    }
    assert_eq!(stage.shown(1).await["blocking_discussions_resolved"], false);

    let all = paths.iter().map(|path| stage.ada.put(path, json!({ "resolved": true }))).collect();
    let answers = app.at_once(MERGE_REQUESTS, all).await;

    assert_eq!(statuses(&answers), [200, 200]);
    assert_eq!(stage.shown(1).await["blocking_discussions_resolved"], true);
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn what_is_said_and_approved_during_a_merge_is_kept() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let bob = app.member(stage.id, "bob", Developer);
    let [merge, approve, notes] =
        ["merge", "approve", "notes"].map(|what| format!("{}/{what}", stage.one(1)));

    let said = |body: Value| bob.post(&notes, body);
    let note = async { said(json!({ "body": "Good" })).await };
    let approval = async { bob.post(&approve, json!({})).await };
    let merged = async { stage.ada.put(&merge, json!({})).await };
    let all: Vec<futures_util::future::LocalBoxFuture<'_, Answer>> =
        vec![Box::pin(note), Box::pin(approval), Box::pin(merged)];
    let answers = app.at_once(MERGE_REQUESTS, all).await;

    assert_eq!(statuses(&answers), [201, 201, 200]);
    let shown = stage.shown(1).await;
    assert_eq!((&shown["state"], &shown["user_notes_count"]), (&json!("merged"), &json!(1)));
    let approvals = stage.ada.get(&format!("{}/approvals", stage.one(1))).await.ok();
    assert_eq!(approvals["approved_by"][0]["user"]["username"], "bob");
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn merges_into_one_branch_in_one_moment_all_happen() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    for branch in ["one", "two", "three"] {
        stage.propose(branch, json!({})).await;
    }

    let all = [3, 1, 2].map(|iid| stage.merge(iid, json!({})));
    let answers = app.at_once(MERGE_REQUESTS, all.into()).await;

    assert_eq!(statuses(&answers), [200, 200, 200]);
    for file in ["one.txt", "two.txt", "three.txt"] {
        let path = format!("{}/repository/files/{file}?ref=main", stage.home);
        assert_eq!(stage.ada.get(&path).await.status, 200, "{file}");
    }
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn merge_requests_that_close_the_same_issues_crosswise_are_all_counted() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.issues(2);
    stage.propose("one", json!({})).await;
    stage.propose("two", json!({})).await;

    let words = ["Closes #1 and #2", "Closes #2 and #1"];
    let paths = [stage.one(1), stage.one(2)];
    let all = paths.iter().zip(words);
    let all =
        all.map(|(path, words)| stage.ada.put(path, json!({ "description": words }))).collect();
    let answers = app.at_once(ISSUES, all).await;

    assert_eq!(statuses(&answers), [200, 200]);
    let list = format!("{}/issues", stage.home);
    assert_eq!(stage.ada.get(&list).await.each("merge_requests_count"), [2, 2]);
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn votes_and_words_of_one_moment_are_all_counted() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.issues(1);
    let people = ["bob", "eve"].map(|name| app.member(stage.id, name, Developer));
    let issue = format!("{}/issues/1", stage.home);

    let votes = format!("{issue}/award_emoji");
    let vote = json!({ "name": "thumbsup" });
    let all = people.iter().map(|person| person.post(&votes, vote.clone())).collect();
    assert_eq!(statuses(&app.at_once(ISSUES, all).await), [201, 201]);
    let notes = format!("{issue}/notes");
    let all = people.iter().map(|person| person.post(&notes, json!({ "body": "Yes" }))).collect();
    assert_eq!(statuses(&app.at_once(ISSUES, all).await), [201, 201]);

    let shown = stage.ada.get(&issue).await.ok();
    assert_eq!((&shown["upvotes"], &shown["user_notes_count"]), (&json!(2), &json!(2)));
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn of_those_who_remove_one_thing_in_one_moment_one_does_and_the_others_find_nothing() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.issues(1);
    let home = &stage.home;
    let make = async |path: &str, body: Value| {
        stage.ada.post(&format!("{home}/{path}"), body).await.created()["id"].clone()
    };
    let note = make("issues/1/notes", json!({ "body": "Yes" })).await;
    let milestone = make("milestones", json!({ "title": "Soon" })).await;
    let label = make("labels", json!({ "name": "bug", "color": "#ff0000" })).await;

    for (held, path) in [
        ("SELECT id FROM notes ORDER BY id FOR NO KEY UPDATE", format!("issues/1/notes/{note}")),
        ("SELECT id FROM milestones FOR NO KEY UPDATE", format!("milestones/{milestone}")),
        ("SELECT id FROM labels FOR NO KEY UPDATE", format!("labels/{label}")),
        (ISSUES, "issues/1".to_owned()),
        (MERGE_REQUESTS, "merge_requests/1".to_owned()),
    ] {
        let path = format!("{home}/{path}");
        let all = (0..3).map(|_| stage.ada.delete(&path)).collect();
        let mut found = statuses(&app.at_once(held, all).await);
        found.sort_unstable();
        assert_eq!(found, [204, 404, 404], "{path}");
    }
    assert_eq!(app.deadlocks(), 0);
}

#[actix_web::test]
async fn of_those_who_remove_one_epic_in_one_moment_one_does() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden" })).await;
    let path = format!("/groups/{group}/epics/{}", made["iid"]);

    let all = (0..3).map(|_| ada.delete(&path)).collect();
    let answers = app.at_once("SELECT id FROM epics FOR NO KEY UPDATE", all).await;

    let mut found = statuses(&answers);
    found.sort_unstable();
    assert_eq!(found, [204, 404, 404]);
    assert_eq!(app.deadlocks(), 0);
}
