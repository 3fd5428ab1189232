//! Groups with epics and issues.

use kernel::ids::ProjectId;
use serde_json::{Value, json};

use super::{Person, TestApp};

/// Ada's group of that openness, with a project in it.
pub(crate) async fn set_up<'a>(app: &'a TestApp, visibility: &str) -> (Person<'a>, i64, ProjectId) {
    let ada = app.person("ada");
    let group = ada.group_with("orchid", json!({ "visibility": visibility })).await;
    let project = project_in(&ada, group, "site", visibility).await;
    (ada, group, project)
}

pub(crate) async fn project_in(
    person: &Person<'_>,
    group: i64,
    path: &str,
    visibility: &str,
) -> ProjectId {
    let fields = json!({ "name": path, "namespace_id": group, "visibility": visibility });
    let made = person.post("/projects", fields).await.created();
    ProjectId(made["id"].as_i64().expect("an id"))
}

pub(crate) async fn epic(person: &Person<'_>, group: i64, fields: Value) -> Value {
    person.post(&format!("/groups/{group}/epics"), fields).await.created()
}

pub(crate) async fn issue(person: &Person<'_>, project: ProjectId, fields: Value) -> Value {
    person.post(&format!("/projects/{project}/issues"), fields).await.created()
}
