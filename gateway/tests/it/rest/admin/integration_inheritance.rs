//! Integrations of groups and of the installation, and who goes by their settings.

use serde_json::{Value, json};

use super::receiver::{Receiver, deliver};
use crate::support::{Person, TestApp};

/// A project in a group, by the ids of both.
async fn in_group(ada: &Person<'_>) -> (i64, Value) {
    let group = ada.group("crew", None).await;
    let new = json!({ "name": "engine", "namespace_id": group });
    let project = ada.post("/projects", new).await.created()["id"].clone();
    (group, project)
}

fn chat(webhook: &str) -> Value {
    json!({ "webhook": webhook, "branches_to_be_notified": "all" })
}

#[actix_web::test]
async fn projects_go_by_the_integration_of_the_installation_until_they_have_their_own() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let (_, project) = in_group(&ada).await;
    let root = app.admin();
    let instance = "/admin/integrations/pumble";
    let set = root.put(instance, chat(&receiver.url("all"))).await.ok();
    assert_eq!((&set["inherited"], &set["active"]), (&json!(false), &json!(true)));
    assert_eq!(root.get("/admin/integrations").await.each("slug"), [json!("pumble")]);
    ada.get(instance).await.refused(403, json!({ "message": "403 Forbidden" }));
    let one = format!("/projects/{project}/integrations/pumble");
    assert_eq!(ada.get(&one).await.ok()["inherited"], true);
    let issues = format!("/projects/{project}/issues");

    ada.post(&issues, json!({ "title": "One" })).await.created();
    deliver(&app).await;
    assert_eq!(receiver.told()[0].path, "/all");

    ada.put(&one, chat(&receiver.url("own"))).await.ok();
    ada.post(&issues, json!({ "title": "Two" })).await.created();
    deliver(&app).await;
    let told = receiver.told();
    assert_eq!(told.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["/own"]);
}

#[actix_web::test]
async fn a_group_stands_before_the_installation() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let (group, project) = in_group(&ada).await;
    app.admin().put("/admin/integrations/pumble", chat(&receiver.url("all"))).await.ok();
    ada.put(&format!("/groups/{group}/integrations/pumble"), chat(&receiver.url("crew")))
        .await
        .ok();

    ada.post(&format!("/projects/{project}/issues"), json!({ "title": "One" })).await.created();
    deliver(&app).await;

    let told = receiver.told();
    assert_eq!(told.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["/crew"]);
}

#[actix_web::test]
async fn a_project_names_the_integration_that_it_inherits_from() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (group, project) = in_group(&ada).await;
    let above = format!("/groups/{group}/integrations/pumble");
    let id = ada.put(&above, chat("https://c.example.com/x")).await.ok()["id"].clone();
    let one = format!("/projects/{project}/integrations/pumble");
    ada.put(&one, json!({ "webhook": "https://c.example.com/y" })).await.ok();
    assert_eq!(ada.get(&one).await.ok()["inherited"], false);

    let set = ada.put(&one, json!({ "inherit_from_id": id })).await.ok();

    assert_eq!(set["inherited"], true);
    assert_eq!(set["properties"]["branches_to_be_notified"], "all");
    let refusal = json!({ "message": "400 Bad Request" });
    ada.put(&one, json!({ "inherit_from_id": 999 })).await.refused(400, refusal.clone());
    let missing = json!({ "error": "webhook is missing" });
    ada.put(&one, json!({ "inherit_from_id": null })).await.refused(400, missing);
    let own = json!({ "inherit_from_id": null, "webhook": "https://c.example.com/z" });
    assert_eq!(ada.put(&one, own).await.ok()["inherited"], false);
    let other = app.person("eve");
    let foreign = other.post("/projects", json!({ "name": "x" })).await.created()["id"].clone();
    let foreign = format!("/projects/{foreign}/integrations/pumble");
    other.put(&foreign, json!({ "inherit_from_id": id })).await.refused(400, refusal);
}

#[actix_web::test]
async fn secrets_of_the_installation_are_told_to_nobody() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (_, project) = in_group(&ada).await;
    app.admin().put("/admin/integrations/asana", json!({ "api_key": "hunter2" })).await.ok();
    for path in [
        format!("/projects/{project}/integrations"),
        format!("/projects/{project}/integrations/asana"),
    ] {
        let answer = ada.get(&path).await;
        assert!(!String::from_utf8_lossy(&answer.bytes).contains("hunter2"), "{path}");
    }
}
