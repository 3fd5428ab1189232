//! What a job reaches with its token: `gateway/src/extract/credential.rs` and `crates/forge/src/job_token.rs`.

use serde_json::json;

use super::program::{Work, set_up};
use crate::support::{TestApp, ci::pipelines};

const TWO: &str = "a: {script: x, artifacts: {paths: [out]}}\nb: {script: x}\n";

/// What a job shows.
pub(super) fn token(payload: &serde_json::Value) -> String {
    payload["token"].as_str().expect("a token").to_owned()
}

pub(super) fn not_found() -> serde_json::Value {
    json!({ "message": "404 Project Not Found" })
}

#[actix_web::test]
async fn a_job_acts_as_its_person_where_the_table_of_routes_says_so() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, TWO).await;
    let token = token(&runner.take().await);
    let nobody = app.anonymous();
    let job = nobody.sending("JOB-TOKEN", &token);
    let at = |path: &str| format!("/projects/{project}{path}");

    for path in [
        "/jobs",
        "/repository/branches",
        "/repository/branches/main",
        "/repository/tags",
        "/repository/commits/main",
        "/repository/files/.gitlab-ci.yml/raw?ref=main",
        "/merge_requests",
    ] {
        assert_eq!(job.get(&at(path)).await.status, 200, "{path}");
    }
    let bearer = format!("Bearer {token}");
    nobody.sending("Authorization", &bearer).get(&at("/jobs")).await.ok();
    nobody.sending("PRIVATE-TOKEN", &token).get(&at("/jobs")).await.ok();
    for name in ["job_token", "token"] {
        nobody.get(&at(&format!("/jobs?{name}={token}"))).await.ok();
    }
    for path in ["", "/issues", "/pipelines", "/repository/tree"] {
        job.get(&at(path)).await.refused(404, not_found());
    }
    job.get("/user").await.with(401);
    job.post(&at("/repository/branches"), json!({ "branch": "b", "ref": "main" })).await.with(401);
    job.delete(&at("/repository/branches/main")).await.with(401);
    nobody.sending("JOB-TOKEN", "glcbt-none").get(&at("/jobs")).await.with(401);
    nobody.sending("JOB-TOKEN", &"x".repeat(9000)).get(&at("/jobs")).await.with(401);
    job.sending("Sudo", "root").get(&at("/jobs")).await.with(403);
}

#[actix_web::test]
async fn another_credential_counts_before_the_token_of_a_job() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, TWO).await;
    let token = token(&runner.take().await);
    let path = format!("/projects/{project}/jobs");

    app.person("eve").sending("JOB-TOKEN", &token).get(&path).await.refused(404, not_found());
    mia.sending("JOB-TOKEN", "glcbt-none").get(&path).await.ok();
    let wrong = app.anonymous().sending("PRIVATE-TOKEN", "glpat-none");
    wrong.sending("JOB-TOKEN", &token).get(&path).await.with(401);
}

#[actix_web::test]
async fn the_token_of_a_job_that_ended_opens_nothing() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, TWO).await;
    let (first, second) = (runner.take().await, runner.take().await);
    let path = format!("/projects/{project}/jobs");
    let ask = |payload| app.anonymous().sending("JOB-TOKEN", &token(payload));
    ask(&first).get(&path).await.ok();

    Work::new(&app, &first).report(json!({ "state": "success" })).await.with(200);
    let cancel = format!("{path}/{}/cancel", second["id"]);
    ask(&second).get(&path).await.ok();
    mia.post(&cancel, json!({})).await.created();

    for payload in [&first, &second] {
        ask(payload).get(&path).await.refused(401, json!({ "message": "401 Unauthorized" }));
        ask(payload).get("/job").await.with(401);
    }
}

#[actix_web::test]
async fn the_job_of_somebody_who_is_blocked_or_lost_their_role_opens_nothing() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, TWO).await;
    let payload = runner.take().await;
    let job = app.anonymous().sending("JOB-TOKEN", &token(&payload));
    let olga = app.person("olga");
    let path = format!("/projects/{project}/repository/branches");
    job.get(&path).await.ok();

    let mia = app.id_of("mia");
    let member = format!("/projects/{project}/members/{mia}");
    olga.put(&member, json!({ "access_level": 10 })).await.ok();
    job.get(&path).await.with(403);
    olga.delete(&member).await.with(204);
    job.get(&path).await.refused(404, not_found());
    olga.adds("mia", 40, &format!("/projects/{project}")).await;
    job.get(&path).await.ok();
    app.block("mia");

    let refusal = json!({ "message": "403 Forbidden - Your account has been blocked." });
    job.get(&path).await.refused(403, refusal.clone());
    job.get("/job").await.refused(403, refusal);
}

#[actix_web::test]
async fn an_agent_learns_whom_a_job_runs_for() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, TWO).await;
    let payload = runner.take().await;
    let shown = app.anonymous().sending("JOB-TOKEN", &token(&payload));

    let told = shown.get("/job/allowed_agents").await.ok();

    let pipeline = pipelines(&mia, project, "").await[0]["id"].clone();
    let roles = ["guest", "reporter", "developer", "maintainer"];
    let user = json!({ "id": app.id_of("mia"), "username": "mia", "roles_in_project": roles });
    let expected = json!({ "allowed_agents": [], "job": { "id": payload["id"] },
        "pipeline": { "id": pipeline }, "project": { "id": project.0, "groups": [] }, "user": user });
    assert_eq!(told, expected);
    mia.get("/job/allowed_agents").await.refused(404, json!({ "message": "404 Job Not Found" }));
    app.anonymous().get("/job/allowed_agents").await.with(401);
}
