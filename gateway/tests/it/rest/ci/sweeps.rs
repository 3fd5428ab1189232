//! What time does to jobs: `crates/forge/src/pipeline/sweeps.rs`.

use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{
    Person, TestApp,
    ci::{commit, job, run},
};

async fn set_up<'a>(app: &'a TestApp, text: &str) -> (Person<'a>, ProjectId) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", text).await;
    (ada, project)
}

fn outcome(job: &Value) -> (&str, &str) {
    let text = |field: &str| job[field].as_str().unwrap_or_default();
    (text("status"), text("failure_reason"))
}

#[actix_web::test]
async fn a_running_job_that_is_silent_for_an_hour_fails() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "unit: {script: x, timeout: 3 hours}").await;
    run(&app, &ada, project, "unit").await;

    app.clock.advance(Duration::minutes(59));
    app.recurring().await;
    assert_eq!(job(&ada, project, "unit").await["status"], "running");
    app.clock.advance(Duration::minutes(61));
    app.recurring().await;

    let failed = job(&ada, project, "unit").await;
    assert_eq!(outcome(&failed), ("failed", "stuck_or_timeout_failure"));
}

#[actix_web::test]
async fn a_running_job_that_is_heard_of_goes_on() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "unit: {script: x, timeout: 3 hours}").await;
    let id = run(&app, &ada, project, "unit").await.id;

    app.clock.advance(Duration::minutes(59));
    app.write(move |tx| ci::job::QueueStore::touch_job(tx, id));
    app.clock.advance(Duration::minutes(59));
    app.recurring().await;

    assert_eq!(job(&ada, project, "unit").await["status"], "running");
}

#[actix_web::test]
async fn a_delayed_job_that_nobody_began_in_time_fails() {
    let app = TestApp::new();
    let text = "later: {script: x, when: delayed, start_in: 10 minutes}";
    let (ada, project) = set_up(&app, text).await;
    let sweep = |tx: &mut db::Tx<'_>| {
        let stale = ci::job::progress::stale(tx, 100)?;
        ci::job::progress::drop_stale(tx, &stale, None)
    };

    app.clock.advance(Duration::minutes(69));
    app.write(sweep);
    assert_eq!(job(&ada, project, "later").await["status"], "scheduled");
    app.clock.advance(Duration::minutes(2));
    app.write(sweep);

    assert_eq!(outcome(&job(&ada, project, "later").await), ("failed", "stale_schedule"));
}

/// How often a job was tried that ran until it was too old.
async fn tries(app: &TestApp, person: &Person<'_>, project: ProjectId) -> usize {
    run(app, person, project, "unit").await;
    app.clock.advance(Duration::hours(25));
    app.recurring().await;
    let listed = person.get(&format!("/projects/{project}/jobs")).await.ok();
    listed.as_array().expect("a list").len()
}

#[actix_web::test]
async fn an_archived_job_is_not_tried_again_by_itself() {
    let app = TestApp::new();
    let text = "unit: {script: x, retry: 2}";
    let (ada, project) = set_up(&app, text).await;
    let other = app.project(&ada, "other", Private);
    assert_eq!(tries(&app, &ada, project).await, 2);

    let archive = json!({ "archive_builds_in_human_readable": "1 day" });
    app.admin().put("/application/settings", archive).await.ok();
    commit(&ada, other, "main", "first", text).await;

    assert_eq!(tries(&app, &ada, other).await, 1);
    assert_eq!(job(&ada, other, "unit").await["status"], "failed");
}
