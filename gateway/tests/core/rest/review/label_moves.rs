//! Labels of groups in projects that leave them.

use kernel::ids::ProjectId;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn group(person: &Person<'_>, path: &str, parent: Value) -> Value {
    let new = json!({ "name": path, "path": path, "parent_id": parent });
    person.post("/groups", new).await.created()["id"].clone()
}

async fn label(person: &Person<'_>, group: &Value, name: &str, color: &str) -> Value {
    let new = json!({ "name": name, "color": color });
    person.post(&format!("/groups/{group}/labels"), new).await.created()["id"].clone()
}

/// A project of a group with an issue and a merge request that have these labels.
async fn labelled_project(person: &Person<'_>, group: &Value, labels: &str) -> ProjectId {
    let new = json!({ "name": "engine", "namespace_id": group, "initialize_with_readme": true });
    let project = person.post("/projects", new).await.created()["id"].clone();
    person.commit(&project, "topic", "topic.txt").await;
    let base = format!("/projects/{project}");
    let issue = json!({ "title": "It leaks", "labels": labels });
    person.post(&format!("{base}/issues"), issue).await.created();
    let change = json!({ "title": "Fix it", "source_branch": "topic", "target_branch": "main",
                         "labels": labels });
    person.post(&format!("{base}/merge_requests"), change).await.created();
    ProjectId(project.as_i64().expect("an id"))
}

/// Where the labels of a project are from, by their names.
async fn sources(person: &Person<'_>, project: ProjectId) -> Value {
    let all = person.get(&format!("/projects/{project}/labels")).await.ok();
    all.as_array()
        .into_iter()
        .flatten()
        .map(|label| {
            let used = [&label["open_issues_count"], &label["open_merge_requests_count"]];
            json!([label["name"], label["is_project_label"], used])
        })
        .collect()
}

#[actix_web::test]
async fn a_project_takes_the_labels_along_that_it_uses() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (old, new) = (group(&ada, "old", Value::Null).await, group(&ada, "new", Value::Null).await);
    for name in ["both", "bug", "unused"] {
        label(&ada, &old, name, "#ff0000").await;
    }
    label(&ada, &new, "both", "#00ff00").await;
    let project = labelled_project(&ada, &old, "both,bug").await;
    let base = format!("/projects/{project}");

    ada.put(&format!("{base}/transfer"), json!({ "namespace": new })).await.ok();

    for path in ["issues/1", "merge_requests/1"] {
        let item = ada.get(&format!("{base}/{path}")).await.ok();
        assert_eq!(item["labels"], json!(["both", "bug"]), "{path}");
    }
    let found = ada.get(&format!("{base}/issues?labels=bug,both")).await.ok();
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    let all = ada.get(&format!("{base}/labels?with_counts=true")).await.ok();
    let of = |name: &str| all.as_array().expect("a list").iter().find(|one| one["name"] == name);
    assert_eq!(of("bug").expect("a copy")["is_project_label"], true);
    assert_eq!(of("both").expect("one of the group")["is_project_label"], false);
    assert_eq!(of("bug").expect("a copy")["open_merge_requests_count"], 1);
    assert!(of("unused").is_none());
}

#[actix_web::test]
async fn projects_of_a_group_that_moves_take_labels_along_too() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (old, new) = (group(&ada, "old", Value::Null).await, group(&ada, "new", Value::Null).await);
    let team = group(&ada, "team", old.clone()).await;
    label(&ada, &old, "gone", "#ff0000").await;
    label(&ada, &team, "own", "#ff0000").await;
    let project = labelled_project(&ada, &team, "gone,own").await;

    ada.post(&format!("/groups/{team}/transfer"), json!({ "group_id": new })).await.created();

    let issue = ada.get(&format!("/projects/{project}/issues/1")).await.ok();
    assert_eq!(issue["labels"], json!(["gone", "own"]));
    let found = sources(&ada, project).await;
    assert_eq!((&found[0][0], &found[0][1]), (&json!("gone"), &json!(true)), "{found}");
    assert_eq!((&found[1][0], &found[1][1]), (&json!("own"), &json!(false)), "{found}");
}
