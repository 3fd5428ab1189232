//! What merge requests say when the branch moves that they lead to.

use std::cell::Cell;

use review::merge_request::{merge::MergeabilityStore as _, mergeability::CheckStep};
use serde_json::{Value, json};
use time::Duration;

use super::merge_stage::{Stage, texts};
use crate::support::TestApp;

/// What a list says, which asks git about nothing; the newest first.
async fn listed(stage: &Stage<'_>) -> Vec<Value> {
    stage.ada.get(&format!("{}/merge_requests", stage.home)).await.each("merge_status")
}

#[actix_web::test]
async fn who_reads_a_merge_request_after_its_target_moved_is_told_how_it_stands() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.propose("other", json!({})).await;
    assert_eq!(listed(&stage).await, ["can_be_merged", "can_be_merged"]);

    stage.commit("main", None, "feature.txt", "something else\n").await;

    assert_eq!(listed(&stage).await, ["unchecked", "unchecked"]);
    let shown = stage.shown(1).await;
    assert_eq!(
        texts(&shown, &["merge_status", "has_conflicts"]),
        [json!("cannot_be_merged"), json!(true)]
    );
    let shown = stage.shown(2).await;
    assert_eq!(
        texts(&shown, &["merge_status", "detailed_merge_status"]),
        [json!("can_be_merged"), json!("mergeable")]
    );
    stage.commit("main", None, "third.txt", "three\n").await;
    assert_eq!(listed(&stage).await, ["unchecked", "cannot_be_merged_recheck"]);
    stage.merge(1, json!({})).await.refused(405, json!({ "message": "405 Method Not Allowed" }));
    assert_eq!(stage.merge(2, json!({})).await.ok()["state"], "merged");
}

#[actix_web::test]
async fn git_is_asked_when_a_branch_has_come_to_rest() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    app.work().await;
    stage.commit("main", None, "feature.txt", "something else\n").await;
    app.work().await;
    assert_eq!(listed(&stage).await, ["unchecked"]);

    app.clock.advance(Duration::seconds(6));
    app.work().await;

    assert_eq!(listed(&stage).await, ["cannot_be_merged"]);
    assert!(app.asked_of("ada").iter().any(|(why, _)| why == "unmergeable"));
}

#[actix_web::test]
async fn what_git_said_of_a_target_before_it_moved_does_not_count() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let id = app.kept_merge_request(stage.id, 1).id;
    stage.commit("main", None, "second.txt", "two\n").await;
    let seen = app.write(move |tx| tx.seen(id));

    stage.commit("main", None, "third.txt", "three\n").await;

    let (old, new) = (seen.clone(), app.write(move |tx| tx.seen(id)));
    assert!(app.write(move |tx| tx.save_mergeability(&old, CheckStep::Fits)).is_none());
    assert!(app.write(move |tx| tx.save_mergeability(&new, CheckStep::Fits)).is_some());
}

#[actix_web::test]
async fn a_push_asks_as_much_however_many_merge_requests_lead_to_its_branch() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let number = Cell::new(0);
    let push = async || {
        number.set(number.get() + 1);
        stage.commit("main", None, &format!("{}.txt", number.get()), "x\n").await;
    };
    let one = app.cost(&push).await;
    for n in 0..12 {
        stage.propose(&format!("more-{n}"), json!({})).await;
    }

    assert_eq!(app.cost(&push).await, one);
}

#[actix_web::test]
async fn git_is_asked_later_about_a_branch_that_does_not_come_to_rest() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    app.work().await;
    stage.commit("main", None, "second.txt", "two\n").await;
    let tip = stage.tip("main").await["id"].as_str().unwrap_or_default().to_owned();
    // Another push is decided each time, and the branch has yet to move.
    move_is_decided(&stage, Some(tip));
    app.clock.advance(Duration::seconds(6));
    app.work().await;
    assert_eq!(listed(&stage).await, ["unchecked"]);

    move_is_decided(&stage, None);
    app.clock.advance(Duration::seconds(6));
    app.work().await;

    assert_eq!(listed(&stage).await, ["can_be_merged"]);
}

/// Notes, or forgets, that the branch `main` is leaving a commit.
fn move_is_decided(stage: &Stage<'_>, leaving: Option<String>) {
    use db::schema::ref_journal::dsl;
    use diesel::prelude::*;
    let project = stage.id;
    stage.app.write(move |tx| {
        let old = diesel::delete(dsl::ref_journal.filter(dsl::batch.eq("decided")));
        db::each_backend!(tx, |conn| old.execute(conn).map_err(db::error("Push")))?;
        let Some(leaving) = leaving else { return Ok(()) };
        let row = (
            dsl::project_id.eq(project),
            dsl::batch.eq("decided"),
            dsl::ref_name.eq("refs/heads/main"),
            dsl::old_sha.eq(leaving),
            dsl::new_sha.eq("f".repeat(40)),
            dsl::created_at.eq(tx.now),
        );
        let row = diesel::insert_into(dsl::ref_journal).values(row);
        db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("Push")))?;
        Ok(())
    });
}

#[actix_web::test]
async fn a_branch_that_goes_and_a_project_that_goes_leave_no_stamp() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let (id, stamp) = (stage.id, |branch: &str| format!("merge_target:{}:{branch}", stage.id));
    let has = |subject: String| app.write(move |tx| db::stamp::has(tx, &subject));
    stage.commit("old", Some("main"), "old.txt", "x\n").await;
    stage.propose("late", json!({ "target_branch": "old" })).await;
    stage.commit("old", None, "old.txt", "y\n").await;
    assert!(has(stamp("old")));
    stage.ada.put(&stage.one(2), json!({ "state_event": "close" })).await.ok();

    let gone = stage.ada.delete(&format!("{}/repository/branches/old", stage.home)).await;
    assert_eq!(gone.status, 204);

    assert!(!has(stamp("old")));
    stage.commit("main", None, "third.txt", "x\n").await;
    assert!(has(stamp("main")));
    app.write(move |tx| review::item::removal::forget_project(tx, id));
    assert!(!has(stamp("main")));
}
