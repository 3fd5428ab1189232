//! Whose jobs the built-in runner gets: `crates/forge/src/runner/built_in.rs`.

use forge::runner::{built_in, built_in_rule::JobOwners};
use kernel::{AccessLevel::Maintainer, Visibility, ids::ProjectId};
use runners::runner::RunnerToken;
use serde_json::{Value, json};

use super::program::Runner;
use crate::support::{
    TestApp,
    ci::{commit, job},
};

const ONE: &str = "one: {script: x}\n";

/// The built-in runner with a rule.
async fn runner<'a>(app: &'a TestApp, whose: JobOwners) -> Runner<'a> {
    let token = RunnerToken::registered();
    let made = built_in::enroll(&app.state, token.clone()).await.expect("a runner");
    app.state.built_in.set(made.id, whose);
    Runner { app, token: token.reveal().to_owned() }
}

/// A project of an administrator's where somebody else may push, too.
async fn shared(app: &TestApp) -> ProjectId {
    let project = app.project(&app.admin(), "hello", Visibility::Public);
    let mia = app.member(project, "mia", Maintainer);
    commit(&mia, project, "main", "Hers", ONE).await;
    project
}

#[actix_web::test]
async fn it_is_one_of_the_installation_and_says_what_it_is() {
    let app = TestApp::new();
    let token = RunnerToken::registered();
    let first = built_in::enroll(&app.state, token.clone()).await.expect("a runner");
    let again = built_in::enroll(&app.state, token).await.expect("a runner");

    assert_eq!(first.id, again.id);
    let listed = app.admin().get("/runners/all").await.ok();
    assert_eq!(listed[0]["runner_type"], "instance_type");
    assert_eq!(listed[0]["description"], "Built-in runner of this server (shell)");
}

#[actix_web::test]
async fn it_does_what_administrators_start_and_nothing_else() {
    let app = TestApp::new();
    let project = shared(&app).await;
    let runner = runner(&app, JobOwners::Administrators).await;

    runner.ask(json!({})).await.with(204);
    let sha = commit(&app.admin(), project, "main", "Mine", "one: {script: y}\n").await;
    assert_eq!(runner.take().await["git_info"]["sha"], sha);
    runner.ask(json!({})).await.with(204);
}

#[actix_web::test]
async fn a_job_that_somebody_else_repeats_is_not_an_administrators() {
    let app = TestApp::new();
    let project = shared(&app).await;
    let runner = runner(&app, JobOwners::Administrators).await;
    commit(&app.admin(), project, "main", "Mine", "one: {script: y}\n").await;
    let taken = runner.take().await;
    let own = format!("/projects/{project}/jobs/{}", taken["id"]);
    app.admin().post(&format!("{own}/cancel"), json!({})).await.created();

    app.person("mia").post(&format!("{own}/retry"), json!({})).await.created();
    runner.ask(json!({})).await.with(204);
    let hers = job(&app.admin(), project, "one").await;
    let own = format!("/projects/{project}/jobs/{}", hers["id"]);
    app.admin().post(&format!("{own}/cancel"), json!({})).await.created();
    app.admin().post(&format!("{own}/retry"), json!({})).await.created();
    runner.take().await;
}

#[actix_web::test]
async fn an_administrator_who_is_none_any_more_starts_nothing() {
    let app = TestApp::new();
    let project = shared(&app).await;
    let runner = runner(&app, JobOwners::Administrators).await;
    commit(&app.admin(), project, "main", "Mine", "one: {script: y}\n").await;

    app.block("root");

    runner.ask(json!({})).await.with(204);
    let waits = job(&app.person("mia"), project, "one").await;
    assert_eq!(waits["status"], "pending", "others may do it");
}

#[actix_web::test]
async fn it_does_the_jobs_of_places_whoever_starts_them() {
    let app = TestApp::new();
    let project = shared(&app).await;
    let other = app.project(&app.person("olga"), "other", Visibility::Public);
    commit(&app.person("olga"), other, "main", "Hers", ONE).await;
    let paths = vec!["root/hello".to_owned(), "root".to_owned(), "nowhere".to_owned()];
    let (places, unknown) = built_in::places(&app.state, paths).await.expect("a look");
    assert_eq!(unknown, ["root", "nowhere"], "a person is no group");
    let runner = runner(&app, JobOwners::Places(places)).await;

    assert_eq!(runner.take().await["job_info"]["project_id"], project.0);
    runner.ask(json!({})).await.with(204);
}

#[actix_web::test]
async fn a_group_is_all_that_lies_in_it() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let team = olga.post("/groups", json!({ "name": "team", "path": "team" })).await.created();
    let inner = json!({ "name": "inner", "path": "inner", "parent_id": team["id"] });
    let inner: Value = olga.post("/groups", inner).await.created();
    let new = json!({ "name": "deep", "namespace_id": inner["id"] });
    let deep = olga.post("/projects", new).await.created()["id"].as_i64().expect("an id");
    commit(&olga, ProjectId(deep), "main", "Hers", ONE).await;
    let (places, _) = built_in::places(&app.state, vec!["team".to_owned()]).await.expect("a look");
    let runner = runner(&app, JobOwners::Places(places)).await;

    assert_eq!(runner.take().await["job_info"]["project_id"], deep);
}

#[actix_web::test]
async fn it_gets_nothing_where_it_is_not_meant_to_run_or_rests() {
    let app = TestApp::new();
    shared(&app).await;
    let idle = runner(&app, JobOwners::Nobody).await;
    idle.ask(json!({})).await.with(204);

    let app = TestApp::new();
    shared(&app).await;
    let tired = runner(&app, JobOwners::Everybody).await;
    app.state.built_in.rest();
    tired.ask(json!({})).await.with(204);
}

#[actix_web::test]
async fn jobs_that_a_killed_server_had_fail_at_the_next_start() {
    let app = TestApp::new();
    let project = shared(&app).await;
    let token = RunnerToken::registered();
    let made = built_in::enroll(&app.state, token.clone()).await.expect("a runner");
    let runner = Runner { app: &app, token: token.reveal().to_owned() };
    runner.take().await;

    assert_eq!(built_in::fail_orphaned_jobs(&app.state, made.id).await.expect("it works"), 1);

    let job = job(&app.admin(), project, "one").await;
    assert_eq!(job["failure_reason"], "runner_system_failure");
    assert_eq!(built_in::fail_orphaned_jobs(&app.state, made.id).await.expect("it works"), 0);
}
