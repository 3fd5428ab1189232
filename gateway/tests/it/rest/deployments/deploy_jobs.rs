//! Jobs that deploy: `crates/forge/src/deployment/jobs.rs`.

use ci::job::End;
use kernel::{AccessLevel::Maintainer, Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};
use time::Duration;

use crate::{
    rest::runners::program::{Runner, Work, set_up},
    support::{
        Person, TestApp,
        ci::{commit, finish, job, run},
    },
};

const DEPLOY: &str =
    "deploy: {script: x, environment: {name: production, url: 'https://example.com'}}\n";

async fn project_with<'a>(app: &'a TestApp, text: &str) -> (Person<'a>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let keep = json!({ "auto_cancel_pending_pipelines": "disabled" });
    ada.put(&format!("/projects/{project}"), keep).await.ok();
    let sha = commit(&ada, project, "main", "first", text).await;
    (ada, project, sha)
}

async fn deployments(person: &Person<'_>, project: ProjectId, field: &str) -> Vec<Value> {
    person.get(&format!("/projects/{project}/deployments")).await.each(field)
}

async fn environment(person: &Person<'_>, project: ProjectId, name: &str) -> Value {
    let path = format!("/projects/{project}/environments?name={name}");
    person.get(&path).await.ok()[0].clone()
}

#[actix_web::test]
async fn a_deployment_follows_who_plays_its_job_and_that_it_waits_again() {
    let app = TestApp::new();
    let text = "stages: [build, deploy]\nbuild: {stage: build, script: x}\n\
         play: {stage: build, script: x, when: manual, environment: {name: staging}}\n\
         deploy: {stage: deploy, script: x, environment: {name: production}}\n";
    let (ada, project, _) = project_with(&app, text).await;
    let max = app.member(project, "max", Maintainer);
    let of = async |name: &str, field: &str| {
        let path = format!("/projects/{project}/deployments?environment={name}");
        ada.get(&path).await.ok()[0][field].clone()
    };
    run(&app, &ada, project, "build").await;
    finish(&app, &ada, project, "build", End::failed("script_failure")).await;
    assert_eq!(of("production", "status").await, "skipped");
    let build = job(&ada, project, "build").await["id"].clone();
    ada.post(&format!("/projects/{project}/jobs/{build}/retry"), json!({})).await.created();
    assert_eq!(of("production", "status").await, "created");

    let played = job(&ada, project, "play").await["id"].clone();
    max.post(&format!("/projects/{project}/jobs/{played}/play"), json!({})).await.ok();
    assert_eq!(of("staging", "user").await["username"], "max");
}

#[actix_web::test]
async fn a_deployment_says_how_far_its_job_is() {
    let app = TestApp::new();
    let (ada, project, sha) = project_with(&app, DEPLOY).await;
    let shown = ada.get(&format!("/projects/{project}/deployments")).await.ok()[0].clone();
    assert_eq!((&shown["status"], &shown["sha"]), (&json!("created"), &json!(sha)));
    assert_eq!((&shown["deployable"]["name"], &shown["ref"]), (&json!("deploy"), &json!("main")));

    run(&app, &ada, project, "deploy").await;
    assert_eq!(deployments(&ada, project, "status").await, ["running"]);
    finish(&app, &ada, project, "deploy", End::Success).await;

    assert_eq!(deployments(&ada, project, "status").await, ["success"]);
    let there = environment(&ada, project, "production").await;
    assert_eq!(
        (&there["external_url"], &there["tier"]),
        (&json!("https://example.com"), &json!("production"))
    );
    let id = &shown["id"];
    let path = format!("/projects/{project}/deployments/{id}");
    let refused = ada.put(&path, json!({ "status": "failed" })).await;
    assert_eq!(refused.status, 403);
}

#[actix_web::test]
async fn deployments_end_as_their_jobs_do() {
    let app = TestApp::new();
    let text = "build: {script: x, stage: build}\n\
                one: {script: x, stage: deploy, environment: one}\n\
                two: {script: x, stage: .pre, environment: two, when: manual, allow_failure: true}\n";
    let (ada, project, _) = project_with(&app, text).await;
    assert_eq!(deployments(&ada, project, "status").await, ["created", "created"]);

    run(&app, &ada, project, "build").await;
    finish(&app, &ada, project, "build", End::failed("script_failure")).await;
    let two = job(&ada, project, "two").await["id"].clone();
    ada.post(&format!("/projects/{project}/jobs/{two}/cancel"), json!({})).await.created();

    let path = format!("/projects/{project}/deployments?environment=");
    assert_eq!(ada.get(&format!("{path}one")).await.each("status"), ["skipped"]);
    assert_eq!(ada.get(&format!("{path}two")).await.each("status"), ["canceled"]);
}

#[actix_web::test]
async fn names_of_environments_hold_variables_and_impossible_ones_fail() {
    let app = TestApp::new();
    let text = "a: {script: x, environment: {name: review/$CI_COMMIT_REF_SLUG, deployment_tier: testing}}\n\
                b: {script: x, variables: {BAD: 'a:b'}, environment: {name: $BAD}}\n\
                c: {script: x, environment: {name: elsewhere, action: verify}}\n";
    let (ada, project, _) = project_with(&app, text).await;

    assert_eq!(environment(&ada, project, "review/main").await["tier"], "testing");
    assert_eq!(job(&ada, project, "b").await["failure_reason"], "environment_creation_failure");
    assert_eq!(environment(&ada, project, "elsewhere").await["state"], "available");
    assert_eq!(deployments(&ada, project, "ref").await, ["main"]);
}

const WITH_STOP: &str = "deploy: {script: x, environment: {name: review/a, on_stop: stop, auto_stop_in: 1 day}}\n\
                         stop: {script: x, when: manual, environment: {name: review/a, action: stop}}\n";

async fn deployed<'a>(app: &'a TestApp) -> (Person<'a>, ProjectId, String) {
    let (ada, project, _) = project_with(app, WITH_STOP).await;
    run(app, &ada, project, "deploy").await;
    finish(app, &ada, project, "deploy", End::Success).await;
    let id = environment(&ada, project, "review/a").await["id"].clone();
    (ada, project, format!("/projects/{project}/environments/{id}"))
}

#[actix_web::test]
async fn an_environment_is_stopped_by_its_job() {
    let app = TestApp::new();
    let (ada, project, one) = deployed(&app).await;

    let stopping = ada.post(&format!("{one}/stop"), json!({})).await.ok();

    assert_eq!(stopping["state"], "stopping");
    assert_eq!(job(&ada, project, "stop").await["status"], "pending");
    assert_eq!(deployments(&ada, project, "status").await, ["success"]);
    run(&app, &ada, project, "stop").await;
    finish(&app, &ada, project, "stop", End::Success).await;
    assert_eq!(ada.get(&one).await.ok()["state"], "stopped");
}

#[actix_web::test]
async fn an_environment_whose_job_fails_may_be_stopped_by_force() {
    let app = TestApp::new();
    let (ada, project, one) = deployed(&app).await;
    ada.post(&format!("{one}/stop"), json!({})).await.ok();
    run(&app, &ada, project, "stop").await;
    finish(&app, &ada, project, "stop", End::failed("script_failure")).await;
    assert_eq!(ada.get(&one).await.ok()["state"], "available");

    let stopped = ada.post(&format!("{one}/stop"), json!({ "force": true })).await.ok();

    assert_eq!(stopped["state"], "stopped");
}

#[actix_web::test]
async fn an_environment_stops_by_itself_in_time() {
    let app = TestApp::new();
    let (ada, project, one) = deployed(&app).await;
    assert_eq!(ada.get(&one).await.ok()["auto_stop_at"], "2026-01-02T00:00:00.000Z");
    app.recurring().await;
    assert_eq!(ada.get(&one).await.ok()["state"], "available");

    app.clock.advance(Duration::hours(25));
    app.recurring().await;

    assert_eq!(ada.get(&one).await.ok()["state"], "stopping");
    assert_eq!(job(&ada, project, "stop").await["status"], "pending");
}

#[actix_web::test]
async fn an_older_deployment_does_not_replace_a_newer_one() {
    let app = TestApp::new();
    let (ada, project, _) = project_with(&app, DEPLOY).await;
    let old = job(&ada, project, "deploy").await["id"].clone();
    commit(&ada, project, "main", "second", &format!("{DEPLOY}# 2")).await;
    run(&app, &ada, project, "deploy").await;
    finish(&app, &ada, project, "deploy", End::Success).await;
    let runner = Runner::of(&ada, project, json!({})).await;

    assert_eq!(runner.ask(json!({})).await.status, 204);

    let old = ada.get(&format!("/projects/{project}/jobs/{old}")).await.ok();
    assert_eq!(
        (&old["status"], &old["failure_reason"]),
        (&json!("failed"), &json!("failed_outdated_deployment_job"))
    );
    assert_eq!(deployments(&ada, project, "status").await, ["failed", "success"]);
}

#[actix_web::test]
async fn retrying_an_older_job_rolls_back() {
    let app = TestApp::new();
    let (ada, project, first) = project_with(&app, DEPLOY).await;
    let old = job(&ada, project, "deploy").await["id"].clone();
    run(&app, &ada, project, "deploy").await;
    finish(&app, &ada, project, "deploy", End::Success).await;
    commit(&ada, project, "main", "second", &format!("{DEPLOY}# 2")).await;
    run(&app, &ada, project, "deploy").await;
    finish(&app, &ada, project, "deploy", End::Success).await;

    ada.post(&format!("/projects/{project}/jobs/{old}/retry"), json!({})).await.created();
    run(&app, &ada, project, "deploy").await;
    finish(&app, &ada, project, "deploy", End::Success).await;

    let id = environment(&ada, project, "production").await["id"].clone();
    let there = ada.get(&format!("/projects/{project}/environments/{id}")).await.ok();
    assert_eq!(there["last_deployment"]["sha"], first);
    assert_eq!(deployments(&ada, project, "iid").await, [1, 2, 3]);
}

#[actix_web::test]
async fn a_job_knows_its_environment() {
    let app = TestApp::new();
    let text = "deploy: {script: x, environment: {name: Production, url: 'https://$CI_ENVIRONMENT_SLUG.example.com/$CI_JOB_STAGE'}}";
    let (project, mia, runner) = set_up(&app, text).await;

    let payload = runner.take().await;

    let told = |key: &str| {
        let all = payload["variables"].as_array().expect("variables").clone();
        let found = all.into_iter().rfind(|variable| variable["key"] == key);
        found.map(|variable| variable["value"].clone()).unwrap_or_default()
    };
    let slug = environment(&mia, project, "Production").await["slug"].as_str().unwrap().to_owned();
    assert_eq!(
        (told("CI_ENVIRONMENT_NAME"), told("CI_ENVIRONMENT_SLUG")),
        (json!("Production"), json!(slug))
    );
    assert_eq!(
        (told("CI_ENVIRONMENT_TIER"), told("CI_ENVIRONMENT_ACTION")),
        (json!("production"), json!("start"))
    );
    let url = format!("https://{slug}.example.com/test");
    assert_eq!(told("CI_ENVIRONMENT_URL"), json!(url));
    Work::new(&app, &payload).report(json!({ "state": "success" })).await.with(200);
    assert_eq!(environment(&mia, project, "Production").await["external_url"], json!(url));
}

#[actix_web::test]
async fn a_delayed_job_deploys_when_the_schedule_finds_it_due() {
    let app = TestApp::new();
    let text = "deploy: {script: x, environment: production, when: delayed, start_in: 10 minutes}";
    let (ada, project, _) = project_with(&app, text).await;
    assert_eq!(job(&ada, project, "deploy").await["status"], "scheduled");
    app.clock.advance(Duration::minutes(9));
    app.recurring().await;
    assert_eq!(job(&ada, project, "deploy").await["status"], "scheduled");
    assert_eq!(deployments(&ada, project, "status").await, ["created"]);

    app.clock.advance(Duration::minutes(1));
    app.recurring().await;

    assert_eq!(job(&ada, project, "deploy").await["status"], "pending");
    run(&app, &ada, project, "deploy").await;
    assert_eq!(deployments(&ada, project, "status").await, ["running"]);
}
