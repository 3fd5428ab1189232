//! What settings of the installation do to projects and what is in them.

use kernel::{AccessLevel::Developer, Visibility::Private};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{
    Person, TestApp,
    ci::{commit, job},
};

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

async fn write_file(person: &Person<'_>, project: &Value, path: &str, text: &str) {
    let actions = json!([{ "action": "create", "file_path": path, "content": text }]);
    let body = json!({ "branch": "main", "commit_message": "Write", "actions": actions });
    person.post(&format!("/projects/{project}/repository/commits"), body).await.created();
}

#[actix_web::test]
async fn projects_stay_for_some_days_where_the_settings_say_so() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = ada.post("/projects", json!({ "name": "engine" })).await.created()["id"].clone();
    let path = format!("/projects/{id}");
    set(&app, json!({ "delayed_project_deletion": true, "deletion_adjourned_period": 3 })).await;

    ada.delete(&path).await.with(202);
    let marked = ada.get(&path).await.ok();
    assert_eq!(marked["marked_for_deletion_on"], "2026-01-01");
    assert_eq!(marked["path"], format!("engine-deleted-{id}"));
    let restored = ada.post(&format!("{path}/restore"), json!({})).await.created();
    assert_eq!(
        (&restored["path"], &restored["marked_for_deletion_on"]),
        (&json!("engine"), &Value::Null)
    );

    ada.delete(&path).await.with(202);
    app.clock.advance(Duration::days(2));
    app.recurring().await;
    ada.get(&path).await.ok();
    app.clock.advance(Duration::days(2));
    app.recurring().await;
    assert_eq!(ada.get(&path).await.status, 404);
}

#[actix_web::test]
async fn a_marked_project_goes_at_once_for_who_names_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = ada.post("/projects", json!({ "name": "engine" })).await.created()["id"].clone();
    let path = format!("/projects/{id}");
    set(&app, json!({ "delayed_project_deletion": true })).await;
    let finally =
        |full_path: String| format!("{path}?permanently_remove=true&full_path={full_path}");

    assert_eq!(ada.delete(&finally("ada/engine".to_owned())).await.status, 400);
    ada.delete(&path).await.with(202);
    assert_eq!(ada.delete(&finally("ada/engine".to_owned())).await.status, 400);
    ada.delete(&finally(format!("ada/engine-deleted-{id}"))).await.with(202);
    assert_eq!(ada.get(&path).await.status, 404);
    assert_eq!(ada.post(&format!("{path}/restore"), json!({})).await.status, 404);
}

#[actix_web::test]
async fn configurations_include_templates_of_the_project_that_is_set() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let templates = root.post("/projects", json!({ "name": "templates" })).await.created();
    let text = "ours: {script: [make]}\n";
    write_file(&root, &templates["id"], "gitlab-ci/Ours.gitlab-ci.yml", text).await;
    let project = app.project(&ada, "engine", Private);
    let content = json!({ "content": "include: [{template: Ours.gitlab-ci.yml}]\n" });
    let lint = format!("/projects/{project}/ci/lint");
    assert_eq!(ada.post(&lint, content.clone()).await.ok()["valid"], false);

    set(&app, json!({ "file_template_project_id": templates["id"] })).await;

    assert_eq!(ada.post(&lint, content).await.ok()["valid"], true);
    commit(&ada, project, "main", "one", "include: [{template: Ours.gitlab-ci.yml}]\n").await;
    assert_eq!(job(&ada, project, "ours").await["status"], "pending");
}

/// The tests begin on a Thursday.
#[actix_web::test]
async fn a_week_begins_with_the_day_that_is_set() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    app.member(project, "bob", Developer);
    let path = format!("/projects/{project}/issues");
    for day in ["2025-12-27", "2025-12-28", "2026-01-03", "2026-01-04"] {
        ada.post(&path, json!({ "title": day, "due_date": day })).await.created();
    }
    let week = async || ada.get(&format!("{path}?due_date=week&sort=asc")).await.each("title");

    assert_eq!(week().await, ["2025-12-28", "2026-01-03"].map(Value::from));
    set(&app, json!({ "first_day_of_week": 1 })).await;
    assert_eq!(week().await, ["2026-01-03", "2026-01-04"].map(Value::from));
    set(&app, json!({ "first_day_of_week": 6 })).await;
    assert_eq!(week().await, ["2025-12-27", "2025-12-28"].map(Value::from));
}

#[actix_web::test]
async fn what_makes_a_repository_too_large_is_not_committed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}/repository/commits");
    // Nothing that could be made smaller.
    let mut seed = 1_u32;
    let noise: String = (0..2_000_000)
        .map(|_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + u8::try_from((seed >> 24) % 90).expect("a small number"))
        })
        .collect();
    let actions = json!([{ "action": "create", "file_path": "noise", "content": noise }]);
    let body = json!({ "branch": "main", "commit_message": "Write", "actions": actions });
    set(&app, json!({ "repository_size_limit": 1 })).await;

    let refused = ada.post(&path, body.clone()).await;

    assert_eq!(refused.status, 400);
    assert!(
        refused.body.to_string().contains("exceeded its size limit of 1 MB"),
        "{}",
        refused.body
    );
    set(&app, json!({ "repository_size_limit": 0 })).await;
    ada.post(&path, body).await.created();
}

#[actix_web::test]
async fn a_storage_of_no_weight_takes_no_new_projects() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let kept = ada.post("/projects", json!({ "name": "kept" })).await.created()["id"].clone();
    let new = json!({ "name": "fresh" });
    set(&app, json!({ "repository_storages_weighted": { "default": 0 } })).await;

    let refused = ada.post("/projects", new.clone()).await;
    assert_eq!(refused.status, 400);
    assert!(refused.body["message"]["repository_storage"].is_array(), "{}", refused.body);
    let fork = format!("/projects/{kept}/fork");
    assert_eq!(ada.post(&fork, json!({ "path": "forked" })).await.status, 400);
    let named = json!({ "name": "named", "repository_storage": "default" });
    root.post("/projects", named).await.created();
    ada.get(&format!("/projects/{kept}")).await.ok();

    set(&app, json!({ "repository_storages_weighted": { "default": 1 } })).await;
    ada.post("/projects", new).await.created();
}
