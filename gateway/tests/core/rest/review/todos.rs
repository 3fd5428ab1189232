//! What people are asked to look at.

use kernel::{
    AccessLevel::Reporter,
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use super::epics::{epic, set_up};
use crate::support::TestApp;

#[actix_web::test]
async fn somebody_asks_themselves_to_look_and_is_done() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));

    let made = ada.post(&format!("{issue}/todo"), json!({})).await.created();
    assert_eq!((&made["action_name"], &made["state"]), (&json!("marked"), &json!("pending")));
    assert_eq!((&made["target_type"], &made["target"]["iid"]), (&json!("Issue"), &json!(1)));
    assert_eq!(made["target_url"], "http://forge.test/ada/forge/-/issues/1");
    assert_eq!((&made["body"], &made["project"]["path"]), (&json!("Issue"), &json!("forge")));
    assert_eq!(made["author"]["username"], "ada");
    assert_eq!(ada.post(&format!("{issue}/todo"), json!({})).await.status, 304);
    assert_eq!(ada.get("/todos").await.ok(), json!([made]));

    let done = format!("/todos/{}/mark_as_done", made["id"]);
    app.person("eve").post(&done, json!({})).await.with(404);
    assert_eq!(ada.post(&done, json!({})).await.created()["state"], "done");
    assert_eq!(ada.get("/todos").await.ok(), json!([]));
    assert_eq!(ada.get("/todos?state=done").await.each("id"), [made["id"].clone()]);
    app.anonymous().get("/todos").await.with(401);
}

#[actix_web::test]
async fn to_dos_are_filtered_and_come_by_page_newest_first() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let group = ada.group_with("orchid", json!({ "visibility": "public" })).await;
    let inside = json!({ "name": "site", "namespace_id": group, "visibility": "public" });
    let inside = ada.post("/projects", inside).await.created()["id"].clone();
    let inside = kernel::ids::ProjectId(inside.as_i64().expect("an id"));
    let own = app.project(&ada, "forge", Public);
    let request = app.merge_request(own, &ada);
    let near = format!("/projects/{inside}/issues/{}", app.issue(inside, &ada));
    let far = format!("/projects/{own}/merge_requests/{request}");
    ada.post(&format!("{near}/notes"), json!({ "body": "@bob look" })).await.created();
    ada.post(&format!("{far}/notes"), json!({ "body": "for @bob" })).await.created();
    bob.post(&format!("{far}/todo"), json!({})).await;
    let kinds = async |query: &str| bob.get(&format!("/todos?{query}")).await.each("action_name");

    assert_eq!(kinds("").await, ["mentioned", "directly_addressed"]);
    assert_eq!(kinds("type=MergeRequest").await, ["mentioned"]);
    assert_eq!(kinds("type=Commit").await, Vec::<Value>::new());
    assert_eq!(kinds("action=directly_addressed").await, ["directly_addressed"]);
    assert_eq!(kinds(&format!("project_id={own}")).await, ["mentioned"]);
    assert_eq!(kinds(&format!("group_id={group}")).await, ["directly_addressed"]);
    assert_eq!(kinds(&format!("author_id={}", app.user("bob").id)).await, Vec::<Value>::new());
    assert_eq!(kinds("per_page=1&page=2").await, ["directly_addressed"]);
    let refusal = json!({ "error": "type does not have a valid value" });
    bob.get("/todos?type=Tea").await.refused(400, refusal);
    bob.post("/todos/mark_as_done", json!({})).await.with(204);
    assert_eq!(kinds("").await, Vec::<Value>::new());
}

#[actix_web::test]
async fn who_may_not_read_any_more_is_not_shown_what_was_asked() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let rita = app.member(project, "rita", Reporter);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    ada.post(&format!("{issue}/notes"), json!({ "body": "@rita" })).await.created();
    let id = rita.get("/todos").await.each("id")[0].clone();

    let member = format!("/projects/{project}/members/{}", app.user("rita").id);
    ada.delete(&member).await.with(204);

    assert_eq!(rita.get("/todos").await.ok(), json!([]));
    rita.post(&format!("/todos/{id}/mark_as_done"), json!({})).await.with(404);
    rita.post(&format!("{issue}/todo"), json!({})).await.with(404);
}

#[actix_web::test]
async fn what_waits_for_somebody_is_counted() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    ada.post(&format!("{issue}/notes"), json!({ "body": "/assign me\n/todo" })).await.with(202);

    let counts = ada.get("/user_counts").await.ok();

    let asked = ada.get("/todos").await.each("id").len();
    assert_eq!((&counts["assigned_issues"], &counts["todos"]), (&json!(1), &json!(asked)));
    assert_eq!(counts["assigned_merge_requests"], 0);
}

#[actix_web::test]
async fn what_is_done_stays_as_it_was() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    let made = ada.post(&format!("{issue}/todo"), json!({})).await.created();
    let done = format!("/todos/{}/mark_as_done", made["id"]);
    let first = ada.post(&done, json!({})).await.created();
    app.clock.advance(time::Duration::hours(1));

    assert_eq!(ada.post(&done, json!({})).await.created(), first);
    let again = ada.post(&format!("{issue}/todo"), json!({})).await.created();
    assert_ne!(again["id"], made["id"], "who is done can be asked again");
}

#[actix_web::test]
async fn somebody_asks_themselves_to_look_at_an_epic() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let todo = format!("/groups/{group}/epics/1/todo");

    let made = ada.post(&todo, json!({})).await.created();

    assert_eq!((&made["target_type"], &made["action_name"]), (&json!("Epic"), &json!("marked")));
    assert_eq!((&made["group"]["id"], &made["body"]), (&json!(group), &json!("Garden")));
    assert_eq!(made["target_url"], "http://forge.test/groups/orchid/-/epics/1");
    assert_eq!(ada.post(&todo, json!({})).await.status, 304);
    assert_eq!(ada.get("/todos?type=Epic").await.ok(), json!([made]));
}
