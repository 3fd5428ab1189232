//! Releases: `gateway/src/rest/repo/releases.rs`.

use futures_util::future::join_all;
use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp, ci::commit};

/// A project with one commit.
async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "one", "build: {script: x}\n").await;
    (ada, project, format!("/projects/{project}/releases"))
}

fn first() -> Value {
    json!({ "tag_name": "v1", "ref": "main", "name": "One", "description": "The valve is new" })
}

#[actix_web::test]
async fn a_release_is_made_with_its_tag_changed_and_removed() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;

    let made = ada.post(&path, first()).await.created();

    assert_eq!((&made["tag_name"], &made["name"]), (&json!("v1"), &json!("One")));
    assert_eq!(
        (&made["author"]["username"], &made["upcoming_release"]),
        (&json!("ada"), &json!(false))
    );
    let tag = ada.get(&format!("/projects/{project}/repository/tags/v1")).await.ok();
    assert_eq!(tag["release"], json!({ "tag_name": "v1", "description": "The valve is new" }));
    assert_eq!(tag["commit"]["id"], made["commit"]["id"]);
    assert_eq!(ada.get(&format!("{path}/v1")).await.ok(), made);
    let change = json!({ "name": "Uno", "released_at": "2999-01-01T00:00:00Z" });
    let changed = ada.put(&format!("{path}/v1"), change).await.ok();
    assert_eq!((&changed["name"], &changed["upcoming_release"]), (&json!("Uno"), &json!(true)));
    assert_eq!(changed["description"], "The valve is new");
    ada.delete(&format!("{path}/v1")).await.ok();
    assert_eq!(ada.get(&path).await.ok(), json!([]));
    let tag = ada.get(&format!("/projects/{project}/repository/tags/v1")).await.ok();
    assert_eq!(tag["release"], Value::Null, "the tag stays");
}

#[actix_web::test]
async fn what_cannot_be_released_is_refused() {
    let app = TestApp::new();
    let (ada, _, path) = set_up(&app).await;
    let no_ref = json!({ "tag_name": "v1" });
    ada.post(&path, no_ref).await.refused(422, json!({ "message": "Ref is not specified" }));
    let nowhere = json!({ "tag_name": "v1", "ref": "nowhere" });
    ada.post(&path, nowhere).await.refused(400, json!({ "message": "Target nowhere is invalid" }));
    ada.post(&path, first()).await.created();
    let taken = json!({ "message": "Release already exists" });
    ada.post(&path, first()).await.refused(409, taken);
    let long = json!({ "name": "x".repeat(256) });
    ada.put(&format!("{path}/v1"), long).await.with(400);
    ada.get(&format!("{path}/v9")).await.refused(404, json!({ "message": "404 Not found" }));
    ada.post(&path, json!({})).await.refused(400, json!({ "error": "tag_name is missing" }));
}

#[actix_web::test]
async fn of_equal_releases_at_once_one_is_made_and_the_others_conflict() {
    let app = TestApp::new();
    let (ada, _, path) = set_up(&app).await;
    let all = (0..8).map(|_| ada.post(&path, first()));

    let answers = join_all(all).await;

    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 409, 409, 409, 409, 409, 409, 409]);
}

#[actix_web::test]
async fn a_release_with_a_blank_name_is_called_as_its_tag() {
    let app = TestApp::new();
    let (ada, _, path) = set_up(&app).await;
    let blank = json!({ "tag_name": "v1", "ref": "main", "name": "  " });
    assert_eq!(ada.post(&path, blank).await.created()["name"], "v1");
    let one = format!("{path}/v1");
    assert_eq!(ada.put(&one, json!({ "name": "One" })).await.ok()["name"], "One");
    assert_eq!(ada.put(&one, json!({ "name": "" })).await.ok()["name"], "v1");
}

#[actix_web::test]
async fn a_release_of_a_year_that_not_every_program_can_read_is_refused() {
    let app = TestApp::new();
    let (ada, _, path) = set_up(&app).await;
    ada.post(&path, first()).await.created();
    for at in ["-0001-01-01T00:00:00Z", "0000-01-01", "+012026-01-01T00:00:00Z", "99999-01-01"] {
        let text = json!({ "error": "released_at is invalid" });
        ada.put(&format!("{path}/v1"), json!({ "released_at": at })).await.refused(400, text);
    }
}

#[actix_web::test]
async fn guests_read_releases_without_code_and_developers_make_them() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    ada.post(&path, first()).await.created();
    let (guest, reporter) =
        (app.member(project, "gus", Guest), app.member(project, "rea", Reporter));

    let shown = guest.get(&path).await.ok();

    assert_eq!((&shown[0]["name"], &shown[0]["commit"]), (&json!("One"), &Value::Null));
    assert_eq!(shown[0]["assets"]["sources"], json!([]));
    assert_eq!(reporter.get(&path).await.ok()[0]["assets"]["count"], 4);
    reporter.delete(&format!("{path}/v1")).await.with(403);
    let next = json!({ "tag_name": "v2", "ref": "main" });
    reporter.post(&path, next.clone()).await.with(403);
    app.member(project, "dev", Developer).post(&path, next).await.created();
    app.anonymous().get(&path).await.with(404);
    assert_eq!(ada.get(&format!("{path}?sort=asc")).await.each("tag_name"), ["v1", "v2"]);
    ada.put(&format!("/projects/{project}"), json!({ "releases_access_level": "disabled" }))
        .await
        .ok();
    guest.get(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
    let tag = ada.get(&format!("/projects/{project}/repository/tags/v1")).await.ok();
    assert_eq!(tag["release"], Value::Null);
}

#[actix_web::test]
async fn releases_of_public_projects_are_for_everybody() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    commit(&ada, project, "main", "one", "build: {script: x}\n").await;
    let path = format!("/projects/{project}/releases");
    ada.post(&path, first()).await.created();
    let shown = app.anonymous().get(&path).await.ok();
    let sources = &shown[0]["assets"]["sources"][0];
    assert_eq!(sources["url"], "http://forge.test/ada/engine/-/archive/v1/engine-v1.zip");
}

#[actix_web::test]
async fn a_release_goes_with_its_tag() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    ada.post(&path, first()).await.created();
    ada.delete(&format!("/projects/{project}/repository/tags/v1")).await.with(204);
    assert_eq!(ada.get(&path).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_release_keeps_its_words_when_its_author_leaves() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    let dev = app.member(project, "dev", Developer);
    dev.post(&path, first()).await.created();
    let id = app.user("dev").id;
    app.admin().delete(&format!("/users/{id}")).await.with(204);
    app.work().await;
    let left = ada.get(&format!("{path}/v1")).await.ok();
    let said = (&left["name"], &left["author"]["username"]);
    assert_eq!(said, (&json!("One"), &json!("ghost")), "{left}");
}

#[actix_web::test]
async fn whoever_may_not_make_a_protected_tag_changes_nothing_of_its_release() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    let dev = app.member(project, "dev", Developer);
    ada.post(&path, first()).await.created();
    let rule = json!({ "name": "v*", "create_access_level": 40 });
    ada.post(&format!("/projects/{project}/protected_tags"), rule).await.created();

    let one = format!("{path}/v1");
    let link = json!({ "name": "linux", "url": "https://files.test/linux" });
    assert_eq!(dev.put(&one, json!({ "name": "Mine" })).await.status, 403);
    assert_eq!(dev.post(&format!("{one}/assets/links"), link.clone()).await.status, 403);
    assert_eq!(dev.delete(&one).await.status, 403);
    assert_eq!(ada.get(&one).await.ok()["name"], "One");
    ada.post(&format!("{one}/assets/links"), link).await.created();
}

#[actix_web::test]
async fn a_release_that_is_refused_leaves_no_tag() {
    let app = TestApp::new();
    let (ada, project, path) = set_up(&app).await;
    let new = json!({ "tag_name": "v1", "ref": "main", "name": "x".repeat(256) });

    assert_eq!(ada.post(&path, new).await.status, 400);

    let tag = ada.get(&format!("/projects/{project}/repository/tags/v1")).await;
    assert_eq!(tag.status, 404);
}

#[actix_web::test]
async fn addresses_of_a_release_are_escaped() {
    let app = TestApp::new();
    let (ada, _, path) = set_up(&app).await;

    let made = ada.post(&path, json!({ "tag_name": "a#b", "ref": "main" })).await.created();

    let source = "http://forge.test/ada/engine/-/archive/a%23b/engine-a%23b.zip";
    assert_eq!(made["assets"]["sources"][0]["url"], source);
    assert!(made["tag_path"].as_str().unwrap().ends_with("/-/tags/a%23b"));
}
