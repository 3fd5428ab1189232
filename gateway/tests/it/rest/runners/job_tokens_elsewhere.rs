//! What a job reaches of other projects: `crates/forge/src/job_token.rs`.

use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::json;

use super::{
    job_tokens::{not_found, token},
    program::{Runner, Work, set_up},
};
use crate::support::{
    Answer, Person, TestApp,
    ci::{commit, job, pipelines},
};

const TWO: &str = "a: {script: x, artifacts: {paths: [out]}}\nb: {script: x}\n";

/// A private project of olga's, with something in it.
async fn other_project(app: &TestApp) -> ProjectId {
    let olga = app.person("olga");
    let other = app.project(&olga, "other", Private);
    commit(&olga, other, "main", "jobs", TWO).await;
    other
}

#[actix_web::test]
async fn a_job_reaches_another_project_only_where_that_one_lists_its_own() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, TWO).await;
    let other = other_project(&app).await;
    let olga = app.person("olga");
    app.member(other, "mia", Developer);
    let job = app.anonymous().sending("JOB-TOKEN", &token(&runner.take().await));
    let path = format!("/projects/{other}/repository/branches");
    let by_path = "/projects/olga%2Fother/jobs";
    let list = format!("/projects/{other}/job_token_scope/allowlist");

    job.get(&path).await.refused(404, not_found());
    job.get(by_path).await.refused(404, not_found());
    olga.post(&list, json!({ "target_project_id": project.0 })).await.created();
    job.get(&path).await.ok();
    job.get(by_path).await.ok();
    olga.delete(&format!("{list}/{project}")).await.with(204);
    job.get(&path).await.refused(404, not_found());

    let scope = format!("/projects/{other}/job_token_scope");
    olga.patch(&scope, json!({ "enabled": false })).await.with(204);
    job.get(&path).await.ok();
    let keeps_inside = json!({ "ci_job_token_scope_enabled": true });
    olga.put(&format!("/projects/{project}"), keeps_inside).await.ok();
    job.get(&path).await.refused(404, not_found());
    job.get(&format!("/projects/{project}/repository/branches")).await.ok();
}

#[actix_web::test]
async fn being_listed_gives_no_more_than_the_person_has() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, TWO).await;
    let other = other_project(&app).await;
    let olga = app.person("olga");
    let job = app.anonymous().sending("JOB-TOKEN", &token(&runner.take().await));
    let list = format!("/projects/{other}/job_token_scope/allowlist");
    olga.post(&list, json!({ "target_project_id": project.0 })).await.created();
    let path = format!("/projects/{other}/repository/branches");

    job.get(&path).await.refused(404, not_found());
    app.member(other, "mia", Guest);
    job.get(&path).await.with(403);
    let member = format!("/projects/{other}/members/{}", app.id_of("mia"));
    olga.put(&member, json!({ "access_level": 20 })).await.ok();
    job.get(&path).await.ok();
}

#[actix_web::test]
async fn a_listed_group_lets_in_the_jobs_of_all_projects_below_it() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let (above, elsewhere) = (olga.group("above", None).await, olga.group("elsewhere", None).await);
    let below = olga.group("below", Some(above)).await;
    let fields = json!({ "name": "own", "namespace_id": below, "initialize_with_readme": true });
    let own = olga.post("/projects", fields).await.created()["id"].as_i64().expect("an id");
    commit(&olga, ProjectId(own), "main", "jobs", TWO).await;
    let payload = Runner::of(&olga, ProjectId(own), json!({})).await.take().await;
    let other = other_project(&app).await;
    let job = app.anonymous().sending("JOB-TOKEN", &token(&payload));
    let path = format!("/projects/{other}/jobs");
    let list = format!("/projects/{other}/job_token_scope/groups_allowlist");

    olga.post(&list, json!({ "target_group_id": elsewhere })).await.created();
    job.get(&path).await.refused(404, not_found());
    olga.post(&list, json!({ "target_group_id": above })).await.created();
    job.get(&path).await.ok();
    olga.delete(&format!("{list}/{above}")).await.with(204);
    job.get(&path).await.refused(404, not_found());
}

#[actix_web::test]
async fn in_a_public_project_that_does_not_list_it_a_job_is_a_stranger() {
    let app = TestApp::new();
    let (_, _, runner) = set_up(&app, TWO).await;
    let olga = app.person("olga");
    let open = app.project(&olga, "open", Public);
    commit(&olga, open, "main", "jobs", TWO).await;
    let mia = app.member(open, "mia", Developer);
    olga.put(&format!("/projects/{open}"), json!({ "public_builds": false })).await.ok();
    let job = app.anonymous().sending("JOB-TOKEN", &token(&runner.take().await));

    job.get(&format!("/projects/{open}/repository/branches")).await.ok();
    job.get(&format!("/projects/{open}/jobs")).await.with(401);
    let artifacts = format!("/projects/{open}/jobs/artifacts/main/download?job=a");
    job.get(&artifacts).await.refused(403, json!({ "message": "403 Forbidden" }));
    mia.get(&artifacts).await.with(404);
}

#[actix_web::test]
async fn artifacts_of_another_project_are_fetched_where_it_lets_the_job_in() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, TWO).await;
    let other = other_project(&app).await;
    let olga = app.person("olga");
    app.member(other, "mia", Reporter);
    let theirs = Runner::of(&olga, other, json!({})).await.take().await;
    let work = Work::new(&app, &theirs);
    work.bring("", "artifacts.zip", b"no zip").await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    let job = app.anonymous().sending("JOB-TOKEN", &token(&runner.take().await));
    let id = &theirs["id"];
    let paths = [format!("/jobs/{id}/artifacts"), format!("/projects/{other}/jobs/{id}/artifacts")];

    for path in &paths {
        job.get(path).await.with(404);
    }
    let list = format!("/projects/{other}/job_token_scope/allowlist");
    olga.post(&list, json!({ "target_project_id": project.0 })).await.created();
    for path in &paths {
        let fetched = job.get(path).await;
        assert_eq!((fetched.status, fetched.bytes.as_slice()), (200, &b"no zip"[..]), "{path}");
    }
    job.delete(&paths[1]).await.with(401);
}

#[actix_web::test]
async fn a_job_is_given_what_it_needs_of_a_project_that_lets_it_in() {
    let app = TestApp::new();
    let needs = "{project: olga/other, job: a, ref: main, artifacts: true}";
    let text =
        format!("unit: {{script: x, needs: [{needs}]}}\nlast: {{script: x, needs: [{needs}]}}\n");
    let (project, _, runner) = set_up(&app, &text).await;
    let other = other_project(&app).await;
    let olga = app.person("olga");
    app.member(other, "mia", Reporter);
    let their_runner = Runner::of(&olga, other, json!({})).await;
    let theirs = their_runner.take().await;
    let work = Work::new(&app, &theirs);
    work.bring("", "artifacts.zip", b"no zip").await.with(201);
    for payload in [&theirs, &their_runner.take().await] {
        Work::new(&app, payload).report(json!({ "state": "success" })).await.with(200);
    }

    assert_eq!(runner.take().await["dependencies"], json!([]));
    let list = format!("/projects/{other}/job_token_scope/allowlist");
    olga.post(&list, json!({ "target_project_id": project.0 })).await.created();

    assert_eq!(runner.take().await["dependencies"][0]["id"], theirs["id"]);
}

/// What a job sends to ask for a pipeline.
async fn trigger(person: &Person<'_>, project: ProjectId, token: &str) -> Answer {
    let body = json!({ "ref": "main", "token": token, "variables": { "FROM": "job" } });
    person.post(&format!("/projects/{project}/trigger/pipeline"), body).await
}

#[actix_web::test]
async fn a_job_asks_for_a_pipeline_of_a_project_that_lets_it_in() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, TWO).await;
    let other = other_project(&app).await;
    let olga = app.person("olga");
    let payload = runner.take().await;
    let (shown, nobody) = (token(&payload), app.anonymous());

    let absent = json!({ "message": "404 Not Found" });
    trigger(&nobody, other, &shown).await.refused(404, absent.clone());
    app.member(other, "mia", Developer);
    trigger(&nobody, other, &shown).await.refused(404, absent.clone());
    let list = format!("/projects/{other}/job_token_scope/allowlist");
    olga.post(&list, json!({ "target_project_id": project.0 })).await.created();
    // The branch is protected, and developers may not push there.
    trigger(&nobody, other, &shown).await.with(400);
    let member = format!("/projects/{other}/members/{}", app.id_of("mia"));
    olga.put(&member, json!({ "access_level": 40 })).await.ok();
    let made = trigger(&nobody, other, &shown).await.created();
    assert_eq!((&made["source"], &made["user"]["username"]), (&json!("pipeline"), &json!("mia")));
    let own = trigger(&nobody, project, &shown).await.created();
    assert_eq!(own["project_id"], project.0);
    assert_eq!(pipelines(&mia, other, "?source=pipeline").await.len(), 1);

    Work::new(&app, &payload).report(json!({ "state": "success" })).await.with(200);
    assert_eq!(job(&mia, project, "a").await["status"], "pending", "its own goes on by itself");
    trigger(&nobody, other, &shown).await.refused(401, json!({ "message": "401 Unauthorized" }));
    trigger(&nobody, other, "glcbt-none").await.refused(404, absent);
}
