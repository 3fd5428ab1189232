//! How many projects somebody has room for, and where projects may move.

use kernel::Visibility::{Private, Public};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn limit(app: &TestApp, most: i64) {
    let ada = app.user("ada").id;
    app.admin().put(&format!("/users/{ada}"), json!({ "projects_limit": most })).await.ok();
}

fn stays(why: &str) -> Value {
    json!({ "message": format!("Failed to transfer project {{:new_namespace=>[\"{why}\"]}}") })
}

async fn group(person: &Person<'_>, path: &str) -> Value {
    let fields = json!({ "name": path, "path": path, "visibility": "public" });
    person.post("/groups", fields).await.created()["id"].clone()
}

#[actix_web::test]
async fn nobody_has_more_projects_of_their_own_than_they_may() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let make = async |name: &str| ada.post("/projects", json!({ "name": name })).await;
    let refused = |text: &str| json!({ "error": [text] });

    limit(&app, 1).await;
    make("one").await.created();
    let told = "Your project limit is 1 projects! Please contact your administrator to increase it";
    make("two").await.refused(403, refused(told));
    limit(&app, 0).await;
    let told = "Personal project creation is not allowed. Please contact your administrator with questions";
    make("two").await.refused(403, refused(told));
    let inside = json!({ "name": "two", "namespace_id": group(&ada, "group").await });
    ada.post("/projects", inside).await.created();
}

#[actix_web::test]
async fn a_project_moves_to_where_its_owner_makes_projects() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (own, foreign) = (group(&ada, "own").await, group(&bob, "foreign").await);
    let project = app.project(&ada, "one", Public);
    let to = async |namespace: &Value| {
        let path = format!("/projects/{project}/transfer");
        ada.put(&path, json!({ "namespace": namespace })).await
    };

    to(&foreign)
        .await
        .refused(400, stays("You don't have permission to transfer projects into that namespace."));
    assert_eq!(to(&own).await.ok()["path_with_namespace"], "own/one");
    to(&json!("own")).await.refused(400, stays("Project is already in this namespace."));
    assert_eq!(ada.get("/projects/ada%2Fone").await.ok()["id"], project.0);
    let other = app.project(&ada, "other", Public);
    ada.put(&format!("/projects/{other}"), json!({ "path": "one" })).await.ok();
    let path = format!("/projects/{other}/transfer");
    let taken = stays("Project with same name or path in target namespace already exists");
    ada.put(&path, json!({ "namespace": "own" })).await.refused(400, taken);
}

#[actix_web::test]
async fn a_namespace_that_is_hidden_is_as_one_that_is_not_there() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let hidden = bob.group_with("hidden", json!({ "visibility": "private" })).await;
    bob.group("child", Some(hidden)).await;
    let project = app.project(&ada, "one", Public);
    let path = format!("/projects/{project}/transfer");

    let hidden = [json!(hidden), json!("hidden"), json!("hidden/child"), json!("bob")];
    for namespace in hidden.into_iter().chain([json!(99_999), json!("hidden/nochild")]) {
        let told = json!({ "message": "404 Namespace Not Found" });
        ada.put(&path, json!({ "namespace": namespace })).await.refused(404, told);
    }
}

#[actix_web::test]
async fn a_fork_goes_only_where_somebody_makes_projects() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (source, foreign) = (app.project(&ada, "source", Public), group(&ada, "foreign").await);

    let fork = json!({ "namespace_id": foreign });
    let told = json!({ "message": "404 Target Namespace Not Found" });
    bob.post(&format!("/projects/{source}/fork"), fork).await.refused(404, told);
}

#[actix_web::test]
async fn a_group_may_keep_its_projects_from_being_shared() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (home, guests) = (group(&ada, "home").await, group(&ada, "guests").await);
    let project = app.project(&ada, "one", Private);
    let share = format!("/projects/{project}/share");
    let with = json!({ "group_id": guests, "group_access": 30 });
    ada.put(&format!("/projects/{project}/transfer"), json!({ "namespace": home })).await.ok();

    ada.put(&format!("/groups/{home}"), json!({ "share_with_group_lock": true })).await.ok();
    let told = json!({ "message": "The project sharing with group is disabled" });
    ada.post(&share, with.clone()).await.refused(400, told);
    ada.put(&format!("/groups/{home}"), json!({ "share_with_group_lock": false })).await.ok();
    ada.post(&share, with).await.created();
}
