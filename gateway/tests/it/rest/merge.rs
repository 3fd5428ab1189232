//! Merging merge requests, and what pushes do to them.

use futures_util::future::{join, join_all};
use kernel::{AccessLevel::Developer, Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Answer, Person, TestApp};

/// A project of ada's with a first commit on `main`.
struct Stage<'a> {
    app: &'a TestApp,
    ada: Person<'a>,
    id: ProjectId,
    home: String,
}

impl<'a> Stage<'a> {
    async fn new(app: &'a TestApp) -> Self {
        let ada = app.person("ada");
        let id = app.project(&ada, "forge", Private);
        let home = format!("/projects/{id}");
        let stage = Self { app, ada, id, home };
        stage.commit("main", None, "README.md", "one\n").await;
        stage
    }

    /// As [`new`](Self::new), with a merge request of a branch `feature` with one commit.
    async fn with_merge_request(app: &'a TestApp) -> Self {
        let stage = Self::new(app).await;
        stage.propose("feature", json!({})).await;
        stage
    }

    async fn commit(&self, branch: &str, from: Option<&str>, file: &str, content: &str) -> String {
        self.commit_saying(branch, from, file, content, &format!("Write {file}")).await
    }

    async fn commit_saying(
        &self,
        branch: &str,
        from: Option<&str>,
        file: &str,
        content: &str,
        message: &str,
    ) -> String {
        let path = format!("{}/repository/files/{file}?ref={branch}", self.home);
        let known = from.is_none() && self.ada.get(&path).await.status == 200;
        let deed = if known { "update" } else { "create" };
        let action = json!({ "action": deed, "file_path": file, "content": content });
        let mut body = json!({ "branch": branch, "commit_message": message, "actions": [action] });
        if let Some(from) = from {
            body["start_branch"] = json!(from);
        }
        let made =
            self.ada.post(&format!("{}/repository/commits", self.home), body).await.created();
        made["id"].as_str().expect("an id").to_owned()
    }

    /// A merge request into `main` of a new branch with one commit; its number.
    async fn propose(&self, branch: &str, more: Value) -> i64 {
        self.commit(branch, Some("main"), &format!("{branch}.txt"), "new\n").await;
        let mut body =
            json!({ "source_branch": branch, "target_branch": "main", "title": "Add it" });
        for (name, value) in more.as_object().expect("fields") {
            body[name] = value.clone();
        }
        let made = self.ada.post(&format!("{}/merge_requests", self.home), body).await.created();
        made["iid"].as_i64().expect("a number")
    }

    async fn set(&self, settings: Value) {
        self.ada.put(&self.home, settings).await.ok();
    }

    fn one(&self, iid: i64) -> String {
        format!("{}/merge_requests/{iid}", self.home)
    }

    async fn shown(&self, iid: i64) -> Value {
        self.ada.get(&self.one(iid)).await.ok()
    }

    async fn merge(&self, iid: i64, how: Value) -> Answer {
        self.ada.put(&format!("{}/merge", self.one(iid)), how).await
    }

    async fn tip(&self, branch: &str) -> Value {
        let path = format!("{}/repository/branches/{branch}", self.home);
        self.ada.get(&path).await.ok()["commit"].clone()
    }

    async fn has_branch(&self, branch: &str) -> bool {
        self.ada.get(&format!("{}/repository/branches/{branch}", self.home)).await.status == 200
    }

    /// Makes issues by ada.
    fn issues(&self, count: i64) {
        use db::schema::issues::dsl;
        use diesel::prelude::*;
        let (project, author) = (self.id, self.app.user("ada").id);
        self.app.write(move |tx| {
            for iid in 1..=count {
                let row = (
                    dsl::project_id.eq(project),
                    dsl::iid.eq(iid),
                    dsl::title.eq("Something"),
                    dsl::state.eq("opened"),
                    dsl::issue_type.eq("issue"),
                    dsl::severity.eq("unknown"),
                    dsl::author_id.eq(author),
                    dsl::confidential.eq(false),
                    dsl::relative_position.eq(iid),
                    dsl::created_at.eq(tx.now),
                    dsl::updated_at.eq(tx.now),
                );
                let row = diesel::insert_into(dsl::issues).values(row);
                db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("Issue")))?;
            }
            Ok(())
        });
    }

    fn issue_states(&self) -> Vec<String> {
        use db::schema::issues::dsl;
        use diesel::prelude::*;
        let project = self.id;
        self.app.write(move |tx| {
            let all = dsl::issues.filter(dsl::project_id.eq(project)).order(dsl::iid);
            db::each_backend!(tx, |conn| all
                .select(dsl::state)
                .load(conn)
                .map_err(db::error("Issue")))
        })
    }

    async fn notes(&self, iid: i64) -> Vec<String> {
        use db::schema::{merge_requests, notes};
        use diesel::prelude::*;
        let project = self.id;
        let found: Vec<String> = self.app.write(move |tx| {
            let of = merge_requests::table
                .filter(merge_requests::project_id.eq(project).and(merge_requests::iid.eq(iid)))
                .select(merge_requests::id);
            let id: i64 = db::each_backend!(tx, |conn| of
                .first::<kernel::ids::MergeRequestId>(conn)
                .map_err(db::error("Merge request")))?
            .0;
            let all = notes::table
                .filter(notes::item_kind.eq("MergeRequest").and(notes::item_id.eq(id)))
                .order(notes::id)
                .select(notes::body);
            db::each_backend!(tx, |conn| all.load(conn).map_err(db::error("Note")))
        });
        found
    }
}

fn texts(record: &Value, fields: &[&str]) -> Vec<Value> {
    fields.iter().map(|field| record[field].clone()).collect()
}

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
    gateway::compose::merging::unlock_left_behind(&app.state).await.expect("it is opened");
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
async fn commits_pushed_to_the_default_branch_close_issues() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.issues(2);

    stage.commit_saying("main", None, "a.txt", "a\n", "Write\n\nCloses #1").await;
    stage.commit_saying("side", Some("main"), "b.txt", "b\n", "Write\n\nCloses #2").await;

    assert_eq!(stage.issue_states(), ["closed", "opened"]);
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
