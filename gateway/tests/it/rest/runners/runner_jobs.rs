//! The jobs that a runner took, and the job of a token: `gateway/src/rest/runners/runner_jobs.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Private,
};
use serde_json::json;

use super::program::{Work, set_up};
use crate::support::{TestApp, ci::commit};

const THREE: &str = "a: {script: x}\nb: {script: x}\nc: {script: x}\n";

#[actix_web::test]
async fn the_jobs_of_a_runner_are_told_newest_first() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, THREE).await;
    let first = runner.take().await;
    Work::new(&app, &first).report(json!({ "state": "failed" })).await.with(200);
    runner.take().await;
    let id = mia.get(&format!("/projects/{project}/runners")).await.ok()[0]["id"].clone();
    let path = format!("/runners/{id}/jobs");

    let all = mia.get(&path).await;

    assert_eq!(all.header("X-Total"), Some("2"));
    let all = all.ok();
    assert_eq!((&all[0]["name"], &all[1]["name"]), (&json!("b"), &json!("a")));
    assert_eq!(all[1]["failure_reason"], "unknown_failure");
    assert_eq!(all[1]["project"]["id"], project.0);
    assert_eq!(all[1]["project"]["path_with_namespace"], "olga/one");
    assert!(all[0].get("ip_address").is_some() && all[0]["commit"]["parent_ids"].is_array());
    assert_eq!(mia.get(&format!("{path}?sort=asc")).await.each("name"), ["a", "b"]);
    assert_eq!(mia.get(&format!("{path}?status=running")).await.each("name"), ["b"]);
    assert_eq!(mia.get(&format!("{path}?per_page=1&page=2")).await.each("name"), ["a"]);
    let bad = json!({ "error": "status does not have a valid value" });
    mia.get(&format!("{path}?status=odd")).await.refused(400, bad);
    let bad = json!({ "error": "order_by does not have a valid value" });
    mia.get(&format!("{path}?order_by=name")).await.refused(400, bad);
}

#[actix_web::test]
async fn jobs_are_told_to_who_looks_after_the_runner_and_reads_the_project() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, THREE).await;
    let listed = mia.get(&format!("/projects/{project}/runners")).await.ok();
    let (id, path) = (listed[0]["id"].clone(), format!("/runners/{}/jobs", listed[0]["id"]));
    let otto = app.person("otto");
    let other = app.project(&otto, "other", Private);
    let (max, dan) = (app.member(other, "max", Maintainer), app.member(project, "dan", Developer));
    otto.adds("mia", 40, &format!("/projects/{other}")).await;
    mia.post(&format!("/projects/{other}/runners"), json!({ "runner_id": id })).await.created();
    commit(&max, other, "main", "jobs", "theirs: {script: x}\n").await;
    for _ in 0..4 {
        runner.take().await;
    }

    assert_eq!(max.get(&path).await.each("name"), ["theirs"]);
    assert_eq!(mia.get(&path).await.each("name").len(), 4);
    let refusal = json!({ "message": "403 Forbidden - No access granted" });
    dan.get(&path).await.refused(403, refusal.clone());
    app.member(other, "rob", Reporter).get(&path).await.refused(403, refusal);
    app.anonymous().get(&path).await.with(401);
    mia.get("/runners/999999/jobs").await.with(404);
    assert_eq!(app.admin().get(&path).await.each("name").len(), 4);
}

#[actix_web::test]
async fn a_job_asks_for_itself_with_its_token() {
    let app = TestApp::new();
    let (_, mia, runner) = set_up(&app, THREE).await;
    let payload = runner.take().await;
    let token = payload["token"].as_str().expect("a token");

    let bearer = format!("Bearer {token}");
    let headers =
        [("JOB-TOKEN", token), ("Authorization", bearer.as_str()), ("PRIVATE-TOKEN", token)];
    for (name, value) in headers {
        let shown = app.anonymous().sending(name, value).get("/job").await.ok();
        assert_eq!((&shown["id"], &shown["name"]), (&payload["id"], &json!("a")), "{name}");
    }
    let shown = app.anonymous().get(&format!("/job?job_token={token}")).await.ok();
    assert_eq!(shown["status"], "running");
    mia.get("/job").await.refused(404, json!({ "message": "404 Job Not Found" }));
    app.anonymous().get("/job").await.with(401);
    app.anonymous().get("/job?job_token=glcbt-no").await.with(401);
    Work::new(&app, &payload).report(json!({ "state": "success" })).await.with(200);
    app.anonymous().sending("JOB-TOKEN", token).get("/job").await.with(401);
}
