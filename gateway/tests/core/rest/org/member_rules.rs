//! Who may be made a member of what, and with which role.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
};
use serde_json::json;

use crate::support::TestApp;

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
async fn each_refusal_among_many_is_told_in_one_text() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "tool", Visibility::Private);
    let (bob, cara) = (app.id_of("bob"), app.id_of("cara"));
    let path = format!("/projects/{project}/members");

    let fields = json!({ "user_id": format!("{bob},{cara},999"), "access_level": 7 });
    let told = ada.post(&path, fields).await.created();
    let why = "Access level is not included in the list";
    let text = format!("bob: {why} and cara: {why}");
    assert_eq!(told, json!({ "status": "error", "message": text }));
    let many: Vec<i64> = (1..=101).collect();
    let told = ada.post(&path, json!({ "user_id": many, "access_level": 30 })).await.created();
    let text = "Too many users specified (limit is 100)";
    assert_eq!(told, json!({ "status": "error", "message": text }));
    assert_eq!(ada.get(&path).await.each("username"), ["ada"]);
}

#[actix_web::test]
async fn a_project_of_a_locked_group_takes_no_members() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group_with("g1", json!({ "membership_lock": true })).await;
    ada.put(&format!("/groups/{group}"), json!({ "membership_lock": true })).await.ok();
    let fields = json!({ "name": "tool", "namespace_id": group });
    let project = ada.post("/projects", fields).await.created()["id"].clone();
    let bob = app.id_of("bob");

    let add = json!({ "user_id": bob, "access_level": 30 });
    let refused = ada.post(&format!("/projects/{project}/members"), add.clone()).await;
    refused.refused(405, json!({ "message": "405 Method Not Allowed" }));
    ada.post(&format!("/groups/{group}/members"), add).await.created();
}

#[actix_web::test]
async fn people_of_unwelcome_domains_are_not_let_in() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let group = ada.group("g1", None).await;
    let bob = app.id_of("bob");
    root.put("/application/settings", json!({ "domain_allowlist": ["good.test"] })).await.ok();

    let refused = ada
        .post(&format!("/groups/{group}/members"), json!({ "user_id": bob, "access_level": 30 }))
        .await;

    let text = "is not allowed for this group. Check with your administrator.";
    refused.refused(400, json!({ "message": { "user": [text] } }));
}

#[actix_web::test]
async fn minimal_access_is_for_top_level_groups() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    let bob = app.id_of("bob");
    let fields = json!({ "user_id": bob, "access_level": 5 });

    let texts = ["is not included in the list", "supported on top level groups only"];
    let refused = ada.post(&format!("/groups/{inner}/members"), fields.clone()).await;
    refused.refused(400, json!({ "message": { "access_level": texts } }));
    let told = ada.post(&format!("/groups/{top}/members"), fields).await.created();
    assert_eq!(told["access_level"], 5);
}

#[actix_web::test]
async fn the_last_owner_keeps_the_role_for_good() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("g1", None).await;
    let own = format!("/groups/{group}/members/{}", app.user("ada").id);
    let told = json!({ "message": "403 Forbidden" });

    ada.put(&own, json!({ "access_level": 50 })).await.ok();
    ada.put(&own, json!({ "access_level": 40 })).await.refused(403, told.clone());
    let ends = json!({ "access_level": 50, "expires_at": "2026-02-01" });
    ada.put(&own, ends).await.refused(403, told);
    assert_eq!(ada.get(&own).await.ok()["expires_at"], json!(null));
}

#[actix_web::test]
async fn too_many_removals_are_slowed_down() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("g1", None).await;
    let mut answer = ada.delete(&format!("/groups/{group}/members/999")).await;
    for _ in 0..200 {
        if answer.status != 404 {
            break;
        }
        answer = ada.delete(&format!("/groups/{group}/members/999")).await;
    }

    assert_eq!(answer.status, 429);
    assert!(answer.header("retry-after").is_some());
}

#[actix_web::test]
async fn owners_who_leave_at_once_do_not_leave_a_group_to_nobody() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("g1", None).await;
    let members = format!("/groups/{group}/members");
    for name in ["bob", "cara", "dora"] {
        ada.adds(name, 50, &format!("/groups/{group}")).await;
    }
    let people = ["ada", "bob", "cara", "dora"].map(|name| app.person(name));
    let leave = people.iter().zip(["ada", "bob", "cara", "dora"]).map(|(person, name)| {
        let own = format!("{members}/{}", app.user(name).id);
        async move { person.delete(&own).await.status }
    });

    let mut told = futures_util::future::join_all(leave).await;

    told.sort_unstable();
    assert_eq!(told, [204, 204, 204, 403]);
    assert_eq!(app.admin().get(&members).await.each("access_level"), [50]);
}
