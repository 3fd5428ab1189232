//! What administrators limit: `crates/forge/src/pipeline/limits.rs`.

use ci::pipeline::PipelineStore as _;
use kernel::{
    Visibility::Private,
    ids::{PipelineId, ProjectId},
};
use org::access::{IdOrPath, locate_project};
use repo::{
    git::{Oid, RefName},
    push::{Push, PushSource, RefChange, land_apart},
};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{
    Person, TestApp,
    ci::{commit, job, pipelines},
};

/// A project in which nothing has run yet.
async fn set_up<'a>(app: &'a TestApp, text: &str) -> (Person<'a>, ProjectId) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", text).await;
    (ada, project)
}

async fn limit(app: &TestApp, name: &str, most: i64) {
    let body = json!({ "plan_name": "default", name: most });
    let set = app.admin().put("/application/plan_limits", body).await.ok();
    assert_eq!(set[name], most);
}

async fn set(app: &TestApp, name: &str, value: Value) {
    let set = app.admin().put("/application/settings", json!({ name: value })).await.ok();
    assert_eq!(set[name], value);
}

fn base(sentence: &str) -> Value {
    json!({ "message": { "base": [sentence] } })
}

/// Asks for a pipeline, which is refused with this sentence; a push of the same has a failed one for that reason.
async fn refused(person: &Person<'_>, project: ProjectId, text: &str, sentence: &str, why: &str) {
    let address = format!("/projects/{project}/pipeline");
    person.post(&address, json!({ "ref": "main" })).await.refused(400, base(sentence));
    commit(person, project, "main", "more", &format!("{text}\n# more")).await;
    let made = pipelines(person, project, "?source=push").await[0].clone();
    assert_eq!(made["status"], "failed");
    let one = format!("/projects/{project}/pipelines/{}", made["id"]);
    assert_eq!(person.get(&one).await.ok()["yaml_errors"], sentence);
    let id = PipelineId(made["id"].as_i64().expect("an id"));
    let row = person.app.write(move |tx| tx.find_pipeline(project, id));
    assert_eq!(row.expect("a pipeline").failure_reason.as_deref(), Some(why));
}

#[actix_web::test]
async fn a_pipeline_has_only_so_many_jobs() {
    let app = TestApp::new();
    let text = "a: {script: x}\nb: {script: x}";
    let (ada, project) = set_up(&app, text).await;
    limit(&app, "ci_pipeline_size", 1).await;

    let sentence = "The number of jobs has exceeded the limit of 1. Try splitting the configuration with parent-child-pipelines";
    refused(&ada, project, text, sentence, "size_limit_exceeded").await;
    limit(&app, "ci_pipeline_size", 2).await;
    ada.post(&format!("/projects/{project}/pipeline"), json!({ "ref": "main" })).await.created();
}

#[actix_web::test]
async fn a_pipeline_has_only_so_many_deployments() {
    let app = TestApp::new();
    let text = "a: {script: x, environment: one}\nb: {script: x, environment: two}";
    let (ada, project) = set_up(&app, text).await;
    limit(&app, "ci_pipeline_deployments", 1).await;

    let sentence = "Pipeline has too many deployments! Requested 2, but the limit is 1.";
    refused(&ada, project, text, sentence, "deployments_limit_exceeded").await;
}

#[actix_web::test]
async fn a_project_has_only_so_many_active_jobs() {
    let app = TestApp::new();
    let text = "a: {script: x}\nb: {script: x}";
    let (ada, project) = set_up(&app, text).await;
    let address = format!("/projects/{project}/pipeline");
    limit(&app, "ci_active_jobs", 3).await;
    let first = ada.post(&address, json!({ "ref": "main" })).await.created();

    let sentence = "Project exceeded the allowed number of jobs in active pipelines. Retry later.";
    refused(&ada, project, text, sentence, "job_activity_limit_exceeded").await;
    ada.post(&format!("/projects/{project}/pipelines/{}/cancel", first["id"]), json!({}))
        .await
        .ok();
    ada.post(&address, json!({ "ref": "main" })).await.created();
}

#[actix_web::test]
async fn too_many_active_jobs_are_told_before_too_many_deployments() {
    let app = TestApp::new();
    let text = "a: {script: x, environment: one}\nb: {script: x, environment: two}";
    let (ada, project) = set_up(&app, text).await;
    limit(&app, "ci_pipeline_deployments", 1).await;
    limit(&app, "ci_active_jobs", 1).await;

    let sentence = "Project exceeded the allowed number of jobs in active pipelines. Retry later.";
    refused(&ada, project, text, sentence, "job_activity_limit_exceeded").await;
}

#[actix_web::test]
async fn a_job_needs_only_so_many_others() {
    let app = TestApp::new();
    let text = "a: {script: x}\nb: {script: x}\nc: {script: x, needs: [a, b]}";
    let (ada, project) = set_up(&app, text).await;
    limit(&app, "ci_needs_size_limit", 1).await;

    let sentence = "c: one job can only need 1 others, but you have listed 2. See needs keyword documentation for more details";
    refused(&ada, project, text, sentence, "config_error").await;
}

#[actix_web::test]
async fn somebody_makes_only_so_many_pipelines_for_a_commit_in_a_minute() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "a: {script: x}").await;
    let (address, body) = (format!("/projects/{project}/pipeline"), json!({ "ref": "main" }));
    app.clock.advance(Duration::minutes(2));
    set(&app, "pipeline_limit_per_project_user_sha", json!(2)).await;
    for _ in 0..2 {
        ada.post(&address, body.clone()).await.created();
    }

    let sentence = "Too many pipelines created in the last minute. Try again later.";
    ada.post(&address, body.clone()).await.refused(400, base(sentence));
    app.admin().post(&address, body.clone()).await.created();
    app.clock.advance(Duration::seconds(61));
    ada.post(&address, body).await.created();
}

#[actix_web::test]
async fn the_pipelines_of_a_minute_are_counted_without_their_children() {
    let app = TestApp::new();
    let text = "down: {trigger: {include: [{template: Rust.gitlab-ci.yml}]}}";
    let (ada, project) = set_up(&app, text).await;
    let (address, body) = (format!("/projects/{project}/pipeline"), json!({ "ref": "main" }));
    app.clock.advance(Duration::minutes(2));
    set(&app, "pipeline_limit_per_project_user_sha", json!(2)).await;

    for _ in 0..2 {
        ada.post(&address, body.clone()).await.created();
    }

    assert_eq!(pipelines(&ada, project, "?source=parent_pipeline").await.len(), 2);
    let sentence = "Too many pipelines created in the last minute. Try again later.";
    ada.post(&address, body).await.refused(400, base(sentence));
}

/// What is told of a configuration.
async fn lint(person: &Person<'_>, project: ProjectId, text: &str) -> Value {
    let body = json!({ "content": text });
    person.post(&format!("/projects/{project}/ci/lint"), body).await.ok()["errors"].clone()
}

#[actix_web::test]
async fn a_configuration_is_only_so_large_and_includes_only_so_much() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "a: {script: x}").await;
    let two = "include: [{template: Rust.gitlab-ci.yml}, {template: Go.gitlab-ci.yml}]";
    let long = format!("a: {{script: '{}'}}", "x".repeat(2_000));
    for text in [two, &long] {
        assert_eq!(lint(&ada, project, text).await, json!([]));
    }

    set(&app, "ci_max_includes", json!(1)).await;
    assert_eq!(
        lint(&ada, project, two).await,
        json!(["Maximum of 1 nested includes are allowed!"])
    );
    set(&app, "max_yaml_size_bytes", json!(1_000)).await;
    assert_eq!(lint(&ada, project, &long).await, json!(["The parsed YAML is too big"]));
    set(&app, "max_yaml_depth", json!(2)).await;
    let deep = "a: {script: [[x]]}";
    assert_eq!(lint(&ada, project, deep).await, json!(["The parsed YAML is too big"]));
    assert_eq!(lint(&ada, project, "a: {script: x}").await, json!([]));
}

#[actix_web::test]
async fn pipelines_make_one_another_only_so_often() {
    let app = TestApp::new();
    let text = "down: {trigger: {include: [{template: Rust.gitlab-ci.yml}]}}";
    let (ada, project) = set_up(&app, text).await;
    limit(&app, "pipeline_hierarchy_size", 1).await;

    let made = ada
        .post(&format!("/projects/{project}/pipeline"), json!({ "ref": "main" }))
        .await
        .created();

    let bridges = format!("/projects/{project}/pipelines/{}/bridges", made["id"]);
    let reason = ada.get(&bridges).await.ok()[0]["failure_reason"].clone();
    assert_eq!(reason, "reached_max_pipeline_hierarchy_size");
}

#[actix_web::test]
async fn a_project_keeps_only_so_many_schedules_triggers_and_variables() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "a: {script: x}").await;
    let group = ada.group_with("flight", json!({})).await;
    let schedule = json!({ "description": "d", "ref": "main", "cron": "0 1 * * *" });
    let trigger = json!({ "description": "d" });
    let variable = |key: &str| json!({ "key": key, "value": "x" });
    for (person, path, name, what, one, two) in [
        (
            &ada,
            format!("/projects/{project}/pipeline_schedules"),
            "ci_pipeline_schedules",
            "ci pipeline schedules",
            schedule.clone(),
            schedule,
        ),
        (
            &ada,
            format!("/projects/{project}/triggers"),
            "pipeline_triggers",
            "pipeline triggers",
            trigger.clone(),
            trigger,
        ),
        (
            &ada,
            format!("/projects/{project}/variables"),
            "project_ci_variables",
            "project ci variables",
            variable("A"),
            variable("B"),
        ),
        (
            &ada,
            format!("/groups/{group}/variables"),
            "group_ci_variables",
            "group ci variables",
            variable("A"),
            variable("B"),
        ),
        (
            &app.admin(),
            "/admin/ci/variables".to_owned(),
            "ci_instance_level_variables",
            "ci instance level variables",
            variable("A"),
            variable("B"),
        ),
    ] {
        limit(&app, name, 1).await;
        person.post(&path, one).await.created();
        let sentence = format!("Maximum number of {what} (1) exceeded");
        person.post(&path, two.clone()).await.refused(400, base(&sentence));
        assert_eq!(person.get(&path).await.ok().as_array().map(Vec::len), Some(1));
        limit(&app, name, 0).await;
        person.post(&path, two).await.created();
    }
}

/// Makes branches of a commit by one push of ada's; how many pipelines there are then.
async fn push_branches(app: &TestApp, project: ProjectId, new: Oid, names: &[&str]) -> usize {
    let actor = app.user("ada").actor();
    let located = app.write(move |tx| locate_project(tx, actor, &IdOrPath::Id(project.0)));
    let change =
        |name: &&str| RefChange::plain(RefName::branch(name).expect("a name"), None, Some(new));
    let changes = names.iter().map(change).collect();
    let push = Push::new(located.0.0, located.1, PushSource::Git, changes);
    assert!(land_apart(app.state.writer(), &push, false).await.refused.is_empty());
    app.work().await;
    pipelines(&app.person("ada"), project, "?per_page=100").await.len()
}

#[actix_web::test]
async fn the_pipelines_of_a_minute_are_counted_within_one_push_too() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "a: {script: x}").await;
    let new: Oid = commit(&ada, project, "main", "second", "b: {script: x}").await.parse().unwrap();
    let before = pipelines(&ada, project, "").await.len();
    app.clock.advance(Duration::minutes(2));
    set(&app, "pipeline_limit_per_project_user_sha", json!(2)).await;

    assert_eq!(push_branches(&app, project, new, &["a", "b", "c", "d"]).await, before + 2);
}

#[actix_web::test]
async fn only_so_many_refs_of_a_push_have_a_pipeline() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "a: {script: x}").await;
    let new: Oid = commit(&ada, project, "main", "second", "b: {script: x}").await.parse().unwrap();
    let push = async |names: &[&str]| push_branches(&app, project, new, names).await;

    let before = pipelines(&ada, project, "").await.len();
    set(&app, "git_push_pipeline_limit", json!(2)).await;
    assert_eq!(push(&["a", "b", "c"]).await, before + 2);
    set(&app, "git_push_pipeline_limit", json!(0)).await;
    assert_eq!(push(&["d", "e", "f", "g", "h"]).await, before + 7);
}

#[actix_web::test]
async fn the_limits_of_the_plan_are_for_administrators() {
    let app = TestApp::new();
    let (ada, root, path) = (app.person("ada"), app.admin(), "/application/plan_limits");

    let limits = root.get(&format!("{path}?plan_name=default")).await.ok();
    let of = |name: &str| limits[name].as_i64();
    let defaults = ["ci_pipeline_size", "ci_active_jobs", "ci_pipeline_schedules", "dotenv_size"];
    assert_eq!(defaults.map(of), [Some(0), Some(0), Some(10), Some(5_120)]);
    let odd = json!({ "error": "plan_name does not have a valid value" });
    root.get(&format!("{path}?plan_name=gold")).await.refused(400, odd);
    root.put(path, json!({ "dotenv_size": 1 }))
        .await
        .refused(400, json!({ "error": "plan_name is missing" }));
    let negative = json!({ "message": { "dotenv_size": ["must be greater than or equal to 0"] } });
    let body = json!({ "plan_name": "default", "dotenv_size": -1 });
    root.put(path, body.clone()).await.refused(400, negative);
    assert_eq!(root.get(path).await.ok(), limits);
    ada.get(path).await.with(403);
    ada.put(path, body).await.with(403);
    app.anonymous().get(path).await.with(401);
    let posted = json!({ "plan_name": "default", "dotenv_size": 7 });
    assert_eq!(root.post(path, posted).await.created()["dotenv_size"], 7);
}

#[actix_web::test]
async fn a_setting_that_cannot_be_is_refused() {
    let app = TestApp::new();
    let root = app.admin();
    for (name, value, told) in [
        ("max_artifacts_size", 0, "must be greater than 0"),
        ("ci_max_includes", -1, "must be greater than or equal to 0"),
        ("max_yaml_depth", 201, "must be less than or equal to 200"),
    ] {
        let refusal = json!({ "message": { name: [told] } });
        root.put("/application/settings", json!({ name: value })).await.refused(400, refusal);
    }
    let odd =
        json!({ "message": { "default_artifacts_expire_in": ["is not a correct duration"] } });
    let body = json!({ "default_artifacts_expire_in": "soon" });
    root.put("/application/settings", body).await.refused(400, odd);
}

#[actix_web::test]
async fn a_setting_does_not_touch_the_limits_of_the_plan() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app, "a: {script: x}").await;
    limit(&app, "ci_pipeline_size", 7).await;
    set(&app, "keep_latest_artifact", json!(false)).await;

    let limits = app.admin().get("/application/plan_limits").await.ok();
    assert_eq!(limits["ci_pipeline_size"], 7);
    ada.post(&format!("/projects/{project}/pipeline"), json!({ "ref": "main" })).await.created();
    assert_eq!(job(&ada, project, "a").await["status"], "pending");
}
