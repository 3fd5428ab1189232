//! Activity, members and subscriptions in archives of projects, and what rows say of one another.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
};
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_contents::plain,
    archive_failures::{with_fields, with_lines},
    archives::{count_nothing, exported, imported, send_archive},
    imports::work,
};
use crate::support::{Person, TestApp};

const EVENTS: &str = "project/events.ndjson";

/// The feed of a project, the newest first, without ids; the number of a note is its id.
async fn feed(person: &Person<'_>, project: &Value) -> Vec<Value> {
    let all = person.get(&format!("/projects/{project}/events?per_page=100")).await.ok();
    let mut all = plain(&all).as_array().expect("a list").clone();
    for event in all.iter_mut().filter_map(Value::as_object_mut) {
        event.remove("target_id");
        if event.contains_key("note") || event["target_type"] == "Project" {
            event.remove("target_iid");
        }
    }
    all
}

/// A project in which much happened: root and bob work in it.
async fn busy_project<'a>(root: &Person<'a>) -> (Value, Person<'a>) {
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    let bob = root.app.person("bob");
    let member = json!({ "user_id": root.app.user("bob").id, "access_level": Developer });
    root.post(&format!("{base}/members"), member).await.created();
    root.post(&format!("{base}/milestones"), json!({ "title": "1.0" })).await.created();
    for title in ["It leaks", "It drips"] {
        bob.post(&format!("{base}/issues"), json!({ "title": title })).await.created();
    }
    let note = json!({ "body": "Since when?" });
    root.post(&format!("{base}/issues/1/notes"), note).await.created();
    root.put(&format!("{base}/issues/1"), json!({ "state_event": "close" })).await.ok();
    let tip = bob.commit(&project, "topic", "topic.txt").await;
    bob.propose(&project, "topic", "Fix it").await;
    let thread = json!({ "body": "Why so?" });
    root.post(&format!("{base}/merge_requests/1/discussions"), thread).await.created();
    let comments = format!("{base}/repository/commits/{tip}/comments");
    root.post(&comments, json!({ "note": "Steam" })).await.created();
    let page = json!({ "title": "home", "content": "Tea" });
    root.post(&format!("{base}/wikis"), page).await.created();
    (project, bob)
}

#[actix_web::test]
async fn the_feed_of_a_project_comes_back_equal() {
    let app = TestApp::new();
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    work(&app).await;
    let before = feed(&root, &project).await;

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    assert_eq!(feed(&root, &done["id"]).await, before);
    let named: Vec<&Value> = before.iter().map(|event| &event["action_name"]).collect();
    for name in ["created", "joined", "opened", "closed", "commented on", "pushed new"] {
        assert!(named.contains(&&json!(name)), "{name}: {named:?}");
    }
    let notes = format!("/projects/{}/events?target_type=note", done["id"]);
    for event in root.get(&notes).await.ok().as_array().expect("a list") {
        assert_eq!(event["target_iid"], event["target_id"], "{event}");
        assert_eq!(event["note"]["id"], event["target_id"], "{event}");
    }
    let next = json!({ "title": "New" });
    root.post(&format!("/projects/{}/issues", done["id"]), next).await.created();
    assert_eq!(feed(&root, &done["id"]).await.len(), before.len() + 1);
}

#[actix_web::test]
async fn feeds_tell_nothing_in_the_name_of_others() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let bob = app.member(project, "bob", Maintainer);
    let issue = json!({ "title": "Mine" });
    bob.post(&format!("/projects/{project}/issues"), issue).await.created();
    let archive = exported(&bob, &json!(project)).await;

    let eve = app.person("eve");
    let copy = imported(&eve, &archive, "copy").await["id"].clone();

    let told = feed(&eve, &copy).await;
    assert!(told.iter().all(|event| event["author_username"] == "eve"), "{told:?}");
    let named: Vec<&Value> = told.iter().map(|event| &event["action_name"]).collect();
    assert_eq!(named, ["opened", "created"], "nobody joins for somebody else");
    let theirs = app.admin().get("/users/bob/events").await.ok();
    let theirs = theirs.as_array().expect("a list");
    assert!(theirs.iter().all(|event| event["project_id"] != copy), "{theirs:?}");
}

#[actix_web::test]
async fn members_of_a_copy_have_been_there_as_long() {
    let app = TestApp::new();
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    let archive = exported(&root, &project).await;
    let before = root.get(&format!("/projects/{project}/members")).await.each("created_at");
    app.clock.advance(Duration::hours(1));

    let copy = imported(&root, &archive, "copy").await["id"].clone();

    let since = root.get(&format!("/projects/{copy}/members")).await.each("created_at");
    assert_eq!(since[1], before[1]);
}

#[actix_web::test]
async fn nobody_gets_more_rights_by_an_archive_than_they_have_where_it_is_imported() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let archive = exported(&ada, &json!(app.project(&ada, "engine", Private))).await;
    let root = app.admin();
    let crew = root.group("crew", None).await;
    let member = json!({ "user_id": app.user("ada").id, "access_level": Maintainer });
    root.post(&format!("/groups/{crew}/members"), member).await.created();

    let fields = [("path", "copy"), ("namespace", "crew")];
    let made = send_archive(&ada, "/projects/import", &archive, &fields).await.created();
    work(&app).await;

    let members = format!("/projects/{}/members/all", made["id"]);
    let own = ada.get(&format!("{members}/{}", app.user("ada").id)).await.ok();
    assert_eq!(own["access_level"], 40, "{own}");
}

#[actix_web::test]
async fn whoever_heard_of_something_hears_of_its_copy() {
    let app = TestApp::new();
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    let base = format!("/projects/{project}");
    let label = json!({ "name": "bug", "color": "#ff0000" });
    let label = root.post(&format!("{base}/labels"), label).await.created()["id"].clone();
    root.post(&format!("{base}/labels/{label}/subscribe"), json!({})).await.created();
    root.post(&format!("{base}/issues/1/unsubscribe"), json!({})).await.created();
    root.post(&format!("{base}/issues/2/subscribe"), json!({})).await.created();

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let copy = format!("/projects/{}", done["id"]);
    assert_eq!(root.get(&format!("{copy}/labels")).await.each("subscribed"), [true]);
    for (issue, subscribed) in [(1, false), (2, true)] {
        let shown = root.get(&format!("{copy}/issues/{issue}")).await.ok();
        assert_eq!(shown["subscribed"], subscribed, "{issue}");
    }
}

#[actix_web::test]
async fn events_that_cannot_be_are_refused_and_those_about_nothing_are_left_out() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    let archive = exported(&root, &project).await;
    for (number, (fields, told)) in [
        (json!({ "action": "burned" }), "events: action does not have a valid value"),
        (json!({ "target_type": "Pot" }), "events: target_type does not have a valid value"),
        (json!({ "item_kind": "Epic" }), "events: item_kind does not have a valid value"),
        (json!({ "details": "{\"ref\":{}}" }), "events: details does not have a valid value"),
        (json!({ "target_iid": "1" }), "events: target_iid is not a number"),
        (json!({ "author_id": null }), "events: author_id is missing"),
        (json!({ "created_at": "soon" }), "events: created_at is not a moment"),
        (json!({ "note_id": 1_000_000 }), ""),
        (json!({ "item_kind": "Issue", "item_id": 1_000_000 }), ""),
    ]
    .into_iter()
    .enumerate()
    {
        let changed = with_fields(&archive, EVENTS, &fields);
        let done = imported(&root, &changed, &format!("copy{number}")).await;
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told), "{fields}: {error}");
        let left: Vec<Value> = feed(&root, &done["id"]).await;
        let named: Vec<&Value> = left.iter().map(|event| &event["action_name"]).collect();
        let empty: &[&str] = if told.is_empty() { &[] } else { &["created"] };
        assert_eq!(named, empty, "{fields}");
    }
}

#[actix_web::test]
async fn an_issue_repeats_a_younger_one_in_a_copy_as_well() {
    let app = TestApp::new();
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    let base = format!("/projects/{project}/issues");
    root.post(&base, json!({ "title": "It drips again" })).await.created();
    let duplicate = json!({ "body": "/duplicate #3" });
    root.post(&format!("{base}/2/notes"), duplicate).await.with(202);

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let copy = format!("/projects/{}", done["id"]);
    let issue = root.get(&format!("{copy}/issues/2")).await.ok();
    let original = format!("http://forge.test/api/v4{copy}/issues/3");
    assert_eq!(issue["_links"]["closed_as_duplicate_of"], json!(original));
}

/// What the notes of the first issue of a project say to somebody.
async fn said(person: &Person<'_>, project: &Value) -> Vec<String> {
    let notes = person.get(&format!("/projects/{project}/issues/1/notes?sort=asc")).await;
    let bodies = notes.each("body").into_iter();
    bodies.map(|body| body.as_str().expect("a text").to_owned()).collect()
}

#[actix_web::test]
async fn sentences_about_other_items_are_for_those_who_may_read_these() {
    let app = TestApp::new();
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    let secret = json!({ "title": "Secret", "description": "See #1", "confidential": true });
    root.post(&format!("/projects/{project}/issues"), secret).await.created();
    let plans = root.post("/projects", json!({ "name": "plans" })).await.created()["id"].clone();
    let plan = json!({ "title": "Plan", "description": "See root/engine#1" });
    root.post(&format!("/projects/{plans}/issues"), plan).await.created();
    work(&app).await;
    let there = said(&root, &project).await;
    assert!(there.iter().any(|body| body.contains("root/plans#1")), "{there:?}");

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let here = said(&root, &done["id"]).await;
    assert!(here.contains(&"mentioned in issue #3".to_owned()), "{here:?}");
    assert!(!here.iter().any(|body| body.contains("plans")), "{here:?}");
    let shown = said(&app.person("eve"), &done["id"]).await;
    assert!(!shown.iter().any(|body| body.contains("#3")), "{shown:?}");
}

#[actix_web::test]
async fn threads_of_a_copy_are_found_by_names_of_their_own() {
    let app = TestApp::new();
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    let list = "merge_requests/1/discussions";
    let there = root.get(&format!("/projects/{project}/{list}")).await.each("id");

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let copy = format!("/projects/{}/{list}", done["id"]);
    let here = root.get(&copy).await.each("id");
    assert_eq!(here.len(), there.len());
    assert!(here.iter().all(|id| !there.contains(id)), "{here:?}");
    let last = here.last().and_then(Value::as_str).expect("a thread");
    let resolved = root.put(&format!("{copy}/{last}"), json!({ "resolved": true })).await.ok();
    assert_eq!(resolved["notes"][0]["resolved"], true);
}

#[actix_web::test]
async fn no_merge_of_the_source_goes_on_in_a_copy() {
    let app = TestApp::new();
    let root = app.admin();
    let (project, _bob) = busy_project(&root).await;
    let archive = exported(&root, &project).await;
    let under_way = with_lines(&archive, "project/merge_requests.ndjson", |mut row| {
        row["state"] = json!("locked");
        row["merge_user_id"] = row["author_id"].clone();
        row["merge_error"] = json!("Steam");
        row["auto_merge"] = json!("{}");
        row.to_string()
    });

    let done = imported(&root, &under_way, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let one = root.get(&format!("/projects/{}/merge_requests/1", done["id"])).await.ok();
    assert_eq!((&one["state"], &one["merge_user"]), (&json!("opened"), &Value::Null));
    assert_eq!(one["merge_when_pipeline_succeeds"], false);
    assert_eq!(one["merge_error"], "Steam");
}
