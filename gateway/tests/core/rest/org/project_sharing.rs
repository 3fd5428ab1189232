//! Sharing projects with groups.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::{Private, Public},
};
use org::{
    member::{NewMember, Source},
    namespace::store::NamespaceStore,
};
use serde_json::json;

use crate::support::{Person, TestApp};

/// A public group of `owner`'s with one member; answers with its id.
async fn group_of(app: &TestApp, owner: &Person<'_>, member: &str) -> i64 {
    let made = owner
        .post("/groups", json!({ "name": "crew", "path": "crew", "visibility": "public" }))
        .await
        .created();
    let user_id = app.user(member).id;
    app.write(move |tx| {
        let group = tx.find_namespace_at("crew")?.expect("the group is there");
        let new = NewMember {
            source: Source::Group(group.id),
            user_id,
            access_level: Maintainer,
            expires_at: None,
            created_by: None,
        };
        org::member::steps::insert(tx, &new)
    });
    made["id"].as_i64().expect("an id")
}

#[actix_web::test]
async fn a_group_reaches_what_is_shared_with_it_up_to_its_level() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let id = app.project(&ada, "engine", Private);
    let group = group_of(&app, &ada, "bob").await;
    let share = json!({ "group_id": group, "group_access": 30, "expires_at": "2030-01-01" });

    let made = ada.post(&format!("/projects/{id}/share"), share.clone()).await.created();

    assert_eq!((&made["group_access"], &made["expires_at"]), (&json!(30), &json!("2030-01-01")));
    let level = Developer.number();
    let found = bob.get(&format!("/projects?min_access_level={level}")).await.each("id");
    assert_eq!(found, [json!(id.0)]);
    assert_eq!(bob.get("/projects?min_access_level=40").await.each("id"), Vec::<i64>::new());
    let again = ada.post(&format!("/projects/{id}/share"), share).await;
    again.refused(409, json!({ "message": "Project already shared with this group" }));
    let people = ada.get(&format!("/projects/{id}/users?search=bo")).await.each("username");
    assert_eq!(people, ["bob"]);
    let groups =
        ada.get(&format!("/projects/{id}/groups?with_shared=true")).await.each("full_path");
    assert_eq!(groups, ["crew"]);
    ada.delete(&format!("/projects/{id}/share/{group}")).await.with(204);
    bob.get(&format!("/projects/{id}")).await.with(404);
    let gone = ada.delete(&format!("/projects/{id}/share/{group}")).await;
    gone.refused(404, json!({ "message": "404 Group Link Not Found" }));
}

#[actix_web::test]
async fn a_group_that_is_not_there_is_not_shared_with() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Public);

    let refused = ada
        .post(&format!("/projects/{id}/share"), json!({ "group_id": 999, "group_access": 30 }))
        .await;

    refused.refused(404, json!({ "message": "Not Found" }));
}

#[actix_web::test]
async fn groups_that_nobody_may_know_of_are_left_out_where_that_is_wanted() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let id = app.project(&ada, "engine", Public);
    for (path, visibility) in [("open", "public"), ("hidden", "private")] {
        let group = json!({ "name": path, "path": path, "visibility": visibility });
        let group = ada.post("/groups", group).await.created();
        let share = json!({ "group_id": group["id"], "group_access": 30 });
        ada.post(&format!("/projects/{id}/share"), share).await.created();
    }

    let all = format!("/projects/{id}/groups?with_shared=true&shared_visible_only=true");

    assert_eq!(ada.get(&all).await.each("full_path"), ["open", "hidden"]);
    assert_eq!(bob.get(&all).await.each("full_path"), ["open"]);
    let everything = format!("/projects/{id}/groups?with_shared=true");
    assert_eq!(bob.get(&everything).await.each("full_path"), ["open"], "names are not told");
    let mia = app.member(id, "mia", Maintainer);
    assert_eq!(mia.get(&everything).await.each("full_path"), ["open", "hidden"]);
    assert_eq!(mia.get(&all).await.each("full_path"), ["open"]);
    let users = format!("/projects/{id}/users");
    ada.adds("spy", 30, "/groups/hidden").await;
    assert_eq!(ada.get(&users).await.each("username"), ["ada", "mia", "spy"]);
    let seen = bob.get(&users).await;
    assert_eq!(seen.header("x-total"), Some("2"));
    assert_eq!(seen.each("username"), ["ada", "mia"]);
}

#[actix_web::test]
async fn people_are_not_told_whom_only_a_hidden_group_brings_that_was_invited_above() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = ada.group_with("top", json!({ "visibility": "public" })).await;
    let inner = ada.group_with("inner", json!({ "visibility": "public", "parent_id": top })).await;
    let hidden = ada.group("hidden", None).await;
    ada.adds("spy", 30, "/groups/hidden").await;
    let share = json!({ "group_id": hidden, "group_access": 30 });
    ada.post(&format!("/groups/{top}/share"), share).await.created();
    let engine = json!({ "name": "engine", "namespace_id": inner, "visibility": "public" });
    let engine = ada.post("/projects", engine).await.created()["id"].clone();

    let users = format!("/projects/{engine}/users");

    assert_eq!(bob.get(&users).await.each("username"), ["ada"]);
    for person in [ada, app.person("spy"), app.admin()] {
        assert_eq!(person.get(&users).await.each("username"), ["ada", "spy"]);
    }
}
