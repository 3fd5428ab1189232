//! Milestones of projects and groups.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::Private,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn titles(person: &Person<'_>, path: &str) -> Vec<Value> {
    person.get(path).await.each("title")
}

#[actix_web::test]
async fn a_milestone_is_made_shown_changed_and_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let milestones = format!("/projects/{project}/milestones");

    let new = json!({ "title": "1.0", "description": "First", "start_date": "2026-01-01",
                      "due_date": "2026-02-01T10:00:00Z" });
    let made = ada.post(&milestones, new).await.created();
    let one = format!("{milestones}/{}", made["id"]);
    assert_eq!((&made["iid"], &made["project_id"]), (&json!(1), &json!(project.0)));
    assert_eq!(
        (&made["start_date"], &made["due_date"]),
        (&json!("2026-01-01"), &json!("2026-02-01"))
    );
    assert_eq!((&made["state"], &made["expired"]), (&json!("active"), &json!(false)));
    let url = made["web_url"].as_str().unwrap_or_default();
    assert!(url.ends_with("/ada/forge/-/milestones/1"), "{url}");
    assert_eq!(ada.get(&one).await.ok(), made);

    let closed = ada.put(&one, json!({ "state_event": "close", "due_date": "" })).await.ok();
    assert_eq!((&closed["state"], &closed["due_date"]), (&json!("closed"), &Value::Null));
    assert_eq!(ada.put(&one, json!({ "state_event": "activate" })).await.ok()["state"], "active");

    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Milestone Not Found" }));
    let again = ada.post(&milestones, json!({ "title": "1.0" })).await.created();
    assert_eq!(again["iid"], 2, "a number is given once");
}

#[actix_web::test]
async fn a_milestone_that_cannot_be_is_refused_in_one_text() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let milestones = format!("/projects/{project}/milestones");
    let made = ada.post(&milestones, json!({ "title": "1.0" })).await.created();
    let before = app.row_counts();

    for (sent, told) in [
        (json!({ "title": " " }), "{:title=>[\"can't be blank\"]}"),
        (
            json!({ "title": "1.0" }),
            "{:title=>[\"already being used for another group or project milestone.\"]}",
        ),
        (
            json!({ "title": "2", "start_date": "2026-02-02", "due_date": "2026-02-01" }),
            "{:due_date=>[\"must be greater than start date\"]}",
        ),
    ] {
        let message = format!("Failed to create milestone {told}");
        ada.post(&milestones, sent).await.refused(400, json!({ "message": message }));
    }
    let one = format!("{milestones}/{}", made["id"]);
    let blank = "Failed to update milestone {:title=>[\"can't be blank\"]}";
    ada.put(&one, json!({ "title": "" })).await.refused(400, json!({ "message": blank }));
    let event = json!({ "error": "state_event does not have a valid value" });
    ada.put(&one, json!({ "state_event": "open" })).await.refused(400, event);
    assert_eq!(ada.get(&one).await.ok(), made);
    assert_eq!(app.row_counts(), before);
}

#[actix_web::test]
async fn every_filter_of_a_list_acts() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let milestones = format!("/projects/{project}/milestones");
    for (title, description) in [("one", "first"), ("two", "second"), ("three", "TWO and one")] {
        let new = json!({ "title": title, "description": description });
        ada.post(&milestones, new).await.created();
    }
    let third = ada.get(&milestones).await.each("id")[0].clone();
    ada.put(&format!("{milestones}/{third}"), json!({ "state_event": "close" })).await.ok();

    for (query, found) in [
        ("", &["three", "two", "one"][..]),
        ("state=active", &["two", "one"]),
        ("state=closed", &["three"]),
        ("state=all&per_page=1&page=2", &["two"]),
        ("title=two", &["two"]),
        ("search=two", &["three", "two"]),
        ("iids[]=1&iids[]=3", &["three", "one"]),
        ("iids=2", &["two"]),
        ("updated_after=2030-01-01", &[]),
        ("updated_before=2030-01-01", &["three", "two", "one"]),
    ] {
        assert_eq!(titles(&ada, &format!("{milestones}?{query}")).await, found, "{query}");
    }
    let wrong = json!({ "error": "state does not have a valid value" });
    ada.get(&format!("{milestones}?state=open")).await.refused(400, wrong);
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let milestones = format!("/projects/{}/milestones", app.project(&ada, "forge", Private));
    app.clock.advance(time::Duration::microseconds(1_500));
    ada.post(&milestones, json!({ "title": "one" })).await.created();

    assert_eq!(ada.counts_until(&milestones, "updated_before").await, [1, 0]);
}

#[actix_web::test]
async fn groups_have_milestones_for_all_their_projects() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.post("/groups", json!({ "name": "Orchid", "path": "orchid" })).await;
    let group = group.created()["id"].clone();
    let project = json!({ "name": "site", "namespace_id": group });
    let project = ada.post("/projects", project).await.created()["id"].clone();
    let made = ada
        .post(&format!("/groups/{group}/milestones"), json!({ "title": "year" }))
        .await
        .created();
    let below = format!("/projects/{project}/milestones");
    let own = ada.post(&below, json!({ "title": "week" })).await.created();

    assert_eq!((&made["group_id"], made.get("project_id")), (&group, None));
    let url = made["web_url"].as_str().unwrap_or_default();
    assert!(url.ends_with("/groups/orchid/-/milestones/1"), "{url}");
    assert_eq!(titles(&ada, &below).await, ["week"]);
    let both = format!("{below}?include_parent_milestones=true");
    assert_eq!(titles(&ada, &both).await, ["week", "year"]);
    assert_eq!(ada.get(&format!("{below}/{}", made["id"])).await.status, 404);

    let answer = ada.post(&format!("{below}/{}/promote", own["id"]), json!({})).await;
    assert_eq!((answer.status, answer.bytes.len()), (200, 0), "there is no record");
    let lifted = ada.get(&format!("/groups/{group}/milestones/{}", own["id"])).await.ok();
    assert_eq!((&lifted["group_id"], &lifted["iid"]), (&group, &json!(2)));
    assert_eq!(titles(&ada, &below).await, Vec::<Value>::new());
}

#[actix_web::test]
async fn reporters_manage_and_guests_read() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let milestones = format!("/projects/{project}/milestones");
    let rita = app.member(project, "rita", Reporter);
    let made = rita.post(&milestones, json!({ "title": "1.0" })).await.created();
    let guest = app.member(project, "gus", Guest);

    assert_eq!(titles(&guest, &milestones).await, ["1.0"]);
    let forbidden = json!({ "message": "403 Forbidden" });
    guest.delete(&format!("{milestones}/{}", made["id"])).await.refused(403, forbidden);
    let hidden = json!({ "message": "404 Project Not Found" });
    app.person("eve").get(&milestones).await.refused(404, hidden);
}

#[actix_web::test]
async fn a_last_day_that_is_over_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let milestones = format!("/projects/{project}/milestones");
    for (title, due) in [("over", "2025-12-31"), ("today", "2026-01-01")] {
        let new = json!({ "title": title, "due_date": due });
        ada.post(&milestones, new).await.created();
    }

    assert_eq!(ada.get(&milestones).await.each("expired"), [json!(false), json!(true)]);
}

#[actix_web::test]
async fn a_group_has_titles_of_its_own_and_shares_them_with_its_projects() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let above = ada.group("orchid", None).await;
    let group = ada.group("below", Some(above)).await;
    let project = json!({ "name": "site", "namespace_id": group });
    let project = ada.post("/projects", project).await.created()["id"].clone();
    let named = json!({ "title": "1.0" });

    for place in [format!("/groups/{above}"), format!("/groups/{group}")] {
        ada.post(&format!("{place}/milestones"), named.clone()).await.created();
    }

    let refused = ada.post(&format!("/projects/{project}/milestones"), named).await.with(400);
    let told = refused["message"].as_str().unwrap_or_default();
    assert!(told.contains("already being used for another group or project milestone."), "{told}");
}
