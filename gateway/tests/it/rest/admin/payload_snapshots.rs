//! Whole payloads of webhooks, one of every kind.

use ci::job::End;
use kernel::{
    AccessLevel::Developer,
    Visibility::Private,
    ids::{PipelineId, ProjectId},
};
use security::{
    scan::keep_findings,
    vulnerability::{Finding, ReportType},
};
use serde_json::{Value, json};

use super::receiver::{Receiver, deliver};
use crate::{
    rest::security::findings::{finding, identifier},
    support::{
        Person, TestApp,
        ci::{commit, finish, run},
        keys,
    },
};

struct Scene<'a> {
    app: &'a TestApp,
    receiver: Receiver,
    ada: Person<'a>,
    project: ProjectId,
}

impl<'a> Scene<'a> {
    /// A project with a first commit and a hook for these events.
    async fn with(app: &'a TestApp, flags: &[&str]) -> Self {
        let (receiver, ada) = (Receiver::new(), app.person("ada"));
        let project = app.project(&ada, "engine", Private);
        commit(&ada, project, "main", "one", "build: {script: x}\n").await;
        app.work().await;
        let hook = receiver.hook(flags);
        ada.post(&format!("/projects/{project}/hooks"), hook).await.created();
        Self { app, receiver, ada, project }
    }

    fn at(&self, path: &str) -> String {
        format!("/projects/{}/{path}", self.project)
    }

    /// A merge request of another branch, with one more file.
    async fn propose(&self) -> String {
        let branch = json!({ "branch": "work", "ref": "main" });
        self.ada.post(&self.at("repository/branches"), branch).await.created();
        let action = json!({ "action": "create", "file_path": "a.txt", "content": "a\nb\n" });
        let new = json!({ "branch": "work", "commit_message": "two", "actions": [action] });
        self.ada.post(&self.at("repository/commits"), new).await.created();
        let new = json!({ "source_branch": "work", "target_branch": "main", "title": "Add a" });
        let made = self.ada.post(&self.at("merge_requests"), new).await.created();
        self.app.work().await;
        self.at(&format!("merge_requests/{}", made["iid"]))
    }

    /// What was told since the last look, oldest first.
    async fn told(&self) -> Vec<Value> {
        self.app.work().await;
        deliver(self.app).await;
        self.receiver.told().into_iter().map(|one| one.body).collect()
    }

    async fn last(&self) -> Value {
        self.told().await.pop().expect("something was told")
    }
}

/// A payload with the same words in place of what is another one each time.
fn steady(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_ids(&text)),
        Value::Array(all) => all.into_iter().map(steady).collect(),
        Value::Object(all) => {
            all.into_iter().map(|(name, value)| steady_member(name, value)).collect()
        }
        other => other,
    }
}

fn steady_member(name: String, value: Value) -> (String, Value) {
    let is_random = ["short_sha", "discussion_id", "key"].contains(&name.as_str());
    let shown = if is_random && value.is_string() { json!("[random]") } else { steady(value) };
    (name, shown)
}

/// Ids of git are replaced; the one that stands for nothing stays.
fn without_ids(text: &str) -> String {
    let (mut all, mut run) = (String::new(), String::new());
    let end = |all: &mut String, run: &mut String| {
        let is_id = run.len() == 40 && run.bytes().any(|byte| byte != b'0');
        all.push_str(if is_id { "[sha]" } else { run });
        run.clear();
    };
    for sign in text.chars() {
        match sign {
            '0'..='9' | 'a'..='f' => run.push(sign),
            _ => {
                end(&mut all, &mut run);
                all.push(sign);
            }
        }
    }
    end(&mut all, &mut run);
    all
}

fn look_at(name: &str, payload: Value) {
    insta::assert_json_snapshot!(name, steady(payload));
}

#[actix_web::test]
async fn pushes_of_branches_and_tags() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["push_events", "tag_push_events"]).await;
    commit(&scene.ada, scene.project, "main", "two\n\nMore", "other: {script: x}\n").await;
    look_at("push", scene.last().await);
    let tag = json!({ "tag_name": "v1", "ref": "main", "message": "First" });
    scene.ada.post(&scene.at("repository/tags"), tag).await.created();
    look_at("tag_push", scene.last().await);
    scene.ada.delete(&scene.at("repository/tags/v1")).await.with(204);
    look_at("tag_push_gone", scene.last().await);
}

#[actix_web::test]
async fn issues_from_their_beginning_to_their_end() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events", "confidential_issues_events"]).await;
    let new = json!({ "title": "One", "description": "![a](/uploads/1/a.png)", "labels": "bug",
                      "assignee_ids": [app.user("ada").id], "weight": 3, "due_date": "2030-01-02" });
    let made = scene.ada.post(&scene.at("issues"), new).await.created();
    look_at("issue_open", scene.last().await);
    app.clock.advance(time::Duration::hours(1));
    let place = scene.at(&format!("issues/{}", made["iid"]));
    let change = json!({ "title": "true", "labels": "ci", "assignee_ids": [], "issue_type": "incident",
                         "discussion_locked": true });
    scene.ada.put(&place, change).await.ok();
    look_at("issue_update", scene.last().await);
    app.clock.advance(time::Duration::hours(1));
    scene.ada.put(&place, json!({ "state_event": "close" })).await.ok();
    look_at("issue_close", scene.last().await);
    app.clock.advance(time::Duration::hours(1));
    scene.ada.put(&place, json!({ "state_event": "reopen" })).await.ok();
    look_at("issue_reopen", scene.last().await);
    let new = json!({ "title": "Secret", "confidential": true });
    scene.ada.post(&scene.at("issues"), new).await.created();
    look_at("confidential_issue", scene.last().await);
}

#[actix_web::test]
async fn merge_requests_from_their_beginning_to_their_end() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["merge_requests_events"]).await;
    let place = scene.propose().await;
    look_at("merge_request_open", scene.last().await);
    app.clock.advance(time::Duration::hours(1));
    let change =
        json!({ "title": "Draft: Add a", "squash": true, "reviewer_ids": [app.user("ada").id] });
    scene.ada.put(&place, change).await.ok();
    look_at("merge_request_update", scene.last().await);
    scene.ada.put(&place, json!({ "title": "Add a" })).await.ok();
    commit(&scene.ada, scene.project, "work", "three", "build: {script: y}\n").await;
    look_at("merge_request_push", scene.last().await);
    app.clock.advance(time::Duration::hours(1));
    scene.ada.put(&format!("{place}/merge"), json!({})).await.ok();
    look_at("merge_request_merge", scene.last().await);
}

#[actix_web::test]
async fn whoever_resolves_the_last_thread_changes_the_merge_request() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["merge_requests_events"]).await;
    let place = scene.propose().await;
    let mut threads = Vec::new();
    for body in ["One?", "Two?"] {
        let made = scene.ada.post(&format!("{place}/discussions"), json!({ "body": body })).await;
        threads
            .push(format!("{place}/discussions/{}", made.created()["id"].as_str().expect("an id")));
    }
    scene.told().await;

    scene.ada.put(&threads[0], json!({ "resolved": true })).await.ok();
    assert!(scene.told().await.is_empty(), "one is open");
    scene.ada.put(&threads[1], json!({ "resolved": true })).await.ok();

    let told = scene.last().await;
    assert_eq!(told["object_attributes"]["action"], "update");
    let change = json!({ "blocking_discussions_resolved": { "previous": false, "current": true } });
    assert_eq!(told["changes"], change);
}

#[actix_web::test]
async fn a_merge_tells_its_commit_and_who_merged_as_changes() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["merge_requests_events"]).await;
    let place = scene.propose().await;
    scene.told().await;
    app.clock.advance(time::Duration::hours(1));

    scene.ada.put(&format!("{place}/merge"), json!({})).await.ok();

    let told = scene.last().await;
    let (attributes, changes) = (&told["object_attributes"], &told["changes"]);
    assert_eq!(attributes["action"], "merge");
    assert!(attributes["merge_commit_sha"].is_string());
    let (before, after) = (&attributes["created_at"], &attributes["updated_at"]);
    assert_eq!(changes["updated_at"], json!({ "previous": before, "current": after }));
    assert_ne!(before, after);
    for name in ["merge_commit_sha", "merge_user_id"] {
        let change = json!({ "previous": null, "current": attributes[name] });
        assert_eq!(changes[name], change, "{name}");
    }
}

#[actix_web::test]
async fn milestones_of_projects_and_groups() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["milestone_events"]).await;
    let new = json!({ "title": "v1", "description": "First", "start_date": "2030-01-01",
                      "due_date": "2030-01-02" });
    scene.ada.post(&scene.at("milestones"), new.clone()).await.created();
    look_at("milestone", scene.last().await);
    let group = scene.ada.group("crew", None).await;
    let hook = scene.receiver.hook(&["milestone_events"]);
    scene.ada.post(&format!("/groups/{group}/hooks"), hook).await.created();
    scene.ada.post(&format!("/groups/{group}/milestones"), new).await.created();
    look_at("group_milestone", scene.last().await);
}

#[actix_web::test]
async fn reactions_to_comments_and_merge_requests() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["emoji_events"]).await;
    let place = scene.propose().await;
    let rocket = json!({ "name": "rocket" });
    scene.ada.post(&format!("{place}/award_emoji"), rocket.clone()).await.created();
    look_at("emoji_merge_request", scene.last().await);
    scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    let note = scene.ada.post(&scene.at("issues/1/notes"), json!({ "body": "Hello" })).await;
    let emoji = scene.at(&format!("issues/1/notes/{}/award_emoji", note.created()["id"]));
    scene.ada.post(&emoji, rocket).await.created();
    look_at("emoji_note", scene.last().await);
}

#[actix_web::test]
async fn system_hooks_hear_what_an_annotated_tag_says() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events"]).await;
    let receiver = Receiver::new();
    let hook = json!({ "url": receiver.url("system"), "tag_push_events": true });
    app.admin().post("/hooks", hook).await.created();
    let new = json!({ "tag_name": "v1", "ref": "main", "message": "First" });
    let made = scene.ada.post(&scene.at("repository/tags"), new).await.created();

    let told = event(&app, &receiver, "tag_push").await;

    assert_eq!((&told["message"], &told["commits"]), (&json!("First"), &json!([])));
    assert_eq!(told["checkout_sha"], made["commit"]["id"]);
}

#[actix_web::test]
async fn approvals_given_and_taken_back() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["merge_requests_events"]).await;
    let place = scene.propose().await;
    let bob = app.member(scene.project, "bob", Developer);
    app.member(scene.project, "cyd", Developer);
    let ids = [app.user("bob").id, app.user("cyd").id];
    let rule = json!({ "name": "Look", "approvals_required": 2, "user_ids": ids });
    scene.ada.post(&format!("{place}/approval_rules"), rule).await.created();
    scene.told().await;
    let cyd = app.person("cyd");

    bob.post(&format!("{place}/approve"), json!({})).await.created();
    bob.post(&format!("{place}/unapprove"), json!({})).await.created();
    bob.post(&format!("{place}/approve"), json!({})).await.created();
    cyd.post(&format!("{place}/approve"), json!({})).await.created();
    bob.post(&format!("{place}/unapprove"), json!({})).await.created();

    let told = scene.told().await;
    let actions: Vec<&Value> = told.iter().map(|one| &one["object_attributes"]["action"]).collect();
    assert_eq!(actions, ["approval", "unapproval", "approval", "approved", "unapproved"]);
    look_at("merge_request_approved", told[3].clone());
}

#[actix_web::test]
async fn comments_on_everything() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["note_events", "confidential_note_events"]).await;
    let place = scene.propose().await;
    let body = json!({ "body": "See ![a](/uploads/1/a.png)" });
    scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    scene.ada.post(&scene.at("issues/1/notes"), body.clone()).await.created();
    look_at("note_issue", scene.last().await);
    let hidden = json!({ "body": "hush", "internal": true });
    scene.ada.post(&scene.at("issues/1/notes"), hidden).await.created();
    look_at("confidential_note", scene.last().await);
    scene.ada.post(&format!("{place}/notes"), body).await.created();
    look_at("note_merge_request", scene.last().await);
    let refs = scene.ada.get(&place).await.ok()["diff_refs"].clone();
    let position = json!({ "position_type": "text", "base_sha": refs["base_sha"], "new_line": 2,
        "start_sha": refs["start_sha"], "head_sha": refs["head_sha"], "new_path": "a.txt",
        "old_path": "a.txt" });
    let line = json!({ "body": "Why?", "position": position });
    scene.ada.post(&format!("{place}/discussions"), line).await.created();
    look_at("note_line", scene.last().await);
    let notes = scene
        .at(&format!("repository/commits/{}/comments", refs["head_sha"].as_str().expect("a sha")));
    scene.ada.post(&notes, json!({ "note": "Good" })).await.created();
    look_at("note_commit", scene.last().await);
}

#[actix_web::test]
async fn pages_of_wikis() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["wiki_page_events"]).await;
    let new = json!({ "title": "Home", "content": "Hello" });
    scene.ada.post(&scene.at("wikis"), new).await.created();
    look_at("wiki_page", scene.last().await);
}

#[actix_web::test]
async fn releases() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["releases_events"]).await;
    let due = json!({ "title": "First", "due_date": "2030-01-02" });
    scene.ada.post(&scene.at("milestones"), due).await.created();
    let links = json!([{ "name": "linux", "url": "https://files.test/linux" }]);
    let new = json!({ "tag_name": "v1", "ref": "main", "name": "One", "description": "Tea",
                      "milestones": ["First"], "assets": { "links": links } });
    scene.ada.post(&scene.at("releases"), new).await.created();
    look_at("release", scene.last().await);
    scene.ada.put(&scene.at("releases/v1"), json!({ "name": "Uno" })).await.ok();
    let told = scene.last().await;
    assert_eq!((&told["action"], &told["name"]), (&json!("update"), &json!("Uno")));
}

#[actix_web::test]
async fn pipelines_jobs_and_deployments() {
    let app = TestApp::reaching("127.0.0.1");
    let flags = ["pipeline_events", "job_events", "deployment_events"];
    let scene = Scene::with(&app, &flags).await;
    let text = "build: {script: x, environment: live}\n";
    commit(&scene.ada, scene.project, "main", "ci", text).await;
    scene.told().await;
    run(&app, &scene.ada, scene.project, "build").await;
    let kind = |told: &[Value], kind: &str| {
        told.iter().rfind(|one| one["object_kind"] == kind).expect("one of the kind").clone()
    };
    let told = scene.told().await;
    look_at("deployment", kind(&told, "deployment"));
    look_at("build_running", kind(&told, "build"));
    app.clock.advance(time::Duration::minutes(1));
    finish(&app, &scene.ada, scene.project, "build", End::failed("script_failure")).await;
    let told = scene.told().await;
    look_at("build_failed", kind(&told, "build"));
    look_at("pipeline", kind(&told, "pipeline"));
}

/// An installation with a hook for all that happens in it.
async fn system(app: &TestApp) -> Receiver {
    let receiver = Receiver::new();
    let hook = json!({ "url": receiver.url("system"), "push_events": true });
    app.admin().post("/hooks", hook).await.created();
    receiver
}

/// The last event of that name.
async fn event(app: &TestApp, receiver: &Receiver, name: &str) -> Value {
    deliver(app).await;
    let told = receiver.told().into_iter();
    let mut named = told.map(|one| one.body).filter(|body| body["event_name"] == name);
    named.next_back().unwrap_or_else(|| panic!("{name} is not told"))
}

#[actix_web::test]
async fn groups_and_their_members() {
    let app = TestApp::reaching("127.0.0.1");
    let (receiver, ada) = (Receiver::new(), app.person("ada"));
    let system = system(&app).await;
    let group = ada.group("crew", None).await;
    // Its owner was added to it, too.
    event(&app, &system, "user_add_to_group").await;
    let hook = receiver.hook(&["subgroup_events"]);
    ada.post(&format!("/groups/{group}/hooks"), hook).await.created();
    app.person("bob");
    ada.adds("bob", 30, &format!("/groups/{group}")).await;
    look_at("member", event(&app, &receiver, "user_add_to_group").await);
    look_at("system_user_add_to_group", event(&app, &system, "user_add_to_group").await);
    let inner = ada.group("inner", Some(group)).await;
    look_at("subgroup_create", event(&app, &receiver, "subgroup_create").await);
    look_at("system_group_create", event(&app, &system, "group_create").await);
    ada.put(&format!("/groups/{inner}"), json!({ "path": "core" })).await.ok();
    look_at("system_group_rename", event(&app, &system, "group_rename").await);
}

#[actix_web::test]
async fn projects_and_their_members() {
    let app = TestApp::reaching("127.0.0.1");
    let (system, ada) = (system(&app).await, app.person("ada"));
    let group = ada.group("crew", None).await;
    let new = json!({ "name": "engine", "namespace_id": group });
    let made = ada.post("/projects", new).await.created();
    look_at("system_project_create", event(&app, &system, "project_create").await);
    let place = format!("/projects/{}", made["id"]);
    ada.put(&place, json!({ "description": "Fast" })).await.ok();
    look_at("system_project_update", event(&app, &system, "project_update").await);
    ada.put(&place, json!({ "path": "motor" })).await.ok();
    look_at("system_project_rename", event(&app, &system, "project_rename").await);
    app.person("bob");
    ada.adds("bob", 30, &place).await;
    look_at("system_user_add_to_team", event(&app, &system, "user_add_to_team").await);
    let project = ProjectId(made["id"].as_i64().expect("an id"));
    commit(&ada, project, "main", "one", "x: {script: x}\n").await;
    look_at("system_repository_update", event(&app, &system, "repository_update").await);
}

#[actix_web::test]
async fn people_and_their_keys() {
    let app = TestApp::reaching("127.0.0.1");
    let (system, root) = (system(&app).await, app.admin());
    let new = json!({ "email": "bob@x.test", "name": "Bob", "username": "bob",
                      "password": "correct horse 9", "skip_confirmation": true });
    let bob = root.post("/users", new).await.created();
    look_at("system_user_create", event(&app, &system, "user_create").await);
    let place = format!("/users/{}", bob["id"]);
    root.put(&place, json!({ "username": "rob" })).await.ok();
    look_at("system_user_rename", event(&app, &system, "user_rename").await);
    let key = json!({ "title": "Laptop", "key": keys::ssh_line() });
    root.post(&format!("{place}/keys"), key).await.created();
    look_at("system_key_create", event(&app, &system, "key_create").await);
}

#[actix_web::test]
async fn members_of_projects_and_groups_who_are_changed_and_leave() {
    let app = TestApp::reaching("127.0.0.1");
    let (system, ada) = (system(&app).await, app.person("ada"));
    let group = ada.group("crew", None).await;
    let project = app.project(&ada, "engine", Private);
    app.person("bob");
    let (project, group) = (format!("/projects/{project}"), format!("/groups/{group}"));
    let name = |snapshot: &'static str| snapshot.trim_start_matches("system_");
    for (home, update, removal) in [
        (project, "system_user_update_for_team", "system_user_remove_from_team"),
        (group, "system_user_update_for_group", "system_user_remove_from_group"),
    ] {
        let bob = format!("{home}/members/{}", ada.adds("bob", 30, &home).await);
        app.clock.advance(time::Duration::hours(1));
        let change = json!({ "access_level": 40, "expires_at": "2030-01-02" });
        ada.put(&bob, change).await.ok();
        look_at(update, event(&app, &system, name(update)).await);
        ada.delete(&bob).await.with(204);
        look_at(removal, event(&app, &system, name(removal)).await);
    }
}

#[actix_web::test]
async fn projects_and_groups_that_move_and_go() {
    let app = TestApp::reaching("127.0.0.1");
    let (receiver, ada) = (Receiver::new(), app.person("ada"));
    let system = system(&app).await;
    let group = ada.group("crew", None).await;
    let hook = receiver.hook(&["subgroup_events", "project_events"]);
    ada.post(&format!("/groups/{group}/hooks"), hook).await.created();
    let inner = ada.group("inner", Some(group)).await;
    let new = json!({ "name": "engine", "namespace_id": group });
    let made = ada.post("/projects", new).await.created();
    look_at("project_create", event(&app, &receiver, "project_create").await);
    app.clock.advance(time::Duration::hours(1));
    let place = format!("/projects/{}", made["id"]);
    ada.put(&format!("{place}/transfer"), json!({ "namespace": inner.to_string() })).await.ok();
    look_at("system_project_transfer", event(&app, &system, "project_transfer").await);
    ada.delete(&place).await.with(202);
    look_at("project_destroy", event(&app, &receiver, "project_destroy").await);
    look_at("system_project_destroy", event(&app, &system, "project_destroy").await);
    ada.delete(&format!("/groups/{inner}")).await.with(202);
    look_at("subgroup_destroy", event(&app, &receiver, "subgroup_destroy").await);
    look_at("system_group_destroy", event(&app, &system, "group_destroy").await);
}

#[actix_web::test]
async fn people_who_are_kept_out_and_go_and_their_keys() {
    let app = TestApp::reaching("127.0.0.1");
    let (system, root) = (system(&app).await, app.admin());
    let new = json!({ "email": "bob@x.test", "name": "Bob", "username": "bob",
                      "password": "correct horse 9", "skip_confirmation": true });
    let place = format!("/users/{}", root.post("/users", new).await.created()["id"]);
    let key = json!({ "title": "Laptop", "key": keys::ssh_line() });
    let key = root.post(&format!("{place}/keys"), key).await.created();
    app.clock.advance(time::Duration::hours(1));
    root.delete(&format!("{place}/keys/{}", key["id"])).await.with(204);
    look_at("system_key_destroy", event(&app, &system, "key_destroy").await);
    app.block("bob");
    let pair =
        json!({ "grant_type": "password", "username": "bob", "password": "correct horse 9" });
    assert_ne!(app.anonymous().post("//oauth/token", pair).await.status, 200);
    look_at("system_user_failed_login", event(&app, &system, "user_failed_login").await);
    root.delete(&format!("{place}?hard_delete=true")).await.with(204);
    app.work().await;
    look_at("system_user_destroy", event(&app, &system, "user_destroy").await);
}

#[actix_web::test]
async fn tokens_of_projects_and_groups_that_end_soon() {
    let app = TestApp::reaching("127.0.0.1");
    let (receiver, ada) = (Receiver::new(), app.person("ada"));
    let group = ada.group("crew", None).await;
    let new = json!({ "name": "engine", "namespace_id": group });
    let made = ada.post("/projects", new).await.created();
    let hook = receiver.hook(&["resource_access_token_events"]);
    ada.post(&format!("/groups/{group}/hooks"), hook).await.created();
    let token = json!({ "name": "ci", "scopes": ["api"], "expires_at": "2026-01-09" });
    for home in [format!("/projects/{}", made["id"]), format!("/groups/{group}")] {
        ada.post(&format!("{home}/access_tokens"), token.clone()).await.created();
    }
    app.recurring().await;
    app.clock.advance(time::Duration::hours(25));
    app.recurring().await;
    deliver(&app).await;
    let told = receiver.told();
    for (name, home) in [("token_of_project", "project"), ("token_of_group", "group")] {
        let one = told.iter().find(|one| one.body.get(home).is_some()).expect("it is told");
        assert_eq!(one.header("X-Gitlab-Event"), Some("Resource Access Token Hook"));
        look_at(name, one.body.clone());
    }
}

#[actix_web::test]
async fn vulnerabilities() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["vulnerability_events"]).await;
    let project = scene.project;
    app.write(move |tx| {
        let found = Finding {
            identifiers: vec![identifier("cwe", "327", "CWE-327")],
            location: json!({ "file": "src/hash.c", "start_line": 7 }),
            ..finding("Weak hash")
        };
        keep_findings(tx, (project, PipelineId(1)), ReportType::Sast, &[found])
    });
    let listed = scene.ada.get(&scene.at("vulnerabilities")).await.ok();
    app.clock.advance(time::Duration::hours(1));
    let confirm = format!("/vulnerabilities/{}/confirm", listed[0]["id"]);
    scene.ada.post(&confirm, json!({})).await.created();
    look_at("vulnerability", scene.last().await);
}
