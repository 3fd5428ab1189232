//! Members of projects and groups.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
};
use serde_json::json;

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

    assert_eq!(told, json!({ "status": "error", "message": "bob: User already exists in source" }));
    assert_eq!(ada.get(&format!("{path}?query=CAR")).await.each("username"), ["cara"]);
    let skipped = format!("{path}?skip_users={}", app.user("cara").id);
    assert_eq!(ada.get(&skipped).await.each("username"), ["ada", "bob"]);
}

#[actix_web::test]
async fn what_is_wrong_with_a_membership_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    app.member(project, "bob", Developer);
    app.person("cara");
    let (bob, cara) = (app.user("bob").id, app.user("cara").id);
    let path = format!("/projects/{project}/members");
    let add = async |fields| ada.post(&path, fields).await;

    add(json!({ "user_id": bob, "access_level": 7 }))
        .await
        .refused(409, json!({ "message": "Member already exists" }));
    let level = json!({ "message": { "access_level": ["is not included in the list"] } });
    add(json!({ "user_id": cara, "access_level": 7 })).await.refused(400, level);
    let past = json!({ "message": { "expires_at": ["cannot be a date in the past"] } });
    add(json!({ "user_id": cara, "access_level": 30, "expires_at": "2020-01-01" }))
        .await
        .refused(400, past);
    let absent = json!({ "message": "404 User Not Found" });
    add(json!({ "user_id": 999, "access_level": 30 })).await.refused(404, absent);
    add(json!({ "user_id": cara }))
        .await
        .refused(400, json!({ "error": "access_level is missing" }));
}

#[actix_web::test]
async fn nobody_gives_more_than_they_have() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    let maintainer = app.member(project, "main", Maintainer);
    app.person("bob");
    let path = format!("/projects/{project}/members");
    let bob = app.user("bob").id;

    assert_eq!(
        maintainer.post(&path, json!({ "user_id": bob, "access_level": 50 })).await.status,
        403
    );
    ada.post(&path, json!({ "user_id": bob, "access_level": 50 })).await.created();
    let one = format!("{path}/{bob}");
    assert_eq!(maintainer.put(&one, json!({ "access_level": 20 })).await.status, 403);
    assert_eq!(maintainer.delete(&one).await.status, 403);
    let home = format!("{path}/{}", app.user("ada").id);
    assert_eq!(app.person("bob").delete(&home).await.status, 403, "whose namespace it is stays");
    assert_eq!(app.person("bob").delete(&one).await.status, 204, "everybody may leave");
}

#[actix_web::test]
async fn a_group_keeps_an_owner() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let group = ada.post("/groups", json!({ "name": "G1", "path": "g1" })).await.created();
    let path = format!("/groups/{}/members", group["id"]);
    let own = format!("{path}/{}", app.user("ada").id);

    ada.delete(&own).await.refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(ada.put(&own, json!({ "access_level": 40 })).await.status, 403);
    ada.post(&path, json!({ "user_id": app.user("bob").id, "access_level": 50 })).await.created();
    assert_eq!(ada.delete(&own).await.status, 204);
    assert_eq!(bob.get(&path).await.each("username"), ["bob"]);
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
