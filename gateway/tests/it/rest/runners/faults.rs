//! What happens when a runner, a clock or a disk is not as it should be.

use ci::log::LogKey;
use kernel::ids::{JobId, PipelineId, ProjectId};
use serde_json::{Value, json};
use time::Duration;

use super::program::{Runner, Work, set_up};
use crate::support::{
    Person, TestApp,
    ci::{commit, job, pipelines},
};

const ONE: &str = "job: {script: x}\n";

async fn log(person: &Person<'_>, project: ProjectId, id: &Value) -> String {
    let shown = person.get(&format!("/projects/{project}/jobs/{id}/trace")).await;
    String::from_utf8(shown.bytes).expect("text")
}

#[actix_web::test]
async fn a_clock_that_is_set_back_disturbs_no_job() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    work.write(0, "one ").await.with(202);

    app.clock.advance(Duration::hours(-3));
    app.recurring().await;
    work.write(4, "two").await.with(202);
    work.report(json!({ "state": "running" })).await.with(200);
    runner.ask(json!({})).await.with(204);
    work.report(json!({ "state": "success", "output": { "bytesize": 7 } })).await.with(200);

    let shown = job(&mia, project, "job").await;
    assert_eq!((&shown["status"], &shown["duration"]), (&json!("success"), &json!(0.0)));
    assert_eq!(log(&mia, project, &payload["id"]).await, "one two");
}

#[actix_web::test]
async fn a_runner_whose_clock_is_wrong_is_judged_by_the_servers() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let work = Work::new(&app, &runner.take().await);
    let line = "section_start:4102444800:step\r\u{1b}[0Kin the year 2100\n";
    let caller = work.caller.sending("Date", "Fri, 01 Jan 2100 00:00:00 GMT");
    let caller = caller.sending("Content-Range", "0-1");
    let path = format!("{}/trace", work.path);
    caller
        .send_bytes(actix_web::http::Method::PATCH, &path, "text/plain", line.as_bytes())
        .await
        .with(202);

    app.clock.advance(Duration::seconds(5));
    work.report(json!({ "state": "success" })).await.with(200);

    let shown = job(&mia, project, "job").await;
    assert_eq!(shown["status"], "success");
    let duration = shown["duration"].as_f64().expect("seconds");
    assert!((5.0..6.0).contains(&duration), "{duration}");
}

#[actix_web::test]
async fn a_log_for_which_the_disk_has_no_room_goes_on_when_it_has() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let number = |value: &Value| value.as_i64().expect("a number");
    let pipeline = PipelineId(number(&pipelines(&mia, project, "").await[0]["id"]));
    let place = LogKey { project, pipeline, job: JobId(number(&payload["id"])) };
    let file = app.state.logs.path(place);
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    std::os::unix::fs::symlink("/dev/full", &file).expect("a link");
    let work = Work::new(&app, &payload);

    let refusal = json!({ "message": "507 Insufficient Storage" });
    work.write(0, "hello\n").await.refused(507, refusal.clone());
    work.write(0, "hello\n").await.refused(507, refusal);
    assert_eq!(job(&mia, project, "job").await["status"], "running");
    std::fs::remove_file(&file).expect("it goes");
    work.write(0, "hello\n").await.with(202);
    work.report(json!({ "state": "success", "output": { "bytesize": 6 } })).await.with(200);

    assert_eq!(log(&mia, project, &payload["id"]).await, "hello\n");
}

#[actix_web::test]
async fn a_runner_that_cannot_do_a_job_does_not_get_it() {
    let app = TestApp::new();
    let text = "job:\n  script: x\n  artifacts: {reports: {junit: r.xml}}\nrelease:\n  script: x\n  release: {tag_name: v1, description: d}\n";
    let (project, mia, runner) = set_up(&app, text).await;

    runner.ask(json!({ "info": { "features": { "refspecs": true } } })).await.with(204);

    for name in ["job", "release"] {
        let failed = job(&mia, project, name).await;
        assert_eq!(failed["failure_reason"], "runner_unsupported", "{name}");
    }
    assert_eq!(pipelines(&mia, project, "").await[0]["status"], "failed");
}

#[actix_web::test]
async fn a_job_of_somebody_who_is_blocked_fails_before_it_is_handed_over() {
    let app = TestApp::new();
    let (project, _, runner) = set_up(&app, ONE).await;
    let olga = app.person("olga");
    app.block("mia");

    runner.ask(json!({})).await.with(204);

    assert_eq!(job(&olga, project, "job").await["failure_reason"], "user_blocked");
}

#[actix_web::test]
async fn a_release_is_a_step_between_the_script_and_what_comes_after() {
    let app = TestApp::new();
    let text = "job:\n  script: a\n  after_script: [z]\n  release: {tag_name: v$CI_PIPELINE_IID, description: new}\n";
    let (_, _, runner) = set_up(&app, text).await;
    let able = json!({ "features": { "refspecs": true, "multi_build_steps": true } });

    let payload = runner.ask(json!({ "info": able })).await.created();

    let command = "release-cli create --description \"new\" --tag-name \"v$CI_PIPELINE_IID\"";
    let steps = payload["steps"].as_array().expect("steps");
    let names: Vec<&Value> = steps.iter().map(|step| &step["name"]).collect();
    assert_eq!(names, ["script", "release", "after_script"]);
    assert_eq!(steps[1]["script"], json!([command]));
    assert_eq!(
        (&steps[1]["when"], &steps[1]["allow_failure"]),
        (&json!("on_success"), &json!(false))
    );
}

#[actix_web::test]
async fn a_project_that_is_archived_or_without_pipelines_keeps_its_jobs_waiting() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let olga = app.person("olga");
    let path = format!("/projects/{project}");

    olga.post(&format!("{path}/archive"), json!({})).await.created();
    runner.ask(json!({})).await.with(204);
    olga.post(&format!("{path}/unarchive"), json!({})).await.created();
    olga.put(&path, json!({ "builds_access_level": "disabled" })).await.ok();
    runner.ask(json!({})).await.with(204);
    olga.put(&path, json!({ "builds_access_level": "enabled" })).await.ok();

    assert_eq!(runner.take().await["job_info"]["name"], "job");
    commit(&mia, project, "main", "again", "job: {script: y}\n").await;
    let paused = json!({ "paused": true });
    mia.put("/runners/1", paused).await.ok();
    runner.ask(json!({})).await.with(204);
}

#[actix_web::test]
async fn a_group_runner_does_the_jobs_below_its_group_alone() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let group = olga.group_with("home", json!({})).await;
    let new = json!({ "name": "inside", "namespace_id": group });
    let inside = olga.post("/projects", new).await.created()["id"].as_i64().expect("an id");
    let inside = ProjectId(inside);
    let new = json!({ "runner_type": "group_type", "group_id": group });
    let token = olga.post("/user/runners", new).await.created()["token"].clone();
    let runner = Runner { app: &app, token: token.as_str().expect("a token").to_owned() };
    let outside = app.project(&olga, "outside", kernel::Visibility::Private);
    commit(&olga, outside, "main", "jobs", ONE).await;

    runner.ask(json!({})).await.with(204);
    commit(&olga, inside, "main", "jobs", ONE).await;
    let path = format!("/projects/{inside}");
    olga.put(&path, json!({ "group_runners_enabled": false })).await.ok();
    runner.ask(json!({})).await.with(204);
    olga.put(&path, json!({ "group_runners_enabled": true })).await.ok();

    assert_eq!(runner.take().await["job_info"]["project_id"], inside.0);
}
