//! Runners that wait for jobs: `crates/forge/src/runner/{dispatch,begun}.rs`.

use std::{future::Future, pin::Pin, time::Duration as Wait};

use futures_util::{StreamExt as _, poll, stream::FuturesUnordered};
use kernel::ids::ProjectId;
use serde_json::{Value, json};
use time::Duration;

use super::program::{Runner, Work, set_up};
use crate::support::{
    Answer, Person, TestApp,
    ci::{commit, job, pipelines},
};

/// Nothing runs before somebody asks for a pipeline.
const ON_DEMAND: &str = "job: {script: x, rules: [{if: $CI_PIPELINE_SOURCE == 'api'}]}\n";

type PendingRequest<'a> = Pin<Box<dyn Future<Output = Answer> + 'a>>;

async fn pause() {
    tokio::time::sleep(Wait::from_millis(1)).await;
}

fn waiting(app: &TestApp) -> usize {
    app.state.bell.mailbox.waiting()
}

async fn cursor(runner: &Runner<'_>, system_id: &str) -> String {
    let idle = runner.ask(json!({ "system_id": system_id })).await;
    assert_eq!(idle.status, 204);
    idle.header("X-GitLab-Last-Update").expect("a cursor").to_owned()
}

/// Lets a runner wait.
async fn held<'a>(runner: &'a Runner<'_>, system_id: &str) -> PendingRequest<'a> {
    let cursor = cursor(runner, system_id).await;
    let more = json!({ "system_id": system_id, "last_update": cursor });
    let mut asking: PendingRequest<'a> = Box::pin(runner.ask(more));
    let before = waiting(runner.app);
    while waiting(runner.app) == before {
        assert!(poll!(&mut asking).is_pending(), "it waits");
        pause().await;
    }
    asking
}

async fn begin(person: &Person<'_>, project: ProjectId) {
    let new = json!({ "ref": "main" });
    person.post(&format!("/projects/{project}/pipeline"), new).await.created();
}

async fn soon(asking: impl Future<Output = Answer>) -> Answer {
    tokio::time::timeout(Wait::from_secs(20), asking).await.expect("no sweep is waited for")
}

#[actix_web::test]
async fn a_job_is_not_lost_wherever_its_runner_hangs_up() {
    let app = TestApp::new();
    let (project, mia, first) = set_up(&app, ON_DEMAND).await;
    let second = Runner::of(&mia, project, json!({})).await;
    let mut hung_up = 0;
    for steps in 0.. {
        let mut woken = held(&first, "a").await;
        let next = held(&second, "b").await;
        begin(&mia, project).await;
        while waiting(&app) == 2 {
            pause().await;
        }
        let mut told = None;
        for _ in 0..steps {
            if let std::task::Poll::Ready(answer) = poll!(&mut woken) {
                told = Some(answer);
                break;
            }
            pause().await;
        }
        if let Some(answer) = told {
            Work::new(&app, &answer.created())
                .report(json!({ "state": "success" }))
                .await
                .with(200);
            break;
        }
        drop(woken);
        hung_up += 1;
        let payload = soon(next).await.created();
        let mine = job(&mia, project, "job").await;
        assert_eq!((&mine["id"], &mine["status"]), (&payload["id"], &json!("running")), "{steps}");
        assert_eq!(mine["runner"]["id"], 2, "{steps}");
        Work::new(&app, &payload).report(json!({ "state": "success" })).await.with(200);
    }
    assert!(hung_up > 1, "it takes a while to hand a job over");
}

#[actix_web::test]
async fn runners_of_one_process_are_let_go_for_one_another() {
    let app = TestApp::new();
    let (project, mia, own) = set_up(&app, ON_DEMAND).await;
    let other = app.project(&mia, "other", kernel::Visibility::Private);
    let beside = Runner::of(&mia, other, json!({})).await;
    cursor(&own, "s_one").await;
    let held_beside = held(&beside, "s_one").await;

    begin(&mia, project).await;

    soon(held_beside).await.with(204);
    let shown = cursor(&beside, "s_one").await;
    let more = json!({ "system_id": "s_one", "last_update": shown });
    soon(beside.ask(more)).await.with(204);
    assert_eq!(waiting(&app), 0, "nobody is held while a job waits for the process");
    own.ask(json!({ "system_id": "s_one" })).await.created();
}

#[actix_web::test]
async fn two_programs_of_one_runner_get_a_job_each() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ON_DEMAND).await;
    let (first, second) = (held(&runner, "a").await, held(&runner, "b").await);

    begin(&mia, project).await;
    begin(&mia, project).await;

    let (first, second) = futures_util::join!(soon(first), soon(second));
    let (first, second) = (first.created(), second.created());
    assert_ne!(first["id"], second["id"]);
    let path = format!("/runners/{}/managers", 1);
    assert_eq!(mia.get(&path).await.each("system_id"), ["b", "a"]);
}

#[actix_web::test]
async fn a_job_whose_runner_vanishes_is_ended_and_its_token_with_it() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "job: {script: x, retry: 1}\n").await;
    let payload = runner.take().await;

    app.clock.advance(Duration::minutes(59));
    app.recurring().await;
    assert_eq!(job(&mia, project, "job").await["status"], "running");
    app.clock.advance(Duration::minutes(62));
    app.recurring().await;

    let late = Work::new(&app, &payload).report(json!({ "state": "success" })).await;
    assert_eq!((late.status, late.header("Job-Status")), (403, Some("failed")));
    let again = runner.take().await;
    assert_ne!(again["id"], payload["id"]);
    let work = Work::new(&app, &again);
    work.report(json!({ "state": "success" })).await.with(200);
    assert_eq!(pipelines(&mia, project, "").await[0]["status"], "success");
}

#[actix_web::test]
async fn the_name_of_a_machine_is_bounded() {
    let app = TestApp::new();
    let (_, _, runner) = set_up(&app, ON_DEMAND).await;
    let (long, fits) = ("s".repeat(65), "s".repeat(64));
    let told = json!({ "message": { "system_id": ["is too long (maximum is 64 characters)"] } });

    for info in [json!({ "version": "18" }), Value::Null] {
        let body = json!({ "system_id": long, "token": runner.token, "info": info });
        for path in ["/jobs/request", "/runners/verify"] {
            let nobody = app.anonymous();
            nobody.post(path, body.clone()).await.refused(400, told.clone());
        }
    }
    runner.ask(json!({ "system_id": fits })).await.with(204);
    let body = json!({ "system_id": long, "token": "glrt-none" });
    app.anonymous().post("/jobs/request", body).await.with(403);
}

#[actix_web::test]
async fn a_hundred_runners_that_wait_ask_the_database_nothing() {
    let app = TestApp::new();
    let (project, mia, first) = set_up(&app, ON_DEMAND).await;
    let mut runners = vec![first];
    for _ in 1..100 {
        runners.push(Runner::of(&mia, project, json!({})).await);
    }
    let mut all = FuturesUnordered::new();
    for (number, runner) in runners.iter().enumerate() {
        all.push(held(runner, &format!("s_{number}")).await);
    }
    assert_eq!(waiting(&app), 100);

    app.statements();
    let idle = tokio::time::timeout(Wait::from_millis(200), all.next()).await;
    assert!(idle.is_err(), "nobody is answered");
    assert_eq!(app.statements(), Vec::<String>::new());
    begin(&mia, project).await;

    let payload = soon(async { all.next().await.expect("an answer") }).await.created();
    assert_eq!(payload["job_info"]["name"], "job");
    assert_eq!((waiting(&app), all.len()), (99, 99), "only one of them woke");
}

#[actix_web::test]
async fn a_runner_that_asks_again_with_its_cursor_asks_the_database_nothing() {
    let app = TestApp::new();
    let (_, mia, runner) = set_up(&app, ON_DEMAND).await;
    let cursor = cursor(&runner, "a").await;
    let ask = || Box::pin(runner.ask(json!({ "system_id": "a", "last_update": cursor })));
    for _ in 0..3 {
        app.statements();
        let mut asking = ask();
        while waiting(&app) == 0 {
            assert!(poll!(&mut asking).is_pending());
            pause().await;
        }
        assert_eq!(app.statements(), Vec::<String>::new());
    }
    let mut asking = ask();
    assert!(poll!(&mut asking).is_pending());

    mia.delete("/runners/1").await.with(204);

    soon(asking).await.refused(403, json!({ "message": "403 Forbidden" }));
}

#[actix_web::test]
async fn the_runner_that_had_nothing_to_do_for_longest_is_given_the_job() {
    let app = TestApp::new();
    let (project, mia, busy) = set_up(&app, ON_DEMAND).await;
    let idle = Runner::of(&mia, project, json!({})).await;
    cursor(&idle, "b").await;
    begin(&mia, project).await;
    busy.ask(json!({ "system_id": "a" })).await.created();
    let _waits = held(&busy, "a").await;
    let next = held(&idle, "b").await;

    commit(&mia, project, "main", "same", &format!("{ON_DEMAND}# same\n")).await;
    begin(&mia, project).await;

    soon(next).await.created();
    assert_eq!(waiting(&app), 1);
}
