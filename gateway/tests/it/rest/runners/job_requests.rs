//! A runner at work: `gateway/src/rest/runners/{job_requests,job_updates}.rs`.

use actix_web::http::Method;
use ci::job::queue;
use kernel::{
    AccessLevel::{Developer, Guest},
    Visibility,
    ids::{JobId, ProjectId},
};
use serde_json::{Value, json};
use time::Duration;

use super::program::{Runner, Work, set_up};
use crate::support::{
    Person, TestApp,
    ci::{commit, job, pipelines},
};

async fn log(person: &Person<'_>, project: ProjectId, id: &Value) -> String {
    let shown = person.get(&format!("/projects/{project}/jobs/{id}/trace")).await;
    assert_eq!(shown.status, 200);
    String::from_utf8(shown.bytes).expect("text")
}

const TWO: &str =
    "one: {script: [echo one], coverage: '/cov: \\d+%/'}\ntwo: {stage: deploy, script: x}\n";

#[actix_web::test]
async fn a_runner_takes_jobs_and_brings_their_pipeline_to_its_end() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, TWO).await;

    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    assert_eq!(payload["job_info"]["name"], "one");
    assert_eq!(pipelines(&mia, project, "").await[0]["status"], "running");
    runner.ask(json!({})).await.with(204);
    let wrote = work.write(0, "hello\n").await;
    assert_eq!((wrote.status, wrote.header("Range")), (202, Some("0-6")));
    assert_eq!(wrote.header("Job-Status"), Some("running"));
    assert_eq!(wrote.header("X-GitLab-Trace-Update-Interval"), Some("3"));
    assert_eq!(log(&mia, project, &payload["id"]).await, "hello\n");
    work.write(6, "cov: 42%\n").await.with(202);
    let ended = work.report(json!({ "state": "success", "output": { "bytesize": 15 } })).await;
    assert_eq!((ended.status, ended.bytes.as_slice()), (200, &b"200"[..]));
    assert_eq!(ended.header("Job-Status"), Some("success"));
    assert_eq!(log(&mia, project, &payload["id"]).await, "hello\ncov: 42%\n");
    assert_eq!(job(&mia, project, "one").await["coverage"], 42.0);

    let next = runner.take().await;
    assert_eq!(next["job_info"]["name"], "two");
    Work::new(&app, &next).report(json!({ "state": "success" })).await.with(200);
    assert_eq!(pipelines(&mia, project, "").await[0]["status"], "success");
}

#[actix_web::test]
async fn who_cannot_do_a_job_does_not_take_it_from_somebody_who_does() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, TWO).await;
    let taken = runner.take().await;
    let id = JobId(taken["id"].as_i64().expect("an id"));

    let refused = app.write(move |tx| queue::refuse(tx, id, "scheduler_failure", None));

    assert!(refused.is_none(), "it does not wait any more");
    assert_eq!(job(&mia, project, "one").await["status"], "running");
}

#[actix_web::test]
async fn an_archived_job_is_handed_to_nobody() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "job: {script: x, retry: 2}\n").await;
    let archive = json!({ "archive_builds_in_human_readable": "1 day" });
    app.admin().put("/application/settings", archive).await.ok();
    app.clock.advance(Duration::days(3));

    runner.ask(json!({})).await.with(204);

    let old = job(&mia, project, "job").await;
    let failed = (&json!("failed"), &json!("archived_failure"));
    assert_eq!((&old["status"], &old["failure_reason"]), failed);
}

#[actix_web::test]
async fn the_payload_is_what_a_strict_reader_wants() {
    let app = TestApp::new();
    let text = "job:\n  image: alpine\n  services: [redis]\n  before_script: [a]\n  script: [b]\n  after_script: [c]\n  \
                variables: {OWN: 'v-$CI_JOB_ID'}\n  cache: [{key: k, paths: [p], fallback_keys: [f]}, \
                {key: k-protected, unprotect: true, paths: [q], fallback_keys: [f-protected]}]\n  \
                artifacts: {paths: [out], reports: {junit: r.xml}}\n  timeout: 10 minutes\n";
    let (project, mia, runner) = set_up(&app, text).await;
    mia.post(
        &format!("/projects/{project}/variables"),
        json!({ "key": "SECRET", "value": "hunter22", "masked": true }),
    )
    .await
    .created();

    let payload = runner.take().await;

    let id = payload["id"].as_i64().expect("an id");
    let pipeline = pipelines(&mia, project, "").await[0]["id"].clone();
    assert_eq!(payload["runner_info"]["timeout"], 600);
    assert_eq!(payload["git_info"]["depth"], 20);
    let refs = [
        format!("+refs/pipelines/{pipeline}:refs/pipelines/{pipeline}"),
        "+refs/heads/main:refs/remotes/origin/main".to_owned(),
    ];
    assert_eq!(payload["git_info"]["refspecs"], json!(refs));
    assert_eq!(payload["steps"][0]["script"], json!(["a", "b"]));
    assert_eq!(payload["steps"][1]["when"], "always");
    assert_eq!(payload["image"]["name"], "alpine");
    assert_eq!(payload["services"][0]["alias"], "");
    assert_eq!(payload["cache"][0]["key"], "k-protected");
    assert_eq!(payload["cache"][0]["fallback_keys"], json!(["f-protected"]));
    assert_eq!(payload["cache"][1]["key"], "k-protected-non_protected");
    assert_eq!(payload["cache"][1]["fallback_keys"], json!(["f-protected-non_protected"]));
    assert_eq!(payload["artifacts"][0]["artifact_type"], "archive");
    assert_eq!(payload["artifacts"][1]["artifact_format"], "gzip");
    assert!(payload.get("run").is_none());
    let found = |key: &str| {
        let all = payload["variables"].as_array().expect("variables");
        all.iter().rfind(|one| one["key"] == key).cloned().unwrap_or_default()
    };
    assert_eq!(found("OWN")["value"], format!("v-{id}"));
    let secret = json!({ "key": "SECRET", "value": "hunter22", "public": false, "masked": true });
    assert_eq!(found("SECRET"), secret);
    assert_eq!(found("CI_JOB_TOKEN")["value"], payload["token"]);
    assert_eq!(found("CI_PIPELINE_ID")["value"], pipeline.to_string());
    for one in payload["variables"].as_array().expect("variables") {
        assert!(one["value"].is_string() && one["public"].is_boolean(), "{one}");
    }
}

#[actix_web::test]
async fn a_job_of_a_merge_request_knows_it() {
    let app = TestApp::new();
    let text = "unit:\n  script: x\n  rules: [{if: $CI_MERGE_REQUEST_IID}]\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    mia.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    commit(&mia, project, "topic", "more", &format!("{text}# more\n")).await;
    let own = mia.get("/user").await.ok()["id"].clone();
    let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "t", "labels": "one,two", "assignee_id": own });
    mia.post(&format!("/projects/{project}/merge_requests"), new).await.created();

    let payload = runner.take().await;

    for (key, value) in [
        ("CI_MERGE_REQUEST_LABELS", "one,two"),
        ("CI_MERGE_REQUEST_ASSIGNEES", "mia"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", ""),
        ("CI_COMMIT_REF_NAME", "topic"),
    ] {
        let all = payload["variables"].as_array().expect("variables");
        let found = all.iter().rfind(|one| one["key"] == key);
        assert_eq!(found.map(|one| &one["value"]), Some(&json!(value)), "{key}");
    }
}

#[actix_web::test]
async fn a_piece_of_a_log_goes_where_the_log_ends() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, TWO).await;
    mia.post(
        &format!("/projects/{project}/variables"),
        json!({ "key": "S", "value": "hunter22", "masked": true }),
    )
    .await
    .created();
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);

    work.write(0, "say hunt").await.with(202);
    work.write(0, "say hunt").await.with(202);
    let gap = work.write(20, "x").await;
    assert_eq!((gap.status, gap.header("Range")), (416, Some("0-8")));
    assert_eq!(gap.body, json!({ "error": "416 Range Not Satisfiable" }));
    let path = format!("{}/trace", work.path);
    let bare = work.caller.send_bytes(Method::PATCH, &path, "text/plain", b"x").await;
    bare.refused(400, json!({ "error": "400 Missing header Content-Range" }));
    assert!(!log(&mia, project, &payload["id"]).await.contains("hunt"));
    work.write(8, "er22!").await.with(202);
    let more = json!({ "state": "success", "output": { "bytesize": 14 } });
    assert_eq!(work.report(more).await.status, 412, "something was lost");
    work.report(json!({ "state": "success", "output": { "bytesize": 13 } })).await.with(200);
    assert_eq!(log(&mia, project, &payload["id"]).await, "say xxxxxxxx!");
}

#[actix_web::test]
async fn a_token_is_worth_nothing_beside_its_running_job() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "one: {script: x}\ntwo: {script: x}\n").await;
    let (first, second) = (runner.take().await, runner.take().await);
    let work = Work::new(&app, &first);
    let plain = json!({ "message": "403 Forbidden" });

    let other = Work { path: format!("/jobs/{}", second["id"]), ..Work::new(&app, &first) };
    other.report(json!({ "state": "success" })).await.refused(403, plain.clone());
    assert_eq!(other.write(0, "x").await.status, 403);
    let unknown = Work { path: "/jobs/99999".to_owned(), ..Work::new(&app, &first) };
    unknown.report(json!({ "state": "success" })).await.refused(403, plain.clone());
    app.anonymous()
        .put(&work.path, json!({ "state": "success" }))
        .await
        .refused(403, plain.clone());
    app.anonymous()
        .put(&work.path, json!({ "state": "success", "token": runner.token }))
        .await
        .refused(403, plain);
    let path = format!("/projects/{project}/jobs/{}/cancel", first["id"]);
    work.write(0, "half").await.with(202);
    mia.post(&path, json!({})).await.created();

    let stopped = work.write(4, "x").await;
    assert_eq!((stopped.status, stopped.header("Job-Status")), (403, Some("canceled")));
    assert_eq!(stopped.body, json!({ "message": "403 Forbidden - Job is not running" }));
    let late = work.report(json!({ "state": "success" })).await;
    assert_eq!((late.status, late.header("Job-Status")), (403, Some("canceled")));
    assert_eq!(log(&mia, project, &first["id"]).await, "half");
    assert_eq!(work.report(json!({ "state": "odd" })).await.status, 403);
    let (anonymous, path) = (app.anonymous(), format!("/jobs/{}", second["id"]));
    let form = json!({ "state": "running", "token": second["token"] });
    anonymous.put(&path, form).await.with(200);
    assert_eq!(work.token, first["token"]);
}

#[actix_web::test]
async fn a_report_that_cannot_be_read_is_refused_with_how_the_job_is() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "one: {script: x}\n").await;
    let work = Work::new(&app, &runner.take().await);

    for (report, text) in [
        (json!({ "state": "odd" }), "state does not have a valid value"),
        (json!({}), "state is missing"),
        (json!({ "state": "failed", "exit_code": "x" }), "exit_code is invalid"),
        (json!({ "state": "success", "output": 4 }), "output is invalid"),
    ] {
        let told = work.report(report).await;
        assert_eq!((told.status, told.header("Job-Status")), (400, Some("running")));
        assert_eq!(told.body, json!({ "error": text }));
    }
    work.report(json!({ "state": "success" })).await.with(200);
    assert_eq!(job(&mia, project, "one").await["artifacts"], json!([]), "it wrote nothing");
}

#[actix_web::test]
async fn a_job_whose_project_is_deleted_is_stopped() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, "one: {script: x}\ntwo: {script: x}\n").await;
    let work = Work::new(&app, &runner.take().await);
    assert_eq!(app.admin().delete(&format!("/projects/{project}")).await.status, 202);

    let deleted = json!({ "message": "403 Forbidden - Project has been deleted!" });
    work.write(0, "x").await.refused(403, deleted.clone());
    work.report(json!({ "state": "success" })).await.refused(403, deleted);
    runner.ask(json!({})).await.with(204);
}

#[actix_web::test]
async fn runners_of_others_get_nothing() {
    let app = TestApp::new();
    let (project, mia, _) = set_up(&app, "job: {script: x, tags: [linux]}\n").await;
    let eve = app.person("eve");
    let elsewhere = app.project(&eve, "other", Visibility::Public);

    for (person, place, fields) in [
        (&eve, elsewhere, json!({ "tag_list": ["linux"] })),
        (&mia, project, json!({})),
        (&mia, project, json!({ "tag_list": ["linux"], "paused": true })),
    ] {
        Runner::of(person, place, fields).await.ask(json!({})).await.with(204);
    }
    let untagged = json!({ "tag_list": ["linux", "arm"], "run_untagged": false });
    let right = Runner::of(&mia, project, untagged).await;
    right.ask(json!({ "job_age": 60 })).await.with(204);
    app.clock.advance(Duration::seconds(61));
    assert_eq!(right.ask(json!({ "job_age": 60 })).await.created()["job_info"]["name"], "job");
    let nobody = app.anonymous();
    nobody
        .post("/jobs/request", json!({ "token": "x" }))
        .await
        .refused(403, json!({ "message": "403 Forbidden" }));
}

#[actix_web::test]
async fn a_protected_runner_keeps_to_protected_branches() {
    let app = TestApp::new();
    let (project, mia, _) = set_up(&app, "job: {script: x}\n").await;
    let text = "job: {script: x}\nother: {script: x}\n";
    let body = json!({ "branch": "topic", "start_branch": "main", "commit_message": "m",
        "actions": [{ "action": "update", "file_path": ".gitlab-ci.yml", "content": text }] });
    mia.post(&format!("/projects/{project}/repository/commits"), body).await.created();
    let guarded = Runner::of(&mia, project, json!({ "access_level": "ref_protected" })).await;

    assert_eq!(guarded.take().await["git_info"]["ref"], "main");
    guarded.ask(json!({})).await.with(204);
}

#[actix_web::test]
async fn runners_of_the_installation_take_turns_between_projects() {
    let app = TestApp::new();
    let two = "a: {script: x}\nb: {script: x}\n";
    let (one, _, _) = set_up(&app, two).await;
    let olga = app.person("olga");
    let other = app.project(&olga, "two", Visibility::Private);
    commit(&olga, other, "main", "jobs", two).await;
    let new = json!({ "runner_type": "instance_type" });
    let token = app.admin().post("/user/runners", new).await.created()["token"].clone();
    let shared = Runner { app: &app, token: token.as_str().expect("a token").to_owned() };

    let mut turns = Vec::new();
    for _ in 0..4 {
        turns.push(shared.take().await["job_info"]["project_id"].as_i64().expect("an id"));
    }

    assert_eq!(turns, [one.0, other.0, one.0, other.0]);
}

#[actix_web::test]
async fn a_failure_has_its_reason() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "job: {script: x}\n").await;

    let taken = runner.take().await;
    let failed = json!({ "state": "failed", "failure_reason": "made_up", "exit_code": 3 });
    let answer = Work::new(&app, &taken).report(failed).await;

    assert_eq!(answer.header("Job-Status"), Some("failed"));
    assert_eq!(job(&mia, project, "job").await["failure_reason"], "unknown_failure");
    runner.ask(json!({})).await.with(204);
    assert_eq!(pipelines(&mia, project, "").await[0]["status"], "failed");
}

#[actix_web::test]
async fn a_job_that_failed_is_tried_again_as_often_as_it_says() {
    let app = TestApp::new();
    let text = "job: {script: x, retry: {max: 1, when: runner_system_failure}}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let failed = json!({ "state": "failed", "failure_reason": "runner_system_failure" });

    let first = runner.take().await;
    Work::new(&app, &first).report(failed.clone()).await.with(200);
    let again = job(&mia, project, "job").await;
    assert_eq!((&again["status"], &again["user"]["username"]), (&json!("pending"), &json!("mia")));
    let second = runner.take().await;
    assert_ne!(second["id"], first["id"]);
    Work::new(&app, &second).report(failed).await.with(200);

    runner.ask(json!({})).await.with(204);
    assert_eq!(pipelines(&mia, project, "").await[0]["status"], "failed");
}

#[actix_web::test]
async fn logs_of_debugging_are_for_developers() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "job: {script: x}\n").await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    let path = format!("{}/trace?debug_trace=true", work.path);
    let caller = work.caller.sending("Content-Range", "0-3");
    caller.send_bytes(Method::PATCH, &path, "text/plain", b"env!").await.with(202);
    work.report(json!({ "state": "success" })).await.with(200);

    let shown = format!("/projects/{project}/jobs/{}/trace", payload["id"]);
    app.member(project, "gus", Guest).get(&shown).await.with(403);
    let dan = app.member(project, "dan", Developer);
    assert_eq!(log(&dan, project, &payload["id"]).await, "env!");
    app.person("eve").get(&shown).await.with(404);
    app.anonymous().get(&shown).await.with(401);
    assert_eq!(
        mia.get(&shown)
            .await
            .header("content-disposition")
            .map(|text| text.starts_with("infile; filename=")),
        Some(true)
    );
}

#[actix_web::test]
async fn a_log_that_is_too_long_ends_its_job() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "job: {script: x}\n").await;
    let work = Work::new(&app, &runner.take().await);

    let refused = work.write(100 << 20, "x").await;

    refused.refused(403, json!({ "error": "403 Forbidden" }));
    assert_eq!(job(&mia, project, "job").await["failure_reason"], "trace_size_exceeded");
}

#[actix_web::test]
async fn a_runner_that_waits_hears_of_a_new_job_without_asking_again() {
    let app = TestApp::new();
    let (project, mia, runner) =
        set_up(&app, "job: {script: x, rules: [{if: $GO}]}\nlater: {script: x, when: manual}\n")
            .await;
    let idle = runner.ask(json!({})).await;
    let cursor = idle.header("X-GitLab-Last-Update").expect("a cursor").to_owned();

    let waits = runner.ask(json!({ "last_update": cursor }));
    let makes = async {
        while app.state.bell.mailbox.waiting() == 0 {
            tokio::task::yield_now().await;
        }
        app.statements();
        tokio::task::yield_now().await;
        assert!(app.statements().is_empty(), "who waits asks nothing");
        let id = job(&mia, project, "later").await["id"].clone();
        mia.post(&format!("/projects/{project}/jobs/{id}/play"), json!({})).await.ok();
    };
    let (answer, ()) = futures_util::join!(waits, makes);

    assert_eq!(answer.created()["job_info"]["name"], "later");
    let changed = runner.ask(json!({ "last_update": cursor })).await;
    assert_ne!(changed.header("X-GitLab-Last-Update"), Some(cursor.as_str()));
}
