//! Issues, one at a time.

use kernel::{
    AccessLevel::{Developer, Guest, Owner, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

fn issues(project: ProjectId) -> String {
    format!("/projects/{project}/issues")
}

/// An issue of that title: its path, and itself.
async fn written(person: &Person<'_>, project: ProjectId, more: Value) -> (String, Value) {
    let issue = person.post(&issues(project), more).await.created();
    (format!("{}/{}", issues(project), issue["iid"]), issue)
}

fn hidden() -> Value {
    json!({ "message": "404 Not found" })
}

#[actix_web::test]
async fn the_fields_come_in_the_order_of_the_contract() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (_, issue) = written(&ada, project, json!({ "title": "One" })).await;

    let names: Vec<&str> = issue.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "id",
            "iid",
            "project_id",
            "title",
            "description",
            "state",
            "created_at",
            "updated_at",
            "closed_at",
            "closed_by",
            "labels",
            "milestone",
            "assignees",
            "author",
            "type",
            "assignee",
            "user_notes_count",
            "merge_requests_count",
            "upvotes",
            "downvotes",
            "due_date",
            "confidential",
            "discussion_locked",
            "issue_type",
            "web_url",
            "time_stats",
            "task_completion_status",
            "weight",
            "blocking_issues_count",
            "has_tasks",
            "_links",
            "references",
            "severity",
            "subscribed",
            "moved_to_id",
            "service_desk_reply_to",
            "epic_iid",
            "epic",
            "iteration",
            "health_status",
        ]
    );
}

#[actix_web::test]
async fn an_issue_is_written_with_all_that_it_can_have() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.member(project, "bob", Reporter);
    let (bob, ada_id) = (app.user("bob").id.0, app.user("ada").id.0);
    let milestone = ada
        .post(&format!("/projects/{project}/milestones"), json!({ "title": "1.0" }))
        .await
        .created();

    let new = json!({
        "title": " Broken ", "description": "- [x] seen\n- [ ] mended", "labels": "bug, ui ,bug",
        "assignee_ids": [bob, ada_id], "milestone_id": milestone["id"], "due_date": "2026-02-03",
        "confidential": true, "issue_type": "incident", "weight": 3, "health_status": "at_risk",
    });
    let (path, issue) = written(&ada, project, new).await;

    assert_eq!((&issue["title"], &issue["state"]), (&json!("Broken"), &json!("opened")));
    assert_eq!(issue["labels"], json!(["bug", "ui"]));
    assert_eq!(issue["assignees"].as_array().unwrap().len(), 2);
    assert_eq!(issue["assignee"]["username"], "ada");
    assert_eq!(issue["milestone"]["title"], "1.0");
    assert_eq!((&issue["due_date"], &issue["weight"]), (&json!("2026-02-03"), &json!(3)));
    assert_eq!((&issue["type"], &issue["issue_type"]), (&json!("INCIDENT"), &json!("incident")));
    assert_eq!((&issue["confidential"], &issue["subscribed"]), (&json!(true), &json!(true)));
    assert_eq!(issue["task_status"], "1 of 2 tasks completed");
    assert_eq!(issue["task_completion_status"], json!({ "count": 2, "completed_count": 1 }));
    assert_eq!(issue["references"]["full"], "ada/forge#1");
    assert_eq!(issue["web_url"], "http://forge.test/ada/forge/-/issues/1");
    let this = format!("http://forge.test/api/v4/projects/{project}/issues/1");
    assert_eq!((&issue["_links"]["self"], &issue["severity"]), (&json!(this), &json!("UNKNOWN")));
    assert_eq!(ada.get(&path).await.ok(), issue);
    assert_eq!(app.admin().get(&format!("/issues/{}", issue["id"])).await.ok()["iid"], 1);
    let no_admin = ada.get(&format!("/issues/{}", issue["id"])).await;
    no_admin.refused(403, json!({ "message": "403 Forbidden" }));
}

#[actix_web::test]
async fn an_issue_that_cannot_be_is_refused_and_nothing_kept() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let path = issues(project);
    ada.post(&path, json!({ "title": "One", "iid": 7 })).await.created();
    let before = app.row_counts();

    ada.post(&path, json!({})).await.refused(400, json!({ "error": "title is missing" }));
    for (sent, message) in [
        (json!({ "title": " " }), json!({ "title": ["can't be blank"] })),
        (
            json!({ "title": "x".repeat(256) }),
            json!({ "title": ["is too long (maximum is 255 characters)"] }),
        ),
        (
            json!({ "title": "x", "weight": -1 }),
            json!({ "weight": ["must be greater than or equal to 0"] }),
        ),
    ] {
        ada.post(&path, sent).await.refused(400, json!({ "message": message }));
    }
    let taken = ada.post(&path, json!({ "title": "x", "iid": 7 })).await;
    taken.refused(409, json!({ "message": "Duplicated issue" }));
    let nothing = ada.put(&format!("{path}/7"), json!({})).await;
    let told = nothing.body["error"].as_str().unwrap_or_default();
    assert!(told.ends_with("are missing, at least one parameter must be provided"), "{told}");
    assert_eq!((nothing.status, app.row_counts()), (400, before));
    let next = ada.post(&path, json!({ "title": "Two" })).await.created();
    assert_eq!(next["iid"], 8, "numbers go on after one that was chosen");
}

#[actix_web::test]
async fn an_issue_is_changed_and_its_notes_tell() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.member(project, "bob", Reporter);
    let bob = app.user("bob").id.0;
    let (path, _) = written(&ada, project, json!({ "title": "One", "labels": "a,b" })).await;

    let change = json!({ "title": "Two", "add_labels": "c", "remove_labels": ["a"], "assignee_id": bob,
                         "due_date": "2026-01-05", "confidential": true, "discussion_locked": true, "weight": 2 });
    let changed = ada.put(&path, change).await.ok();
    assert_eq!((&changed["title"], &changed["labels"]), (&json!("Two"), &json!(["b", "c"])));
    assert_eq!((&changed["assignee"]["id"], &changed["weight"]), (&json!(bob), &json!(2)));
    let cleared = json!({ "labels": "", "assignee_ids": [0], "due_date": "", "weight": null,
                          "confidential": false, "milestone_id": 0 });
    let cleared = ada.put(&path, cleared).await.ok();
    assert_eq!((&cleared["labels"], &cleared["assignees"]), (&json!([]), &json!([])));
    assert_eq!((&cleared["due_date"], &cleared["weight"]), (&Value::Null, &Value::Null));

    let told = app.system_notes();
    for expected in [
        "changed title from **{-One-}** to **{+Two+}**",
        "changed due date to 2026-01-05",
        "made the issue confidential",
        "locked this issue",
        "changed weight to **2**",
        "assigned to @bob",
        "unassigned @bob",
        "removed due date",
        "removed the weight",
        "made the issue visible to everyone",
    ] {
        assert!(told.iter().any(|note| note == expected), "{expected} in {told:?}");
    }
}

#[actix_web::test]
async fn an_issue_is_closed_and_opened_again() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (path, _) = written(&ada, project, json!({ "title": "One" })).await;
    app.announced();

    let closed = ada.put(&path, json!({ "state_event": "close" })).await.ok();
    assert_eq!(
        (&closed["state"], &closed["closed_by"]["username"]),
        (&json!("closed"), &json!("ada"))
    );
    assert!(closed["closed_at"].is_string());
    let again = ada.put(&path, json!({ "state_event": "close" })).await.ok();
    assert_eq!(again, closed);
    let opened = ada.put(&path, json!({ "state_event": "reopen" })).await.ok();
    assert_eq!((&opened["state"], &opened["closed_at"]), (&json!("opened"), &Value::Null));
    assert_eq!(opened["closed_by"], Value::Null);
    let wrong = json!({ "error": "state_event does not have a valid value" });
    ada.put(&path, json!({ "state_event": "open" })).await.refused(400, wrong);

    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["issue.closed", "issue.reopened"]);
}

#[actix_web::test]
async fn only_owners_remove_issues_and_only_unchanged_ones() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let dev = app.member(project, "dev", Developer);
    let (path, _) = written(&dev, project, json!({ "title": "One" })).await;

    dev.delete(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
    let since = ada.sending("If-Unmodified-Since", "Thu, 01 Jan 2015 00:00:00 GMT");
    since.delete(&path).await.refused(412, json!({ "message": "412 Precondition Failed" }));
    ada.delete(&path).await.with(204);
    ada.delete(&path).await.refused(404, json!({ "message": "404 Issue Not Found" }));
    ada.get(&path).await.refused(404, hidden());
}

#[actix_web::test]
async fn authors_change_the_words_and_state_of_their_own_alone() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let eve = app.person("eve");
    let new = json!({ "title": "Mine", "labels": "bug", "assignee_ids": [app.user("eve").id.0],
                      "weight": 3, "due_date": "2026-01-01", "iid": 9 });
    let (path, made) = written(&eve, project, new).await;
    assert_eq!((&made["labels"], &made["assignees"]), (&json!([]), &json!([])));
    assert_eq!((&made["weight"], &made["due_date"]), (&Value::Null, &Value::Null));
    assert_eq!(made["iid"], 1);

    let change = json!({ "title": "Still mine", "add_labels": "bug", "weight": 1, "confidential": true,
                         "state_event": "close" });
    let changed = eve.put(&path, change).await.ok();
    assert_eq!((&changed["title"], &changed["state"]), (&json!("Still mine"), &json!("closed")));
    assert_eq!((&changed["labels"], &changed["weight"]), (&json!([]), &Value::Null));
    assert_eq!(changed["confidential"], false);
    let other = app.person("mallory").put(&path, json!({ "title": "Not mine" })).await;
    other.refused(403, json!({ "message": "403 Forbidden" }));
    let nobody = app.anonymous().put(&path, json!({ "title": "x" })).await;
    nobody.refused(401, json!({ "message": "401 Unauthorized" }));
}

#[actix_web::test]
async fn guests_label_what_they_write_and_make_no_labels() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let label = json!({ "name": "bug", "color": "red" });
    ada.post(&format!("/projects/{project}/labels"), label).await.created();
    let guest = app.member(project, "gus", Guest);

    let (path, made) =
        written(&guest, project, json!({ "title": "One", "labels": "bug,new" })).await;
    assert_eq!(made["labels"], json!(["bug"]));
    let rita = app.member(project, "rita", Reporter);
    let changed = rita.put(&path, json!({ "add_labels": "new" })).await.ok();
    assert_eq!(changed["labels"], json!(["bug", "new"]));
}

#[actix_web::test]
async fn people_who_cannot_read_an_issue_are_not_given_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.person("eve");
    app.member(project, "bob", Reporter);
    let (eve, bob) = (app.user("eve").id.0, app.user("bob").id.0);
    let (path, _) = written(&ada, project, json!({ "title": "One", "assignee_id": bob })).await;

    let both = ada.put(&path, json!({ "assignee_ids": [eve, bob] })).await.ok();
    assert_eq!(both["assignees"].as_array().unwrap().len(), 1);
    let nobody_left = ada.put(&path, json!({ "assignee_ids": [eve] })).await.ok();
    assert_eq!(nobody_left["assignee"]["username"], "bob", "nobody is left, so all stays");
}

#[actix_web::test]
async fn confidential_issues_are_for_their_author_their_assignees_and_reporters() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let eve = app.person("eve");
    let guest = app.member(project, "gus", Guest);
    let rita = app.member(project, "rita", Reporter);
    let (path, _) =
        written(&eve, project, json!({ "title": "Secret", "confidential": true })).await;

    eve.get(&path).await.ok();
    rita.get(&path).await.ok();
    for outsider in [&guest, &app.person("mallory"), &app.anonymous()] {
        outsider.get(&path).await.refused(404, hidden());
        assert_eq!(outsider.get(&issues(project)).await.each("iid").len(), 0);
    }
    guest.put(&path, json!({ "title": "x" })).await.refused(404, hidden());
    assert_eq!(eve.get(&issues(project)).await.each("iid").len(), 1);
    assert_eq!(rita.get("/issues?scope=all").await.each("iid").len(), 1);
    assert_eq!(guest.get("/issues?scope=all").await.each("iid").len(), 0);

    let two = json!({ "assignee_ids": [app.user("rita").id.0] });
    let other = app.member(project, "olga", Owner);
    other.put(&path, two).await.ok();
    rita.get(&path).await.ok();
}

#[actix_web::test]
async fn people_hear_of_what_they_take_part_in_until_they_say_otherwise() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (path, _) = written(&ada, project, json!({ "title": "One" })).await;
    let eve = app.person("eve");
    let (on, off) = (format!("{path}/subscribe"), format!("{path}/unsubscribe"));

    assert_eq!(ada.post(&on, json!({})).await.status, 304, "an author hears of it already");
    assert_eq!(ada.post(&off, json!({})).await.created()["subscribed"], false);
    assert_eq!(ada.get(&path).await.ok()["subscribed"], false);
    assert_eq!(eve.post(&off, json!({})).await.status, 304);
    assert_eq!(eve.post(&on, json!({})).await.created()["subscribed"], true);
    assert_eq!(eve.post(&on, json!({})).await.status, 304);
    assert_eq!(ada.get(&format!("{path}/participants")).await.each("username"), ["ada"]);
}

#[actix_web::test]
async fn owners_choose_when_an_issue_was_written() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let then = "2020-01-02T03:04:05.000Z";
    let (path, made) = written(&ada, project, json!({ "title": "One", "created_at": then })).await;
    assert_eq!(made["created_at"], then);

    let change = json!({ "title": "Two", "updated_at": then });
    assert_eq!(ada.put(&path, change).await.ok()["updated_at"], then);
    let earlier = "2019-01-02T03:04:05.000Z";
    let change = json!({ "created_at": earlier });
    assert_eq!(ada.put(&path, change).await.ok()["created_at"], earlier);
    let dev = app.member(project, "dev", Developer);
    let new = json!({ "title": "x", "created_at": then });
    assert_ne!(dev.post(&issues(project), new).await.created()["created_at"], then);
    let change = json!({ "created_at": then, "updated_at": then });
    let left = dev.put(&path, change).await.ok();
    assert_eq!((&left["created_at"], left["updated_at"] == then), (&json!(earlier), false));
}

#[actix_web::test]
async fn owners_give_an_issue_another_number_and_nobody_else() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (path, _) = written(&ada, project, json!({ "title": "One" })).await;
    let (second, _) = written(&ada, project, json!({ "title": "Two" })).await;
    let rita = app.member(project, "rita", Reporter);

    assert_eq!(rita.put(&path, json!({ "iid": 9 })).await.ok()["iid"], 1);
    let taken = ada.put(&path, json!({ "iid": 2 })).await;
    taken.refused(409, json!({ "message": "Duplicated issue" }));
    ada.put(&path, json!({ "iid": 0 })).await.with(400);
    assert_eq!(ada.put(&path, json!({ "iid": 9 })).await.ok()["iid"], 9);

    ada.get(&path).await.with(404);
    assert_eq!(ada.get(&format!("{}/9", issues(project))).await.ok()["title"], "One");
    assert_eq!(ada.put(&second, json!({ "iid": 2, "title": "2" })).await.ok()["iid"], 2);
    assert_eq!(written(&ada, project, json!({ "title": "Next" })).await.1["iid"], 10);
}

#[actix_web::test]
async fn administrators_see_where_an_issue_came_from() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let client = ada.sending("User-Agent", "Browser/1").from("192.0.2.7");
    let (path, _) = written(&client, project, json!({ "title": "One" })).await;
    let (unnamed, _) = written(&ada, project, json!({ "title": "Two" })).await;
    let detail = format!("{path}/user_agent_detail");

    let shown = app.admin().get(&detail).await.ok();

    let whole =
        json!({ "user_agent": "Browser/1", "ip_address": "192.0.2.7", "akismet_submitted": false });
    assert_eq!(shown, whole);
    ada.get(&detail).await.refused(403, json!({ "message": "403 Forbidden" }));
    app.anonymous().get(&detail).await.with(401);
    let none = app.admin().get(&format!("{unnamed}/user_agent_detail")).await;
    none.refused(404, json!({ "message": "404 UserAgentDetail Not Found" }));
}

#[actix_web::test]
async fn a_project_tells_how_many_of_its_issues_are_open() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let guest = app.member(project, "guest", Guest);
    let count = async |person: &Person<'_>| {
        let one = person.get(&format!("/projects/{project}")).await.ok();
        let listed = person.get("/projects?membership=true").await.ok();
        assert_eq!(one["open_issues_count"], listed[0]["open_issues_count"]);
        one["open_issues_count"].as_i64()
    };
    assert_eq!(count(&ada).await, Some(0));

    let (first, _) = written(&ada, project, json!({ "title": "One" })).await;
    let (second, _) = written(&ada, project, json!({ "title": "Two", "confidential": true })).await;
    assert_eq!((count(&ada).await, count(&guest).await), (Some(2), Some(1)));

    ada.put(&second, json!({ "confidential": false })).await.ok();
    assert_eq!((count(&ada).await, count(&guest).await), (Some(2), Some(2)));
    ada.put(&first, json!({ "state_event": "close", "confidential": true })).await.ok();
    assert_eq!((count(&ada).await, count(&guest).await), (Some(1), Some(1)));
    ada.put(&first, json!({ "state_event": "reopen" })).await.ok();
    assert_eq!((count(&ada).await, count(&guest).await), (Some(2), Some(1)));
    for path in [first, second] {
        ada.delete(&path).await.with(204);
    }
    assert_eq!((count(&ada).await, count(&guest).await), (Some(0), Some(0)));
}
