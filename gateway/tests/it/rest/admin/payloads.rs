//! What webhooks are told, key by key.

use kernel::{
    Visibility::Private,
    ids::{PipelineId, ProjectId},
};
use security::{scan::keep_findings, vulnerability::ReportType};
use serde_json::{Value, json};

use super::receiver::{Receiver, deliver, keys};
use crate::{
    rest::security::findings::{finding, keep},
    support::{Person, TestApp, ci::commit},
};

struct Scene<'a> {
    app: &'a TestApp,
    receiver: Receiver,
    ada: Person<'a>,
    project: ProjectId,
}

impl<'a> Scene<'a> {
    /// A project with a hook for these events.
    async fn with(app: &'a TestApp, flags: &[&str]) -> Self {
        let (receiver, ada) = (Receiver::new(), app.person("ada"));
        let project = app.project(&ada, "engine", Private);
        let hook = receiver.hook(flags);
        ada.post(&format!("/projects/{project}/hooks"), hook).await.created();
        Self { app, receiver, ada, project }
    }

    /// What was told since the last look.
    async fn told(&self) -> Vec<Value> {
        deliver(self.app).await;
        self.receiver.told().into_iter().map(|one| one.body).collect()
    }

    fn at(&self, path: &str) -> String {
        format!("/projects/{}/{path}", self.project)
    }
}

const PROJECT: [&str; 16] = [
    "id",
    "name",
    "description",
    "web_url",
    "avatar_url",
    "git_ssh_url",
    "git_http_url",
    "namespace",
    "visibility_level",
    "path_with_namespace",
    "default_branch",
    "ci_config_path",
    "homepage",
    "url",
    "ssh_url",
    "http_url",
];

#[actix_web::test]
async fn a_push_tells_its_commits_with_their_files() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["push_events"]).await;
    commit(&scene.ada, scene.project, "main", "one", "1\n").await;
    scene.told().await;

    commit(&scene.ada, scene.project, "main", "two", "2\n").await;

    let told = scene.told().await;
    let [push] = told.as_slice() else { panic!("{told:?}") };
    let expected = [
        "object_kind",
        "event_name",
        "before",
        "after",
        "ref",
        "checkout_sha",
        "message",
        "user_id",
        "user_name",
        "user_username",
        "user_email",
        "user_avatar",
        "project_id",
        "project",
        "commits",
        "total_commits_count",
        "push_options",
        "repository",
    ];
    assert_eq!(keys(push), expected);
    assert_eq!(keys(&push["project"]), PROJECT);
    let commit = &push["commits"][0];
    let expected =
        ["id", "message", "title", "timestamp", "url", "author", "added", "modified", "removed"];
    assert_eq!(keys(commit), expected);
    assert_eq!((&push["after"], &push["checkout_sha"]), (&commit["id"], &commit["id"]));
    assert_eq!(push["total_commits_count"], 1);
    let expected = [
        "name",
        "url",
        "description",
        "homepage",
        "git_http_url",
        "git_ssh_url",
        "visibility_level",
    ];
    assert_eq!(keys(&push["repository"]), expected);
}

#[actix_web::test]
async fn an_issue_tells_what_was_done_and_changed() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events", "confidential_issues_events"]).await;
    let new = json!({ "title": "One", "labels": "bug", "assignee_ids": [app.user("ada").id] });
    let issue = scene.ada.post(&scene.at("issues"), new).await.created();
    let place = scene.at(&format!("issues/{}", issue["iid"]));
    scene.ada.put(&place, json!({ "title": "Two", "labels": "ci" })).await.ok();
    scene.ada.put(&place, json!({ "state_event": "close" })).await.ok();

    let told = scene.told().await;

    let actions: Vec<&Value> = told.iter().map(|one| &one["object_attributes"]["action"]).collect();
    assert_eq!(actions, ["open", "update", "close"]);
    let expected = [
        "object_kind",
        "event_type",
        "user",
        "project",
        "object_attributes",
        "labels",
        "changes",
        "repository",
        "assignees",
        "assignee",
    ];
    assert_eq!(keys(&told[0]), expected);
    assert_eq!(keys(&told[0]["user"]), ["id", "name", "username", "avatar_url", "email"]);
    assert_eq!(told[0]["user"]["email"], "[REDACTED]");
    let title = json!({ "previous": "One", "current": "Two" });
    assert_eq!(told[1]["changes"]["title"], title);
    assert_eq!(told[1]["changes"]["labels"]["current"][0]["title"], "ci");
    assert_eq!(told[2]["changes"]["state_id"], json!({ "previous": 1, "current": 2 }));
    assert_eq!(told[2]["object_attributes"]["state"], "closed");
}

#[actix_web::test]
async fn time_that_was_spent_is_told_as_a_change() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events"]).await;
    let issue = scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    let place = scene.at(&format!("issues/{}", issue["iid"]));
    scene.told().await;

    let spent = json!({ "duration": "1h" });
    scene.ada.post(&format!("{place}/add_spent_time"), spent).await.created();

    let told = scene.told().await;
    let [told] = told.as_slice() else { panic!("{told:?}") };
    let attributes = &told["object_attributes"];
    assert_eq!(
        (&attributes["action"], &attributes["time_change"]),
        (&json!("update"), &json!(3600))
    );
    assert_eq!(attributes["human_time_change"], "1h");
    let (total, change) = (&told["changes"]["total_time_spent"], &told["changes"]["time_change"]);
    assert_eq!(total, &json!({ "previous": 0, "current": 3600 }));
    assert_eq!(change, &json!({ "previous": 0, "current": 3600 }));
}

#[actix_web::test]
async fn what_is_confidential_is_told_only_to_who_asks_for_that() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events", "note_events"]).await;
    let new = json!({ "title": "Secret", "confidential": true });
    let issue = scene.ada.post(&scene.at("issues"), new).await.created();
    let notes = scene.at(&format!("issues/{}/notes", issue["iid"]));
    scene.ada.post(&notes, json!({ "body": "hush" })).await.created();

    assert!(scene.told().await.is_empty());
}

#[actix_web::test]
async fn a_comment_tells_what_it_is_about() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["note_events"]).await;
    let issue = scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    let notes = scene.at(&format!("issues/{}/notes", issue["iid"]));

    scene.ada.post(&notes, json!({ "body": "Hello" })).await.created();

    let told = scene.told().await;
    let [note] = told.as_slice() else { panic!("{told:?}") };
    let expected = [
        "object_kind",
        "event_type",
        "user",
        "project_id",
        "project",
        "object_attributes",
        "repository",
        "issue",
    ];
    assert_eq!(keys(note), expected);
    assert_eq!(
        (&note["object_attributes"]["note"], &note["object_attributes"]["action"]),
        (&json!("Hello"), &json!("create"))
    );
    assert_eq!(note["issue"]["title"], "One");
}

#[actix_web::test]
async fn items_tell_who_changed_their_texts_last() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events", "merge_requests_events"]).await;
    let bob = app.member(scene.project, "bob", kernel::AccessLevel::Developer);
    commit(&scene.ada, scene.project, "main", "one", "1\n").await;
    let branch = json!({ "branch": "work", "ref": "main" });
    scene.ada.post(&scene.at("repository/branches"), branch).await.created();
    commit(&scene.ada, scene.project, "work", "two", "2\n").await;
    let new = json!({ "source_branch": "work", "target_branch": "main", "title": "One" });
    scene.ada.post(&scene.at("issues"), new.clone()).await.created();
    scene.ada.post(&scene.at("merge_requests"), new).await.created();
    let (ada, editor) = (app.user("ada").id.0, app.user("bob").id.0);
    for place in ["issues/1", "merge_requests/1"] {
        bob.put(&scene.at(place), json!({ "description": "Two" })).await.ok();
        scene.ada.put(&scene.at(place), json!({ "labels": "bug" })).await.ok();
    }

    let told = scene.told().await;

    for kind in ["issue", "merge_request"] {
        let own: Vec<&Value> = told.iter().filter(|one| one["object_kind"] == kind).collect();
        let told = |at: usize, name: &str| own[at]["object_attributes"][name].clone();
        let seen = |name: &str| [told(0, name), told(1, name), told(2, name)];
        assert_eq!(
            seen("last_edited_by_id"),
            [json!(null), json!(editor), json!(editor)],
            "{kind}"
        );
        assert_eq!(seen("updated_by_id"), [json!(null), json!(editor), json!(ada)], "{kind}");
        assert!(told(0, "last_edited_at").is_null() && told(2, "last_edited_at").is_string());
    }
}

#[actix_web::test]
async fn an_edit_of_a_text_tells_its_editor_as_a_change() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events"]).await;
    scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    scene.told().await;
    app.clock.advance(time::Duration::hours(1));

    scene.ada.put(&scene.at("issues/1"), json!({ "description": "Two" })).await.ok();
    let edited = scene.told().await;
    scene.ada.put(&scene.at("issues/1"), json!({ "weight": 3 })).await.ok();
    let weighed = scene.told().await;

    for name in ["last_edited_at", "last_edited_by_id", "updated_by_id"] {
        let now = &edited[0]["object_attributes"][name];
        assert_eq!(edited[0]["changes"][name], json!({ "previous": null, "current": now }));
        assert!(!now.is_null(), "{name}");
    }
    assert_eq!(keys(&weighed[0]["changes"]), ["weight"]);
}

#[actix_web::test]
async fn changes_of_issues_tell_what_the_records_said_before() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events"]).await;
    app.member(scene.project, "bob", kernel::AccessLevel::Developer);
    let people = ["bob", "ada"].map(|name| app.user(name).id);
    let issue = scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    let before = scene.told().await[0]["object_attributes"]["updated_at"].clone();
    app.clock.advance(time::Duration::hours(1));

    let estimate = json!({ "duration": "1h" });
    let place = scene.at(&format!("issues/{}", issue["iid"]));
    scene.ada.post(&format!("{place}/time_estimate"), estimate).await.ok();
    let estimated = scene.told().await;
    let assignees = json!({ "assignee_ids": people, "discussion_locked": true });
    scene.ada.put(&place, assignees).await.ok();
    let changed = scene.told().await;

    assert_eq!(estimated[0]["changes"]["updated_at"]["previous"], before);
    let locked = json!({ "previous": null, "current": true });
    assert_eq!(changed[0]["changes"]["discussion_locked"], locked);
    assert_eq!(changed[0]["changes"]["assignees"]["current"], changed[0]["assignees"]);
    assert_eq!(changed[0]["assignees"].as_array().map(Vec::len), Some(2));
}

#[actix_web::test]
async fn an_edit_that_closes_too_is_told_before_the_closing() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events", "merge_requests_events"]).await;
    commit(&scene.ada, scene.project, "main", "one", "1\n").await;
    let branch = json!({ "branch": "work", "ref": "main" });
    scene.ada.post(&scene.at("repository/branches"), branch).await.created();
    commit(&scene.ada, scene.project, "work", "two", "2\n").await;
    let new = json!({ "source_branch": "work", "target_branch": "main", "title": "One" });
    for kind in ["issues", "merge_requests"] {
        scene.ada.post(&scene.at(kind), new.clone()).await.created();
        scene.told().await;
        let edit = json!({ "title": "Two", "state_event": "close", "remove_source_branch": false });
        scene.ada.put(&scene.at(&format!("{kind}/1")), edit).await.ok();
        let told = scene.told().await;
        let seen = |name: &str| -> Vec<&Value> {
            told.iter().map(|one| &one["object_attributes"][name]).collect()
        };
        assert_eq!(seen("action"), ["update", "close"], "{kind}");
        assert_eq!(seen("state"), ["opened", "closed"], "{kind}");
        let params = &told[0]["object_attributes"]["merge_params"];
        assert_eq!(&told[0]["changes"]["merge_params"]["current"], params, "{kind}");
    }
}

#[actix_web::test]
async fn a_moved_issue_tells_where_it_went() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["issues_events"]).await;
    let to = json!({ "to_project_id": app.project(&scene.ada, "other", Private) });
    for title in ["Open", "Closed"] {
        scene.ada.post(&scene.at("issues"), json!({ "title": title })).await.created();
    }
    scene.ada.put(&scene.at("issues/2"), json!({ "state_event": "close" })).await.ok();
    scene.told().await;

    for (iid, action) in [(1, "close"), (2, "update")] {
        let place = scene.at(&format!("issues/{iid}/move"));
        let moved = scene.ada.post(&place, to.clone()).await.created();
        let told = scene.told().await;
        let [told] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(told["object_attributes"]["action"], action);
        let change = json!({ "previous": null, "current": moved["id"] });
        assert_eq!(told["changes"]["moved_to_id"], change);
    }
}

#[actix_web::test]
async fn milestones_of_projects_and_groups_tell_their_states() {
    let app = TestApp::reaching("127.0.0.1");
    let (receiver, ada) = (Receiver::new(), app.person("ada"));
    let group = ada.group("crew", None).await;
    let hook = receiver.hook(&["milestone_events"]);
    ada.post(&format!("/groups/{group}/hooks"), hook).await.created();
    let new = json!({ "name": "engine", "namespace_id": group });
    let project = ada.post("/projects", new).await.created();

    for home in [format!("/projects/{}", project["id"]), format!("/groups/{group}")] {
        let place = format!("{home}/milestones");
        let made = ada.post(&place, json!({ "title": home })).await.created();
        let one = format!("{place}/{}", made["id"]);
        for (name, value) in
            [("state_event", "close"), ("title", "v2"), ("state_event", "activate")]
        {
            ada.put(&one, json!({ name: value })).await.ok();
        }
        ada.delete(&one).await.with(204);
        deliver(&app).await;
        let told = receiver.told();
        let actions: Vec<&Value> = told.iter().map(|one| &one.body["action"]).collect();
        assert_eq!(actions, ["create", "close", "reopen", "delete"], "{home}");
        assert!(told.iter().all(|one| one.header("X-Gitlab-Event") == Some("Milestone Hook")));
    }
}

#[actix_web::test]
async fn a_reaction_tells_what_it_is_about_also_when_it_is_taken_back() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["emoji_events"]).await;
    scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    let note = scene.ada.post(&scene.at("issues/1/notes"), json!({ "body": "Hi" })).await.created();
    let emoji = scene.at(&format!("issues/1/notes/{}/award_emoji", note["id"]));
    let award = scene.ada.post(&emoji, json!({ "name": "rocket" })).await.created();
    scene.ada.delete(&format!("{emoji}/{}", award["id"])).await.with(204);
    deliver(&app).await;

    let told = scene.receiver.told();

    let types: Vec<&Value> = told.iter().map(|one| &one.body["event_type"]).collect();
    assert_eq!(types, ["award", "revoke"]);
    assert!(told.iter().all(|one| one.header("X-Gitlab-Event") == Some("Emoji Hook")));
    let attributes = &told[1].body["object_attributes"];
    assert_eq!((&attributes["id"], &attributes["awardable_id"]), (&award["id"], &note["id"]));
    let url = format!("http://forge.test/ada/engine/-/issues/1#note_{}", note["id"]);
    assert_eq!(attributes["awarded_on_url"], url);
    assert_eq!(
        (&told[1].body["note"]["note"], &told[1].body["issue"]["title"]),
        (&json!("Hi"), &json!("One"))
    );
}

#[actix_web::test]
async fn reactions_to_what_is_confidential_are_told_only_to_who_asks_for_that() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["emoji_events"]).await;
    let new = json!({ "title": "Secret", "confidential": true });
    scene.ada.post(&scene.at("issues"), new).await.created();
    let emoji = scene.at("issues/1/award_emoji");
    scene.ada.post(&emoji, json!({ "name": "tea" })).await.created();
    assert!(scene.told().await.is_empty());

    let hooks = scene.at("hooks");
    let hook = format!("{hooks}/{}", scene.ada.get(&hooks).await.ok()[0]["id"]);
    scene.ada.put(&hook, json!({ "confidential_issues_events": true })).await.ok();
    scene.ada.post(&emoji, json!({ "name": "rocket" })).await.created();

    let told = scene.told().await;
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(told["object_attributes"]["name"], "rocket");
}

#[actix_web::test]
async fn hooks_are_tried_out_with_milestones_and_reactions() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &[]).await;
    let hooks = scene.at("hooks");
    let test = format!("{hooks}/{}/test", scene.ada.get(&hooks).await.ok()[0]["id"]);
    let none = json!({ "message": "Ensure the project has milestones." });
    scene.ada.post(&format!("{test}/milestone_events"), json!({})).await.refused(422, none);
    scene.ada.post(&scene.at("milestones"), json!({ "title": "v1" })).await.created();
    scene.ada.post(&scene.at("issues"), json!({ "title": "One" })).await.created();
    scene.ada.post(&scene.at("issues/1/notes"), json!({ "body": "Hi" })).await.created();

    for event in ["milestone_events", "emoji_events"] {
        scene.ada.post(&format!("{test}/{event}"), json!({})).await.created();
    }

    let told = scene.receiver.told();
    let headers: Vec<_> = told.iter().map(|one| one.header("X-Gitlab-Event")).collect();
    assert_eq!(headers, [Some("Milestone Hook"), Some("Emoji Hook")]);
    assert_eq!(told[0].body["object_attributes"]["title"], "v1");
    assert_eq!(told[1].body["object_attributes"]["name"], "thumbsup");
}

#[actix_web::test]
async fn hooks_are_tried_out_with_pages_tokens_and_vulnerabilities() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &[]).await;
    let hooks = scene.at("hooks");
    let test = format!("{hooks}/{}/test", scene.ada.get(&hooks).await.ok()[0]["id"]);
    let events = [
        ("wiki_page_events", "wiki pages"),
        ("resource_access_token_events", "access tokens"),
        ("vulnerability_events", "vulnerabilities"),
    ];
    for (event, what) in events {
        let none = json!({ "message": format!("Ensure the project has {what}.") });
        scene.ada.post(&format!("{test}/{event}"), json!({})).await.refused(422, none);
    }
    for title in ["Beta", "Alpha"] {
        let page = json!({ "title": title, "content": title });
        scene.ada.post(&scene.at("wikis"), page).await.created();
    }
    let token = json!({ "name": "ci", "scopes": ["api"], "expires_at": "2026-06-01" });
    scene.ada.post(&scene.at("access_tokens"), token).await.created();
    keep(&app, scene.project, finding("Weak hash"));

    for (event, _) in events {
        scene.ada.post(&format!("{test}/{event}"), json!({})).await.created();
    }

    let told = scene.receiver.told();
    let headers: Vec<_> = told.iter().map(|one| one.header("X-Gitlab-Event")).collect();
    let expected = ["Wiki Page Hook", "Resource Access Token Hook", "Vulnerability Hook"];
    assert_eq!(headers, expected.map(Some));
    let page = &told[0].body["object_attributes"];
    assert_eq!((&page["title"], &page["content"]), (&json!("Alpha"), &json!("Alpha")));
    assert_eq!(page["version_id"].as_str().map(str::len), Some(40));
    assert_eq!(told[1].body["object_attributes"]["name"], "ci");
    assert_eq!(told[2].body["object_attributes"]["title"], "Weak hash");
}

#[actix_web::test]
async fn new_vulnerabilities_and_their_states_are_told_once() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["vulnerability_events"]).await;
    let project = scene.project;
    let import = || {
        app.write(move |tx| {
            let found = [finding("Weak hash"), finding("Open port")];
            keep_findings(tx, (project, PipelineId(1)), ReportType::Sast, &found)
        })
    };
    assert!(import() && import());
    let listed = scene.ada.get(&scene.at("vulnerabilities")).await.ok();
    let confirm = format!("/vulnerabilities/{}/confirm", listed[0]["id"]);
    scene.ada.post(&confirm, json!({})).await.created();

    let told = scene.told().await;

    let states: Vec<&Value> = told.iter().map(|one| &one["object_attributes"]["state"]).collect();
    assert_eq!(states.len(), 3, "{told:?}");
    assert_eq!(states.iter().filter(|state| **state == "detected").count(), 2);
    let confirmed = told.iter().find(|one| one["object_attributes"]["state"] == "confirmed");
    let confirmed = &confirmed.expect("it is told")["object_attributes"];
    assert_eq!(confirmed["confirmed_by_id"], json!(app.user("ada").id));
}

#[actix_web::test]
async fn a_merge_request_tells_its_ends_and_last_commit() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["merge_requests_events"]).await;
    commit(&scene.ada, scene.project, "main", "one", "1\n").await;
    let branch = json!({ "branch": "work", "ref": "main" });
    scene.ada.post(&scene.at("repository/branches"), branch).await.created();
    commit(&scene.ada, scene.project, "work", "two", "2\n").await;
    let new = json!({ "source_branch": "work", "target_branch": "main", "title": "One" });

    let made = scene.ada.post(&scene.at("merge_requests"), new).await.created();

    let told = scene.told().await;
    let [opened] = told.as_slice() else { panic!("{told:?}") };
    let expected = [
        "object_kind",
        "event_type",
        "user",
        "project",
        "object_attributes",
        "labels",
        "changes",
        "repository",
    ];
    assert_eq!(keys(opened), expected);
    let attributes = &opened["object_attributes"];
    assert_eq!((&attributes["action"], &attributes["iid"]), (&json!("open"), &made["iid"]));
    assert_eq!(keys(&attributes["target"]), PROJECT);
    assert_eq!(attributes["last_commit"]["id"], made["sha"]);
    let close = json!({ "state_event": "close" });
    scene.ada.put(&scene.at(&format!("merge_requests/{}", made["iid"])), close).await.ok();
    assert_eq!(scene.told().await[0]["object_attributes"]["action"], "close");
}

#[actix_web::test]
async fn a_pipeline_and_its_jobs_tell_how_far_they_are() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["pipeline_events", "job_events"]).await;
    commit(&scene.ada, scene.project, "main", "ci", "build: {script: x}\n").await;
    app.work().await;

    let told = scene.told().await;

    let pipeline = told.iter().find(|one| one["object_kind"] == "pipeline").expect("a pipeline");
    let expected = [
        "object_kind",
        "object_attributes",
        "merge_request",
        "user",
        "project",
        "commit",
        "builds",
    ];
    assert_eq!(keys(pipeline), expected);
    assert_eq!(pipeline["object_attributes"]["stages"], json!(["test"]));
    let build = told.iter().find(|one| one["object_kind"] == "build").expect("a job");
    assert_eq!((&build["build_name"], &build["build_stage"]), (&json!("build"), &json!("test")));
    assert!(build["commit"]["message"].is_string());
}

#[actix_web::test]
async fn a_pipeline_tells_all_of_its_jobs_and_every_stage() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["pipeline_events"]).await;
    let many = |name: &str| format!("{name}: {{stage: first, script: x, parallel: 200}}\n");
    let many = ["a", "b", "c", "d", "e", "f"].map(many).concat();
    let text = format!("stages: [first, last]\n{many}down: {{stage: last, trigger: ada/none}}\n");
    commit(&scene.ada, scene.project, "main", "ci", &text).await;
    app.work().await;

    let told = scene.told().await;

    let builds = told[0]["builds"].as_array().expect("jobs");
    assert_eq!(builds.len(), 1_200);
    assert_eq!(told[0]["object_attributes"]["stages"], json!(["first", "last"]));
}

#[actix_web::test]
async fn jobs_tell_what_they_do_to_their_environment() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["pipeline_events", "job_events"]).await;
    let environment = "{name: live, action: prepare, deployment_tier: staging}";
    let text = format!("build: {{script: x, environment: {environment}}}\nother: {{script: x}}\n");
    commit(&scene.ada, scene.project, "main", "ci", &text).await;
    app.work().await;

    let told = scene.told().await;

    let build = told.iter().find(|one| one["build_name"] == "build").expect("a job");
    assert_eq!(build["environment"], json!({ "name": "live", "action": "prepare" }));
    let other = told.iter().find(|one| one["build_name"] == "other").expect("a job");
    assert_eq!(other["environment"], Value::Null);
    let pipeline = told.iter().find(|one| one["object_kind"] == "pipeline").expect("a pipeline");
    let jobs = pipeline["builds"].as_array().expect("jobs");
    let build = jobs.iter().find(|job| job["name"] == "build").expect("a job");
    let expected = json!({ "name": "live", "action": "prepare", "deployment_tier": "staging" });
    assert_eq!(build["environment"], expected);
    assert_eq!(build["artifacts_file"], json!({ "filename": null, "size": null }));
}

#[actix_web::test]
async fn a_push_of_more_refs_than_the_settings_allow_tells_of_none() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["push_events"]).await;
    let root = app.admin();
    let limit = async |most: i64| {
        let settings = json!({ "push_event_hooks_limit": most });
        root.put("/application/settings", settings).await.ok();
    };

    limit(0).await;
    commit(&scene.ada, scene.project, "main", "one", "1\n").await;
    assert!(scene.told().await.is_empty());

    limit(1).await;
    commit(&scene.ada, scene.project, "main", "two", "2\n").await;
    assert_eq!(scene.told().await.len(), 1);
}

#[actix_web::test]
async fn hooks_of_groups_are_tried_out_with_what_their_projects_have() {
    let app = TestApp::reaching("127.0.0.1");
    let (receiver, ada) = (Receiver::new(), app.person("ada"));
    let group = ada.group("crew", None).await;
    let hook = ada.post(&format!("/groups/{group}/hooks"), receiver.hook(&[])).await.created();
    let test = format!("/groups/{group}/hooks/{}/test", hook["id"]);
    let none = json!({ "message": "Ensure the group has a project with commits." });
    ada.post(&format!("{test}/push_events"), json!({})).await.refused(422, none);
    let new = json!({ "name": "engine", "namespace_id": group });
    let project = ada.post("/projects", new).await.created()["id"].as_i64().expect("an id");
    commit(&ada, ProjectId(project), "main", "one", "1\n").await;
    ada.group("inner", Some(group)).await;

    for event in ["push_events", "member_events", "subgroup_events", "project_events"] {
        ada.post(&format!("{test}/{event}"), json!({})).await.created();
    }

    let told = receiver.told();
    let headers: Vec<_> = told.iter().map(|one| one.header("X-Gitlab-Event")).collect();
    let expected = ["Push Hook", "Member Hook", "Subgroup Hook", "Project Hook"];
    assert_eq!(headers, expected.map(Some));
    assert_eq!(told[0].body["project"]["path_with_namespace"], "crew/engine");
    assert_eq!(told[3].body["path_with_namespace"], "crew/engine");
    assert_eq!(told[1].body["user_username"], "ada");
    assert_eq!(told[2].body["full_path"], "crew/inner");
}

#[actix_web::test]
async fn a_wiki_page_tells_its_text_also_when_it_goes() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, &["wiki_page_events"]).await;
    let new = json!({ "title": "Home", "content": "Hello" });
    scene.ada.post(&scene.at("wikis"), new).await.created();
    scene.ada.delete(&scene.at("wikis/Home")).await.with(204);

    let told = scene.told().await;

    let page = |one: &Value| one["object_attributes"].clone();
    assert_eq!(keys(&told[0]), ["object_kind", "user", "project", "wiki", "object_attributes"]);
    let expected = [
        "title",
        "content",
        "format",
        "message",
        "slug",
        "version_id",
        "url",
        "diff_url",
        "action",
    ];
    assert_eq!(keys(&page(&told[0])), expected);
    assert_eq!(
        (page(&told[0])["action"].clone(), page(&told[1])["action"].clone()),
        (json!("create"), json!("delete"))
    );
    assert_eq!(page(&told[1])["content"], "Hello");
}

#[actix_web::test]
async fn groups_and_the_installation_hear_of_members_groups_projects_and_people() {
    let app = TestApp::reaching("127.0.0.1");
    let (receiver, system, ada) = (Receiver::new(), Receiver::new(), app.person("ada"));
    let group = ada.group("crew", None).await;
    let hook = receiver.hook(&["subgroup_events"]);
    ada.post(&format!("/groups/{group}/hooks"), hook).await.created();
    app.admin().post("/hooks", json!({ "url": system.url("system") })).await.created();
    app.person("bob");
    ada.adds("bob", 30, &format!("/groups/{group}")).await;
    ada.group("inner", Some(group)).await;
    ada.post("/projects", json!({ "name": "engine", "namespace_id": group })).await.created();
    deliver(&app).await;

    let mut told = receiver.told();
    // What concerns different groups comes in any order.
    told.sort_by_key(|one| one.body["group_name"].to_string() + &one.body["name"].to_string());
    let names: Vec<&Value> = told.iter().map(|one| &one.body["event_name"]).collect();

    // Whoever makes a group joins it.
    assert_eq!(names, ["user_add_to_group", "user_add_to_group", "subgroup_create"]);
    assert_eq!(told[0].header("X-Gitlab-Event"), Some("Member Hook"));
    let expected = [
        "created_at",
        "updated_at",
        "group_name",
        "group_path",
        "group_id",
        "user_username",
        "user_name",
        "user_email",
        "user_id",
        "group_access",
        "group_plan",
        "expires_at",
        "event_name",
    ];
    assert_eq!(keys(&told[0].body), expected);
    assert_eq!(told[0].body["group_access"], "Developer");
    let told = system.told();
    assert!(told.iter().all(|one| one.header("X-Gitlab-Event") == Some("System Hook")));
    for name in ["user_add_to_group", "group_create", "project_create"] {
        assert!(told.iter().any(|one| one.body["event_name"] == name), "{name}");
    }
}
