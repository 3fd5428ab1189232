//! Pipelines and jobs in archives of projects: `crates/ci/src/archive`, `crates/forge/src/archive/pipelines.rs`.

use std::io::Write as _;

use ci::job::End;
use flate2::{Compression, write::GzEncoder};
use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_contents::plain,
    archive_failures::with_fields,
    archives::{count_nothing, exported, imported},
};
use crate::{
    rest::runners::program::{Runner, Work, set_up},
    support::{
        Person, TestApp,
        ci::{commit, finish, job, pipelines, run},
    },
};

const TEXT: &str = "stages: [build, test, deploy]\n\
                    make: {stage: build, script: x, tags: [linux]}\n\
                    unit: {stage: test, script: x, retry: 1, needs: [make]}\n\
                    down: {stage: test, trigger: {include: [{local: child.yml}]}}\n\
                    ship: {stage: deploy, script: x, when: manual, resource_group: prod}\n";
/// What tells a pipeline or job of a copy from that of its source, beside what tells all rows from one another.
const OWN: [&str; 3] = ["details_path", "pipeline_id", "build_ids"];

fn bare(value: &Value) -> Value {
    match value {
        Value::Array(all) => all.iter().map(bare).collect(),
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
            kept.map(|(name, value)| (name.clone(), bare(value))).collect()
        }
        other => other.clone(),
    }
}

pub(super) async fn shown(person: &Person<'_>, path: &str) -> (String, Value) {
    let part = path.split('/').skip(3).filter(|part| part.parse::<i64>().is_err());
    (part.collect::<Vec<_>>().join("/"), bare(&plain(&person.get(path).await.ok())))
}

/// Everything that is told of what ran in a project.
async fn snapshot(person: &Person<'_>, project: &Value) -> Vec<(String, Value)> {
    let base = format!("/projects/{project}");
    let mut ids = person.get(&format!("{base}/pipelines?sort=asc")).await.each("id");
    ids.extend(person.get(&format!("{base}/pipelines?source=parent_pipeline")).await.each("id"));
    let mut all = Vec::new();
    for list in
        ["jobs?per_page=100", "resource_groups", "repository/commits/main/statuses?all=true"]
    {
        all.push(shown(person, &format!("{base}/{list}")).await);
    }
    for id in ids {
        let path = format!("{base}/pipelines/{id}");
        for part in ["", "/jobs?include_retried=true", "/bridges", "/test_report_summary"] {
            all.push(shown(person, &format!("{path}{part}")).await);
        }
    }
    all
}

/// A project with pipelines that have ended: one with a child, one that was canceled and one that was skipped.
async fn worked(app: &TestApp) -> (Person<'_>, ProjectId) {
    count_nothing(app).await;
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let base = format!("/projects/{project}");
    let child = json!({ "branch": "main", "commit_message": "child [skip ci]",
                        "content": "kid: {script: x}" });
    ada.post(&format!("{base}/repository/files/child.yml"), child).await.created();
    let sha = commit(&ada, project, "main", "first", TEXT).await;
    run(app, &ada, project, "make").await;
    app.clock.advance(Duration::seconds(30));
    finish(app, &ada, project, "make", End::Success).await;
    app.work().await;
    for end in [End::failed("script_failure"), End::Success] {
        run(app, &ada, project, "unit").await;
        finish(app, &ada, project, "unit", end).await;
    }
    run(app, &ada, project, "kid").await;
    finish(app, &ada, project, "kid", End::Success).await;
    let status = json!({ "state": "success", "name": "outside", "coverage": 81.5,
                         "target_url": "https://ci.example.com/7", "description": "All well" });
    ada.post(&format!("{base}/statuses/{sha}"), status).await.created();
    let new = json!({ "ref": "main", "variables": [{ "key": "LEVEL", "value": "t0p-secret" }] });
    let last = ada.post(&format!("{base}/pipeline"), new).await.created()["id"].clone();
    let name = json!({ "name": "Nightly" });
    ada.put(&format!("{base}/pipelines/{last}/metadata"), name).await.ok();
    ada.post(&format!("{base}/pipelines/{last}/cancel"), json!({})).await.ok();
    (ada, project)
}

fn id_of(done: &Value) -> ProjectId {
    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    ProjectId(done["id"].as_i64().expect("an id"))
}

#[actix_web::test]
async fn what_ran_comes_back_equal() {
    let app = TestApp::new();
    let (ada, project) = worked(&app).await;
    let before = snapshot(&ada, &json!(project)).await;

    let copy = id_of(&imported(&ada, &exported(&ada, &json!(project)).await, "copy").await);

    let after = snapshot(&ada, &json!(copy)).await;
    assert_eq!(after.len(), 3 + 4 * 4, "of four pipelines");
    for (copied, original) in after.iter().zip(&before) {
        assert_eq!(copied, original);
    }
    let base = format!("/projects/{copy}");
    let parent = &pipelines(&ada, copy, "?source=push").await[0];
    let bridges = ada.get(&format!("{base}/pipelines/{}/bridges", parent["id"])).await.ok();
    let child = &pipelines(&ada, copy, "?source=parent_pipeline").await[0];
    assert_eq!(bridges[0]["downstream_pipeline"]["id"], child["id"]);
    let newest = &pipelines(&ada, copy, "").await[0];
    let variables = ada.get(&format!("{base}/pipelines/{}/variables", newest["id"])).await.ok();
    assert_eq!((&newest["name"], variables), (&json!("Nightly"), json!([])));
    let next = ada.post(&format!("{base}/pipeline"), json!({ "ref": "main" })).await.created();
    assert_eq!(next["iid"], 5, "numbers go on");
}

#[actix_web::test]
async fn what_was_under_way_is_canceled_and_can_be_run_again() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "make: {script: brew}\nship: {stage: deploy, script: x, when: manual}\n";
    commit(&ada, project, "main", "first", text).await;

    let copy = id_of(&imported(&ada, &exported(&ada, &json!(project)).await, "copy").await);

    let pipeline = pipelines(&ada, copy, "").await[0].clone();
    let make = job(&ada, copy, "make").await;
    assert_eq!((&pipeline["status"], &make["status"]), (&json!("canceled"), &json!("canceled")));
    let runner = Runner::of(&ada, copy, json!({})).await;
    assert_eq!(runner.ask(json!({})).await.status, 204, "nothing runs by itself");
    let retry = format!("/projects/{copy}/pipelines/{}/retry", pipeline["id"]);
    ada.post(&retry, json!({})).await.created();
    let payload = runner.take().await;
    assert_eq!(payload["steps"][0]["script"], json!(["brew"]));
    Work::new(&app, &payload).report(json!({ "state": "success" })).await.with(200);
    assert_eq!(job(&ada, copy, "ship").await["status"], "manual");
    assert_eq!(pipelines(&ada, copy, "").await[0]["status"], "success");
}

#[actix_web::test]
async fn a_merge_request_has_its_pipelines_in_a_copy() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "unit:\n  script: x\n  rules: [{if: $CI_MERGE_REQUEST_IID}]\n";
    commit(&ada, project, "main", "first", text).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let sha = commit(&ada, project, "topic", "more", &format!("{text}# more\n")).await;
    ada.propose(&json!(project), "topic", "Brew it").await;
    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::Success).await;

    let copy = id_of(&imported(&ada, &exported(&ada, &json!(project)).await, "copy").await);

    let own = format!("/projects/{copy}/merge_requests/1");
    let head = ada.get(&own).await.ok()["head_pipeline"].clone();
    assert_eq!((&head["sha"], &head["status"]), (&json!(sha), &json!("success")));
    assert_eq!((&head["source"], &head["iid"]), (&json!("merge_request_event"), &json!(1)));
    assert_eq!(ada.get(&format!("{own}/pipelines")).await.each("id"), [head["id"].clone()]);
}

/// A project with a branch beside `main` that has a pipeline, and the newest commit of that branch.
pub(super) async fn with_topic(app: &TestApp, person: &Person<'_>) -> (ProjectId, String) {
    let project = app.project(person, "engine", Private);
    commit(person, project, "main", "first [skip ci]", "make: {script: x}\n").await;
    let branches = format!("/projects/{project}/repository/branches");
    person.post(&branches, json!({ "branch": "topic", "ref": "main" })).await.created();
    let sha = commit(person, project, "topic", "more", "make: {script: brew}\n").await;
    app.work().await;
    (project, sha)
}

#[actix_web::test]
async fn a_job_whose_branch_is_gone_can_be_run_again_in_a_copy() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, sha) = with_topic(&app, &ada).await;
    let runner = Runner::of(&ada, project, json!({})).await;
    let work = Work::new(&app, &runner.take().await);
    work.report(json!({ "state": "success" })).await.with(200);
    let topic = format!("/projects/{project}/repository/branches/topic");
    ada.delete(&topic).await.with(204);

    let copy = id_of(&imported(&ada, &exported(&ada, &json!(project)).await, "copy").await);

    let make = job(&ada, copy, "make").await["id"].clone();
    ada.post(&format!("/projects/{copy}/jobs/{make}/retry"), json!({})).await.created();
    let taken = Runner::of(&ada, copy, json!({})).await.take().await;
    assert_eq!(taken["git_info"]["sha"], json!(sha));
    let fetched = taken["git_info"]["refspecs"].as_array().expect("refspecs");
    assert_eq!(fetched.len(), 1, "{fetched:?}");
}

#[actix_web::test]
async fn jobs_of_others_run_for_whoever_runs_them_again() {
    let app = TestApp::new();
    let (ada, project) = worked(&app).await;
    let archive = exported(&ada, &json!(project)).await;
    let eve = app.person("eve");

    let copy = id_of(&imported(&eve, &archive, "copy").await);

    let make = job(&eve, copy, "make").await;
    assert_eq!((&make["user"], &make["status"]), (&Value::Null, &json!("canceled")));
    let again = eve.post(&format!("/projects/{copy}/jobs/{}/retry", make["id"]), json!({})).await;
    assert_eq!(again.created()["user"]["username"], "eve");
}

#[actix_web::test]
async fn an_archive_makes_no_branch_a_protected_one() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", "make: {script: x}\n").await;
    commit(&ada, project, "main", "second", "make: {script: y}\n").await;
    let archive = exported(&ada, &json!(project)).await;
    let other = json!({ "ref_name": "topic", "protected": true });
    let forged = with_fields(&archive, "project/pipelines.ndjson", &other);

    for (name, archive, status) in [("whole", archive, 201), ("forged", forged, 204)] {
        let copy = id_of(&imported(&ada, &archive, name).await);
        let fields = json!({ "access_level": "ref_protected" });
        let runner = Runner::of(&ada, copy, fields).await;
        let make = job(&ada, copy, "make").await["id"].clone();
        ada.post(&format!("/projects/{copy}/jobs/{make}/retry"), json!({})).await.created();
        assert_eq!(runner.ask(json!({})).await.status, status, "{name}");
    }
}

#[actix_web::test]
async fn no_pipeline_of_an_archive_made_itself() {
    let app = TestApp::new();
    let (ada, project) = worked(&app).await;
    let parent = pipelines(&ada, project, "?source=push").await[0]["id"].clone();
    let archive = exported(&ada, &json!(project)).await;
    let itself = json!({ "id": parent });
    let forged = with_fields(&archive, "project/pipeline_parents.ndjson", &itself);

    let copy = id_of(&imported(&ada, &forged, "copy").await);

    let parent = pipelines(&ada, copy, "?source=push").await[0]["id"].clone();
    let path = format!("/projects/{copy}/pipelines/{parent}");
    let bridges = ada.get(&format!("{path}/bridges")).await.ok();
    assert_eq!(bridges[0]["downstream_pipeline"], Value::Null);
    ada.post(&format!("{path}/cancel"), json!({})).await.ok();
}

#[actix_web::test]
async fn a_job_of_which_nobody_knows_what_it_does_stays_behind() {
    let app = TestApp::new();
    let (ada, project) = worked(&app).await;
    let archive = exported(&ada, &json!(project)).await;
    for (name, spec) in [("none", Value::Null), ("gone", json!(1_000_000))] {
        let fields = json!({ "spec_id": spec });
        let forged = with_fields(&archive, "project/jobs.ndjson", &fields);

        let copy = id_of(&imported(&ada, &forged, name).await);

        let jobs = ada.get(&format!("/projects/{copy}/jobs")).await.ok();
        assert_eq!(jobs, json!([]), "{name}");
    }
}

#[actix_web::test]
async fn schedules_of_others_rest_where_an_administrator_imports() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let (ada, root) = (app.person("ada"), app.admin());
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", "make: {script: x}\n").await;
    let path = format!("/projects/{project}/pipeline_schedules");
    let new = json!({ "description": "nightly", "ref": "main", "cron": "0 4 * * *" });
    for person in [&ada, &root] {
        person.post(&path, new.clone()).await.created();
    }
    let archive = exported(&root, &json!(project)).await;

    for (person, name, expected) in [
        (&root, "of-root", json!([["ada", false], ["root", true]])),
        (&ada, "of-ada", json!([["ada", true], ["ada", true]])),
    ] {
        let copy = id_of(&imported(person, &archive, name).await);
        let all = person.get(&format!("/projects/{copy}/pipeline_schedules")).await.ok();
        let told = |one: &Value| json!([one["owner"]["username"], one["active"]]);
        let all: Value = all.as_array().expect("a list").iter().map(told).collect();
        assert_eq!(all, expected, "{name}");
    }
}

#[actix_web::test]
async fn rows_that_no_server_writes_are_refused() {
    let app = TestApp::new();
    let (ada, project) = worked(&app).await;
    let archive = exported(&ada, &json!(project)).await;
    for (number, (list, fields, column)) in (1..).zip([
        ("pipelines", json!({ "sha": "x" }), "sha"),
        ("pipelines", json!({ "ref_name": "a b" }), "ref_name"),
        ("pipelines", json!({ "ref_name": "a".repeat(1_025) }), "ref_name"),
        ("pipelines", json!({ "source": "tea" }), "source"),
        ("pipelines", json!({ "status": "tea" }), "status"),
        ("pipelines", json!({ "coverage": "inf" }), "coverage"),
        ("pipelines", json!({ "iid": 0 }), "iid"),
        ("jobs", json!({ "kind": "tea" }), "kind"),
        ("jobs", json!({ "needs": "{}" }), "needs"),
        ("jobs", json!({ "run_when": "never" }), "run_when"),
        ("jobs", json!({ "timeout": 1_i64 << 40 }), "timeout"),
        ("jobs", json!({ "start_in": -1 }), "start_in"),
        ("jobs", json!({ "spec_id": 0 }), "spec_id"),
        ("jobs", json!({ "target_url": "javascript:alert(1)" }), "target_url"),
        ("job_specs", json!({ "body": "{}" }), "body"),
        ("job_specs", json!({ "tags": "{}" }), "tags"),
        ("resource_groups", json!({ "process_mode": "any" }), "process_mode"),
    ]) {
        let forged = with_fields(&archive, &format!("project/{list}.ndjson"), &fields);
        let done = imported(&ada, &forged, &format!("copy{number}")).await;
        let told = done["import_error"].as_str().unwrap_or_default();
        assert!(told.contains(&format!("{list}: {column} ")), "{column}: {done}");
        assert_eq!(ada.get(&format!("/projects/{}/pipelines", done["id"])).await.ok(), json!([]));
    }
    // Of twins, that have one number, none is taken.
    let twins = with_fields(&archive, "project/pipelines.ndjson", &json!({ "iid": 1 }));
    let done = imported(&ada, &twins, "twins").await;
    assert_eq!(done["import_status"], "failed", "{done}");
    assert_eq!(ada.get(&format!("/projects/{}/jobs", done["id"])).await.ok(), json!([]));
}

#[actix_web::test]
async fn tests_whose_report_has_expired_are_counted_in_a_copy() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "unit: {script: x}\n").await;
    let keep = json!({ "keep_latest_artifact": false });
    mia.put(&format!("/projects/{project}"), keep).await.ok();
    let work = Work::new(&app, &runner.take().await);
    let mut report = GzEncoder::new(Vec::new(), Compression::fast());
    report.write_all(b"<testsuite><testcase name='a' time='1.5'/></testsuite>").expect("memory");
    let query = "?artifact_type=junit&artifact_format=gzip&expire_in=1%20day";
    work.bring(query, "junit.xml.gz", &report.finish().expect("memory")).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    app.clock.advance(Duration::days(2));

    let copy = id_of(&imported(&mia, &exported(&mia, &json!(project)).await, "copy").await);

    let id = pipelines(&mia, copy, "").await[0]["id"].clone();
    let path = format!("/projects/{copy}/pipelines/{id}");
    let summary = mia.get(&format!("{path}/test_report_summary")).await.ok();
    assert_eq!((&summary["total"]["count"], &summary["total"]["time"]), (&json!(1), &json!(1.5)));
    assert_eq!(mia.get(&format!("{path}/test_report")).await.ok()["total_count"], 0);
}
