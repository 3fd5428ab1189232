//! Pipelines that a job asks for with its token: `crates/forge/src/pipeline/triggers.rs`.

use ci::pipeline::PipelineStore as _;
use kernel::{
    Visibility::{Private, Public},
    ids::{JobId, PipelineId, ProjectId},
};
use serde_json::{Value, json};

use super::program::{Work, set_up};
use crate::support::{
    TestApp,
    ci::{commit, pipelines},
};

#[actix_web::test]
async fn a_running_job_makes_a_pipeline_of_another_project() {
    let app = TestApp::new();
    let (own, mia, runner) = set_up(&app, "job: {script: x}\n").await;
    let other = app.project(&mia, "other", Private);
    let text = "told: {script: x, rules: [{if: '$KEY == \"yes\" && $CI_PIPELINE_SOURCE == \"pipeline\"'}]}\n";
    commit(&mia, other, "main", "first [skip ci]", text).await;
    let list = format!("/projects/{other}/job_token_scope/allowlist");
    mia.post(&list, json!({ "target_project_id": own.0 })).await.created();
    let payload = runner.take().await;
    let body = json!({ "token": payload["token"], "ref": "main", "variables": { "KEY": "yes" } });
    let call = format!("/projects/{other}/trigger/pipeline");

    let made = app.anonymous().post(&call, body.clone()).await.created();

    assert_eq!((&made["source"], &made["user"]["username"]), (&json!("pipeline"), &json!("mia")));
    let id = PipelineId(made["id"].as_i64().expect("an id"));
    let row = app.write(move |tx| tx.find_pipeline(other, id)).expect("a pipeline");
    assert_eq!(row.parent_job_id, payload["id"].as_i64().map(JobId));
    let root = pipelines(&mia, own, "").await[0]["id"].as_i64().map(PipelineId);
    assert_eq!((row.root_id, row.trigger_id), (root, None));
    let variables = format!("/projects/{other}/pipelines/{id}/variables");
    assert_eq!(mia.get(&variables).await.each("key"), ["KEY", "TRIGGER_PAYLOAD"]);

    Work::new(&app, &payload).report(json!({ "state": "success" })).await.with(200);
    let refusal = json!({ "message": "401 Unauthorized" });
    app.anonymous().post(&call, body).await.refused(401, refusal);
}

#[actix_web::test]
async fn a_job_makes_no_pipeline_where_its_person_may_not() {
    let app = TestApp::new();
    let (_, _, runner) = set_up(&app, "job: {script: x}\n").await;
    let eve = app.person("eve");
    let (hidden, open) = (app.project(&eve, "hidden", Private), app.project(&eve, "open", Public));
    commit(&eve, hidden, "main", "first", "job: {script: x}").await;
    commit(&eve, open, "main", "first", "job: {script: x}").await;
    let token = runner.take().await["token"].clone();
    let body = json!({ "token": token, "ref": "main" });
    let call = async |project: ProjectId, body: &Value| {
        let path = format!("/projects/{project}/trigger/pipeline");
        app.anonymous().post(&path, body.clone()).await
    };

    call(hidden, &body).await.refused(404, json!({ "message": "404 Not Found" }));
    let sentence = "Insufficient permissions to create a new pipeline";
    call(open, &body).await.refused(400, json!({ "message": { "base": [sentence] } }));
    let unknown = json!({ "token": "glcbt-x", "ref": "main" });
    call(open, &unknown).await.refused(404, json!({ "message": "404 Not Found" }));
}
