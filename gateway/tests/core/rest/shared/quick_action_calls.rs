//! Quick actions that do what calls of their own do, with the permission that these need.

use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Public,
    ids::ProjectId,
};
use org::{token::Scope, user::actions::NewUser};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

const NO_EFFECT: &str = "400 Bad request - Failed to apply commands.";

/// A project of ada's with a merge request of `topic`.
struct Stage<'a> {
    app: &'a TestApp,
    ada: Person<'a>,
    project: Value,
}

impl<'a> Stage<'a> {
    async fn new(app: &'a TestApp) -> Self {
        let ada = app.person("ada");
        let project = ada.filled_project("Engine", "public").await;
        ada.commit(&project, "topic", "topic.txt").await;
        ada.propose(&project, "topic", "Add it").await;
        Self { app, ada, project }
    }

    fn id(&self) -> ProjectId {
        ProjectId(self.project.as_i64().expect("an id"))
    }

    fn path(&self) -> String {
        format!("/projects/{}/merge_requests/1", self.project)
    }

    async fn shown(&self) -> Value {
        self.ada.get(&self.path()).await.ok()
    }

    async fn say(&self, person: &Person<'_>, body: &str) -> Answer {
        person.post(&format!("{}/notes", self.path()), json!({ "body": body })).await
    }

    async fn no_effect(&self, person: &Person<'_>, body: &str) {
        self.say(person, body).await.refused(400, json!({ "message": NO_EFFECT }));
    }
}

#[actix_web::test]
async fn a_merge_request_is_merged_by_who_may() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let dora = app.member(stage.id(), "dora", Developer);

    stage.no_effect(&dora, "/merge").await;
    let notes = format!("{}/notes", stage.path());
    let old = json!({ "body": "/merge", "merge_request_diff_head_sha": "a".repeat(40) });
    stage.ada.post(&notes, old).await.with(400);
    assert_eq!(stage.shown().await["state"], "opened");
    let said = stage.say(&stage.ada, "Fine!\n/merge").await.created();

    let shown = stage.shown().await;
    assert_eq!(said["body"], "Fine!");
    assert_eq!(said["commands_changes"], json!({ "merge": shown["sha"] }));
    assert_eq!(
        (&shown["state"], &shown["merge_user"]["username"]),
        (&json!("merged"), &json!("ada"))
    );
    stage.no_effect(&stage.ada, "/merge").await;
}

#[actix_web::test]
async fn it_waits_for_a_pipeline_that_runs() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let sha = stage.shown().await["sha"].as_str().expect("a head").to_owned();
    let statuses = format!("/projects/{}/statuses/{sha}", stage.project);
    let running = json!({ "state": "running", "name": "tests", "ref": "topic" });
    stage.ada.post(&statuses, running).await.created();

    let done = stage.say(&stage.ada, "/merge").await.with(202);

    assert_eq!(
        done["summary"],
        json!(["Scheduled to merge this merge request when the pipeline succeeds."])
    );
    assert_eq!(stage.shown().await["merge_when_pipeline_succeeds"], true);
}

#[actix_web::test]
async fn a_branch_is_rebased_by_who_may_push() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.ada.commit(&stage.project, "main", "more.txt").await;
    let rita = app.member(stage.id(), "rita", Reporter);

    stage.no_effect(&rita, "/rebase").await;
    let before = stage.shown().await["sha"].clone();
    stage.say(&stage.ada, "/rebase").await.with(202);

    assert_ne!(stage.shown().await["sha"], before);
}

#[actix_web::test]
async fn approvals_are_given_and_taken_back() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let (dora, eve) = (app.member(stage.id(), "dora", Developer), app.person("eve"));
    let approvals = format!("{}/approvals", stage.path());

    stage.no_effect(&eve, "/approve").await;
    stage.no_effect(&dora, "/unapprove").await;
    stage.say(&dora, "/approve").await.with(202);
    let shown = stage.ada.get(&approvals).await.ok();
    assert_eq!(shown["approved_by"][0]["user"]["username"], "dora");
    stage.no_effect(&dora, "/approve").await;
    let done = stage.say(&dora, "/unapprove").await.with(202);
    assert_eq!(done["commands_changes"], json!({ "unapprove": true }));
    assert_eq!(stage.ada.get(&approvals).await.ok()["approved_by"], json!([]));
}

#[actix_web::test]
async fn the_target_is_another_branch_that_is_there() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.ada.commit(&stage.project, "stable", "stable.txt").await;

    stage.no_effect(&app.person("eve"), "/target_branch stable").await;
    stage.no_effect(&stage.ada, "/target_branch nowhere").await;
    stage.no_effect(&stage.ada, "/target_branch topic").await;
    stage.say(&stage.ada, "/target_branch stable").await.with(202);

    assert_eq!(stage.shown().await["target_branch"], "stable");
    let back = json!({ "description": "So\n/target_branch main" });
    let shown = stage.ada.put(&stage.path(), back).await.ok();
    assert_eq!((&shown["target_branch"], &shown["description"]), (&json!("main"), &json!("So")));
}

#[actix_web::test]
async fn what_is_closed_is_opened_again() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    stage.say(&stage.ada, "/close").await.with(202);

    stage.no_effect(&app.person("eve"), "/reopen").await;
    let done = stage.say(&stage.ada, "/reopen").await.with(202);

    assert_eq!(done["commands_changes"], json!({ "state_event": "reopen" }));
    assert_eq!(stage.shown().await["state"], "opened");
    stage.no_effect(&stage.ada, "/reopen").await;
}

#[actix_web::test]
async fn a_reviewer_says_that_they_have_looked() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let dora = app.member(stage.id(), "dora", Developer);

    stage.no_effect(&dora, "/submit_review").await;
    stage.say(&stage.ada, "/assign_reviewer @dora").await.with(202);
    assert_eq!(app.asked_of("dora").len(), 1);
    stage.say(&dora, "/submit_review").await.with(202);
    assert_eq!(app.asked_of("dora").len(), 0, "what was asked is done");
    let told = ("review_submitted".to_owned(), "MergeRequest".to_owned());
    assert_eq!(app.asked_of("ada"), [told]);

    let reviewers = stage.ada.get(&format!("{}/reviewers", stage.path())).await;
    assert_eq!(reviewers.each("state"), ["reviewed"]);
}

#[actix_web::test]
async fn tokens_that_only_read_do_nothing() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;

    for scope in [Scope::ReadApi, Scope::ReadRepository, Scope::WriteRepository] {
        let reader = app.someone(&NewUser::named("ada"), &[scope]);
        stage.say(&reader, "/merge\n/close\n/approve").await.with(403);
    }

    assert_eq!(stage.shown().await["state"], "opened");
}

#[actix_web::test]
async fn a_description_merges_nothing_for_who_may_not() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let dora = app.member(stage.id(), "dora", Developer);
    let asked = json!({ "description": "/merge" });

    let shown = dora.put(&stage.path(), asked.clone()).await.ok();
    assert_eq!((&shown["state"], &shown["description"]), (&json!("opened"), &Value::Null));
    let shown = stage.ada.put(&stage.path(), asked).await.ok();
    assert_eq!(shown["state"], "merged");
}

#[actix_web::test]
async fn an_issue_that_says_the_same_is_closed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (first, second) = (app.issue(project, &ada), app.issue(project, &ada));
    let path = |iid: i64| format!("/projects/{project}/issues/{iid}");
    let say = async |person: &Person<'_>, body: &str| {
        person.post(&format!("{}/notes", path(second)), json!({ "body": body })).await
    };

    say(&app.person("eve"), &format!("/duplicate #{first}")).await.with(400);
    say(&ada, &format!("/duplicate #{second}")).await.with(400);
    say(&ada, "/duplicate #99").await.with(400);
    say(&ada, &format!("/duplicate #{first}")).await.with(202);

    let shown = ada.get(&path(second)).await.ok();
    assert_eq!(shown["state"], "closed");
    let original = shown["_links"]["closed_as_duplicate_of"].as_str().unwrap_or_default();
    assert!(original.ends_with(&format!("/issues/{first}")), "{original}");
    let told = ada.get(&format!("{}/notes", path(first))).await.each("body");
    assert!(told.contains(&json!(format!("marked #{second} as a duplicate of this issue"))));
    let opened = ada.put(&path(second), json!({ "state_event": "reopen" })).await.ok();
    assert_eq!(opened["_links"]["closed_as_duplicate_of"], Value::Null);
}

#[actix_web::test]
async fn a_branch_and_a_merge_request_are_made_for_an_issue() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "public").await;
    let issues = format!("/projects/{project}/issues");
    ada.post(&issues, json!({ "title": "It is slow!", "labels": "speed" })).await.created();
    let notes = format!("{issues}/1/notes");

    let eve = app.person("eve");
    eve.post(&notes, json!({ "body": "/create_merge_request" })).await.with(400);
    let asked = json!({ "body": "/create_merge_request" });
    let done = ada.post(&notes, asked.clone()).await.with(202);

    let made = json!({ "branch_name": "1-it-is-slow", "issue_iid": 1 });
    assert_eq!(done["commands_changes"]["create_merge_request"], made);
    let shown = ada.get(&format!("/projects/{project}/merge_requests/1")).await.ok();
    assert_eq!(shown["title"], "Draft: Resolve \"It is slow!\"");
    assert_eq!(
        (&shown["source_branch"], &shown["target_branch"], &shown["labels"]),
        (&json!("1-it-is-slow"), &json!("main"), &json!(["speed"]))
    );
    app.work().await;
    let closes = format!("/projects/{project}/merge_requests/1/closes_issues");
    assert_eq!(ada.get(&closes).await.each("iid"), [1]);
    let again = ada.post(&notes, asked).await.with(202);
    assert_eq!(again["commands_changes"]["create_merge_request"]["branch_name"], "1-it-is-slow-2");
    let named = json!({ "body": "/create_merge_request main" });
    ada.post(&notes, named).await.with(400);
}

#[actix_web::test]
async fn maintainers_of_the_target_merge_by_words_too() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let mia = stage.app.member(stage.id(), "mia", Maintainer);

    let thread = json!({ "body": "/approve\n/merge" });
    mia.post(&format!("{}/discussions", stage.path()), thread).await.with(202);

    assert_eq!(stage.shown().await["merged_by"]["username"], "mia");
}

#[actix_web::test]
async fn a_note_stays_when_what_is_said_instead_has_no_effect() {
    let app = TestApp::new();
    let stage = Stage::new(&app).await;
    let dora = app.member(stage.id(), "dora", Developer);
    let note = stage.say(&dora, "Mine").await.created();
    let path = format!("{}/notes/{}", stage.path(), note["id"]);

    let refused = dora.put(&path, json!({ "body": "/merge" })).await;
    refused.refused(400, json!({ "message": NO_EFFECT }));
    assert_eq!(dora.get(&path).await.ok()["body"], "Mine");
    dora.put(&path, json!({ "body": "/approve" })).await.with(202);

    dora.get(&path).await.with(404);
    assert_eq!(stage.shown().await["user_notes_count"], 0);
}
