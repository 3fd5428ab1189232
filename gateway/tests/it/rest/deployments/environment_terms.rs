//! What jobs say of their environments: the address, and how long these stay. `crates/forge/src/deployment/jobs.rs`.

use std::io::Write as _;

use ci::job::queue::give_back;
use flate2::{Compression, write::GzEncoder};
use kernel::ids::{JobId, ProjectId};
use serde_json::{Value, json};
use time::Duration;

use crate::{
    rest::runners::program::{Runner, Work, set_up},
    support::{Person, TestApp},
};

async fn environment(person: &Person<'_>, project: ProjectId, name: &str) -> Value {
    let path = format!("/projects/{project}/environments?name={name}");
    person.get(&path).await.ok()[0].clone()
}

/// The next job is done.
async fn done(runner: &Runner<'_>) {
    let payload = runner.take().await;
    Work::new(runner.app, &payload).report(json!({ "state": "success" })).await.with(200);
}

#[actix_web::test]
async fn how_long_an_environment_stays_may_be_a_variable() {
    let app = TestApp::new();
    let text = "variables: {TTL: 2 days}\n\
                a: {script: x, stage: build, environment: {name: review/a, auto_stop_in: $TTL}}\n\
                b: {script: x, stage: test, environment: {name: review/a, auto_stop_in: never}}\n\
                c: {script: x, stage: deploy, environment: {name: review/b, auto_stop_in: $NOBODY_KNOWS}}\n";
    let (project, mia, runner) = set_up(&app, text).await;

    done(&runner).await;
    let timed = environment(&mia, project, "review/a").await;
    assert_eq!(timed["auto_stop_at"], "2026-01-03T00:00:00.000Z");

    done(&runner).await;
    assert_eq!(environment(&mia, project, "review/a").await["auto_stop_at"], Value::Null);
    done(&runner).await;
    assert_eq!(environment(&mia, project, "review/b").await["auto_stop_at"], Value::Null);
}

#[actix_web::test]
async fn who_prepares_or_uses_an_environment_keeps_it_and_who_verifies_it_does_not() {
    let app = TestApp::new();
    let text = "stages: [s1, s2, s3, s4]\nvariables: {TTL: 1 day}\n\
                a: {script: x, stage: s1, environment: {name: review/a, auto_stop_in: 1 day}}\n\
                b: {script: x, stage: s2, environment: {name: review/a, action: access, auto_stop_in: $TTL}}\n\
                c: {script: x, stage: s3, environment: {name: review/a, action: prepare, auto_stop_in: 1 day}}\n\
                d: {script: x, stage: s4, environment: {name: review/a, action: verify, auto_stop_in: 1 day}}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let mut moments = Vec::new();

    for _ in 0..4 {
        done(&runner).await;
        moments.push(environment(&mia, project, "review/a").await["auto_stop_at"].clone());
        app.clock.advance(Duration::hours(1));
    }

    let hours = ["00", "01", "02", "02"].map(|hour| json!(format!("2026-01-02T{hour}:00:00.000Z")));
    assert_eq!(moments, hours);
    let deployments = mia.get(&format!("/projects/{project}/deployments")).await;
    assert_eq!(deployments.each("iid"), [1]);
}

#[actix_web::test]
async fn the_address_may_be_what_the_script_found_out() {
    let app = TestApp::new();
    let text = "deploy: {script: x, environment: {name: review/a, url: 'https://$HOST/$CI_JOB_NAME'}, \
                artifacts: {reports: {dotenv: d.env}}}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(b"HOST=a1.example.com\n").expect("memory");
    let query = "?artifact_type=dotenv&artifact_format=gzip";
    work.bring(query, "d.env.gz", &packer.finish().expect("memory")).await.with(201);

    work.report(json!({ "state": "success" })).await.with(200);

    let there = environment(&mia, project, "review/a").await;
    assert_eq!(there["external_url"], "https://a1.example.com/deploy");
}

#[actix_web::test]
async fn a_deployment_waits_again_whose_runner_hung_up() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "deploy: {script: x, environment: review/a}\n").await;
    let status = async || {
        let listed = mia.get(&format!("/projects/{project}/deployments")).await.ok();
        listed[0]["status"].clone()
    };
    let id = runner.take().await["id"].as_i64().expect("an id");
    assert_eq!(status().await, "running");

    app.write(move |tx| give_back(tx, JobId(id)));

    assert_eq!(status().await, "created");
    done(&runner).await;
    assert_eq!(status().await, "success");
}
