//! What happens to merge requests while git merges them.

use futures_util::future::join;
use kernel::AccessLevel::Developer;
use review::merge_request::{
    Columns, MergeRequestState, MergeRequestStore as _,
    merge::{
        AutoMerge,
        run::{self, Outcome},
    },
};
use serde_json::{Value, json};
use time::Duration;

use super::merge_stage::{Stage, texts};
use crate::support::TestApp;

/// As a server that is about to merge.
fn lock(stage: &Stage<'_>) {
    let project = stage.id;
    stage.app.write(move |tx| {
        let row = tx.find_merge_request(project, 1)?.expect("it is there");
        run::begin(tx, &row, &AutoMerge::default()).map(drop)
    });
}

/// As a server that comes back, and its background work.
async fn unlock(stage: &Stage<'_>) {
    let state = &stage.app.state;
    forge::merge_request::merge::unlock_stale_merges(state).await.expect("it is opened");
    stage.app.work().await;
}

/// As a push to the target that brought this head.
fn arrive(stage: &Stage<'_>, head: &str) {
    let (project, head) = (stage.id, head.to_owned());
    stage.app.write(move |tx| {
        let id = tx.find_merge_request(project, 1)?.expect("it is there").id;
        run::arrive(tx, id, &head, None, &head)
    });
}

/// Whether a merge of this head may end well.
fn completes(stage: &Stage<'_>, head: &Value) -> bool {
    let (project, user) = (stage.id, stage.app.user("ada").id);
    let head = head.as_str().expect("an id").to_owned();
    stage.app.write(move |tx| {
        let id = tx.find_merge_request(project, 1)?.expect("it is there").id;
        Ok(run::complete(tx, id, user, &Outcome { head, ..Outcome::default() }).is_ok())
    })
}

#[actix_web::test]
async fn what_is_pushed_meanwhile_is_not_merged_unseen() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let dev = app.member(stage.id, "dev", Developer);
    dev.post(&format!("{}/approve", stage.one(1)), json!({})).await.created();
    let old = stage.tip("feature").await["id"].clone();
    lock(&stage);

    let new = stage.commit("feature", None, "more.txt", "more\n").await;

    assert_eq!(texts(&stage.shown(1).await, &["state", "sha"]), [json!("locked"), json!(new)]);
    let approvals = stage.ada.get(&format!("{}/approvals", stage.one(1))).await.ok();
    assert_eq!(approvals["approved_by"], json!([]), "they approved something else");
    assert!(!completes(&stage, &old), "the merge of what was there before is refused");
    unlock(&stage).await;
    let shown = stage.shown(1).await;
    let known = ["state", "sha", "merge_status", "changes_count"];
    let open = [json!("opened"), json!(new), json!("can_be_merged"), json!("2")];
    assert_eq!(texts(&shown, &known), open);
    lock(&stage);
    assert!(completes(&stage, &json!(new)));
}

#[actix_web::test]
async fn a_branch_that_goes_meanwhile_closes_it_afterwards() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    lock(&stage);

    stage.ada.delete(&format!("{}/repository/branches/feature", stage.home)).await.with(204);

    assert_eq!(stage.shown(1).await["state"], "locked");
    unlock(&stage).await;
    assert_eq!(stage.shown(1).await["state"], "closed");
}

#[actix_web::test]
async fn commits_that_arrive_meanwhile_are_merged() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.commit("longer", Some("feature"), "longer.txt", "x\n").await;
    let body = json!({ "source_branch": "longer", "target_branch": "main", "title": "Longer" });
    stage.ada.post(&format!("{}/merge_requests", stage.home), body).await.created();
    lock(&stage);

    stage.merge(2, json!({})).await.ok();

    assert_eq!(stage.shown(1).await["state"], "merged");
}

#[actix_web::test]
async fn what_is_looked_at_again_knows_where_its_target_is() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    lock(&stage);

    stage.commit("main", None, "feature.txt", "another\n").await;
    unlock(&stage).await;

    let shown = stage.shown(1).await;
    assert_eq!(texts(&shown, &["state", "has_conflicts"]), [json!("opened"), json!(true)]);
}

#[actix_web::test]
async fn there_is_no_second_one_and_no_other_target_meanwhile() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.commit("other", Some("main"), "other.txt", "x\n").await;
    lock(&stage);

    let body = json!({ "source_branch": "feature", "target_branch": "main", "title": "Again" });
    let taken = "Another open merge request already exists for this source branch: !1";
    let again = stage.ada.post(&format!("{}/merge_requests", stage.home), body).await;
    again.refused(409, json!({ "message": [taken] }));
    let elsewhere = json!({ "target_branch": "other" });
    let locked = json!({ "message": "409 Conflict: Resource lock" });
    stage.ada.put(&stage.one(1), elsewhere.clone()).await.refused(409, locked);

    unlock(&stage).await;
    let merged = stage.merge(1, json!({})).await.ok();
    let same = stage.ada.put(&stage.one(1), elsewhere).await.ok();
    let known = ["state", "target_branch", "sha", "merge_commit_sha"];
    assert_eq!(texts(&same, &known), texts(&merged, &known), "what is merged stays merged there");
}

#[actix_web::test]
async fn what_became_a_draft_in_this_moment_is_not_merged() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let draft = json!({ "title": "Draft: Add it" });

    let (merged, _) = join(stage.merge(1, json!({})), stage.ada.put(&stage.one(1), draft)).await;

    let notes = stage.notes(1).await;
    let at = |word: &str| notes.iter().position(|note| note.contains(word));
    match (at("merged"), merged.status) {
        (None, 405) => merged.refused(405, json!({ "message": "405 Method Not Allowed" })),
        // Git was at work already.
        (None, _) => merged.refused(422, json!({ "message": "Branch cannot be merged" })),
        (Some(end), _) => assert!(at("draft").is_none_or(|draft| draft > end), "{notes:?}"),
    }
}

#[actix_web::test]
async fn what_becomes_a_draft_while_git_merges_is_not_merged() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let head = stage.tip("feature").await["id"].clone();
    lock(&stage);

    stage.ada.put(&stage.one(1), json!({ "title": "Draft: Add it" })).await.ok();
    assert!(!completes(&stage, &head));

    stage.ada.put(&stage.one(1), json!({ "title": "Add it" })).await.ok();
    assert!(completes(&stage, &head));
}

#[actix_web::test]
async fn a_push_that_was_not_seen_is_made_up_for() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let old = stage.shown(1).await["sha"].clone();
    let new = stage.commit("feature", None, "more.txt", "more\n").await;
    let known = app.kept_merge_request(stage.id, 1);
    let stale = Columns {
        head_sha: Some(Some(old.as_str().expect("an id").to_owned())),
        ..Columns::default()
    };
    let id = known.id;
    app.write(move |tx| tx.change_merge_request(id, &stale).map(drop));

    forge::merge_request::merge::resync_with_git(&app.state, id).await.expect("git is there");

    assert_eq!(stage.shown(1).await["sha"], new);
    assert_eq!(stage.merge(1, json!({ "sha": new })).await.ok()["state"], "merged");
}

#[actix_web::test]
async fn what_arrived_is_merged_only_where_nothing_was_pushed_since() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let old = stage.shown(1).await["sha"].as_str().expect("an id").to_owned();
    let new = stage.commit("feature", None, "more.txt", "more\n").await;

    arrive(&stage, &old);
    assert_eq!(stage.shown(1).await["state"], "opened");
    arrive(&stage, &new);

    let merged = [json!("merged"), json!(new)];
    assert_eq!(texts(&stage.shown(1).await, &["state", "merge_commit_sha"]), merged);
}

#[actix_web::test]
async fn a_source_that_went_unseen_closes_it() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.ada.delete(&format!("{}/repository/branches/feature", stage.home)).await.with(204);
    let id = app.kept_merge_request(stage.id, 1).id;
    let open = Columns { state: Some(MergeRequestState::Opened), ..Columns::default() };
    app.write(move |tx| tx.change_merge_request(id, &open).map(drop));

    forge::merge_request::merge::resync_with_git(&app.state, id).await.expect("git is there");

    assert_eq!(stage.shown(1).await["state"], "closed");
}

#[actix_web::test]
async fn a_damaged_repository_is_looked_after_when_it_is_whole_again() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    lock(&stage);
    let branch = app.state.storage.repository(stage.id).as_path().join("refs/heads/feature");
    std::fs::write(&branch, "damaged").expect("it is ours");

    unlock(&stage).await;
    assert_eq!(stage.shown(1).await["state"], "opened");
    std::fs::remove_file(&branch).expect("it is ours");
    app.clock.advance(Duration::minutes(1));
    app.work().await;

    assert_eq!(stage.shown(1).await["state"], "closed");
}
