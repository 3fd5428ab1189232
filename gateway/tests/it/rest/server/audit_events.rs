//! Audit events: `gateway/src/rest/server/audit_events.rs`.

use base64::{Engine as _, engine::general_purpose::URL_SAFE};
use db::schema::projects;
use diesel::prelude::*;
use kernel::{AccessLevel::Maintainer, Visibility::Private, ids::UserId};
use org::member::{self, event::Fact};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

#[actix_web::test]
async fn a_change_of_settings_is_audited() {
    let app = TestApp::new();
    let root = app.admin();
    root.put("/application/settings", json!({ "first_day_of_week": 1 })).await.ok();
    root.put("/application/settings", json!({ "first_day_of_week": 1 })).await.ok();

    let query = "/audit_events?entity_type=Gitlab::Audit::InstanceScope";
    let events = root.get(query).await.ok();
    assert_eq!(
        events.as_array().map(Vec::len),
        Some(1),
        "what changes nothing is no event: {events}"
    );
    let event = &events[0];
    assert_eq!(event["author_id"], json!(app.user("root").id));
    let details = &event["details"];
    assert_eq!(
        (&details["change"], &details["from"], &details["to"]),
        (&json!("first_day_of_week"), &json!("0"), &json!("1"))
    );
    assert_eq!(root.get(&format!("/audit_events/{}", event["id"])).await.ok(), *event);
    let absent = json!({ "message": "404 Audit Event Not Found" });
    root.get("/audit_events/999999").await.refused(404, absent);
    let alone = json!({ "error": "entity_type is missing" });
    root.get("/audit_events?entity_id=1").await.refused(400, alone);
}

#[actix_web::test]
async fn owners_see_what_happens_in_their_groups() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.person("bob");
    let group = ada.group("works", None).await;
    ada.adds("bob", 30, &format!("/groups/{group}")).await;

    let path = format!("/groups/{group}/audit_events");
    let events = ada.get(&path).await.ok();
    let first = &events[0];
    assert_eq!((&first["entity_type"], &first["entity_id"]), (&json!("Group"), &json!(group)));
    assert_eq!(
        (&first["details"]["add"], &first["details"]["as"]),
        (&json!("user_access"), &json!("Developer"))
    );
    assert_eq!(first["details"]["target_details"], "bob");
    assert_eq!(app.person("bob").get(&path).await.status, 403);
    let own = app.person("eve").group("others", None).await;
    let foreign = format!("/groups/{own}/audit_events/{}", first["id"]);
    assert_eq!(app.person("eve").get(&foreign).await.status, 404);
}

#[actix_web::test]
async fn maintainers_see_what_they_did_themselves() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let mia = app.member(project, "mia", Maintainer);
    let path = format!("/projects/{project}/audit_events");
    assert!(!ada.get(&path).await.each("id").is_empty());
    assert!(mia.get(&path).await.each("id").is_empty());
    app.person("bob");
    mia.adds("bob", 20, &format!("/projects/{project}")).await;
    assert_eq!(mia.get(&path).await.each("event_name"), [json!("member_created")]);
}

#[actix_web::test]
async fn audit_events_come_page_by_page_and_by_time() {
    let app = TestApp::new();
    let root = app.admin();
    for day in [1, 6, 0] {
        app.clock.advance(time::Duration::hours(1));
        root.put("/application/settings", json!({ "first_day_of_week": day })).await.ok();
    }
    let query = "entity_type=Gitlab::Audit::InstanceScope&per_page=2";
    let first =
        root.get(&format!("/audit_events?{query}&pagination=keyset&order_by=id&sort=desc")).await;
    let next = first.header("link").expect("a link").to_owned();
    let ids = first.each("id");
    assert_eq!(ids.len(), 2);
    let (address, _) = next.split_once(">; rel=\"next\"").expect("the next page");
    let (_, further) = address.split_once("/api/v4").expect("an address of the API");
    assert!(further.contains("cursor=") && !further.contains("id_before"), "{next}");
    let rest = root.get(further).await;
    assert_eq!(rest.header("link"), None);
    let rest = rest.each("id");
    assert!(rest.len() == 1 && !ids.contains(&rest[0]), "{rest:?}");
    let since = app.state.db.clock().now().plus(-time::Duration::minutes(30)).iso();
    let late = root.get(&format!("/audit_events?{query}&created_after={since}")).await;
    assert_eq!(late.each("id").len(), 1);
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let root = app.admin();
    app.clock.advance(time::Duration::microseconds(1_500));
    root.put("/application/settings", json!({ "first_day_of_week": 1 })).await.ok();

    let list = "/audit_events?entity_type=Gitlab::Audit::InstanceScope";
    assert_eq!(root.counts_until(list, "created_before").await, [1, 0]);
}

#[actix_web::test]
async fn a_cursor_that_nobody_was_given_is_refused_by_every_list() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("works", None).await;
    let project = app.project(&ada, "engine", Private);
    let root = app.admin();
    for place in ["".to_owned(), format!("/groups/{group}"), format!("/projects/{project}")] {
        let list = format!("{place}/audit_events?pagination=keyset");
        for cursor in ["abc", "*", "eyJpZCI6IngifQ=="] {
            let unreadable = json!({ "error": "cursor is invalid" });
            root.get(&format!("{list}&cursor={cursor}")).await.refused(400, unreadable);
        }
        let told = "Keyset pagination is not yet available for this type of request";
        for order in ["order_by=created_at", "sort=asc"] {
            root.get(&format!("{list}&{order}")).await.refused(405, json!({ "error": told }));
        }
    }
}

#[actix_web::test]
async fn only_the_cursor_of_an_audit_list_is_taken_and_only_with_keyset() {
    let app = TestApp::new();
    let root = app.admin();
    root.put("/application/settings", json!({ "first_day_of_week": 1 })).await.ok();
    let list = |further: &str, place: &str| {
        format!("/audit_events?{further}cursor={}", URL_SAFE.encode(place))
    };
    for place in [
        r#"{"name":"x","id":"20","_kd":"n"}"#,
        r#"{"_kd":"n","id":"20","name":"x"}"#,
        r#"{"_kd":"p","id":"20"}"#,
        r#"{"_kd":"x","id":"20"}"#,
        r#"{"id":"20"}"#,
        r#"{"_kd":"n","id":"+20"}"#,
        r#"{"_kd":"n","id":"020"}"#,
        r#"{"_kd":"n","id":"-1"}"#,
        r#"{"_kd":"n","id":"0"}"#,
        r#"{"_kd":"n","id":"20","id":"20"}"#,
    ] {
        let unreadable = json!({ "error": "cursor is invalid" });
        root.get(&list("pagination=keyset&", place)).await.refused(400, unreadable);
    }
    let ignored = root.get(&list("", r#"{"_kd":"n","id":"1"}"#)).await;
    assert!(ignored.header("x-page").is_some());
    assert!(!ignored.each("id").is_empty());
}

/// Names, with who did it, of what happened to an account after it got its token; the newest first.
async fn of_account(root: &Person<'_>, id: UserId) -> Vec<(Value, Value)> {
    let events = root.get(&format!("/audit_events?entity_type=User&entity_id={id}")).await.ok();
    let events = events.as_array().expect("a list").iter();
    let events = events.filter(|event| event["event_name"] != "personal_access_token_created");
    events.map(|event| (event["event_name"].clone(), event["author_id"].clone())).collect()
}

#[actix_web::test]
async fn what_administrators_do_to_accounts_is_audited_with_who_did_it() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let (id, by) = (app.user("ada").id, json!(app.user("root").id));
    let path = format!("/users/{id}");

    let change = json!({ "username": "adele", "admin": true, "password": "difference engine" });
    root.put(&path, change.clone()).await.ok();
    root.put(&path, json!({ "username": "adele", "admin": true })).await.ok();
    for step in ["block", "unblock", "ban", "unban"] {
        root.post(&format!("{path}/{step}"), json!({})).await.created();
    }

    let told = of_account(&root, id).await;
    let names: Vec<&str> = told.iter().filter_map(|(name, _)| name.as_str()).collect();
    let steps = ["user_unbanned", "user_banned", "user_unblocked", "user_blocked"];
    assert_eq!(names[..4], steps);
    assert_eq!(names[4..], ["user_updated", "user_updated", "user_username_updated"]);
    assert!(told.iter().all(|(_, author)| *author == by), "{told:?}");
    let all = root.get("/audit_events?entity_type=User").await.ok().to_string();
    assert!(!all.contains("difference engine"), "{all}");
}

#[actix_web::test]
async fn the_end_of_an_account_says_who_asked_for_it() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let (id, by) = (app.user("ada").id, json!(app.user("root").id));

    root.delete(&format!("/users/{id}")).await.with(204);

    let wanted = [json!("user_destroyed"), json!("user_removal_requested")];
    let told = of_account(&root, id).await;
    assert_eq!(told, wanted.map(|name| (name, by.clone())));
}

#[actix_web::test]
async fn a_plan_limit_that_changes_is_audited() {
    let app = TestApp::new();
    let root = app.admin();
    for _ in 0..2 {
        let limits = json!({ "plan_name": "default", "dotenv_size": 7 });
        root.put("/application/plan_limits", limits).await.ok();
    }
    let events = root.get("/audit_events?entity_type=Gitlab::Audit::InstanceScope").await.ok();
    assert_eq!(events.as_array().map(Vec::len), Some(1), "{events}");
    let details = &events[0]["details"];
    assert_eq!((&details["change"], &details["to"]), (&json!("dotenv_size"), &json!("7")));
}

#[actix_web::test]
async fn who_leaves_what_is_gone_is_no_event_and_no_failure() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, user) = (app.project(&ada, "engine", Private), app.user("ada").id);
    app.write(move |tx| {
        let gone = diesel::update(projects::table.find(project));
        let gone = gone.set(projects::deleted_at.eq(Some(tx.now)));
        db::each_backend!(tx, |conn| gone.execute(conn).map_err(db::error("Project")))?;
        let fact = Fact::new(member::Source::Project(project), user, Maintainer, None, None);
        tx.emit(member::Event::Removed { fact, unassign_issuables: false })
    });
    let events = app.admin().get("/audit_events?entity_type=Project").await.ok();
    assert!(!events.to_string().contains("member_destroyed"), "{events}");
}
