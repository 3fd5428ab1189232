//! What administrators and runners limit of jobs that run.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use kernel::{Visibility, ids::ProjectId};
use serde_json::{Value, json};
use time::Duration;

use super::{
    program::{Runner, Work, set_up},
    registration::registration_token,
};
use crate::support::{TestApp, ci::job};

async fn limit(app: &TestApp, limits: Value) {
    let mut body = limits;
    body["plan_name"] = json!("default");
    app.admin().put("/application/plan_limits", body).await.ok();
}

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

#[actix_web::test]
async fn projects_and_groups_have_only_so_many_runners_that_are_not_stale() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "one", Visibility::Private);
    let group = ada.group("home", None).await;
    let limits = json!({ "ci_registered_project_runners": 1, "ci_registered_group_runners": 1 });
    limit(&app, limits).await;
    for (new, field, noun) in [
        (
            json!({ "runner_type": "project_type", "project_id": project.0 }),
            "runner_projects",
            "project",
        ),
        (json!({ "runner_type": "group_type", "group_id": group }), "runner_namespaces", "group"),
    ] {
        ada.post("/user/runners", new.clone()).await.created();
        let text = format!("Maximum number of ci registered {noun} runners (1) exceeded");
        let field = format!("{field}.base");
        let refusal = json!({ "message": { field: [text] } });
        ada.post("/user/runners", new).await.refused(400, refusal);
    }
    let token = registration_token(&ada, &format!("/projects/{project}")).await;
    let nobody = app.anonymous();
    assert_eq!(nobody.post("/runners", json!({ "token": token })).await.status, 400);
    app.clock.advance(Duration::days(91));
    nobody.post("/runners", json!({ "token": token })).await.created();
}

#[actix_web::test]
async fn a_project_with_all_its_runners_gets_none_of_another_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let [one, two] = ["one", "two"].map(|name| app.project(&ada, name, Visibility::Private));
    let new =
        |project: ProjectId| json!({ "runner_type": "project_type", "project_id": project.0 });
    let lent = ada.post("/user/runners", new(one)).await.created()["id"].clone();
    ada.post("/user/runners", new(two)).await.created();
    limit(&app, json!({ "ci_registered_project_runners": 1 })).await;
    let (path, assigned) = (format!("/projects/{two}/runners"), json!({ "runner_id": lent }));

    let text = "Maximum number of ci registered project runners (1) exceeded";
    let refusal = json!({ "message": { "runner_projects.base": [text] } });
    ada.post(&path, assigned.clone()).await.refused(400, refusal);
    let query = format!(
        r#"mutation {{ runnerUpdate(input: {{ id: "gid://gitlab/Ci::Runner/{lent}",
        associatedProjects: ["gid://gitlab/Project/{two}"] }}) {{ errors }} }}"#
    );
    let told = ada.post("//api/graphql", json!({ "query": query })).await.ok();
    let errors = &told["data"]["runnerUpdate"]["errors"];
    assert_eq!(errors.as_array().map(Vec::len), Some(1), "{told}");
    assert_eq!(ada.get(&path).await.each("id").len(), 1);
    limit(&app, json!({ "ci_registered_project_runners": 2 })).await;
    ada.post(&path, assigned).await.created();
}

#[actix_web::test]
async fn an_artifact_is_only_so_large_and_stays_only_so_long() {
    let app = TestApp::new();
    set(&app, json!({ "max_artifacts_size": 1, "default_artifacts_expire_in": "2 days" })).await;
    limit(&app, json!({ "ci_max_artifact_size_lsif": 2 })).await;
    let (project, mia, runner) = set_up(&app, "job: {script: x}\n").await;
    let work = Work::new(&app, &runner.take().await);
    let large = vec![0; (1 << 20) + 1];

    let refusal = json!({ "message": "file size has reached maximum size limit" });
    work.bring("", "a.zip", &large).await.refused(413, refusal);
    work.bring("?artifact_type=lsif&artifact_format=zip", "l.zip", &large).await.with(201);
    work.bring("", "a.zip", &large[..1 << 20]).await.with(201);

    let shown = job(&mia, project, "job").await;
    let until = shown["artifacts_expire_at"].as_str().expect("a time").to_owned();
    app.clock.advance(Duration::days(2));
    let now = app.state.db.clock().now().iso();
    assert_eq!(until[..10], now[..10]);
}

#[actix_web::test]
async fn a_dotenv_report_holds_only_so_much() {
    let app = TestApp::new();
    let (_, _, runner) = set_up(&app, "job: {script: x}\n").await;
    let work = Work::new(&app, &runner.take().await);
    limit(&app, json!({ "dotenv_size": 10, "dotenv_variables": 1 })).await;

    let mut brought = Vec::new();
    for text in ["A=1\nB=2\n", "A=123456789\n", "A=1\n"] {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(text.as_bytes()).expect("memory");
        let query = "?artifact_type=dotenv&artifact_format=gzip";
        let answer = work.bring(query, ".env.gz", &packer.finish().expect("memory")).await;
        brought.push(if answer.status == 201 { json!(201) } else { answer.with(400) });
    }

    let many = json!({ "message": "Dotenv files cannot have more than 1 variables" });
    let large = json!({ "message": "Dotenv Artifact Too Big. Maximum Allowable Size: 10" });
    assert_eq!(brought, [many, large, json!(201)]);
}

#[actix_web::test]
async fn a_log_has_only_so_many_megabytes() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "job: {script: x}\n").await;
    let work = Work::new(&app, &runner.take().await);
    limit(&app, json!({ "ci_jobs_trace_size_limit": 1 })).await;
    work.write(0, &"x".repeat(1 << 20)).await.with(202);

    let refused = work.write(1 << 20, "x").await;

    refused.refused(403, json!({ "error": "403 Forbidden" }));
    assert_eq!(job(&mia, project, "job").await["failure_reason"], "trace_size_exceeded");
}

#[actix_web::test]
async fn a_job_in_the_place_of_another_does_not_inherit_what_a_runner_allowed() {
    let app = TestApp::new();
    let (project, mia, patient) = set_up(&app, "job: {script: x, retry: 1}\n").await;
    let hasty = Runner::of(&mia, project, json!({ "maximum_timeout": 600 })).await;
    let timeout = |payload: &Value| payload["runner_info"]["timeout"].clone();

    let first = hasty.take().await;
    assert_eq!(timeout(&first), 600);
    Work::new(&app, &first).report(json!({ "state": "failed" })).await.with(200);
    let again = patient.take().await;
    assert_eq!(timeout(&again), 3_600, "tried again by itself");
    Work::new(&app, &again).report(json!({ "state": "failed" })).await.with(200);
    let retry = format!("/projects/{project}/jobs/{}/retry", again["id"]);
    mia.post(&retry, json!({})).await.created();
    assert_eq!(timeout(&hasty.take().await), 600);
    app.clock.advance(Duration::minutes(11));
    app.recurring().await;

    assert_eq!(job(&mia, project, "job").await["failure_reason"], "job_execution_timeout");
}

#[actix_web::test]
async fn the_ref_of_a_pipeline_goes_with_it() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, "job: {script: x}\n").await;
    let payload = runner.take().await;
    let refs = payload["git_info"]["refspecs"][0].as_str().expect("a refspec");
    let name = refs.rsplit(':').next().expect("a name").to_owned();
    let is_there = || {
        app.refs(project).iter().any(|(path, text)| {
            path.to_string_lossy().ends_with(&name) || text.contains(&format!("{name}\n"))
        })
    };
    assert!(is_there());

    let id = name.rsplit('/').next().expect("an id");
    app.admin().delete(&format!("/projects/{project}/pipelines/{id}")).await.with(204);
    app.work().await;

    assert!(!is_there());
}
