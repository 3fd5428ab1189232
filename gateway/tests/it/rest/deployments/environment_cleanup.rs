//! Environments that nobody needs: `gateway/src/rest/deployments/environment_cleanup.rs`.

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
