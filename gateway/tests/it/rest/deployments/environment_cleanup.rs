//! Environments that nobody needs: `gateway/src/rest/deployments/environment_cleanup.rs`.

use deployments::environment::EnvironmentCleanupStore as _;
use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Person, TestApp};

async fn set_up(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let project = app.project(&app.person("olga"), "engine", Private);
    let mia = app.member(project, "mia", Maintainer);
    let path = format!("/projects/{project}/environments");
    for name in ["review/a", "review/b", "production"] {
        mia.post(&path, json!({ "name": name })).await.created();
    }
    (project, mia, path)
}

async fn stopped(person: &Person<'_>, path: &str) -> Vec<Value> {
    person.get(&format!("{path}?states=stopped")).await.each("name")
}

#[actix_web::test]
async fn what_nobody_deployed_to_for_long_is_stopped() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app).await;
    app.clock.advance(Duration::weeks(2));
    mia.post(&path, json!({ "name": "new" })).await.created();
    let call = format!("{path}/stop_stale");

    let answer = mia.post(&call, json!({ "before": "2026-01-07T00:00:00Z" })).await.ok();

    let told = "Successfully requested stop for all stale environments";
    assert_eq!(answer, json!({ "message": told }));
    app.work().await;
    assert_eq!(stopped(&mia, &path).await, ["review/a", "review/b", "production"]);
    let invalid = json!({ "message": "400 Bad request - Invalid Date" });
    for before in ["2026-01-10T00:00:00Z", "2010-01-01T00:00:00Z"] {
        mia.post(&call, json!({ "before": before })).await.refused(400, invalid.clone());
    }
    mia.post(&call, json!({})).await.refused(400, json!({ "error": "before is missing" }));
    let dan = app.member(project, "dan", Developer);
    dan.post(&call, json!({ "before": "2026-01-07T00:00:00Z" })).await.with(403);
}

#[actix_web::test]
async fn stopped_environments_of_branches_go_a_week_after_somebody_asks_for_it() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app).await;
    for id in mia.get(&path).await.each("id").iter().filter(|id| **id != 2) {
        mia.post(&format!("{path}/{id}/stop"), json!({})).await.ok();
    }
    let call = format!("{path}/review_apps");
    let none = mia.delete(&call).await.with(400);
    assert_eq!(
        (&none["scheduled_entries"], &none["unprocessable_entries"]),
        (&json!([]), &json!([]))
    );
    app.clock.advance(Duration::days(31));

    let tried = mia.delete(&call).await.ok();
    assert_eq!(tried["scheduled_entries"][0]["name"], "review/a");
    assert_eq!(tried["scheduled_entries"].as_array().map(Vec::len), Some(1));
    mia.delete(&format!("{call}?dry_run=false")).await.ok();
    mia.delete(&call).await.with(400);
    app.recurring().await;
    assert_eq!(stopped(&mia, &path).await, ["review/a", "production"]);
    app.clock.advance(Duration::days(8));
    app.recurring().await;

    assert_eq!(stopped(&mia, &path).await, ["production"]);
    let limit = json!({ "error": "limit does not have a valid value" });
    mia.delete(&format!("{call}?limit=1001")).await.refused(400, limit);
    let refused = app.member(project, "rob", Reporter).delete(&call).await.with(401);
    assert_eq!(refused["scheduled_entries"], json!([]));
}

async fn protect(person: &Person<'_>, project: ProjectId, name: &str) {
    let body = json!({ "name": name, "deploy_access_levels": [{ "access_level": 40 }] });
    let path = format!("/projects/{project}/protected_environments");
    person.post(&path, body).await.created();
}

#[actix_web::test]
async fn protected_environments_go_on_however_old_they_are() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app).await;
    protect(&mia, project, "production").await;
    app.clock.advance(Duration::weeks(3));

    mia.post(&format!("{path}/stop_stale"), json!({ "before": "2026-01-10T00:00:00Z" })).await.ok();
    app.work().await;

    assert_eq!(stopped(&mia, &path).await, ["review/a", "review/b"]);
}

#[actix_web::test]
async fn only_one_person_at_a_time_removes_review_apps() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app).await;
    mia.post(&format!("{path}/1/stop"), json!({})).await.ok();
    app.clock.advance(Duration::days(31));
    app.write(move |tx| tx.begin_removal(project, tx.now));

    for query in ["", "?dry_run=false"] {
        let busy = mia.delete(&format!("{path}/review_apps{query}")).await;
        let told = "Another process already processing a delete request. Please retry later.";
        let body = json!({ "scheduled_entries": [], "unprocessable_entries": [], "message": told });
        busy.refused(409, body);
    }
    app.clock.advance(Duration::minutes(3));

    mia.delete(&format!("{path}/review_apps?dry_run=false")).await.ok();
    mia.delete(&format!("{path}/review_apps?dry_run=false")).await.with(400);
}

#[actix_web::test]
async fn who_may_not_remove_one_review_app_removes_none() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app).await;
    for id in 1..=2 {
        mia.post(&format!("{path}/{id}/stop"), json!({})).await.ok();
    }
    protect(&mia, project, "review/b").await;
    app.clock.advance(Duration::days(31));
    let call = format!("{path}/review_apps?dry_run=false");

    let refused = app.member(project, "dan", Developer).delete(&call).await.with(400);

    assert_eq!(refused["scheduled_entries"], json!([]));
    assert_eq!(refused["unprocessable_entries"][0]["name"], "review/b");
    let scheduled = mia.delete(&call).await.ok();
    assert_eq!(scheduled["scheduled_entries"].as_array().map(Vec::len), Some(2));
}
