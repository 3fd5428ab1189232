//! What webhooks are told of groups and projects that go together.

use kernel::Visibility::Private;
use serde_json::json;

use super::receiver::{ReceivedRequest, Receiver, deliver, keys};
use crate::support::{Person, TestApp};

/// A group `top` with a group `inner`, and a project in each.
async fn tree(ada: &Person<'_>, parent: Option<i64>) -> i64 {
    let top = ada.group("top", parent).await;
    let inner = ada.group("inner", Some(top)).await;
    for (name, home) in [("engine", top), ("wheel", inner)] {
        ada.post("/projects", json!({ "name": name, "namespace_id": home })).await.created();
    }
    top
}

pub(super) async fn system(app: &TestApp) -> Receiver {
    let receiver = Receiver::new();
    app.admin().post("/hooks", json!({ "url": receiver.url("system") })).await.created();
    receiver
}

/// The events of a name, by the paths that they tell.
fn named<'t>(told: &'t [ReceivedRequest], event: &str, path: &str) -> Vec<&'t ReceivedRequest> {
    let mut named: Vec<_> = told.iter().filter(|one| one.body["event_name"] == event).collect();
    named.sort_by_key(|one| one.body[path].to_string());
    named
}

pub(super) fn paths<'t>(told: &'t [ReceivedRequest], event: &str, path: &str) -> Vec<&'t str> {
    let named = named(told, event, path).into_iter();
    named.map(|one| one.body[path].as_str().expect("a path")).collect()
}

#[actix_web::test]
async fn what_goes_with_a_group_is_told_to_system_hooks_each_by_itself() {
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    let top = tree(&ada, None).await;
    let system = system(&app).await;
    ada.delete(&format!("/groups/{top}")).await.with(202);
    deliver(&app).await;

    let told = system.told();
    assert_eq!(told.len(), 4);
    assert_eq!(paths(&told, "group_destroy", "full_path"), ["top", "top/inner"]);
    let group = &named(&told, "group_destroy", "full_path")[1].body;
    let expected =
        ["created_at", "updated_at", "event_name", "name", "path", "full_path", "group_id"];
    assert_eq!(keys(group), expected);
    let projects = named(&told, "project_destroy", "path_with_namespace");
    assert_eq!(projects[1].body["path_with_namespace"], "top/inner/wheel");
    assert_eq!(projects[1].header("X-Gitlab-Event"), Some("System Hook"));
    let name = app.user("ada").name;
    for project in projects.iter().map(|one| &one.body) {
        let owners = json!([{ "name": name, "email": "[REDACTED]" }]);
        assert_eq!((&project["owner_name"], &project["owners"]), (&json!(name), &owners));
        assert_eq!(project["project_visibility"], "private");
    }
}

#[actix_web::test]
async fn groups_that_stay_hear_of_each_group_that_goes_below_and_those_that_go_of_none() {
    let app = TestApp::reaching("127.0.0.1");
    let (above, own, ada) = (Receiver::new(), Receiver::new(), app.person("ada"));
    let crew = ada.group("crew", None).await;
    let top = tree(&ada, Some(crew)).await;
    for (group, receiver) in [(crew, &above), (top, &own)] {
        let hook = receiver.hook(&["subgroup_events"]);
        ada.post(&format!("/groups/{group}/hooks"), hook).await.created();
    }
    ada.delete(&format!("/groups/{top}")).await.with(202);
    deliver(&app).await;

    let told = above.told();
    assert_eq!(told.len(), 2);
    let path = |name: &str| paths(&told, "subgroup_destroy", name);
    assert_eq!(path("full_path"), ["crew/top", "crew/top/inner"]);
    assert_eq!(path("parent_full_path"), ["crew", "crew/top"]);
    assert!(told.iter().all(|one| one.header("X-Gitlab-Event") == Some("Subgroup Hook")));
    assert!(own.told().is_empty());
}

#[actix_web::test]
async fn groups_that_stay_hear_of_each_project_that_comes_and_goes_below() {
    let app = TestApp::reaching("127.0.0.1");
    let (receiver, ada) = (Receiver::new(), app.person("ada"));
    let crew = ada.group("crew", None).await;
    let hook = receiver.hook(&["project_events"]);
    ada.post(&format!("/groups/{crew}/hooks"), hook).await.created();
    let expected = ["crew/top/engine", "crew/top/inner/wheel"];
    let top = tree(&ada, Some(crew)).await;
    deliver(&app).await;
    let told = receiver.told();
    assert_eq!(paths(&told, "project_create", "path_with_namespace"), expected);
    ada.delete(&format!("/groups/{top}")).await.with(202);
    deliver(&app).await;

    let told = receiver.told();
    assert_eq!(paths(&told, "project_destroy", "path_with_namespace"), expected);
    let owners = json!([{ "name": app.user("ada").name, "email": "[REDACTED]" }]);
    for project in named(&told, "project_destroy", "path_with_namespace") {
        assert_eq!(project.header("X-Gitlab-Event"), Some("Project Hook"));
        assert_eq!((&project.body["owners"], project.body.get("owner_name")), (&owners, None));
    }
}

#[actix_web::test]
async fn what_goes_with_an_account_is_told_with_the_name_of_its_owner() {
    let app = TestApp::reaching("127.0.0.1");
    let ada = app.person("ada");
    app.project(&ada, "diary", Private);
    tree(&ada, None).await;
    let (name, system) = (app.user("ada").name, system(&app).await);
    let account = format!("/users/{}?hard_delete=true", app.id_of("ada"));
    app.admin().delete(&account).await.with(204);
    deliver(&app).await;

    let told = system.told();
    assert_eq!(paths(&told, "group_destroy", "full_path"), ["top", "top/inner"]);
    let projects = paths(&told, "project_destroy", "path_with_namespace");
    assert_eq!(projects, ["ada/diary", "top/engine", "top/inner/wheel"]);
    let diary = &named(&told, "project_destroy", "path_with_namespace")[0].body;
    assert_eq!((&diary["owner_name"], &diary["owners"][0]["name"]), (&json!(name), &json!(name)));
    assert_eq!(named(&told, "user_destroy", "username").len(), 1);
}
