//! Sharing groups with groups, and moving groups and projects into other groups.

use kernel::AccessLevel::{Developer, Guest, Maintainer, Owner};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn group(owner: &Person<'_>, path: &str, more: Value) -> i64 {
    let mut fields = json!({ "name": path, "path": path });
    for (name, value) in more.as_object().expect("fields") {
        fields[name] = value.clone();
    }
    owner.post("/groups", fields).await.created()["id"].as_i64().expect("an id")
}

async fn project(owner: &Person<'_>, group: i64, path: &str, visibility: &str) -> i64 {
    let fields = json!({ "path": path, "namespace_id": group, "visibility": visibility });
    owner.post("/projects", fields).await.created()["id"].as_i64().expect("an id")
}

async fn join(owner: &Person<'_>, group: i64, name: &str, more: Value) {
    let mut fields = more;
    fields["user_id"] = json!(owner.app.user(name).id);
    owner.post(&format!("/groups/{group}/members"), fields).await.created();
}

#[actix_web::test]
async fn members_of_an_invited_group_have_a_role_as_long_as_the_share_lasts() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (team, top) = (group(&ada, "team", json!({})).await, group(&ada, "top", json!({})).await);
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let engine = project(&ada, inner, "engine", "private").await;
    join(&ada, team, "bob", json!({ "access_level": Maintainer })).await;
    assert_eq!(bob.get(&format!("/projects/{engine}")).await.status, 404);

    let fields = json!({ "group_id": team, "group_access": Developer, "expires_at": "2026-01-03" });
    let shared = ada.post(&format!("/groups/{top}/share"), fields.clone()).await.created();

    let link = json!([{ "group_id": team, "group_name": "team", "group_full_path": "team",
                        "group_access_level": 30, "expires_at": "2026-01-03" }]);
    assert_eq!(shared["shared_with_groups"], link);
    let seen = bob.get(&format!("/projects/{engine}")).await.ok();
    assert_eq!(seen["permissions"]["group_access"]["access_level"], 30);
    let again =
        json!({ "message": "Shared group The group has already been shared with this group" });
    ada.post(&format!("/groups/{top}/share"), fields).await.refused(409, again);
    app.clock.advance(time::Duration::days(2));
    assert_eq!(bob.get(&format!("/projects/{engine}")).await.status, 404);
    assert_eq!(bob.get(&format!("/groups/{top}")).await.status, 404);
    assert_eq!(ada.get("/groups/top").await.ok()["shared_with_groups"], json!([]));
}

#[actix_web::test]
async fn a_share_that_has_ended_is_none() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (team, top) = (group(&ada, "team", json!({})).await, group(&ada, "top", json!({})).await);
    let project = project(&ada, top, "engine", "private").await;
    let past = json!({ "message": "Expires at cannot be a date in the past" });
    for place in [format!("/groups/{top}"), format!("/projects/{project}")] {
        let path = format!("{place}/share");
        let until = |end: &str| json!({ "group_id": team, "group_access": 30, "expires_at": end });
        let start = app.clock.now();
        let day = |days: i64| start.plus(time::Duration::days(days)).date().to_string();
        ada.post(&path, until(&day(-1))).await.refused(409, past.clone());
        ada.post(&path, until(&day(2))).await.created();
        app.clock.advance(time::Duration::days(2));

        assert_eq!(ada.get(&place).await.ok()["shared_with_groups"], json!([]));
        ada.delete(&format!("{path}/{team}")).await.with(404);
        ada.post(&path, until(&day(9))).await.created();
        let shown = ada.get(&place).await.ok();
        assert_eq!(shown["shared_with_groups"][0]["expires_at"], day(9));
    }
}

#[actix_web::test]
async fn a_share_is_ended_and_its_roles_with_it() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (team, top) = (group(&ada, "team", json!({})).await, group(&ada, "top", json!({})).await);
    join(&ada, team, "bob", json!({ "access_level": Guest })).await;
    let path = format!("/groups/{top}/share");
    ada.post(&path, json!({ "group_id": team, "group_access": 30 })).await.created();
    assert_eq!(bob.get("/groups/top").await.status, 200);

    bob.delete(&format!("{path}/{team}")).await.refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(ada.delete(&format!("{path}/{team}")).await.status, 204);

    assert_eq!(bob.get("/groups/top").await.status, 404);
    let gone = json!({ "message": "404 Group Link Not Found" });
    ada.delete(&format!("{path}/{team}")).await.refused(404, gone);
}

#[actix_web::test]
async fn what_cannot_be_shared_is_told() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = group(&ada, "top", json!({ "visibility": "public" })).await;
    let hidden = group(&bob, "hidden", json!({})).await;
    let open = group(&bob, "open", json!({ "visibility": "public" })).await;
    let path = format!("/groups/{top}/share");
    let share = |with: i64| json!({ "group_id": with, "group_access": 30 });

    let absent = json!({ "message": "404 Group Not Found" });
    ada.post(&path, share(hidden)).await.refused(404, absent.clone());
    ada.post(&path, share(9999)).await.refused(404, absent);
    let bare = json!({ "message": "Not Found" });
    bob.post(&path, share(open)).await.refused(404, bare.clone());
    let level = json!({ "error": "group_access does not have a valid value" });
    ada.post(&path, json!({ "group_id": open, "group_access": 35 })).await.refused(400, level);
    assert_eq!(ada.post(&path, share(top)).await.status, 409);
    ada.put("/groups/top", json!({ "prevent_sharing_groups_outside_hierarchy": true })).await.ok();
    ada.post(&path, share(open)).await.refused(404, bare);
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    ada.post(&path, share(inner)).await.created();
    app.anonymous().post(&path, share(open)).await.with(401);
}

#[actix_web::test]
async fn a_private_group_is_not_told_to_those_outside_of_it() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let top = group(&ada, "top", json!({ "visibility": "public" })).await;
    let secret = group(&ada, "secret", json!({})).await;
    ada.post(&format!("/groups/{top}/share"), json!({ "group_id": secret, "group_access": 30 }))
        .await
        .created();

    assert_eq!(ada.get("/groups/top").await.ok()["shared_with_groups"][0]["group_id"], secret);
    for outsider in [&eve, &app.anonymous()] {
        let seen = outsider.get("/groups/top").await.ok();
        assert_eq!(seen["shared_with_groups"], json!([]));
        assert!(seen.get("runners_token").is_none());
    }
}

#[actix_web::test]
async fn a_group_moves_with_everything_in_it() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (old, new) = (
        group(&ada, "old", json!({"visibility": "public"})).await,
        group(&ada, "new", json!({})).await,
    );
    let moving = group(&ada, "moving", json!({ "parent_id": old, "visibility": "public" })).await;
    let inner = group(&ada, "inner", json!({ "parent_id": moving, "visibility": "public" })).await;
    let engine = project(&ada, inner, "engine", "public").await;
    join(&ada, new, "bob", json!({ "access_level": Guest })).await;

    let path = format!("/groups/{moving}/transfer");
    let moved = ada.post(&path, json!({ "group_id": new })).await.created();

    assert_eq!(
        (&moved["full_path"], &moved["visibility"]),
        (&json!("new/moving"), &json!("private"))
    );
    let seen = bob.get("/projects/old%2Fmoving%2Finner%2Fengine").await.ok();
    assert_eq!(
        (&seen["path_with_namespace"], &seen["visibility"], &seen["name_with_namespace"]),
        (
            &json!("new/moving/inner/engine"),
            &json!("private"),
            &json!("new / moving / inner / engine")
        )
    );
    assert_eq!(ada.get("/groups/old%2Fmoving").await.status, 404, "groups leave no sign");
    assert_eq!(app.person("eve").get(&format!("/projects/{engine}")).await.status, 404);
    assert_eq!(
        ada.get(&format!("/groups/{inner}")).await.ok()["full_name"],
        "new / moving / inner"
    );
}

#[actix_web::test]
async fn why_a_group_stays_is_told_in_order() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let foreign = group(&bob, "foreign", json!({ "visibility": "public" })).await;
    let taken = group(&ada, "taken", json!({})).await;
    group(&ada, "inner", json!({ "parent_id": taken })).await;
    let told = async |group: i64, target: Value| {
        let answer = ada.post(&format!("/groups/{group}/transfer"), target).await.with(400);
        answer["message"].as_str().unwrap_or_default().to_owned()
    };

    assert_eq!(told(top, json!({})).await, "Transfer failed: Group is already a root group.");
    assert_eq!(
        told(inner, json!({ "group_id": top })).await,
        "Transfer failed: Group is already associated to the parent group."
    );
    assert_eq!(
        told(inner, json!({ "group_id": foreign })).await,
        "Transfer failed: You don't have enough permissions."
    );
    assert_eq!(
        told(inner, json!({ "group_id": taken })).await,
        "Transfer failed: The parent group already has a subgroup or a project with the same path."
    );
    assert_eq!(
        told(top, json!({ "group_id": inner })).await,
        "Transfer failed: Cannot transfer group to one of its subgroup."
    );
    let absent = json!({ "message": "404 Group Not Found" });
    ada.post(&format!("/groups/{inner}/transfer"), json!({ "group_id": 999 }))
        .await
        .refused(404, absent);
    bob.post(&format!("/groups/{inner}/transfer"), json!({})).await.with(404);
    assert_eq!(ada.get(&format!("/groups/{inner}")).await.ok()["full_path"], "top/inner");
}

#[actix_web::test]
async fn a_group_that_comes_to_the_top_gets_an_owner() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    app.person("bob");
    join(&ada, top, "bob", json!({ "access_level": Maintainer })).await;
    let bob = app.person("bob");
    let inner = bob
        .post("/groups", json!({ "name": "inner", "path": "inner", "parent_id": top }))
        .await
        .created();
    let id = inner["id"].as_i64().expect("an id");
    ada.put(&format!("/groups/{id}/members/{}", app.user("bob").id), json!({ "access_level": 40 }))
        .await;

    ada.post(&format!("/groups/{id}/transfer"), json!({})).await.created();

    assert_eq!(ada.get("/groups/inner").await.ok()["parent_id"], Value::Null);
    let levels = ada.get("/groups/inner/members").await.each("access_level");
    assert!(levels.contains(&json!(50)), "{levels:?}");
}

#[actix_web::test]
async fn no_group_lies_deeper_than_twenty() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let mut deepest = group(&ada, "g1", json!({})).await;
    for number in 2..=20 {
        deepest = group(&ada, &format!("g{number}"), json!({ "parent_id": deepest })).await;
    }
    let single = group(&ada, "single", json!({})).await;

    let fields = json!({ "name": "x", "path": "xx", "parent_id": deepest });
    let text = r#"Failed to save group {:parent_id=>["has too deep level of nesting"]}"#;
    ada.post("/groups", fields).await.refused(400, json!({ "message": text }));
    let text = "Transfer failed: Parent has too deep level of nesting";
    ada.post(&format!("/groups/{single}/transfer"), json!({ "group_id": deepest }))
        .await
        .refused(400, json!({ "message": text }));
}

#[actix_web::test]
async fn places_to_move_to_are_those_where_the_caller_may_make_something() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let below = group(&ada, "below", json!({ "parent_id": inner })).await;
    let other = group(&ada, "other", json!({})).await;
    let foreign = group(&bob, "foreign", json!({ "visibility": "public" })).await;
    join(&bob, foreign, "ada", json!({ "access_level": Developer })).await;
    let engine = project(&ada, below, "engine", "private").await;

    let places = ada.get(&format!("/groups/{inner}/transfer_locations")).await;
    assert_eq!(places.body[0]["web_url"], "http://forge.test/groups/other");
    assert_eq!(places.each("full_path"), ["other"]);
    assert!(
        ada.get(&format!("/groups/{inner}/transfer_locations?search=xyz"))
            .await
            .each("id")
            .is_empty()
    );
    let places = ada.get(&format!("/projects/{engine}/transfer_locations?search=o")).await;
    assert_eq!(places.each("id"), [json!(top), json!(other), json!(foreign)]);
    assert_eq!(bob.get(&format!("/groups/{inner}/transfer_locations")).await.status, 404);
}

#[actix_web::test]
async fn an_administrator_moves_a_project_into_a_group() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let (from, to) = (group(&ada, "from", json!({})).await, group(&ada, "to", json!({})).await);
    let engine = project(&ada, from, "engine", "private").await;
    let path = format!("/groups/{to}/projects/from%2Fengine");

    ada.post(&path, json!({})).await.refused(403, json!({ "message": "403 Forbidden" }));
    let taken = root.post(&path, json!({})).await.created();

    assert_eq!(taken["id"], to);
    assert_eq!(
        ada.get(&format!("/projects/{engine}")).await.ok()["path_with_namespace"],
        "to/engine"
    );
    let text =
        r#"Failed to transfer project {:new_namespace=>["Project is already in this namespace."]}"#;
    root.post(&path, json!({})).await.refused(400, json!({ "message": text }));
    root.post(&format!("/groups/{to}/projects/999"), json!({})).await.with(404);
}

#[actix_web::test]
async fn somebody_who_lost_their_role_is_refused_by_the_next_request() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = group(&ada, "top", json!({})).await;
    let engine = project(&ada, top, "engine", "private").await;
    join(&ada, top, "bob", json!({ "access_level": Owner, "expires_at": "2026-01-02" })).await;
    let path = format!("/projects/{engine}");
    let clone = "//top/engine.git/info/refs?service=git-upload-pack";
    bob.put(&path, json!({ "description": "mine" })).await.ok();
    assert_eq!(bob.get(clone).await.status, 200);

    let membership = format!("/groups/{top}/members/{}", app.user("bob").id);
    ada.put(&membership, json!({ "access_level": Guest })).await.ok();
    assert_eq!(bob.put(&path, json!({ "description": "mine" })).await.status, 403);
    app.clock.advance(time::Duration::days(1));
    assert_eq!(bob.get(&path).await.status, 404);
    assert_eq!(bob.get(clone).await.status, 404);
    assert!(bob.get("/projects?membership=true").await.each("id").is_empty());
}

#[actix_web::test]
async fn forks_stay_in_a_group_that_keeps_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let engine = project(&ada, top, "engine", "private").await;
    ada.put("/groups/top", json!({ "prevent_forking_outside_group": true })).await.ok();
    let path = format!("/projects/{engine}/fork");

    let refused = json!({ "message": "404 Target Namespace Not Found" });
    ada.post(&path, json!({})).await.refused(404, refused);
    ada.post(&path, json!({ "namespace_id": inner })).await.created();
}
