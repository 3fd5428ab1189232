//! What happens to issues, merge requests and what belongs to them is announced, with what others need to tell of it.

use kernel::{AccessLevel::Developer, Visibility::Private};
use serde_json::{Value, json};

use crate::{
    rest::review::{
        epics::{epic, set_up},
        merge_request_approvals::forge,
    },
    support::TestApp,
};

/// What was announced since the last look, and what it told.
fn told(app: &TestApp) -> Vec<(String, Value)> {
    let all = app.announced().into_iter();
    all.map(|(kind, text)| (kind, serde_json::from_str(&text).expect("JSON"))).collect()
}

fn kinds(app: &TestApp) -> Vec<String> {
    told(app).into_iter().map(|(kind, _)| kind).collect()
}

#[actix_web::test]
async fn labels_and_milestones_are_announced() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let home = format!("/projects/{project}");
    let (labels, milestones) = (format!("{home}/labels"), format!("{home}/milestones"));
    app.announced();

    ada.post(&labels, json!({ "name": "bug", "color": "red" })).await.created();
    ada.put(&format!("{labels}/bug"), json!({ "new_name": "fault" })).await.ok();
    ada.delete(&format!("{labels}/fault")).await.with(204);
    let new = json!({ "title": "1.0", "due_date": "2030-01-01" });
    let id = ada.post(&milestones, new).await.created()["id"].clone();
    let one = format!("{milestones}/{id}");
    ada.put(&one, json!({ "title": "1.1" })).await.ok();
    ada.put(&one, json!({ "state_event": "close" })).await.ok();
    ada.put(&one, json!({ "state_event": "activate" })).await.ok();
    ada.delete(&one).await.with(204);

    let told = told(&app);
    let kinds: Vec<&str> = told.iter().map(|(kind, _)| kind.as_str()).collect();
    let labels = ["label.created", "label.updated", "label.removed"];
    let milestones = ["created", "updated", "closed", "reopened", "removed"];
    let milestones = milestones.map(|what| format!("milestone.{what}"));
    assert_eq!(kinds[..3], labels);
    assert_eq!(kinds[3..], milestones.each_ref().map(String::as_str));
    assert_eq!((&told[1].1["name"], &told[1].1["project"]), (&json!("fault"), &json!(project.0)));
    assert_eq!((&told[4].1["title"], &told[4].1["milestone"]), (&json!("1.1"), &id));
    assert_eq!(told[5].1["state"], "closed");
}

#[actix_web::test]
async fn a_label_that_an_item_brings_is_announced_and_who_brought_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.announced();

    let new = json!({ "title": "One", "labels": "new" });
    ada.post(&format!("/projects/{project}/issues"), new).await.created();

    let told = told(&app);
    assert_eq!((told[0].0.as_str(), told[1].0.as_str()), ("label.created", "issue.opened"));
    assert_eq!(
        (&told[0].1["name"], &told[0].1["user"]),
        (&json!("new"), &json!(app.user("ada").id.0))
    );
}

#[actix_web::test]
async fn reactions_links_and_time_are_announced() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (one, two) = (app.issue(project, &ada), app.issue(project, &ada));
    let issue = format!("/projects/{project}/issues/{one}");
    app.announced();

    let emoji = format!("{issue}/award_emoji");
    let award = ada.post(&emoji, json!({ "name": "rocket" })).await.created();
    ada.delete(&format!("{emoji}/{}", award["id"])).await.with(204);
    let other =
        json!({ "target_project_id": project.0, "target_issue_iid": two, "link_type": "blocks" });
    ada.post(&format!("{issue}/links"), other).await.created();
    let link = ada.get(&format!("{issue}/links")).await.ok()[0]["issue_link_id"].clone();
    ada.delete(&format!("{issue}/links/{link}")).await.ok();
    ada.post(&format!("{issue}/time_estimate"), json!({ "duration": "2h" })).await.ok();
    ada.post(&format!("{issue}/add_spent_time"), json!({ "duration": "1h" })).await.created();
    ada.post(&format!("{issue}/reset_spent_time"), json!({})).await.ok();

    let told = told(&app);
    let kinds: Vec<&str> = told.iter().map(|(kind, _)| kind.as_str()).collect();
    let time = "item.time_changed";
    let all =
        ["award.given", "award.taken_back", "issue.linked", "issue.unlinked", time, time, time];
    assert_eq!(kinds, all);
    assert_eq!(
        (&told[0].1["name"], &told[0].1["awarded_kind"]),
        (&json!("rocket"), &json!("Issue"))
    );
    assert_eq!(told[2].1["link_type"], "blocks");
    let of = |n: usize| {
        [&told[n].1["estimate"], &told[n].1["spent"], &told[n].1["spent_more"]].map(Value::as_i64)
    };
    assert_eq!(of(4), [Some(7200), Some(0), Some(0)]);
    assert_eq!(of(5), [Some(7200), Some(3600), Some(3600)]);
    assert_eq!(of(6), [Some(7200), Some(0), Some(-3600)]);
}

#[actix_web::test]
async fn what_has_to_be_approved_is_announced() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    app.member(forge.project, "gil", Developer);
    let rules = format!("/projects/{}/approval_rules", forge.project);
    let own = format!("{}/approval_rules", forge.at);
    app.announced();

    for (person, rules) in [(&forge.ada, rules), (&forge.dev, own)] {
        let new =
            json!({ "name": "Two", "approvals_required": 2, "user_ids": [app.user("gil").id.0] });
        let rule = format!("{rules}/{}", person.post(&rules, new).await.created()["id"]);
        let change = json!({ "name": "One", "approvals_required": 1 });
        person.put(&rule, change).await.ok();
        person.delete(&rule).await.with(204);
        let told = told(&app);
        let kinds: Vec<&str> = told.iter().map(|(kind, _)| kind.as_str()).collect();
        let all = ["approval_rule.created", "approval_rule.updated", "approval_rule.removed"];
        assert_eq!(kinds, all, "{rules}");
        assert_eq!(
            (&told[1].1["name"], &told[1].1["approvals_required"]),
            (&json!("One"), &json!(1))
        );
    }
    let older = format!("{}/approvals", forge.at);
    for required in [2, 1] {
        forge.ada.post(&older, json!({ "approvals_required": required })).await.created();
    }
    assert_eq!(kinds(&app), ["approval_rule.created", "approval_rule.updated"]);
    forge.configure(json!({ "reset_approvals_on_push": false })).await;
    assert_eq!(kinds(&app), ["approvals.configured"]);
}

#[actix_web::test]
async fn epics_that_join_others_are_announced() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let child = epic(&ada, group, json!({ "title": "Bed" })).await["id"].clone();
    let inside = format!("/groups/{group}/epics/1/epics/{child}");
    app.announced();

    ada.post(&inside, json!({})).await.created();
    ada.delete(&inside).await.ok();
    ada.post(&inside, json!({})).await.created();
    ada.put(&format!("/groups/{group}/epics/2"), json!({ "parent_id": null })).await.ok();

    let changes = told(&app).into_iter().filter(|(kind, _)| kind == "epic.updated");
    let changes: Vec<Value> =
        changes.map(|(_, text)| text["changes"][0]["field"].clone()).collect();
    assert_eq!(changes, ["parent"; 4]);
}

#[actix_web::test]
async fn what_was_announced_is_forgotten_after_a_week() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.announced();
    app.issue(project, &ada);
    app.clock.advance(time::Duration::days(4));
    app.recurring().await;
    let new = json!({ "name": "bug", "color": "red" });
    ada.post(&format!("/projects/{project}/labels"), new).await.created();

    app.clock.advance(time::Duration::days(4));
    app.recurring().await;

    assert_eq!(kinds(&app), ["label.created"]);
}
