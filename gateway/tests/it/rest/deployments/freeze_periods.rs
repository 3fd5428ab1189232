//! Freeze periods: `gateway/src/rest/deployments/freeze_periods.rs`.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer},
    Visibility::Private,
};
use serde_json::json;
use time::Duration;

use crate::support::{
    TestApp,
    ci::{commit, pipelines},
};

#[actix_web::test]
async fn maintainers_say_when_nothing_is_deployed() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "engine", Private);
    let (mia, dan) =
        (app.member(project, "mia", Maintainer), app.member(project, "dan", Developer));
    let path = format!("/projects/{project}/freeze_periods");
    let body = json!({ "freeze_start": "0 23 * * 5", "freeze_end": "0 8 * * 1" });

    let made = mia.post(&path, body.clone()).await.created();

    assert_eq!(
        (&made["freeze_start"], &made["cron_timezone"]),
        (&json!("0 23 * * 5"), &json!("UTC"))
    );
    let one = format!("{path}/{}", made["id"]);
    assert_eq!(dan.get(&path).await.ok(), json!([made]));
    assert_eq!(dan.get(&one).await.ok(), made);
    let after = mia.put(&one, json!({ "cron_timezone": "Europe/Berlin" })).await.ok();
    assert_eq!(
        (&after["cron_timezone"], &after["freeze_end"]),
        (&json!("Europe/Berlin"), &json!("0 8 * * 1"))
    );
    dan.post(&path, body).await.with(403);
    app.member(project, "gus", Guest).get(&path).await.with(403);
    mia.delete(&one).await.with(204);
    mia.get(&one).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn expressions_that_nobody_can_read_are_refused() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "engine", Private);
    let mia = app.member(project, "mia", Maintainer);
    let path = format!("/projects/{project}/freeze_periods");

    let body =
        json!({ "freeze_start": "sometimes", "freeze_end": "0 8 * * 1", "cron_timezone": "Moon" });
    let told =
        json!({ "freeze_start": ["is invalid syntax"], "cron_timezone": ["is invalid syntax"] });
    mia.post(&path, body).await.refused(400, json!({ "message": told }));
    let missing = json!({ "error": "freeze_end is missing" });
    mia.post(&path, json!({ "freeze_start": "0 8 * * 1" })).await.refused(400, missing);
}

#[actix_web::test]
async fn a_pipeline_knows_that_nothing_is_to_be_deployed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let body = json!({ "freeze_start": "0 22 * * *", "freeze_end": "0 6 * * *" });
    ada.post(&format!("/projects/{project}/freeze_periods"), body).await.created();
    let text = "deploy: {script: x, rules: [{if: $CI_DEPLOY_FREEZE, when: never}, {when: on_success}]}\ntest: {script: x}\n";
    commit(&ada, project, "main", "first", text).await;
    let names = async || {
        let id = pipelines(&ada, project, "").await[0]["id"].clone();
        let mut names =
            ada.get(&format!("/projects/{project}/pipelines/{id}/jobs")).await.each("name");
        names.reverse();
        names
    };

    assert_eq!(names().await, ["test"]);
    app.clock.advance(Duration::hours(12));
    commit(&ada, project, "main", "second", &format!("{text}# 2")).await;

    let mut at_noon = names().await;
    at_noon.sort_by_key(ToString::to_string);
    assert_eq!(at_noon, ["deploy", "test"]);
}
