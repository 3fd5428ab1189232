//! Merges that wait for pipelines.

use serde_json::{Value, json};

use super::merge_stage::{Stage, texts};
use crate::support::TestApp;

#[actix_web::test]
async fn nothing_waits_without_a_pipeline() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let how = json!({ "merge_when_pipeline_succeeds": true });

    stage.merge(1, how).await.refused(405, json!({ "message": "405 Method Not Allowed" }));

    let cancel = format!("{}/cancel_merge_when_pipeline_succeeds", stage.one(1));
    let told = json!({ "message": "Can't cancel the automatic merge", "status": "error", "http_status": 406 });
    assert_eq!(stage.ada.post(&cancel, json!({})).await.created(), told);
}

async fn report(stage: &Stage<'_>, branch: &str, state: &str) {
    let sha = stage.tip(branch).await["id"].clone();
    let path = format!("{}/statuses/{}", stage.home, sha.as_str().expect("an id"));
    stage.ada.post(&path, json!({ "state": state, "name": "build" })).await.created();
}

#[actix_web::test]
async fn what_waits_is_merged_when_its_pipeline_succeeds() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    report(&stage, "feature", "running").await;
    let how = json!({ "merge_when_pipeline_succeeds": true, "merge_commit_message": "Later" });

    let waiting = stage.merge(1, how).await.ok();
    assert_eq!(
        texts(&waiting, &["state", "merge_when_pipeline_succeeds", "merged_at"]),
        [json!("opened"), json!(true), Value::Null]
    );
    assert_eq!(waiting["merge_user"]["username"], "ada");
    report(&stage, "feature", "success").await;

    assert_eq!(stage.shown(1).await["state"], "merged");
    assert_eq!(stage.tip("main").await["message"], "Later");
}

#[actix_web::test]
async fn what_waits_waits_no_more_when_a_branch_moves_or_somebody_cancels() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let how = json!({ "merge_when_pipeline_succeeds": true });
    let waits = async || stage.shown(1).await["merge_when_pipeline_succeeds"].clone();

    for moved in ["feature", "main"] {
        report(&stage, "feature", "running").await;
        stage.merge(1, how.clone()).await.ok();
        stage.commit(moved, None, &format!("{moved}-2.txt"), "x\n").await;
        assert_eq!(waits().await, false, "{moved}");
    }
    stage.merge(1, how).await.ok();
    assert_eq!(waits().await, true);
    let cancel = format!("{}/cancel_merge_when_pipeline_succeeds", stage.one(1));
    let told = stage.ada.post(&cancel, json!({})).await.created();

    assert_eq!(told, json!({ "status": "success" }));
    assert_eq!(waits().await, false);
    assert_eq!(stage.shown(1).await["merge_user"], Value::Null);
}

#[actix_web::test]
async fn a_pipeline_that_has_succeeded_is_not_waited_for() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.set(json!({ "only_allow_merge_if_pipeline_succeeds": true })).await;
    stage.merge(1, json!({})).await.refused(405, json!({ "message": "405 Method Not Allowed" }));
    report(&stage, "feature", "success").await;

    let merged = stage.merge(1, json!({ "merge_when_pipeline_succeeds": true })).await.ok();

    assert_eq!(merged["state"], "merged");
}

#[actix_web::test]
async fn what_waits_waits_no_more_when_it_is_closed_or_leads_elsewhere() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.commit("other", Some("main"), "other.txt", "x\n").await;
    let how = json!({ "merge_when_pipeline_succeeds": true, "should_remove_source_branch": true });

    report(&stage, "feature", "running").await;
    for (change, why) in [
        (json!({ "target_branch": "other" }), "target branch was changed"),
        (json!({ "state_event": "close" }), "merge request was closed"),
    ] {
        stage.merge(1, how.clone()).await.ok();

        let changed = stage.ada.put(&stage.one(1), change).await.ok();

        assert_eq!(
            texts(&changed, &["merge_when_pipeline_succeeds", "merge_user"]),
            [json!(false), Value::Null]
        );
        assert_eq!(changed["should_remove_source_branch"], Value::Null);
        let told = format!("aborted the automatic merge because {why}");
        assert!(stage.notes(1).await.contains(&told), "{told}");
    }
}

#[actix_web::test]
async fn what_waits_is_not_merged_while_another_pipeline_runs() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    report(&stage, "feature", "running").await;
    stage.merge(1, json!({ "merge_when_pipeline_succeeds": true })).await.ok();
    let (project, sha) = (stage.id, stage.tip("feature").await["id"].clone());
    let sha = sha.as_str().expect("an id").to_owned();

    app.write(move |tx| forge::merge_request::merge::wake(tx, project, &sha));
    while app.work().await > 0 {}

    let shown = stage.shown(1).await;
    assert_eq!(
        texts(&shown, &["state", "merge_when_pipeline_succeeds"]),
        [json!("opened"), json!(true)]
    );
}

#[actix_web::test]
async fn the_author_is_asked_to_look_at_a_pipeline_that_failed() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let asked = async || stage.ada.get("/todos?action=build_failed").await.ok();
    report(&stage, "main", "failed").await;
    assert_eq!(asked().await, json!([]), "nobody proposes that");

    report(&stage, "feature", "failed").await;

    let todo = asked().await;
    assert_eq!(
        texts(&todo[0], &["action_name", "target_type", "body"]),
        [json!("build_failed"), json!("MergeRequest"), json!("Add it")]
    );
    let note = json!({ "body": "I am at it" });
    stage.ada.post(&format!("{}/notes", stage.one(1)), note).await.created();
    assert_eq!(asked().await, json!([]));
}
