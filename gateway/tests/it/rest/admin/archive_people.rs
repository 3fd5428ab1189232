//! Whom an archive names, and who they are here: `crates/forge/src/archive/people.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
};
use serde_json::{Value, json};

use super::{
    archive_failures::{with_fields, with_lines},
    archives::{count_nothing, exported, imported, send_archive},
    group_archives::{exported as exported_group, full_group},
    imports::work,
};
use crate::{
    rest::security::monitor::set_up as monitored,
    support::{Person, TestApp},
};

/// A new token of a project or group, whose bot may change everything in it.
pub(super) async fn robot<'a>(owner: &Person<'a>, base: &str) -> Person<'a> {
    let new = json!({ "name": "robot", "scopes": ["api"], "access_level": Maintainer,
                      "expires_at": "2026-02-01" });
    let made = owner.post(&format!("{base}/access_tokens"), new).await.created();
    let token = made["token"].as_str().expect("a token");
    owner.app.anonymous().sending("PRIVATE-TOKEN", token)
}

async fn import_group(person: &Person<'_>, archive: &[u8]) {
    let fields = [("name", "Copy"), ("path", "copy")];
    send_archive(person, "/groups/import", archive, &fields).await.with(202);
    work(person.app).await;
}

/// The names of the people in a list, or of those whom it names so.
async fn names(person: &Person<'_>, list: &str, field: Option<&str>) -> Vec<Value> {
    let all = person.get(list).await.ok();
    let of = |one: &Value| field.map_or(one, |field| &one[field])["username"].clone();
    all.as_array().expect("a list").iter().map(of).collect()
}

#[actix_web::test]
async fn a_token_of_the_source_project_does_not_open_the_copy() {
    let app = TestApp::new();
    let root = app.admin();
    let project = json!(app.project(&root, "engine", Private));
    let base = format!("/projects/{project}");
    let robot = robot(&root, &base).await;
    robot.post(&format!("{base}/issues"), json!({ "title": "Beep" })).await.created();

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = format!("/projects/{}", done["id"]);
    robot.get(&base).await.ok();
    robot.get(&copy).await.with(404);
    assert_eq!(names(&root, &format!("{copy}/members"), None).await, ["root"]);
    let issue = root.get(&format!("{copy}/issues/1")).await.ok();
    assert_eq!(issue["author"]["username"], "root");
    let text = issue["description"].as_str().expect("a text");
    assert!(text.starts_with("*By robot on "), "{text}");
}

#[actix_web::test]
async fn a_token_of_the_source_group_does_not_open_the_copy() {
    let app = TestApp::new();
    let root = app.admin();
    let group = full_group(&root).await;
    let base = format!("/groups/{group}");
    let robot = robot(&root, &base).await;
    let label = json!({ "name": "beep", "color": "#ff0000" });
    robot.post(&format!("{base}/labels"), label.clone()).await.created();

    import_group(&root, &exported_group(&root, &group).await).await;

    assert_eq!(root.get("/groups/copy/epics").await.each("title"), ["Brew"]);
    let refused = robot.post("/groups/copy/labels", label).await;
    assert!([403, 404].contains(&refused.status), "{}", refused.body);
    assert_eq!(names(&root, "/groups/copy/members", None).await, ["root"]);
}

/// Whose the first two issues of a project are.
async fn authors(person: &Person<'_>, project: &Value) -> Vec<Value> {
    let mut authors = Vec::new();
    for iid in 1..=2 {
        let issue = person.get(&format!("/projects/{project}/issues/{iid}")).await.ok();
        authors.push(issue["author"]["username"].clone());
    }
    authors
}

#[actix_web::test]
async fn what_the_installation_wrote_stays_its_own_whoever_imports() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let (project, mia, monitor) = monitored(&app, "http").await;
    let (root, base) = (app.admin(), format!("/projects/{project}"));
    let settings = format!("{base}/alert_management_settings");
    mia.put(&settings, json!({ "create_issue": true })).await.ok();
    monitor.send(json!({ "title": "Disk is full" })).await.ok();
    let bob = app.member(project, "bob", Developer);
    bob.post(&format!("{base}/issues"), json!({ "title": "Gone" })).await.created();
    root.delete(&format!("/users/{}", app.id_of("bob"))).await.with(204);
    work(&app).await;
    assert_eq!(authors(&root, &json!(project)).await, ["alert-bot", "ghost"]);
    let archive = exported(&root, &json!(project)).await;

    for (person, path) in [(&mia, "of-mia"), (&root, "of-root")] {
        let done = imported(person, &archive, path).await;
        assert_eq!(done["import_status"], "finished", "{done}");
        assert_eq!(authors(person, &done["id"]).await, ["alert-bot", "ghost"], "{path}");
        let issue = person.get(&format!("/projects/{}/issues/1", done["id"])).await.ok();
        let text = issue["description"].as_str().unwrap_or_default();
        assert!(!text.contains("*By "), "{text}");
    }
}

#[actix_web::test]
async fn nobody_is_made_an_account_of_the_installation() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = app.project(&root, "engine", Private);
    let bob = app.member(project, "bob", Developer);
    let base = format!("/projects/{project}");
    bob.post(&format!("{base}/issues"), json!({ "title": "Tea" })).await.created();
    bob.post(&format!("{base}/issues/1/award_emoji"), json!({ "name": "tea" })).await.created();
    let archive = exported(&root, &json!(project)).await;

    let odd = with_fields(&archive, "tree/users.ndjson", &json!({ "kind": "root" }));
    let done = imported(&root, &odd, "odd").await;
    let told = done["import_error"].as_str().unwrap_or_default();
    assert!(told.contains("value `root` is not known"), "{done}");

    let ghosts = with_fields(&archive, "tree/users.ndjson", &json!({ "kind": "ghost" }));
    let done = imported(&root, &ghosts, "copy").await;
    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = format!("/projects/{}", done["id"]);
    assert_eq!(names(&root, &format!("{copy}/members"), None).await, ["root"]);
    assert_eq!(root.get(&format!("{copy}/issues/1/award_emoji")).await.ok(), json!([]));
}

/// The same archive in which carol is called as bob is.
fn with_two_bobs(archive: &[u8]) -> Vec<u8> {
    with_lines(archive, "tree/users.ndjson", |mut person| {
        if person["username"] == "carol" {
            (person["username"], person["email"]) = (json!("BOB"), Value::Null);
        }
        person.to_string()
    })
}

#[actix_web::test]
async fn no_user_stands_for_two_people_of_a_project() {
    let app = TestApp::new();
    let root = app.admin();
    let project = app.project(&root, "engine", Private);
    let base = format!("/projects/{project}");
    root.post(&format!("{base}/issues"), json!({ "title": "Tea" })).await.created();
    for name in ["carol", "bob"] {
        let person = app.member(project, name, Developer);
        let cup = json!({ "name": "tea" });
        person.post(&format!("{base}/issues/1/award_emoji"), cup).await.created();
    }
    let archive = exported(&root, &json!(project)).await;

    let done = imported(&root, &with_two_bobs(&archive), "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = format!("/projects/{}", done["id"]);
    let list = format!("{copy}/issues/1/award_emoji");
    assert_eq!(names(&root, &list, Some("user")).await, ["bob"]);
    let mut members = names(&root, &format!("{copy}/members"), None).await;
    members.sort_by_key(Value::to_string);
    assert_eq!(members, ["bob", "root"]);
}

#[actix_web::test]
async fn no_user_stands_for_two_people_of_a_group() {
    let app = TestApp::new();
    let root = app.admin();
    let group = full_group(&root).await;
    for name in ["carol", "bob"] {
        let person = app.person(name);
        let member = json!({ "user_id": app.id_of(name), "access_level": Developer });
        root.post(&format!("/groups/{group}/members"), member).await.created();
        let epic = format!("/groups/{group}/epics/1");
        person.post(&format!("{epic}/award_emoji"), json!({ "name": "tea" })).await.created();
    }
    let archive = exported_group(&root, &group).await;

    import_group(&root, &with_two_bobs(&archive)).await;

    let list = "/groups/copy/epics/1/award_emoji";
    assert_eq!(names(&root, list, Some("user")).await, ["bob"]);
}

#[actix_web::test]
async fn an_id_of_nobody_is_refused_before_anything_is_written() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = app.project(&root, "engine", Private);
    app.member(project, "bob", Developer);
    let base = format!("/projects/{project}");
    let issue = json!({ "title": "Tea", "labels": "hot" });
    root.post(&format!("{base}/issues"), issue).await.created();
    let archive = exported(&root, &json!(project)).await;
    for (number, (list, field, told)) in [
        ("tree/project/issues.ndjson", "author_id", "issues: author_id is not an id"),
        ("tree/project/item_labels.ndjson", "label_id", "item_labels: label_id is not an id"),
        ("tree/project/item_labels.ndjson", "item_id", "item_labels: item_id is not an id"),
        ("tree/project/project_members.ndjson", "user_id", "project_members: user_id is not an id"),
        ("tree/users.ndjson", "id", "users: id is not an id"),
        ("tree/project.json", "id", "project: id is not an id"),
    ]
    .into_iter()
    .enumerate()
    {
        let changed = with_fields(&archive, list, &json!({ field: 0 }));
        let done = imported(&root, &changed, &format!("copy-{number}")).await;
        let told = format!("The archive has a row that cannot be taken: {told}.");
        assert_eq!(done["import_error"], told, "{done}");
    }
}

#[actix_web::test]
async fn rows_that_contradict_one_another_are_told_with_their_list() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = json!(app.project(&root, "engine", Private));
    let base = format!("/projects/{project}");
    let issue = json!({ "title": "Tea", "labels": "hot" });
    root.post(&format!("{base}/issues"), issue).await.created();
    root.post(&format!("{base}/issues/1/notes"), json!({ "body": "Hot" })).await.created();
    let archive = exported(&root, &project).await;
    for (list, told) in [
        ("labels", "a row of labels is there already"),
        ("notes", "a row of notes has the id of another one"),
    ] {
        let file = format!("tree/project/{list}.ndjson");
        let twice = with_lines(&archive, &file, |row| format!("{row}\n{row}"));
        let done = imported(&root, &twice, &format!("{list}-twice")).await;
        let told = format!("the archive contradicts itself: {told}");
        assert_eq!(done["import_error"], told, "{done}");
    }
}
