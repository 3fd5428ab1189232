//! Members of projects and groups.

use kernel::{AccessLevel::Developer, Visibility};
use serde_json::{Value, json};

use crate::support::TestApp;

#[actix_web::test]
async fn members_are_added_changed_and_taken_out() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "tool", Visibility::Private);
    let (path, id) = (format!("/projects/{project}/members"), app.user("bob").id);

    let added = ada
        .post(&path, json!({ "user_id": id, "access_level": 30, "expires_at": "2026-03-01" }))
        .await
        .created();
    assert_eq!((&added["id"], &added["expires_at"]), (&json!(id), &json!("2026-03-01")));
    assert_eq!(added["created_by"]["username"], "ada");
    assert_eq!(bob.get(&path).await.each("username"), ["ada", "bob"]);
    let one = format!("{path}/{id}");
    let changed = ada.put(&one, json!({ "access_level": 20, "expires_at": "" })).await.ok();
    assert_eq!((&changed["access_level"], &changed["expires_at"]), (&json!(20), &json!(null)));
    assert_eq!(ada.delete(&one).await.status, 204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Not found" }));
    assert_eq!(bob.get(&path).await.status, 404);
}

#[actix_web::test]
async fn many_members_are_added_at_once_and_each_refusal_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    app.member(project, "bob", Developer);
    app.person("cara");
    let path = format!("/projects/{project}/members");

    let ids = format!("{},{}", app.user("bob").id, app.user("cara").id);
    let told = ada.post(&path, json!({ "user_id": ids, "access_level": 30 })).await.created();

    assert_eq!(told, json!({ "status": "success" }), "whoever is a member is given the role");
    assert_eq!(ada.get(&format!("{path}?query=CAR")).await.each("username"), ["cara"]);
    let skipped = format!("{path}?skip_users={}", app.user("cara").id);
    assert_eq!(ada.get(&skipped).await.each("username"), ["ada", "bob"]);
}

#[actix_web::test]
async fn membership_of_a_group_reaches_everything_below() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = ada.post("/groups", json!({ "name": "Top", "path": "top" })).await.created();
    let inner = ada
        .post("/groups", json!({ "name": "In", "path": "in", "parent_id": top["id"] }))
        .await
        .created();
    let (above, below) =
        (format!("/groups/{}/members", top["id"]), format!("/groups/{}/members", inner["id"]));
    let id = app.user("bob").id;

    ada.post(&above, json!({ "user_id": id, "access_level": 30 })).await.created();
    assert_eq!(bob.get(&format!("{below}/all/{id}")).await.ok()["access_level"], 30);
    assert_eq!(bob.get(&format!("{below}/{id}")).await.status, 404);
    let text = "should be greater than or equal to Developer inherited membership from group Top";
    let lower = json!({ "message": { "access_level": [text] } });
    ada.post(&below, json!({ "user_id": id, "access_level": 20 })).await.refused(400, lower);
    ada.post(&below, json!({ "user_id": id, "access_level": 40 })).await.created();
    assert_eq!(bob.get(&format!("{below}/all?query=bob")).await.each("access_level"), [40]);
    assert_eq!(ada.delete(&format!("{above}/{id}")).await.status, 204);
    assert_eq!(bob.get(&below).await.status, 404, "memberships below go too");
}

#[actix_web::test]
async fn a_membership_ends_with_its_day() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "tool", Visibility::Private);
    let path = format!("/projects/{project}/members");
    let fields =
        json!({ "user_id": app.user("bob").id, "access_level": 30, "expires_at": "2026-01-02" });
    ada.post(&path, fields).await.created();

    assert_eq!(bob.get(&path).await.status, 200);
    app.clock.advance(time::Duration::days(1));
    assert_eq!(ada.get(&path).await.each("username"), ["ada"], "ended ones are listed no more");
    app.write(org::member::actions::remove_expired);

    assert_eq!(bob.get(&path).await.status, 404);
}

#[actix_web::test]
async fn an_invited_group_shows_its_members_to_those_who_may_know_it() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let (group, secret) = (ada.group("g1", None).await, ada.group("hidden", None).await);
    ada.adds("spy", 50, &format!("/groups/{secret}")).await;
    ada.adds("eve", 20, &format!("/groups/{group}")).await;
    app.invite_group(group, secret, Developer);
    let all = format!("/groups/{group}/members/all");

    assert_eq!(ada.get(&all).await.each("username"), ["ada", "eve", "spy"]);
    assert_eq!(ada.get(&all).await.each("access_level"), [50, 20, 30], "the share is a limit");
    let seen = eve.get(&all).await;
    assert_eq!(seen.header("x-total"), Some("2"), "nobody is counted who is not shown");
    assert_eq!(seen.each("username"), ["ada", "eve"]);
    assert_eq!(eve.get(&format!("{all}/{}", app.user("spy").id)).await.status, 404);
    let opened = json!({ "visibility": "public" });
    ada.put(&format!("/groups/{secret}"), opened).await.ok();
    assert_eq!(eve.get(&all).await.each("username"), ["ada", "eve", "spy"]);
}

#[actix_web::test]
async fn who_added_somebody_is_told_to_those_who_know_the_group() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    ada.adds("cara", 30, &format!("/groups/{top}")).await;
    ada.adds("bob", 30, &format!("/groups/{inner}")).await;
    let cara = format!("/groups/{inner}/members/all/{}", app.user("cara").id);

    assert_eq!(ada.get(&cara).await.ok()["created_by"]["username"], "ada");
    let seen = bob.get(&cara).await.ok();
    assert_eq!((&seen["username"], seen.get("created_by")), (&json!("cara"), None));
}

#[actix_web::test]
async fn seats_are_shown_to_those_who_ask() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("g1", None).await;
    ada.adds("bob", 30, &format!("/groups/{group}")).await;
    app.block("bob");
    for list in ["members", "members/all"] {
        let path = format!("/groups/{group}/{list}");
        let seats = ada.get(&format!("{path}?show_seat_info=true")).await;
        assert_eq!(seats.each("is_using_seat"), [true, false]);
        assert_eq!(ada.get(&path).await.each("is_using_seat"), [json!(null), json!(null)]);
    }
}

#[actix_web::test]
async fn members_are_found_by_addresses_that_are_public() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let group = ada.group("g1", None).await;
    ada.adds("bob", 30, &format!("/groups/{group}")).await;
    let paths = ["members", "members/all"]
        .map(|list| format!("/groups/{group}/{list}?query=BOB@example.com"));
    for path in &paths {
        assert!(ada.get(path).await.each("id").is_empty(), "nobody learns whose address it is");
        assert_eq!(root.get(path).await.each("username"), ["bob"]);
    }
    app.show_publicly("bob", "bob@example.com");
    for path in &paths {
        assert_eq!(ada.get(path).await.each("username"), ["bob"]);
    }
}

#[actix_web::test]
async fn what_happens_to_members_is_announced_and_written_to_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("g1", None).await;
    app.announced();
    let bob = ada.adds("bob", 30, &format!("/groups/{group}")).await;
    let one = format!("/groups/{group}/members/{bob}");
    ada.put(&one, json!({ "access_level": 40 })).await.ok();
    ada.put(&one, json!({ "access_level": 40 })).await.ok();
    ada.delete(&format!("{one}?unassign_issuables=true")).await;

    let told = app.announced();
    let kinds: Vec<_> = told.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(
        kinds,
        ["user_add_to_group", "user_update_for_group", "user_remove_from_group"],
        "nothing is said where nothing changed"
    );
    assert!(told[2].1.contains(r#""unassign_issuables":true"#), "{}", told[2].1);
    let sink = app.letters();
    assert!(sink.iter().any(|text| text.contains("granted Developer access to the g1 group")));
}

#[actix_web::test]
async fn access_ends_at_midnight_without_anybody_doing_anything() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "tool", Visibility::Private);
    let path = format!("/projects/{project}/members");
    let add =
        |end: &str| json!({ "user_id": app.user("bob").id, "access_level": 30, "expires_at": end });
    let past = json!({ "message": { "expires_at": ["cannot be a date in the past"] } });
    ada.post(&path, add("2025-12-31")).await.refused(400, past);
    ada.post(&path, add("2026-01-02")).await.created();
    let git = "//ada/tool.git/info/refs?service=git-upload-pack";

    app.clock.advance(time::Duration::hours(24) - time::Duration::seconds(1));
    assert_eq!(bob.get(&path).await.status, 200);
    assert_eq!(bob.by_password().get(git).await.status, 200);
    app.clock.advance(time::Duration::seconds(1));
    assert_eq!(bob.get(&path).await.status, 404);
    assert_eq!(bob.by_password().get(git).await.status, 404);
    assert_eq!(ada.get(&format!("{path}/all")).await.each("username"), ["ada"]);
    ada.post(&path, add("2026-01-02")).await.created();
    assert_eq!(bob.get(&path).await.status, 404, "today is over already");
    app.recurring().await;
    assert_eq!(ada.get(&format!("{path}/all")).await.each("username"), ["ada"]);
}

/// An issue in a project that somebody is to look after.
fn assigned(app: &TestApp, project: &serde_json::Value, user: i64) -> i64 {
    use db::schema::{issues, item_assignees};
    use diesel::prelude::*;
    let project = project.as_i64().expect("an id");
    app.write(move |tx| {
        let row = (
            issues::project_id.eq(project),
            (issues::iid.eq(1), issues::relative_position.eq(1), issues::author_id.eq(user)),
            (issues::title.eq("One"), issues::state.eq("opened"), issues::issue_type.eq("issue")),
            (issues::severity.eq("UNKNOWN"), issues::confidential.eq(false)),
            (issues::created_at.eq(tx.now), issues::updated_at.eq(tx.now)),
        );
        let insert = diesel::insert_into(issues::table).values(row).returning(issues::id);
        let issue: i64 =
            db::each_backend!(tx, |conn| insert.get_result(conn).map_err(db::error("Issue")))?;
        let row = (
            item_assignees::item_kind.eq("Issue"),
            item_assignees::item_id.eq(issue),
            item_assignees::project_id.eq(project),
            item_assignees::user_id.eq(user),
        );
        let insert = diesel::insert_into(item_assignees::table).values(row);
        db::each_backend!(tx, |conn| insert.execute(conn).map_err(db::error("Issue")))?;
        Ok(issue)
    })
}

fn assignments(app: &TestApp) -> Vec<i64> {
    use db::schema::item_assignees::dsl::{item_assignees, item_id};
    use diesel::prelude::*;
    app.write(|tx| {
        let query = item_assignees.select(item_id).order(item_id);
        db::each_backend!(tx, |conn| query.load(conn).map_err(db::error("Issue")))
    })
}

#[actix_web::test]
async fn whoever_is_taken_out_may_lose_what_they_look_after_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    let bob = app.id_of("bob");
    let mut issues = Vec::new();
    for (path, group) in [("in", json!(inner)), ("on", json!(top)), ("out", json!(null))] {
        let project = json!({ "path": path, "namespace_id": group });
        let project = ada.post("/projects", project).await.created()["id"].clone();
        ada.adds("bob", 30, &format!("/projects/{project}")).await;
        issues.push(assigned(&app, &project, bob));
    }
    ada.adds("bob", 30, &format!("/groups/{top}")).await;

    ada.delete(&format!("/groups/{top}/members/{bob}?skip_subresources=true")).await;
    assert_eq!(assignments(&app), issues, "only who asks for it has it done");
    ada.adds("bob", 30, &format!("/groups/{inner}")).await;
    let one = format!("/groups/{inner}/members/{bob}?unassign_issuables=true");
    assert_eq!(ada.delete(&one).await.status, 204);
    assert_eq!(assignments(&app), issues[1..]);
    let one = format!("/projects/top%2Fon/members/{bob}?unassign_issuables=true");
    assert_eq!(ada.delete(&one).await.status, 204);
    assert_eq!(assignments(&app), issues[2..]);
}

#[actix_web::test]
async fn owners_see_how_members_sign_in_where_the_group_has_a_sign_in() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    let alone = ada.group("alone", None).await;
    let cara = json!({ "username": "cara", "name": "Cara", "email": "cara@y.test", "force_random_password": true,
        "extern_uid": "c-1", "provider": "group_saml", "group_id_for_saml": top });
    root.post("/users", cara).await.created();
    for group in [top, inner, alone] {
        ada.adds("cara", 40, &format!("/groups/{group}")).await;
    }
    let identity =
        json!({ "extern_uid": "c-1", "provider": "group_saml", "saml_provider_id": top });

    for group in [top, inner] {
        let members = ada.get(&format!("/groups/{group}/members")).await.ok();
        assert_eq!(members[0]["group_saml_identity"], Value::Null);
        assert!(members[0].get("group_saml_identity").is_some(), "ada has none");
        assert_eq!(members[1]["group_saml_identity"], identity);
        let all = ada.get(&format!("/groups/{group}/members/all")).await.ok();
        assert_eq!(all[1]["group_saml_identity"], identity);
    }
    let one = format!("/groups/{top}/members/{}", app.user("cara").id);
    assert_eq!(ada.get(&one).await.ok()["group_saml_identity"], identity);
    let changed = ada.put(&one, json!({ "access_level": 30 })).await.ok();
    assert_eq!(changed["group_saml_identity"], identity);
    assert_eq!(app.person("cara").get(&one).await.ok().get("group_saml_identity"), None);
    let elsewhere = ada.get(&format!("/groups/{alone}/members")).await.ok();
    assert_eq!(elsewhere[1].get("group_saml_identity"), None);
}
