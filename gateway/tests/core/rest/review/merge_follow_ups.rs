//! What follows from merges and pushes.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use kernel::Result;
use org::access::{IdOrPath, locate_project};
use repo::{
    commit::Writer,
    git::{Oid, RefName},
    ports::AfterPush,
    push::{Push, PushSource, RefChange},
};
use serde_json::{Value, json};

use super::merge_stage::{Stage, texts};
use crate::support::TestApp;

#[actix_web::test]
async fn the_source_branch_goes_where_that_is_wanted() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.propose("asked", json!({})).await;
    stage.propose("stored", json!({ "remove_source_branch": true })).await;
    stage.propose("kept", json!({ "remove_source_branch": true })).await;
    stage.propose("plain", json!({})).await;

    for (iid, how) in [
        (1, json!({ "should_remove_source_branch": true })),
        (2, json!({})),
        (3, json!({ "should_remove_source_branch": false })),
        (4, json!({})),
    ] {
        stage.merge(iid, how).await.ok();
    }

    for (branch, stays) in [("asked", false), ("stored", false), ("kept", true), ("plain", true)] {
        assert_eq!(stage.has_branch(branch).await, stays, "{branch}");
    }
    assert_eq!(stage.shown(1).await["state"], "merged");
}

#[actix_web::test]
async fn what_led_to_a_branch_that_goes_leads_on() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.commit("next", Some("feature"), "next.txt", "next\n").await;
    let body = json!({ "source_branch": "next", "target_branch": "feature", "title": "Next" });
    stage.ada.post(&format!("{}/merge_requests", stage.home), body).await.created();

    stage.merge(1, json!({ "should_remove_source_branch": true })).await.ok();

    let shown = stage.shown(2).await;
    assert_eq!(texts(&shown, &["state", "target_branch"]), [json!("opened"), json!("main")]);
}

#[actix_web::test]
async fn issues_are_closed_by_a_merge_into_the_default_branch() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.issues(3);
    stage.propose("feature", json!({ "description": "Closes #1\n\nSee #3" })).await;
    stage.commit_saying("feature", None, "more.txt", "more\n", "More\n\nFixes #2").await;

    stage.merge(1, json!({})).await.ok();
    assert!(
        stage.tip("main").await["message"]
            .as_str()
            .is_some_and(|message| message.contains("Closes #1 and #2"))
    );

    assert_eq!(stage.issue_states(), ["closed", "closed", "opened"]);
}

#[actix_web::test]
async fn a_push_is_seen_by_the_merge_request_at_once() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;

    let head = stage.commit("feature", None, "second.txt", "two\n").await;

    let shown = stage.shown(1).await;
    assert_eq!(texts(&shown, &["sha", "merge_status"]), [json!(head), json!("can_be_merged")]);
    assert_eq!(shown["diff_refs"]["head_sha"], head);
    let notes = stage.notes(1).await;
    assert!(notes.iter().any(|note| note.starts_with("added 1 commit\n")), "{notes:?}");
}

#[actix_web::test]
async fn a_commit_to_be_folded_makes_a_draft() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;

    stage.commit_saying("feature", None, "second.txt", "two\n", "fixup! Write").await;

    let shown = stage.shown(1).await;
    assert_eq!(texts(&shown, &["draft", "title"]), [json!(true), json!("Draft: Add it")]);
}

#[actix_web::test]
async fn a_merge_request_is_closed_with_its_branch() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;

    stage.ada.delete(&format!("{}/repository/branches/feature", stage.home)).await.with(204);

    let shown = stage.shown(1).await;
    assert_eq!(shown["state"], "closed");
    assert_eq!(shown["closed_by"]["username"], "ada");
}

#[actix_web::test]
async fn commits_that_arrive_elsewhere_are_merged() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let head = stage.tip("feature").await["id"].clone();
    // The same commits by another way: a branch that has them is merged.
    stage.commit("longer", Some("feature"), "longer.txt", "x\n").await;
    let body = json!({ "source_branch": "longer", "target_branch": "main", "title": "Longer" });
    stage.ada.post(&format!("{}/merge_requests", stage.home), body).await.created();

    stage.merge(2, json!({})).await.ok();

    let shown = stage.shown(1).await;
    assert_eq!(texts(&shown, &["state", "sha"]), [json!("merged"), head]);
    assert_eq!(shown["merge_commit_sha"], stage.tip("main").await["id"]);
}

#[actix_web::test]
async fn commits_pushed_to_the_default_branch_close_issues() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.issues(2);

    stage.commit_saying("main", None, "a.txt", "a\n", "Write\n\nCloses #1").await;
    stage.commit_saying("side", Some("main"), "b.txt", "b\n", "Write\n\nCloses #2").await;

    assert_eq!(stage.issue_states(), ["closed", "opened"]);
}

/// As if the process ended before it came to what follows from a push.
struct CutOff;

impl AfterPush for CutOff {
    fn follow<'a>(&'a self, _: &'a Push) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

#[actix_web::test]
async fn issues_that_a_push_names_are_closed_though_the_process_ended_too_soon() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.issues(2);
    let (ada, id) = (app.user("ada").actor(), stage.id);
    let at = |tip: &Value| tip["id"].as_str().expect("an id").parse::<Oid>().expect("a commit");
    for message in ["Write", "Closes #1", "fix forge.test/ada/forge/-/issues/x", "Closes: #2"] {
        let before = at(&stage.tip("main").await);
        let side = message.len().to_string();
        stage.commit_saying(&side, Some("main"), &format!("{side}.txt"), "x\n", message).await;
        let after = at(&stage.tip(&side).await);
        let (project, who) = app.write(move |tx| locate_project(tx, ada, &IdOrPath::Id(id.0)));
        let main = RefName::branch("main").expect("a name");
        let change = RefChange::plain(main, Some(before), Some(after));
        let push = Push::new(project.0, who, PushSource::Api, vec![change]);
        let cut_off: Arc<dyn AfterPush> = Arc::new(CutOff);
        let writer = Writer { aftermath: &cut_off, ..app.state.writer() };
        repo::push::apply(writer, push).await.expect("it is pushed");
    }
    assert_eq!(stage.issue_states(), ["opened", "opened"]);

    app.work().await;

    assert_eq!(stage.issue_states(), ["closed", "closed"]);
}

#[actix_web::test]
async fn what_the_target_has_by_now_is_held_no_more() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let part = json!({ "branch": "part", "ref": "feature" });
    stage.ada.post(&format!("{}/repository/branches", stage.home), part).await.created();
    let last = stage.commit("feature", None, "more.txt", "more\n").await;
    let body = json!({ "source_branch": "part", "target_branch": "main", "title": "A part" });
    stage.ada.post(&format!("{}/merge_requests", stage.home), body).await.created();
    let commits = format!("{}/commits", stage.one(1));
    assert_eq!(stage.ada.get(&commits).await.each("id").len(), 2);

    stage.merge(2, json!({})).await.ok();

    assert_eq!(stage.ada.get(&commits).await.each("id"), [json!(last)]);
    let shown = stage.shown(1).await;
    assert_eq!(texts(&shown, &["state", "changes_count"]), [json!("opened"), json!("1")]);
    assert_eq!(shown["diff_refs"]["start_sha"], stage.tip("main").await["id"]);
    let versions = stage.ada.get(&format!("{}/versions", stage.one(1))).await.each("id");
    stage.commit("main", None, "beside.txt", "x\n").await;
    let same = stage.ada.get(&format!("{}/versions", stage.one(1))).await.each("id");
    assert_eq!(same, versions, "what has nothing to do with it changes nothing of it");
}

#[actix_web::test]
async fn a_target_that_is_moved_elsewhere_makes_another_version() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.commit("stable", Some("main"), "stable.txt", "x\n").await;
    stage.propose("feature", json!({ "target_branch": "stable" })).await;
    let action = json!({ "action": "create", "file_path": "other.txt", "content": "x" });
    let forced = json!({ "branch": "stable", "start_branch": "main", "force": true,
                         "commit_message": "Again", "actions": [action] });

    stage.ada.post(&format!("{}/repository/commits", stage.home), forced).await.created();

    let shown = stage.shown(1).await;
    assert_eq!(shown["diff_refs"]["start_sha"], stage.tip("stable").await["id"]);
    let versions = stage.ada.get(&format!("{}/versions", stage.one(1))).await.each("id");
    assert_eq!(versions.len(), 2);
    let notes = stage.notes(1).await;
    assert!(!notes.iter().any(|note| note.starts_with("added")), "nothing came: {notes:?}");
}

#[actix_web::test]
async fn a_merge_is_picked_and_reverted_as_its_merge_request() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let branches = format!("{}/repository/branches", stage.home);
    stage.ada.post(&branches, json!({ "branch": "stable", "ref": "main" })).await.created();
    stage.propose("feature", json!({})).await;
    stage.commit("feature", None, "more.txt", "more\n").await;
    stage.merge(1, json!({})).await.ok();
    let merged = stage.tip("main").await;
    let id = merged["id"].as_str().expect("an id").to_owned();
    let short = stage.tip("feature").await;
    let (first, second) =
        (&short["parent_ids"][0].as_str().expect("an id")[..8], &short["short_id"]);
    let at = |verb: &str| format!("{}/repository/commits/{id}/{verb}", stage.home);

    let onto = json!({ "branch": "stable" });
    let picked = stage.ada.post(&at("cherry_pick"), onto.clone()).await.created();
    let message = merged["message"].as_str().expect("text");
    let second = second.as_str().expect("an id");
    let brought = format!("{first} Write feature.txt\n{second} Write more.txt");
    let told = format!("{message}\n\n(cherry picked from commit {id})\n\n{brought}");
    assert_eq!(picked["message"], json!(told));
    let again = stage.ada.post(&at("cherry_pick"), onto).await;
    let refusal = again.body["message"].as_str().unwrap_or_default().to_owned();
    assert!(refusal.starts_with("Sorry, we cannot cherry-pick this merge request"), "{refusal}");
    let reverted = stage.ada.post(&at("revert"), json!({ "branch": "main" })).await.created();
    let title = merged["title"].as_str().expect("text");
    let told = format!("Revert \"{title}\"\n\nThis reverts merge request !1");
    assert_eq!(reverted["message"], json!(told));
}
