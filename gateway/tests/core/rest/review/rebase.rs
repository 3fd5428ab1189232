//! Moving source branches onto their targets, and what targets would be.

use serde_json::json;

use super::merge_stage::Stage;
use crate::support::TestApp;

#[actix_web::test]
async fn a_rebase_moves_the_branch_onto_its_target() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let main = stage.commit("main", None, "other.txt", "other\n").await;
    stage.set(json!({ "merge_method": "ff" })).await;

    let told = stage.ada.put(&format!("{}/rebase", stage.one(1)), json!({})).await.with(202);

    assert_eq!(told, json!({ "rebase_in_progress": false }));
    let tip = stage.tip("feature").await;
    assert_eq!(tip["parent_ids"], json!([main]));
    assert_eq!(stage.shown(1).await["sha"], tip["id"]);
    assert_eq!(stage.merge(1, json!({})).await.ok()["state"], "merged");
}

#[actix_web::test]
async fn a_rebase_that_conflicts_says_so_in_the_record() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.commit("main", None, "feature.txt", "other\n").await;
    let before = stage.tip("feature").await;

    stage.ada.put(&format!("{}/rebase", stage.one(1)), json!({})).await.with(202);

    assert_eq!(stage.tip("feature").await, before);
    assert_eq!(
        stage.shown(1).await["merge_error"],
        "Rebase failed: Rebase locally, resolve all conflicts, then push the branch."
    );
}

#[actix_web::test]
async fn a_rebase_is_for_those_who_may_move_the_branch() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let rita = app.member(stage.id, "rita", kernel::AccessLevel::Reporter);
    let rebase = format!("{}/rebase", stage.one(1));

    let told = json!({ "message": "403 Forbidden - Cannot push to source branch" });
    rita.put(&rebase, json!({})).await.refused(403, told);
    let rules = format!("{}/protected_branches", stage.home);
    stage.ada.post(&rules, json!({ "name": "feature" })).await.created();
    let told = json!({ "message": "403 Forbidden - Source branch is protected from force push" });
    stage.ada.put(&rebase, json!({})).await.refused(403, told);
}

#[actix_web::test]
async fn what_the_target_would_be_can_be_looked_at() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let (main, head) = (stage.tip("main").await, stage.tip("feature").await);
    let merge_ref = format!("{}/merge_ref", stage.one(1));

    let first = stage.ada.get(&merge_ref).await.ok()["commit_id"].clone();

    assert_eq!(stage.ada.get(&merge_ref).await.ok()["commit_id"], first);
    let path = format!("{}/repository/commits/{}", stage.home, first.as_str().expect("an id"));
    let commit = stage.ada.get(&path).await.ok();
    assert_eq!(commit["parent_ids"], json!([main["id"], head["id"]]));
    assert_eq!(stage.tip("main").await, main);
    stage.commit("main", None, "feature.txt", "other\n").await;
    let told = json!({ "message": "Merge request is not mergeable" });
    stage.ada.get(&merge_ref).await.refused(400, told);
}

#[actix_web::test]
async fn one_rebase_is_under_way_at_a_time_and_what_a_crash_left_is_over_soon() {
    use review::merge_request::{MergeRequestStore as _, merge::rebase};
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let project = stage.id;
    let shown = format!("{}?include_rebase_in_progress=true", stage.one(1));
    let rebase = format!("{}/rebase", stage.one(1));
    app.write(move |tx| {
        let row = tx.find_merge_request(project, 1)?.expect("it is there");
        rebase::begin(tx, row.id)
    });

    let told = "Failed to enqueue the rebase operation, possibly due to a long-lived transaction. Try again later.";
    stage.ada.put(&rebase, json!({})).await.refused(409, json!({ "message": told }));
    assert_eq!(stage.ada.get(&shown).await.ok()["rebase_in_progress"], true);
    app.clock.advance(time::Duration::minutes(2));

    assert_eq!(stage.ada.get(&shown).await.ok()["rebase_in_progress"], false);
    stage.ada.put(&rebase, json!({})).await.with(202);
    assert_eq!(stage.ada.get(&shown).await.ok()["rebase_in_progress"], false);
    assert_eq!(stage.shown(1).await.get("rebase_in_progress"), None);
}
