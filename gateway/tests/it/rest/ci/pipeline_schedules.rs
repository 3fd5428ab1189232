//! Pipeline schedules: `gateway/src/rest/ci/pipeline_schedules.rs` and `pipeline_schedule_variables.rs`.

use ci::schedule::{ScheduleStore as _, runs};
use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility,
    ids::{PipelineScheduleId, ProjectId},
};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Person, TestApp, ci::commit};

/// A project of olga's, and where its schedules are.
fn set_up(app: &TestApp) -> (ProjectId, String) {
    let project = app.project(&app.person("olga"), "one", Visibility::Private);
    (project, format!("/projects/{project}/pipeline_schedules"))
}

fn nightly() -> Value {
    json!({ "description": "nightly", "ref": "main", "cron": "0 4 * * *", "cron_timezone": "Berlin" })
}

async fn made(person: &Person<'_>, path: &str) -> i64 {
    person.post(path, nightly()).await.created()["id"].as_i64().expect("an id")
}

#[actix_web::test]
async fn a_schedule_is_kept_with_its_next_run() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let dan = app.member(project, "dan", Developer);

    let schedule = dan.post(&path, nightly()).await.created();

    // The clock of the test stands at the beginning of a year.
    assert_eq!(schedule["next_run_at"], "2026-01-01T03:00:00.000Z");
    assert_eq!((&schedule["active"], &schedule["last_pipeline"]), (&json!(true), &Value::Null));
    assert_eq!(schedule["owner"]["username"], "dan");
    let one = format!("{path}/{}", schedule["id"]);
    let shown = dan.get(&one).await.ok();
    assert_eq!(shown["variables"], json!([]));
    let mut listed = schedule.clone();
    listed.as_object_mut().expect("a record").remove("last_pipeline");
    assert_eq!(dan.get(&path).await.ok(), json!([listed]));
    assert_eq!(dan.get(&format!("{path}?scope=inactive")).await.ok(), json!([]));
    let told = json!({ "error": "scope does not have a valid value" });
    dan.get(&format!("{path}?scope=x")).await.refused(400, told);
    assert_eq!(dan.get(&format!("{one}/pipelines")).await.ok(), json!([]));
    let told = json!({ "message": "404 Pipeline Schedule Not Found" });
    dan.get(&format!("{path}/999")).await.refused(404, told);
}

#[actix_web::test]
async fn what_cannot_be_a_schedule_is_told_by_field() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let dan = app.member(project, "dan", Developer);
    let wrong = [" is invalid syntax"];
    let untimely = json!({ "message": { "cron": wrong, "cron_timezone": wrong } });
    for (field, value, told) in [
        ("cron", "0 0 31 2 *", untimely.clone()),
        ("cron", "x", untimely.clone()),
        ("cron_timezone", "Nowhere", untimely),
        ("description", "", json!({ "message": { "description": ["can't be blank"] } })),
        ("ref", " ", json!({ "error": "ref is empty" })),
    ] {
        let mut new = nightly();
        new[field] = json!(value);
        dan.post(&path, new).await.refused(400, told);
    }
    let told = json!({ "error": "description is missing, ref is missing, cron is missing" });
    dan.post(&path, json!({})).await.refused(400, told);
    let one = format!("{path}/{}", made(&dan, &path).await);
    let told = json!({ "message": { "ref": ["can't be blank"] } });
    dan.put(&one, json!({ "ref": "" })).await.refused(400, told);
    for _ in 1..10 {
        made(&dan, &path).await;
    }
    let told =
        json!({ "message": { "base": ["Maximum number of ci pipeline schedules (10) exceeded"] } });
    dan.post(&path, nightly()).await.refused(400, told);
}

#[actix_web::test]
async fn only_its_owner_changes_a_schedule() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let (dan, eva) = (app.member(project, "dan", Developer), app.member(project, "eva", Developer));
    let (mia, rob) = (app.member(project, "mia", Maintainer), app.member(project, "rob", Reporter));
    let one = format!("{path}/{}", made(&dan, &path).await);
    let change = json!({ "description": "weekly", "cron": "0 0 * * 0" });

    for person in [&eva, &mia, &rob] {
        person.put(&one, change.clone()).await.with(403);
    }
    eva.post(&format!("{one}/take_ownership"), json!({})).await.with(403);
    eva.delete(&one).await.with(403);
    assert_eq!(rob.get(&one).await.ok().get("variables"), None);
    let mine = mia.post(&format!("{one}/take_ownership"), json!({})).await.created();
    assert_eq!(mine["owner"]["username"], "mia");
    let changed = mia.put(&one, change).await.ok();
    assert_eq!(changed["next_run_at"], "2026-01-03T23:00:00.000Z");
    dan.put(&one, json!({})).await.with(403);
    assert_eq!(app.admin().put(&one, json!({ "active": false })).await.ok()["active"], false);
    mia.delete(&one).await.with(204);
    mia.get(&one).await.with(404);
}

#[actix_web::test]
async fn its_variables_are_sealed_and_for_its_keepers_alone() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let (dan, eva) = (app.member(project, "dan", Developer), app.member(project, "eva", Developer));
    let mia = app.member(project, "mia", Maintainer);
    let id = made(&dan, &path).await;
    let (one, all) = (format!("{path}/{id}"), format!("{path}/{id}/variables"));

    let new = json!({ "key": "KEY", "value": "clear text", "variable_type": "file" });
    let variable = dan.post(&all, new.clone()).await.created();

    let wanted =
        json!({ "variable_type": "file", "key": "KEY", "value": "clear text", "raw": false });
    assert_eq!(variable, wanted);
    let rows = app.write(move |tx| tx.schedule_variables(PipelineScheduleId(id)));
    assert!(!format!("{rows:?}").contains("clear"));
    let told = json!({ "message": { "key": ["has already been taken"] } });
    dan.post(&all, new.clone()).await.refused(400, told);
    mia.post(&all, new).await.with(403);
    assert_eq!(mia.get(&one).await.ok()["variables"], json!([variable]));
    assert_eq!(mia.get(&format!("{all}/KEY")).await.ok(), variable);
    eva.get(&format!("{all}/KEY")).await.with(403);
    let changed = dan.put(&format!("{all}/KEY"), json!({ "value": "other" })).await.ok();
    assert_eq!((&changed["value"], &changed["variable_type"]), (&json!("other"), &json!("file")));
    assert_eq!(dan.delete(&format!("{all}/KEY")).await.with(202), changed);
    let told = json!({ "message": "404 Pipeline Schedule Variable Not Found" });
    dan.get(&format!("{all}/KEY")).await.refused(404, told);
}

/// Queues the runs that are due.
fn queue_due(app: &TestApp) {
    app.write(|tx| {
        let due = runs::due_runs(tx)?;
        runs::queue_runs(tx, &due)
    });
}

/// The runs that wait, by schedule.
fn queued(app: &TestApp) -> Vec<Value> {
    let queued =
        app.queued().into_iter().map(|text| serde_json::from_str(&text).expect("a payload"));
    queued.filter(|payload: &Value| payload["schedule"].is_i64()).collect()
}

#[actix_web::test]
async fn a_run_that_is_due_is_claimed_once() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let dan = app.member(project, "dan", Developer);
    let (id, resting) = (made(&dan, &path).await, made(&dan, &path).await);
    dan.put(&format!("{path}/{resting}"), json!({ "active": false })).await.ok();
    queue_due(&app);
    assert_eq!(queued(&app).len(), 0, "it is not due yet");

    // Two days on which nobody was there.
    app.clock.advance(Duration::days(2));
    for _ in 0..2 {
        queue_due(&app);
    }

    let queued = queued(&app);
    assert_eq!((queued.len(), &queued[0]["schedule"]), (1, &json!(id)));
    let next = dan.get(&format!("{path}/{id}")).await.ok()["next_run_at"].clone();
    assert_eq!(next, "2026-01-03T03:00:00.000Z");
    let seen = app.write(move |tx| tx.schedule(project, PipelineScheduleId(id)));
    let stale = ci::schedule::Schedule { next_run_at: None, ..seen };
    assert!(!app.write(move |tx| tx.advance_schedule(&stale, None)), "another server was faster");
}

#[actix_web::test]
async fn a_schedule_is_played_once_a_minute() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let dan = app.member(project, "dan", Developer);
    let eva = app.member(project, "eva", Developer);
    let play = format!("{path}/{}/play", made(&dan, &path).await);

    let answer = eva.post(&play, json!({})).await;

    answer.refused(201, json!({ "message": "201 Created" }));
    assert_eq!(queued(&app)[0]["by"], app.user("eva").id.0);
    assert_eq!(eva.post(&play, json!({})).await.status, 429);
    let protected = json!({ "name": "main", "push_access_level": 40, "merge_access_level": 40 });
    let branches = format!("/projects/{project}/protected_branches");
    app.person("olga").post(&branches, protected).await.created();
    dan.post(&play, json!({})).await.refused(403, json!({ "message": "403 Forbidden" }));
}

#[actix_web::test]
async fn a_due_schedule_makes_a_pipeline_of_its_owner() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let mia = app.member(project, "mia", Maintainer);
    let text = "told: {script: x, rules: [{if: $KEY == \"yes\"}]}\n";
    commit(&mia, project, "main", "jobs", text).await;
    let one = format!("{path}/{}", made(&mia, &path).await);
    let new = json!({ "key": "KEY", "value": "yes" });
    mia.post(&format!("{one}/variables"), new).await.created();
    app.clock.advance(Duration::days(1));

    app.recurring().await;

    let last = mia.get(&one).await.ok()["last_pipeline"].clone();
    assert_eq!((&last["source"], &last["ref"]), (&json!("schedule"), &json!("main")));
    assert_eq!(mia.get(&format!("{one}/pipelines")).await.each("id"), [last["id"].clone()]);
    app.block("mia");
    app.clock.advance(Duration::days(1));
    app.recurring().await;
    let olga = app.person("olga");
    assert_eq!(olga.get(&format!("{one}/pipelines")).await.each("id").len(), 1);
    assert_eq!(olga.get(&one).await.ok()["active"], true);
}

#[actix_web::test]
async fn each_run_makes_one_pipeline_and_one_that_is_repeated_no_second() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let mia = app.member(project, "mia", Maintainer);
    commit(&mia, project, "main", "jobs", "a: {script: x}\n").await;
    let id = made(&mia, &path).await;
    let seen = || app.queued().into_iter().find(|text| text.contains("\"run\""));

    // Two runs of one moment: one that was due, and one that its owner started before that was done.
    app.clock.advance(Duration::days(1));
    queue_due(&app);
    mia.post(&format!("{path}/{id}/play"), json!({})).await.with(201);
    let text = seen().expect("a run waits");
    app.work().await;
    let of_schedule = format!("{path}/{id}/pipelines");
    assert_eq!(mia.get(&of_schedule).await.each("id").len(), 2);

    let again: runs::RunSchedule = serde_json::from_str(&text).expect("a run");
    app.write(move |tx| worker::Queue::enqueue(tx, &again));
    app.work().await;

    assert_eq!(
        mia.get(&of_schedule).await.each("id").len(),
        2,
        "the server ended before it could say so"
    );
}

#[actix_web::test]
async fn variables_of_a_schedule_are_checked_when_they_are_written_and_not_when_it_runs() {
    let app = TestApp::new();
    let (project, path) = set_up(&app);
    let (dan, mia) =
        (app.member(project, "dan", Developer), app.member(project, "mia", Maintainer));
    commit(&mia, project, "main", "jobs", "a: {script: x}\n").await;
    let branches = format!("/projects/{project}/protected_branches/main");
    mia.delete(&branches).await;
    let one = format!("{path}/{}", made(&dan, &path).await);
    let (all, key) = (format!("{one}/variables"), format!("{one}/variables/KEY"));
    dan.post(&all, json!({ "key": "KEY", "value": "a" })).await.created();

    let restricted = json!({ "restrict_user_defined_variables": true });
    mia.put(&format!("/projects/{project}"), restricted).await.ok();

    dan.post(&all, json!({ "key": "OTHER", "value": "a" })).await.with(403);
    dan.put(&key, json!({ "value": "b" })).await.with(403);
    app.clock.advance(Duration::days(1));
    app.recurring().await;
    assert_eq!(dan.get(&format!("{one}/pipelines")).await.each("source"), ["schedule"]);
    mia.post(&format!("{one}/take_ownership"), json!({})).await.created();
    mia.put(&key, json!({ "value": "b" })).await.ok();
}
