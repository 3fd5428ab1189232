//! Merge requests: proposing, reading, changing and removing one.

use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

fn id(project: &Value) -> ProjectId {
    ProjectId(project.as_i64().expect("an id"))
}

/// A public project of `ada`'s whose branch `topic` has one commit more than `main`.
async fn project_with_topic(ada: &Person<'_>) -> (Value, String) {
    let project = ada.filled_project("Engine", "public").await;
    let head = ada.commit(&project, "topic", "topic.txt").await;
    (project, head)
}

#[actix_web::test]
async fn a_branch_is_proposed_and_tells_what_it_holds() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, head) = project_with_topic(&ada).await;

    let new = json!({ "title": " Add it ", "source_branch": "topic", "target_branch": "main",
        "description": "- [x] code\n- [ ] tests", "remove_source_branch": true });
    let made = ada.post(&format!("/projects/{project}/merge_requests"), new).await.created();

    assert_eq!((&made["iid"], &made["title"]), (&json!(1), &json!("Add it")));
    assert_eq!((&made["state"], &made["sha"]), (&json!("opened"), &json!(head)));
    assert_eq!((&made["draft"], &made["work_in_progress"]), (&json!(false), &json!(false)));
    assert_eq!(made["changes_count"], "1");
    assert_eq!(made["diff_refs"]["head_sha"], head);
    assert_eq!(made["diff_refs"]["base_sha"], made["diff_refs"]["start_sha"]);
    assert_eq!(made["force_remove_source_branch"], true);
    assert_eq!(made["task_completion_status"], json!({ "count": 2, "completed_count": 1 }));
    assert_eq!(made["author"]["username"], "ada");
    assert_eq!(made["web_url"], "http://forge.test/ada/engine/-/merge_requests/1");
    let references = json!({ "short": "!1", "relative": "!1", "full": "ada/engine!1" });
    assert_eq!((&made["reference"], &made["references"]), (&json!("!1"), &references));
    assert_eq!(made["user"]["can_merge"], true);
    assert_eq!((made.get("pipeline"), made.get("allow_collaboration")), (Some(&Value::Null), None));
    let shown = ada.get(&format!("/projects/{project}/merge_requests/1")).await.ok();
    assert_eq!((&shown["id"], &shown["subscribed"]), (&made["id"], &json!(true)));
    assert_eq!(shown["first_contribution"], false);
}

#[actix_web::test]
async fn the_fields_come_in_the_order_of_the_contract() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;
    ada.propose(&project, "topic", "Add it").await;

    let path = format!(
        "/projects/{project}/merge_requests/1?render_html=true&include_rebase_in_progress=true&include_diverged_commits_count=true"
    );
    let answer = ada.get(&path).await;

    let text = String::from_utf8(answer.bytes).expect("text");
    let keys: Vec<String> = serde_json::from_str::<indexed::Keys>(&text).expect("a record").0;
    insta::assert_snapshot!(keys.join("\n"));
}

/// The keys of a JSON object in their order.
mod indexed {
    use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};

    pub(super) struct Keys(pub(super) Vec<String>);

    impl<'de> Deserialize<'de> for Keys {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct InOrder;
            impl<'de> Visitor<'de> for InOrder {
                type Value = Keys;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                    let mut keys = Vec::new();
                    while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
                        keys.push(key);
                    }
                    Ok(Keys(keys))
                }
            }
            deserializer.deserialize_map(InOrder)
        }
    }
}

#[actix_web::test]
async fn what_cannot_be_proposed_is_refused_in_the_words_of_the_contract() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;
    let stranger = ada.filled_project("Other", "public").await;
    let path = format!("/projects/{project}/merge_requests");
    ada.propose(&project, "topic", "Add it").await;
    let new = |field: &str, value: Value| {
        let mut new =
            json!({ "title": "Add it", "source_branch": "other", "target_branch": "main" });
        new[field] = value;
        new
    };
    for (sent, status, message) in [
        (
            new("source_branch", json!("main")),
            422,
            json!(["You can't use same project/branch for source and target"]),
        ),
        (
            new("target_project_id", stranger.clone()),
            422,
            json!(["Source project is not a fork of the target project"]),
        ),
        (
            new("source_branch", json!("topic")),
            409,
            json!(["Another open merge request already exists for this source branch: !1"]),
        ),
        (new("source_branch", json!("a b")), 400, json!({ "source_branch": ["is invalid"] })),
        (new("title", json!(" ")), 400, json!({ "title": ["can't be blank"] })),
        (
            new("title", json!("x".repeat(256))),
            400,
            json!({ "title": ["is too long (maximum is 255 characters)"] }),
        ),
        (
            new("description", json!("x".repeat(1_048_577))),
            400,
            json!({ "description": ["is too long (maximum is 1048576 characters)"] }),
        ),
    ] {
        ada.post(&path, sent).await.refused(status, json!({ "message": message }));
    }
    let missing = "title is missing, source_branch is missing, target_branch is missing";
    ada.post(&path, json!({})).await.refused(400, json!({ "error": missing }));
    ada.put(&format!("/projects/{stranger}"), json!({ "merge_requests_access_level": "disabled" }))
        .await
        .ok();
    let off = json!({ "message": ["Target project has disabled merge requests"] });
    ada.post(&path, new("target_project_id", stranger)).await.refused(422, off);
}

#[actix_web::test]
async fn a_branch_that_is_not_there_can_be_proposed_and_holds_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;

    let made = ada.propose(&project, "nowhere", "Later").await;

    assert_eq!((&made["sha"], &made["diff_refs"]), (&Value::Null, &Value::Null));
    assert_eq!(made["changes_count"], Value::Null);
}

#[actix_web::test]
async fn forks_propose_and_their_commits_outlive_them() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (project, _) = project_with_topic(&ada).await;
    let fork = bob.post(&format!("/projects/{project}/fork"), json!({})).await.created();
    let fork = fork["id"].clone();
    let head = bob.commit(&fork, "fix", "fix.txt").await;

    let new = json!({ "title": "Fix", "source_branch": "fix", "target_branch": "main",
        "target_project_id": project, "allow_collaboration": true });
    let made = bob.post(&format!("/projects/{fork}/merge_requests"), new).await.created();

    assert_eq!((&made["source_project_id"], &made["project_id"]), (&fork, &project));
    assert_eq!((&made["allow_collaboration"], &made["sha"]), (&json!(true), &json!(head)));
    let kept = |refs: Vec<(std::path::PathBuf, String)>| {
        refs.iter()
            .any(|(path, text)| path.ends_with("refs/merge-requests/1/head") && text.trim() == head)
    };
    assert!(kept(app.refs(id(&project))));
    let shown = ada.get(&format!("/projects/{project}/repository/commits/{head}")).await.ok();
    assert_eq!(shown["id"], head);
    let alone = bob.get(&format!("/projects/{project}/merge_requests/1")).await.ok();
    assert_eq!(alone["first_contribution"], true);
    assert_eq!(alone["user"]["can_merge"], false);
    ada.delete(&format!("/projects/{project}/merge_requests/1")).await.with(204);
    app.work().await;
    assert!(!kept(app.refs(id(&project))));
}

#[actix_web::test]
async fn heads_that_a_forced_push_left_behind_are_kept() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, first) = project_with_topic(&ada).await;
    ada.propose(&project, "topic", "Add it").await;
    let forced = json!({ "branch": "topic", "start_branch": "main", "force": true,
        "commit_message": "Again", "actions": [{ "action": "create", "file_path": "again.txt", "content": "x" }] });
    let again = ada.post(&format!("/projects/{project}/repository/commits"), forced).await;
    let again = again.created()["id"].clone();
    let merge_request = format!("/projects/{project}/merge_requests/1");

    ada.put(&merge_request, json!({ "state_event": "close" })).await.ok();
    let opened = ada.put(&merge_request, json!({ "state_event": "reopen" })).await.ok();

    assert_eq!((&opened["sha"], &opened["state"]), (&again, &json!("opened")));
    let refs = app.refs(id(&project));
    assert!(refs.iter().any(|(path, _)| path.ends_with(format!("refs/keep-around/{first}"))));
}

#[actix_web::test]
async fn developers_propose_and_readers_are_asked_to_fork() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;
    let path = format!("/projects/{project}/merge_requests");
    let new = json!({ "title": "Add it", "source_branch": "topic", "target_branch": "main" });

    let forbidden = json!({ "message": "403 Forbidden" });
    let rita = app.member(id(&project), "rita", Reporter);
    rita.post(&path, new.clone()).await.refused(403, forbidden);
    app.anonymous().get(&format!("{path}/1")).await.with(401);
    app.member(id(&project), "dora", Developer).post(&path, new).await.created();
    ada.put(&format!("/projects/{project}"), json!({ "visibility": "private" })).await.ok();
    let missing = json!({ "message": "404 Not found" });
    app.member(id(&project), "gus", Guest).get(&format!("{path}/1")).await.refused(404, missing);
}

#[actix_web::test]
async fn a_merge_request_is_changed_and_tells_so() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;
    ada.commit(&project, "stable", "stable.txt").await;
    let dora = app.member(id(&project), "dora", Developer);
    ada.propose(&project, "topic", "Add it").await;
    let path = format!("/projects/{project}/merge_requests/1");
    let milestones = format!("/projects/{project}/milestones");
    let milestone = ada.post(&milestones, json!({ "title": "1.0" })).await.created()["id"].clone();
    let user = |person: &Person<'_>| app.user(&person.username).id.0;
    app.announced();

    let change = json!({ "title": "Draft: Add more", "description": "More", "labels": "bug,docs",
        "assignee_ids": [user(&dora)], "reviewer_ids": [user(&dora), 0], "milestone_id": milestone,
        "target_branch": "stable", "squash": true, "discussion_locked": true });
    let changed = ada.put(&path, change).await.ok();

    assert_eq!((&changed["title"], &changed["draft"]), (&json!("Draft: Add more"), &json!(true)));
    assert_eq!(changed["labels"], json!(["bug", "docs"]));
    assert_eq!(changed["assignee"]["username"], "dora");
    assert_eq!(changed["reviewers"][0]["username"], "dora");
    assert_eq!(changed["milestone"]["title"], "1.0");
    assert_eq!((&changed["target_branch"], &changed["squash"]), (&json!("stable"), &json!(true)));
    assert_ne!(changed["diff_refs"]["start_sha"], changed["diff_refs"]["base_sha"]);
    assert_eq!(changed["discussion_locked"], true);
    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds,
        ["merge_request.moved", "label.created", "label.created", "merge_request.updated"]
    );
    let less =
        json!({ "remove_labels": "bug", "assignee_id": 0, "reviewer_ids": "", "milestone_id": 0 });
    let changed = ada.put(&path, less).await.ok();
    assert_eq!((&changed["labels"], &changed["assignees"]), (&json!(["docs"]), &json!([])));
    assert_eq!((&changed["reviewers"], &changed["milestone"]), (&json!([]), &Value::Null));
}

#[actix_web::test]
async fn nothing_asked_and_blank_words_are_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;
    ada.propose(&project, "topic", "Add it").await;
    let path = format!("/projects/{project}/merge_requests/1");

    let text = "assignee_id, assignee_ids, reviewer_ids, description, labels, add_labels, remove_labels, \
        milestone_id, remove_source_branch, allow_collaboration, allow_maintainer_to_push, squash, target_branch, \
        title, state_event, discussion_locked are missing, at least one parameter must be provided";
    ada.put(&path, json!({})).await.refused(400, json!({ "error": text }));
    for field in ["title", "target_branch"] {
        let empty = json!({ "error": format!("{field} is empty") });
        ada.put(&path, json!({ field: " " })).await.refused(400, empty);
    }
    let same = json!({ "message": ["You can't use same project/branch for source and target"] });
    ada.put(&path, json!({ "target_branch": "topic" })).await.refused(422, same);
    ada.put(&format!("/projects/{project}/merge_requests/9"), json!({ "title": "x" }))
        .await
        .refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn authors_change_the_words_of_their_own_and_nothing_else() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (project, _) = project_with_topic(&ada).await;
    let fork = bob.post(&format!("/projects/{project}/fork"), json!({})).await.created();
    bob.commit(&fork["id"], "fix", "fix.txt").await;
    let new = json!({ "title": "Fix", "source_branch": "fix", "target_branch": "main",
        "target_project_id": project, "labels": "bug" });
    let made = bob.post(&format!("/projects/{}/merge_requests", fork["id"]), new).await.created();
    assert_eq!(made["labels"], json!([]));
    let path = format!("/projects/{project}/merge_requests/1");

    let changed = bob.put(&path, json!({ "title": "Fix it", "labels": "bug" })).await.ok();

    assert_eq!((&changed["title"], &changed["labels"]), (&json!("Fix it"), &json!([])));
    let eve = app.person("eve");
    let forbidden = json!({ "message": "403 Forbidden" });
    eve.put(&path, json!({ "title": "Mine" })).await.refused(403, forbidden.clone());
    bob.delete(&path).await.refused(403, forbidden);
    bob.put(&path, json!({ "state_event": "close" })).await.ok();
}

#[actix_web::test]
async fn it_is_closed_and_opened_again() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;
    ada.propose(&project, "topic", "Add it").await;
    let path = format!("/projects/{project}/merge_requests/1");

    let closed = ada.put(&path, json!({ "state_event": "close" })).await.ok();
    assert_eq!(
        (&closed["state"], &closed["closed_by"]["username"]),
        (&json!("closed"), &json!("ada"))
    );
    assert!(closed["closed_at"].is_string());
    assert_eq!(ada.put(&path, json!({ "state_event": "close" })).await.ok()["state"], "closed");
    ada.propose(&project, "topic", "Again").await;
    let taken = "Another open merge request already exists for this source branch: !2";
    let again = ada.put(&path, json!({ "state_event": "reopen" })).await;
    again.refused(409, json!({ "message": [taken] }));
    ada.delete(&format!("/projects/{project}/merge_requests/2")).await.with(204);
    let opened = ada.put(&path, json!({ "state_event": "reopen" })).await.ok();
    assert_eq!((&opened["state"], &opened["closed_by"]), (&json!("opened"), &Value::Null));
    ada.delete(&format!("/projects/{project}/repository/branches/topic")).await.with(204);
    ada.put(&path, json!({ "state_event": "close" })).await.ok();
    assert_eq!(ada.put(&path, json!({ "state_event": "reopen" })).await.ok()["state"], "closed");
}

#[actix_web::test]
async fn only_what_did_not_change_is_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, _) = project_with_topic(&ada).await;
    ada.propose(&project, "topic", "Add it").await;
    let path = format!("/projects/{project}/merge_requests/1");

    let earlier = ada.sending("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT");
    earlier.delete(&path).await.refused(412, json!({ "message": "412 Precondition Failed" }));
    ada.delete(&path).await.with(204);
    ada.delete(&path).await.refused(404, json!({ "message": "404 Not found" }));
}
