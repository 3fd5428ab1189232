//! What is sent to products whose hosts are always the same: a receiver stands in their place.

use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use super::receiver::{ReceivedRequest, Receiver, deliver};
use crate::support::{Person, TestApp, ci::commit};

const HOSTS: [&str; 9] = [
    "api.pushover.net",
    "api.telegram.org",
    "app.asana.com",
    "crew.assembla.com",
    "crew.campfirenow.com",
    "matrix-client.matrix.org",
    "packagist.org",
    "webhook.buildkite.com",
    "www.pivotaltracker.com",
];

/// The only request that a push with such a message leads to.
async fn after_push(slug: &str, given: Value, message: &str) -> ReceivedRequest {
    let receiver = Receiver::new();
    let app = TestApp::relaying(&HOSTS, &format!("http://{}", receiver.address));
    let (ada, project) = set_up(&app).await;
    ada.put(&format!("/projects/{project}/integrations/{slug}"), given).await.ok();
    commit(&ada, project, "main", message, "build: {script: y}\n").await;
    app.work().await;
    deliver(&app).await;
    let mut told = receiver.told();
    assert_eq!(told.len(), 1, "{slug}: {told:?}");
    told.remove(0)
}

async fn set_up(app: &TestApp) -> (Person<'_>, ProjectId) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "one", "build: {script: x}\n").await;
    (ada, project)
}

#[actix_web::test]
async fn asana_gets_a_comment_on_the_task_that_a_commit_names() {
    let told = after_push("asana", json!({ "api_key": "k3y" }), "Fix the valve, see #1234").await;
    assert_eq!(told.path, "/app.asana.com/api/1.0/tasks/1234/stories");
    assert_eq!(told.header("Authorization"), Some("Bearer k3y"));
    let text = told.body["data"]["text"].as_str().expect("a text");
    assert!(text.contains("pushed to branch main of ada/engine") && text.ends_with("see #1234"));
}

#[actix_web::test]
async fn each_task_that_a_commit_names_gets_one_comment_also_when_the_first_attempt_fails() {
    let receiver = Receiver::new();
    let app = TestApp::relaying(&HOSTS, &format!("http://{}", receiver.address));
    let (ada, project) = set_up(&app).await;
    let path = format!("/projects/{project}/integrations/asana");
    ada.put(&path, json!({ "api_key": "k3y" })).await.ok();
    receiver.answers(503);
    commit(&ada, project, "main", "See #1, #2 and #1", "build: {script: y}\n").await;
    deliver(&app).await;
    assert_eq!(receiver.told().len(), 1, "the second one waits for the first");

    receiver.answers(200);
    app.clock.advance(time::Duration::minutes(10));
    deliver(&app).await;

    let paths: Vec<String> = receiver.told().into_iter().map(|one| one.path).collect();
    let stories = |task: &str| format!("/app.asana.com/api/1.0/tasks/{task}/stories");
    assert_eq!(paths, [stories("1"), stories("2")]);
}

#[actix_web::test]
async fn assembla_gets_the_push_under_the_subdomain_of_its_space() {
    let given = json!({ "token": "t/1", "subdomain": "crew" });
    let told = after_push("assembla", given, "two").await;
    assert_eq!(told.path, "/crew.assembla.com/spaces/ouposp/github_tool?secret_key=t%2F1");
    let payload = &told.body["payload"];
    assert_eq!(
        (&payload["ref"], &payload["commits"][0]["title"]),
        (&json!("refs/heads/main"), &json!("two"))
    );
}

#[actix_web::test]
async fn campfire_is_spoken_to_in_the_room_that_is_named() {
    let given = json!({ "token": "t0p", "subdomain": "crew", "room": "7" });
    let told = after_push("campfire", given, "two").await;
    assert_eq!(told.path, "/crew.campfirenow.com/room/7/speak.json");
    assert_eq!(told.header("Authorization"), Some("Basic dDBwOlg="));
    let message = &told.body["message"];
    assert_eq!(message["type"], "TextMessage");
    assert!(message["body"].as_str().is_some_and(|text| text.contains("pushed to branch main")));
}

#[actix_web::test]
async fn buildkite_is_sent_the_push_under_the_key_of_its_token() {
    let given = json!({ "token": "hook-key:status-key", "project_url": "https://buildkite.com/crew/engine" });
    let told = after_push("buildkite", given, "two").await;
    assert_eq!(told.path, "/webhook.buildkite.com/deliver/hook%2Dkey");
    assert_eq!(told.header("X-Gitlab-Event"), Some("Push Hook"));
    assert_eq!(
        (&told.body["object_kind"], &told.body["commits"][0]["title"]),
        (&json!("push"), &json!("two"))
    );
}

#[actix_web::test]
async fn pivotal_tracker_packagist_pushover_telegram_and_matrix_are_told_as_they_ask() {
    let told = after_push("pivotaltracker", json!({ "token": "t0p" }), "[#5] two").await;
    assert_eq!(told.path, "/www.pivotaltracker.com/services/v5/source_commits");
    assert_eq!(told.header("X-TrackerToken"), Some("t0p"));
    let given = json!({ "username": "ada", "token": "t0p" });
    let told = after_push("packagist", given, "two").await;
    assert_eq!(told.path, "/packagist.org/api/update-package?username=ada&apiToken=t0p");
    let given = json!({ "api_key": "a", "user_key": "u", "priority": "0", "device": "phone", "sound": "bike" });
    let told = after_push("pushover", given, "two").await;
    assert_eq!(
        (told.path.as_str(), &told.body["user"]),
        ("/api.pushover.net/1/messages.json", &json!("u"))
    );
    let told = after_push("telegram", json!({ "token": "1:a", "room": "@crew" }), "two").await;
    assert_eq!(
        (told.path.as_str(), &told.body["chat_id"]),
        ("/api.telegram.org/bot1%3Aa/sendMessage", &json!("@crew"))
    );
    let told = after_push("matrix", json!({ "token": "t0p", "room": "!r:x.org" }), "two").await;
    let key = told.header("Idempotency-Key").expect("a key");
    let room = "/matrix-client.matrix.org/_matrix/client/v3/rooms/%21r%3Ax%2Eorg/send";
    assert_eq!(told.path, format!("{room}/m.room.message/{key}"));
    assert_eq!(told.header("Authorization"), Some("Bearer t0p"));
}
