//! Reports that jobs bring: `crates/forge/src/runner/reports.rs`, `gateway/src/rest/ci/pipeline_contents.rs`.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
    ids::ProjectId,
};
use serde_json::{Value, json};
use time::Duration;

use super::program::{Runner, Work, set_up};
use crate::support::{
    Person, TestApp,
    ci::{job, pipelines},
};

fn gzip(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text.as_bytes()).expect("memory");
    packer.finish().expect("memory")
}

const JUNIT: &str = "?artifact_type=junit&artifact_format=gzip";
const DOTENV: &str = "?artifact_type=dotenv&artifact_format=gzip";

/// Takes the next job and brings this report; the answer is its payload.
async fn tested(runner: &Runner<'_>, xml: &str) -> Value {
    let payload = runner.take().await;
    let work = Work::new(runner.app, &payload);
    work.bring(JUNIT, "junit.xml.gz", &gzip(xml)).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    payload
}

async fn path(person: &Person<'_>, project: ProjectId) -> String {
    let id = pipelines(person, project, "").await[0]["id"].clone();
    format!("/projects/{project}/pipelines/{id}")
}

const TWO: &str = "<testsuite name='s'><testcase name='ok' classname='c' time='1.5'/>\
                   <testcase name='bad' time='0.5'><failure>no</failure></testcase></testsuite>";

#[actix_web::test]
async fn tests_are_told_by_job_and_counted() {
    let app = TestApp::new();
    let text = "unit: {script: x, parallel: 2}\nlint: {script: x}\nbroken: {script: x}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let path = path(&mia, project).await;
    let none = mia.get(&format!("{path}/test_report")).await.ok();
    assert_eq!((&none["total_count"], &none["test_suites"]), (&json!(0), &json!([])));
    let first = tested(&runner, TWO).await;
    tested(&runner, "<testsuite name='s'><testcase name='ok' classname='c' time='2'/></testsuite>")
        .await;
    tested(&runner, "<testsuite><testcase name='l'><skipped/></testcase></testsuite>").await;
    tested(&runner, "<testsuite>").await;

    let report = mia.get(&format!("{path}/test_report")).await.ok();

    assert_eq!(report["total_count"], 3);
    assert_eq!(report["total_time"], 4.0);
    let suites = report["test_suites"].as_array().expect("suites");
    let names: Vec<_> = suites.iter().map(|suite| suite["name"].clone()).collect();
    assert_eq!(names, ["unit", "lint", "broken"]);
    assert_eq!((&suites[0]["success_count"], &suites[0]["failed_count"]), (&json!(1), &json!(1)));
    let failed = json!({ "status": "failed", "name": "bad", "classname": null, "file": null,
        "execution_time": 0.5, "system_output": "no", "stack_trace": null, "recent_failures": null });
    assert_eq!(suites[0]["test_cases"][0], failed);
    assert_eq!(suites[0]["test_cases"][1]["execution_time"], 2.0);
    let error = suites[2]["suite_error"].as_str().expect("an error");
    assert!(error.starts_with("JUnit XML parsing failed: 1:"), "{error}");
    assert_eq!((&suites[2]["total_count"], &suites[2]["test_cases"]), (&json!(0), &json!([])));

    let summary = mia.get(&format!("{path}/test_report_summary")).await.ok();
    let total = json!({ "time": 4.0, "count": 4, "success": 2, "failed": 1, "skipped": 1, "error": 0,
        "suite_error": error });
    assert_eq!(summary["total"], total);
    let unit = &summary["test_suites"][0];
    assert_eq!((&unit["name"], &unit["total_count"]), (&json!("unit"), &json!(3)));
    assert_eq!(unit["build_ids"][0], first["id"]);
    assert_eq!(unit["build_ids"].as_array().map(Vec::len), Some(2));
}

#[actix_web::test]
async fn a_retried_job_tells_its_new_tests_alone() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "unit: {script: x}\n").await;
    let path = path(&mia, project).await;
    let first = tested(&runner, TWO).await;
    mia.post(&format!("/projects/{project}/jobs/{}/retry", first["id"]), json!({})).await.created();
    assert_eq!(mia.get(&format!("{path}/test_report")).await.ok()["total_count"], 0);

    tested(&runner, "<testsuite><testcase name='a'/></testsuite>").await;

    assert_eq!(mia.get(&format!("{path}/test_report")).await.ok()["total_count"], 1);
}

#[actix_web::test]
async fn a_report_that_expired_is_counted_and_not_told() {
    let app = TestApp::new();
    let text = "unit: {script: x}\nlast: {stage: deploy, script: x}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let path = path(&mia, project).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    let query = format!("{JUNIT}&expire_in=1%20day");
    work.bring(&query, "junit.xml.gz", &gzip(TWO)).await.with(201);
    work.bring(&query, "junit.xml.gz", &gzip(TWO)).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    assert_eq!(mia.get(&format!("{path}/test_report")).await.ok()["total_count"], 2);

    app.clock.advance(Duration::days(2));

    assert_eq!(mia.get(&format!("{path}/test_report")).await.ok()["total_count"], 0);
    let summary = mia.get(&format!("{path}/test_report_summary")).await.ok();
    assert_eq!(summary["total"]["count"], 2);
    app.recurring().await;
    let folder = app.state.data().join("artifacts");
    let left = std::fs::read_dir(folder.join(project.to_string()));
    let files =
        left.into_iter().flatten().flatten().flat_map(|pipeline| {
            std::fs::read_dir(pipeline.path()).into_iter().flatten().flatten()
        });
    let files = files.flat_map(|job| std::fs::read_dir(job.path()).into_iter().flatten());
    assert_eq!(files.count(), 0, "the tests go with their report");
}

#[actix_web::test]
async fn tests_are_told_to_whom_the_pipeline_is() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "unit: {script: x}\n").await;
    tested(&runner, TWO).await;
    let path = path(&mia, project).await;
    mia.put(&format!("/projects/{project}"), json!({ "public_builds": false })).await.ok();
    let (gus, rob) = (app.member(project, "gus", Guest), app.member(project, "rob", Reporter));

    for report in [format!("{path}/test_report"), format!("{path}/test_report_summary")] {
        gus.get(&report).await.with(403);
        rob.get(&report).await.ok();
        app.person("eve").get(&report).await.with(404);
        app.anonymous().get(&report).await.with(404);
    }
    mia.get(&format!("/projects/{project}/pipelines/999999/test_report")).await.with(404);
}

#[actix_web::test]
async fn tests_in_closed_artifacts_are_told_to_whom_these_are_open() {
    let app = TestApp::new();
    let text = "open: {script: x}\nclosed: {script: x, artifacts: {public: false}}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    tested(&runner, "<testsuite><testcase name='seen'/></testsuite>").await;
    let closed = tested(&runner, TWO).await["id"].clone();
    let path = path(&mia, project).await;
    let id = path.rsplit('/').next().expect("an id");
    let query = format!(
        r#"{{ project(fullPath: "olga/one") {{ pipelines {{ nodes {{ id testReportSummary {{ total {{ count }} }}
            testSuite(buildIds: ["gid://gitlab/Ci::Build/{closed}"]) {{ totalCount }} }} }} }} }}"#
    );
    let (rob, dan) = (app.member(project, "rob", Reporter), app.member(project, "dan", Developer));

    for (person, total, suite) in [(&rob, 1, Value::Null), (&dan, 3, json!({ "totalCount": 2 }))] {
        let report = person.get(&format!("{path}/test_report")).await.ok();
        assert_eq!(report["total_count"], total);
        let summary = person.get(&format!("{path}/test_report_summary")).await.ok();
        assert_eq!(summary["total"]["count"], total);
        let shown = person.post("//api/graphql", json!({ "query": query })).await.ok();
        let told = json!({ "id": format!("gid://gitlab/Ci::Pipeline/{id}"), "testSuite": suite,
            "testReportSummary": { "total": { "count": total } } });
        assert_eq!(shown["data"]["project"]["pipelines"]["nodes"], json!([told]));
    }
}

fn variable(payload: &Value, key: &str) -> Value {
    let all = payload["variables"].as_array().expect("variables");
    all.iter().rfind(|one| one["key"] == key).map_or(json!(null), |one| one["value"].clone())
}

#[actix_web::test]
async fn variables_are_handed_to_those_that_depend_on_a_job() {
    let app = TestApp::new();
    let text = "build: {script: x}\n\
        later: {stage: deploy, script: x, variables: {FROM: yaml, SEEN: '$FROM-$TO'}}\n\
        needs: {stage: deploy, script: x, needs: [build], environment: {name: e, url: 'https://$HOST'}}\n\
        apart: {stage: deploy, script: x, needs: [{job: build, artifacts: false}]}\n\
        none: {stage: deploy, script: x, dependencies: []}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let variables = format!("/projects/{project}/variables");
    mia.post(&variables, json!({ "key": "TO", "value": "project" })).await.created();
    let work = Work::new(&app, &runner.take().await);
    let text = "FROM=dotenv\nTO=dotenv\nHOST=h.test\nGITLAB_USER_LOGIN=me\n";
    work.bring(DOTENV, ".env.gz", &gzip(text)).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);

    let mut seen = Vec::new();
    for _ in 0..4 {
        let payload = runner.take().await;
        let name = payload["job_info"]["name"].as_str().expect("a name").to_owned();
        seen.push((name, variable(&payload, "FROM"), payload));
    }

    let of = |name: &str| &seen.iter().find(|(own, ..)| own == name).expect("taken").2;
    assert_eq!(variable(of("later"), "FROM"), "dotenv");
    assert_eq!(variable(of("later"), "SEEN"), "dotenv-project");
    assert_eq!(variable(of("later"), "TO"), "project");
    assert_eq!(variable(of("later"), "GITLAB_USER_LOGIN"), "me");
    assert_eq!(variable(of("needs"), "CI_ENVIRONMENT_URL"), "https://h.test");
    for name in ["apart", "none"] {
        assert_eq!(variable(of(name), "FROM"), json!(null), "{name}");
    }
    let all = of("needs")["variables"].as_array().expect("variables");
    let from = all.iter().find(|one| one["key"] == "FROM").expect("inherited");
    assert_eq!((&from["public"], &from["masked"]), (&json!(false), &json!(false)));
}

#[actix_web::test]
async fn variables_that_are_none_are_refused() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "build: {script: x}\n").await;
    let work = Work::new(&app, &runner.take().await);
    let many: String = (0..21).map(|number| format!("K{number}=1\n")).collect();
    for (text, sentence) in [
        ("no", "Invalid Format"),
        ("A=1\n\nB=2", "Invalid Format"),
        ("A-B=1", "Validation failed: Key can contain only letters, digits and '_'."),
        (many.as_str(), "Dotenv files cannot have more than 20 variables"),
        (
            &format!("A={}", "x".repeat(5_118)),
            "Dotenv Artifact Too Big. Maximum Allowable Size: 5120",
        ),
    ] {
        let refusal = json!({ "message": sentence });
        work.bring(DOTENV, ".env.gz", &gzip(text)).await.refused(400, refusal);
    }
    assert_eq!(job(&mia, project, "build").await["artifacts"], json!([]));
    work.bring(DOTENV, ".env.gz", &gzip("A=1")).await.with(201);
}

#[actix_web::test]
async fn a_bridge_passes_on_what_it_inherits() {
    let app = TestApp::new();
    let text = "build: {script: x}\n\
        down: {stage: deploy, variables: {LEVEL: '$VERSION'}, trigger: {include: [{local: child.yml}]}}\n";
    let (project, mia, runner) = set_up(&app, "later: {script: x, rules: [{if: $NEVER}]}\n").await;
    let file = json!({ "branch": "main", "commit_message": "child [skip ci]", "content": "unit: {script: x}" });
    mia.post(&format!("/projects/{project}/repository/files/child.yml"), file).await.created();
    crate::support::ci::commit(&mia, project, "main", "jobs", text).await;
    let work = Work::new(&app, &runner.take().await);
    work.bring(DOTENV, ".env.gz", &gzip("VERSION=1.2")).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    app.work().await;

    let child = runner.take().await;

    assert_eq!(child["job_info"]["name"], "unit");
    assert_eq!(variable(&child, "LEVEL"), "1.2");
}
