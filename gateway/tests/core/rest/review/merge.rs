//! Merging merge requests.

use futures_util::future::{join, join_all};
use kernel::AccessLevel::Developer;
use serde_json::{Value, json};
use time::Duration;

use super::merge_stage::{Stage, texts};
use crate::support::{Answer, TestApp};

#[actix_web::test]
async fn a_merge_makes_a_merge_commit_and_says_so() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let (main, head) = (stage.tip("main").await, stage.tip("feature").await);

    let merged = stage.merge(1, json!({})).await.ok();

    assert_eq!(merged["state"], "merged");
    let tip = stage.tip("main").await;
    assert_eq!(merged["merge_commit_sha"], tip["id"]);
    assert_eq!(tip["parent_ids"], json!([main["id"], head["id"]]));
    assert_eq!(
        tip["message"],
        "Merge branch 'feature' into 'main'\n\nAdd it\n\nSee merge request ada/forge!1"
    );
    assert_eq!(texts(&merged, &["sha", "squash_commit_sha"]), [head["id"].clone(), Value::Null]);
    assert_eq!(merged["merge_user"]["username"], "ada");
    assert_eq!(merged["merged_by"]["username"], "ada");
    assert!(merged["merged_at"].is_string());
    assert_eq!(merged["detailed_merge_status"], "not_open");
    assert_eq!(stage.notes(1).await.last().map(String::as_str), Some("merged"));
    stage.merge(1, json!({})).await.refused(405, json!({ "message": "405 Method Not Allowed" }));
}

#[actix_web::test]
async fn git_says_whether_it_can_merge_before_anybody_asks() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let shown = stage.shown(1).await;
    assert_eq!(
        texts(&shown, &["merge_status", "detailed_merge_status", "has_conflicts"]),
        [json!("can_be_merged"), json!("mergeable"), json!(false)]
    );

    stage.commit("main", None, "feature.txt", "other\n").await;

    let shown = stage.shown(1).await;
    assert_eq!(
        texts(&shown, &["merge_status", "detailed_merge_status", "has_conflicts"]),
        [json!("cannot_be_merged"), json!("broken_status"), json!(true)]
    );
    stage.merge(1, json!({})).await.refused(405, json!({ "message": "405 Method Not Allowed" }));
}

#[actix_web::test]
async fn refusals_come_in_a_fixed_order() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let dora = app.member(stage.id, "dora", Developer);
    let merge = format!("{}/merge", stage.one(1));
    let head = stage.tip("feature").await["id"].clone();

    let none = format!("{}/merge_requests/9/merge", stage.home);
    stage.ada.put(&none, json!({})).await.refused(404, json!({ "message": "404 Not found" }));
    // Only maintainers merge into the default branch, which is protected.
    dora.put(&merge, json!({ "sha": "wrong" }))
        .await
        .refused(401, json!({ "message": "401 Unauthorized" }));
    stage.ada.put(&stage.one(1), json!({ "title": "Draft: Add it" })).await.ok();
    let not_allowed = json!({ "message": "405 Method Not Allowed" });
    stage.merge(1, json!({ "sha": "wrong" })).await.refused(405, not_allowed);
    stage.ada.put(&stage.one(1), json!({ "title": "Add it" })).await.ok();
    stage.set(json!({ "merge_method": "ff" })).await;
    stage.commit("main", None, "other.txt", "other\n").await;
    let cannot = json!({ "message": "Branch cannot be merged" });
    stage.merge(1, json!({ "sha": "wrong" })).await.refused(406, cannot);
    stage.set(json!({ "merge_method": "merge" })).await;
    let told = format!("SHA does not match HEAD of source branch: {}", head.as_str().unwrap_or(""));
    stage.merge(1, json!({ "sha": "wrong" })).await.refused(409, json!({ "message": told }));

    let merged = stage.merge(1, json!({ "sha": head })).await.ok();
    assert_eq!(merged["state"], "merged");
}

#[actix_web::test]
async fn whoever_may_merge_need_not_be_allowed_to_push() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let dora = app.member(stage.id, "dora", Developer);
    let rules = format!("{}/protected_branches", stage.home);
    stage.ada.delete(&format!("{rules}/main")).await.with(204);
    let rule = json!({ "name": "main", "push_access_level": 40, "merge_access_level": 30 });
    stage.ada.post(&rules, rule).await.created();

    let action = json!({ "action": "create", "file_path": "x", "content": "x" });
    let commit = json!({ "branch": "main", "commit_message": "x", "actions": [action] });
    dora.post(&format!("{}/repository/commits", stage.home), commit).await.with(403);
    let merged = dora.put(&format!("{}/merge", stage.one(1)), json!({})).await.ok();

    assert_eq!(merged["merge_user"]["username"], "dora");
    assert_eq!(stage.tip("main").await["committer_name"], "dora");
}

#[actix_web::test]
async fn a_fast_forward_moves_the_target_and_makes_no_commit() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.set(json!({ "merge_method": "ff" })).await;
    let head = stage.tip("feature").await["id"].clone();

    let merged = stage.merge(1, json!({})).await.ok();

    assert_eq!(merged["merge_commit_sha"], Value::Null);
    assert_eq!(stage.tip("main").await["id"], head);
}

#[actix_web::test]
async fn a_squash_is_one_commit_by_the_author() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.commit("feature", None, "second.txt", "two\n").await;
    let how = json!({ "squash": true, "squash_commit_message": "All of it" });

    let merged = stage.merge(1, how).await.ok();

    let squash = merged["squash_commit_sha"].as_str().expect("a squash commit").to_owned();
    assert_eq!(merged["squash"], true);
    let path = format!("{}/repository/commits/{squash}", stage.home);
    let commit = stage.ada.get(&path).await.ok();
    assert_eq!(texts(&commit, &["message", "author_name"]), [json!("All of it"), json!("ada")]);
    assert_eq!(stage.tip("main").await["parent_ids"][1], squash);
}

#[actix_web::test]
async fn the_project_says_whether_to_squash() {
    for (option, asked, squashes) in [("always", false, true), ("never", true, false)] {
        let app = TestApp::new();
        let stage = Stage::with_merge_request(&app).await;
        stage.commit("feature", None, "second.txt", "two\n").await;
        stage.set(json!({ "squash_option": option })).await;

        let merged = stage.merge(1, json!({ "squash": asked })).await.ok();

        assert_eq!(merged["squash_commit_sha"].is_string(), squashes, "{option}");
    }
}

#[actix_web::test]
async fn messages_follow_the_templates_of_the_project_or_the_caller() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.set(json!({ "merge_commit_template": "%{title} (%{reference})\n\n%{issues}\n\n%{first_commit}" })).await;
    stage.propose("one", json!({})).await;
    stage.propose("two", json!({})).await;

    stage.merge(1, json!({})).await.ok();
    assert_eq!(stage.tip("main").await["message"], "Add it (ada/forge!1)\n\nWrite one.txt");

    let long = "x".repeat(20_000);
    stage.merge(2, json!({ "merge_commit_message": long })).await.ok();
    assert_eq!(stage.tip("main").await["message"], long);
}

#[actix_web::test]
async fn of_two_who_merge_at_once_one_wins() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;

    let (one, other) = join(stage.merge(1, json!({})), stage.merge(1, json!({}))).await;

    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 405]);
    let merges = stage.ada.get(&format!("{}/repository/commits?ref_name=main", stage.home)).await;
    let titles = merges.each("title");
    assert_eq!(titles.iter().filter(|title| title.to_string().contains("Merge branch")).count(), 1);
}

#[actix_web::test]
async fn what_was_left_locked_is_open_again() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    lock(&stage);
    assert_eq!(stage.shown(1).await["state"], "locked");
    app.recurring().await;
    assert_eq!(stage.shown(1).await["state"], "locked", "a merge may take its time");

    app.clock.advance(Duration::hours(1));
    app.recurring().await;

    assert_eq!(stage.shown(1).await["state"], "opened");
    lock(&stage);
    forge::merge_request::merge::unlock_stale_merges(&app.state).await.expect("it is opened");
    assert_eq!(stage.merge(1, json!({})).await.ok()["state"], "merged");
}

/// As a server that is killed while git merges.
fn lock(stage: &Stage<'_>) {
    use review::merge_request::{
        MergeRequestStore as _,
        merge::{AutoMerge, run},
    };
    let project = stage.id;
    stage.app.write(move |tx| {
        let row = tx.find_merge_request(project, 1)?.expect("it is there");
        run::begin(tx, &row, &AutoMerge::default()).map(drop)
    });
}

#[actix_web::test]
async fn a_push_rule_may_refuse_the_words_of_a_merge() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let rule = json!({ "commit_message_regex": "JIRA" });
    stage.ada.post(&format!("{}/push_rule", stage.home), rule).await.created();
    let before = stage.tip("main").await;

    stage.merge(1, json!({})).await.refused(422, json!({ "message": "Branch cannot be merged" }));

    let shown = stage.shown(1).await;
    assert_eq!(
        texts(&shown, &["state", "merge_error"]),
        [json!("opened"), json!("Commit message does not follow the pattern 'JIRA'")]
    );
    assert_eq!(stage.tip("main").await, before);
    stage.merge(1, json!({ "merge_commit_message": "JIRA-1" })).await.ok();
}

#[actix_web::test]
async fn a_fork_is_merged_like_a_branch() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.set(json!({ "visibility": "public" })).await;
    let flo = app.person("flo");
    let fork = flo.post(&format!("{}/fork", stage.home), json!({})).await.created()["id"].clone();
    let commit = async |file: &str, start: Option<&str>| {
        let action = json!({ "action": "create", "file_path": file, "content": "x\n" });
        let mut body = json!({ "branch": "feature", "commit_message": file, "actions": [action] });
        if let Some(start) = start {
            body["start_branch"] = json!(start);
        }
        flo.post(&format!("/projects/{fork}/repository/commits"), body).await.created()["id"]
            .clone()
    };
    commit("one.txt", Some("main")).await;
    let body = json!({ "source_branch": "feature", "target_branch": "main", "title": "From afar",
                       "target_project_id": stage.id });
    flo.post(&format!("/projects/{fork}/merge_requests"), body).await.created();

    let head = commit("two.txt", None).await;
    assert_eq!(stage.shown(1).await["sha"], head);
    let merged = stage.merge(1, json!({})).await.ok();

    assert_eq!(merged["state"], "merged");
    assert_eq!(stage.tip("main").await["parent_ids"][1], head);
}

#[actix_web::test]
async fn a_merge_is_taken_back_and_picked_by_its_first_parent() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.commit("old", Some("main"), "old.txt", "old\n").await;
    let merged = stage.merge(1, json!({})).await.ok();
    let commits = format!("{}/repository/commits", stage.home);
    let sha = merged["merge_commit_sha"].as_str().expect("a merge commit");

    stage
        .ada
        .post(&format!("{commits}/{sha}/cherry_pick"), json!({ "branch": "old" }))
        .await
        .created();
    stage.ada.post(&format!("{commits}/{sha}/revert"), json!({ "branch": "main" })).await.created();

    let file = |branch: &str| format!("{}/repository/files/feature.txt?ref={branch}", stage.home);
    assert_eq!(stage.ada.get(&file("old")).await.status, 200);
    assert_eq!(stage.ada.get(&file("main")).await.status, 404);
}

#[actix_web::test]
async fn two_merges_into_one_branch_both_happen() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.propose("one", json!({})).await;
    stage.propose("two", json!({})).await;

    let both = [stage.merge(1, json!({})), stage.merge(2, json!({}))];
    let [one, other] = <[Answer; 2]>::try_from(join_all(both).await).expect("two answers");

    assert_eq!((one.status, other.status), (200, 200));
    for file in ["one.txt", "two.txt"] {
        let path = format!("{}/repository/files/{file}?ref=main", stage.home);
        assert_eq!(stage.ada.get(&path).await.status, 200, "{file}");
    }
}
