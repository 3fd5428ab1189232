//! The bounds of what CI and deployments write are those of archives: whatever the API takes, an archive gives back.

use std::io::Write as _;

use db::{Conn, archive::LAST_NUMBER};
use diesel::{RunQueryDsl as _, sql_query};
use flate2::{Compression, write::GzEncoder};
use kernel::{AccessLevel::Maintainer, Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use super::{
    archive_failures::with_fields,
    archive_pipelines::shown,
    archives::{count_nothing, exported, imported},
};
use crate::{
    rest::runners::program::{Work, set_up},
    support::{
        Person, TestApp,
        ci::{commit, pipelines},
    },
};

const HUGE_TIMES: &str = "<testsuite name='s'><testcase name='a' time='1e305'/>\
                          <testcase name='b' time='1.7e308'/></testsuite>";
/// Every minute, one by one.
const LONG_MINUTES: &str = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,\
                            30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,\
                            58,59";

fn id_of(done: &Value) -> ProjectId {
    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    ProjectId(done["id"].as_i64().expect("an id"))
}

/// A text of so many letters with this beginning.
fn padded(beginning: &str, length: usize) -> String {
    format!("{beginning}{}", "x".repeat(length - beginning.len()))
}

/// A project with a job that told tests of huge times and a coverage of many digits, and with a job of a long stage.
async fn worked(app: &TestApp) -> (ProjectId, Person<'_>) {
    count_nothing(app).await;
    let text = format!(
        "stages: [test, {0}]\nunit: {{script: x, retry: 2, coverage: '/Cover: \\d+/'}}\n\
         ship: {{stage: {0}, script: x, when: manual}}\n",
        "s".repeat(70_000)
    );
    let (project, mia, runner) = set_up(app, &text).await;
    let work = Work::new(app, &runner.take().await);
    let mut report = GzEncoder::new(Vec::new(), Compression::fast());
    report.write_all(HUGE_TIMES.as_bytes()).expect("memory");
    let query = "?artifact_type=junit&artifact_format=gzip";
    work.bring(query, "junit.xml.gz", &report.finish().expect("memory")).await.with(201);
    work.write(0, &format!("Cover: {}\n", "9".repeat(305))).await.with(202);
    work.report(json!({ "state": "success" })).await.with(200);
    app.work().await;
    (project, mia)
}

/// Writes the longest and largest values that the API takes.
async fn fill(mia: &Person<'_>, project: ProjectId) {
    let base = format!("/projects/{project}");
    let cron = format!("{LONG_MINUTES} 23 * * 5");
    let zone = "America/Argentina/Buenos_Aires";
    for (path, fields) in [
        (
            "statuses/main",
            json!({ "state": "success", "name": "n".repeat(255), "coverage": 1e9,
                    "target_url": padded("https://ci.example.com/", 255),
                    "description": "ä".repeat(255) }),
        ),
        (
            "statuses/main",
            json!({ "state": "failed", "context": "low", "coverage": "-1000000000" }),
        ),
        ("statuses/main", json!({ "state": "success", "ref": "r".repeat(1_024) })),
        (
            "environments",
            json!({ "name": "e".repeat(255), "external_url": padded("https://a.example/", 255) }),
        ),
        (
            "freeze_periods",
            json!({ "freeze_start": cron, "freeze_end": "@daily", "cron_timezone": zone }),
        ),
        (
            "pipeline_schedules",
            json!({ "description": "ä".repeat(1_000), "ref": "main", "cron": cron,
                    "cron_timezone": zone }),
        ),
    ] {
        mia.post(&format!("{base}/{path}"), fields).await.created();
    }
}

/// What is told of all that.
async fn told(person: &Person<'_>, project: ProjectId) -> Vec<Value> {
    let base = format!("/projects/{project}");
    let mut all = Vec::new();
    for list in [
        "repository/commits/main/statuses?all=true",
        "environments",
        "freeze_periods",
        "pipeline_schedules",
    ] {
        all.push(shown(person, &format!("{base}/{list}")).await.1);
    }
    for one in pipelines(person, project, "?sort=asc").await {
        let path = format!("{base}/pipelines/{}", one["id"]);
        let one = person.get(&path).await.ok();
        all.push(json!([one["ref"], one["coverage"], one["status"], one["iid"]]));
        all.push(shown(person, &format!("{path}/test_report_summary")).await.1);
        let jobs = person.get(&format!("{path}/jobs")).await.ok();
        let job = |job: &Value| json!([job["name"], job["stage"], job["coverage"], job["status"]]);
        all.extend(jobs.as_array().expect("a list").iter().map(job));
    }
    all
}

#[actix_web::test]
async fn what_the_api_takes_its_archive_gives_back() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    fill(&mia, project).await;
    let before = told(&mia, project).await;
    let summaries = before.iter().filter(|one| one["total"]["time"] == json!(1e12)).count();
    assert_eq!(summaries, 1, "times are bounded");

    let copy = id_of(&imported(&mia, &exported(&mia, &json!(project)).await, "copy").await);

    let after = told(&mia, copy).await;
    assert_eq!(after.len(), before.len());
    for (copied, original) in after.iter().zip(&before) {
        assert_eq!(copied, original);
    }
    // A copy is as good a source.
    id_of(&imported(&mia, &exported(&mia, &json!(copy)).await, "second").await);
}

#[actix_web::test]
async fn the_api_refuses_what_no_archive_takes() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", "make: {script: x}\n").await;
    let path = format!("/projects/{project}/statuses/main");
    let before = pipelines(&ada, project, "").await;
    let high = json!({ "coverage": ["must be less than or equal to 1000000000"] });
    let low = json!({ "coverage": ["must be greater than or equal to -1000000000"] });
    for (coverage, message) in [
        (json!(1e305), &high),
        (json!("1.7e308"), &high),
        (json!(1_000_000_001), &high),
        (json!(-1e305), &low),
    ] {
        let fields = json!({ "state": "success", "coverage": coverage });
        ada.post(&path, fields).await.refused(400, json!({ "message": message }));
    }
    for coverage in ["NaN", "inf", "-inf", "1e999"] {
        let fields = json!({ "state": "success", "coverage": coverage });
        let error = json!({ "error": "coverage is invalid" });
        ada.post(&path, fields).await.refused(400, error);
    }
    let long = "r".repeat(1_500);
    for name in ["a b", "a..b", "x:y", "~", "a\tb", "a^", "w*", "b[c", "d?", "e\\f", &long] {
        let fields = json!({ "state": "success", "ref": name });
        let message = json!({ "ref": ["is invalid"] });
        ada.post(&path, fields).await.refused(400, json!({ "message": message }));
    }
    assert_eq!(pipelines(&ada, project, "").await, before);
}

/// Writes rows as earlier versions did.
fn write_old_rows(app: &TestApp) {
    let write = |tx: &mut db::Tx<'_>| {
        let infinite = match &tx.conn {
            Conn::Sqlite(_) => "9e999",
            Conn::Postgres(_) => "'Infinity'",
        };
        let times = format!("total_time = {infinite}");
        for (table, change) in [
            ("jobs", "coverage = 1e305, attempt = 99999999999"),
            ("pipelines", "coverage = 'inf'"),
            ("pipelines", "ref_name = 'a b' WHERE ref_name = 'old'"),
            ("test_suites", times.as_str()),
        ] {
            let text = format!("UPDATE {table} SET {change}");
            db::each_backend!(tx, |conn| sql_query(&text)
                .execute(conn)
                .map_err(db::error("Table")))?;
        }
        Ok(())
    };
    app.write(write);
}

#[actix_web::test]
async fn rows_of_earlier_versions_are_in_the_bounds_of_archives_or_stay_behind() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let status = json!({ "state": "success", "ref": "old" });
    mia.post(&format!("/projects/{project}/statuses/main"), status).await.created();
    write_old_rows(&app);

    let done = imported(&mia, &exported(&mia, &json!(project)).await, "copy").await;

    let copy = id_of(&done);
    let failed = &done["failed_relations"][0];
    assert_eq!(failed["relation_name"], "pipelines", "{done}");
    let message = failed["exception_message"].as_str().unwrap_or_default();
    assert!(message.starts_with("pipelines: ref_name "), "{message}");
    assert_eq!(done["import_error"], Value::Null);
    let all = pipelines(&mia, copy, "").await;
    let refs: Vec<&Value> = all.iter().map(|one| &one["ref"]).collect();
    assert_eq!(refs, ["main"]);
    let path = format!("/projects/{copy}/pipelines/{}", all[0]["id"]);
    assert_eq!(mia.get(&path).await.ok()["coverage"], Value::Null);
    let covered = mia.get(&format!("{path}/jobs")).await.each("coverage");
    assert_eq!(covered, [json!(1e9), json!(1e9)]);
    let summary = mia.get(&format!("{path}/test_report_summary")).await.ok();
    assert_eq!(summary["total"]["time"], json!(1e12));
}

#[actix_web::test]
async fn no_archive_brings_along_what_the_api_refuses() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    fill(&mia, project).await;
    let archive = exported(&mia, &json!(project)).await;
    let retries = r#"{"options":{"script":["x"],"retry":{"max":255}}}"#;
    for (number, (list, fields, column)) in (1..).zip([
        ("jobs", json!({ "coverage": 1e10 }), "coverage"),
        ("pipelines", json!({ "coverage": "10000000000" }), "coverage"),
        ("test_suites", json!({ "total_time": 1e13 }), "total_time"),
        ("job_specs", json!({ "body": retries }), "body"),
        ("freeze_periods", json!({ "freeze_start": "x" }), "freeze_start"),
        ("freeze_periods", json!({ "freeze_end": "60 * * * *" }), "freeze_end"),
        ("freeze_periods", json!({ "cron_timezone": "Nowhere" }), "cron_timezone"),
    ]) {
        let forged = with_fields(&archive, &format!("project/{list}.ndjson"), &fields);
        let done = imported(&mia, &forged, &format!("copy{number}")).await;
        let told = done["import_error"].as_str().unwrap_or_default();
        assert!(told.contains(&format!("{list}: {column} ")), "{column}: {done}");
    }
}

#[actix_web::test]
async fn pipelines_get_no_numbers_beyond_those_of_archives() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", "make: {script: x}\n").await;
    let archive = exported(&ada, &json!(project)).await;
    let last = json!({ "iid": LAST_NUMBER });
    let forged = with_fields(&archive, "project/pipelines.ndjson", &last);

    let copy = id_of(&imported(&ada, &forged, "copy").await);

    ada.post(&format!("/projects/{copy}/pipeline"), json!({ "ref": "main" })).await.with(400);
    let again = id_of(&imported(&ada, &exported(&ada, &json!(copy)).await, "again").await);
    assert_eq!(pipelines(&ada, again, "").await[0]["iid"], json!(LAST_NUMBER));
}

#[actix_web::test]
async fn schedules_and_releases_of_accounts_that_are_gone_come_along() {
    let app = TestApp::new();
    let root = app.admin();
    let project = app.project(&app.person("olga"), "engine", Private);
    let mia = app.member(project, "mia", Maintainer);
    commit(&mia, project, "main", "first [skip ci]", "make: {script: x}\n").await;
    let base = format!("/projects/{project}");
    let schedule = json!({ "description": "nightly", "ref": "main", "cron": "0 4 * * *" });
    mia.post(&format!("{base}/pipeline_schedules"), schedule).await.created();
    let release = json!({ "tag_name": "v1", "ref": "main", "name": "First" });
    mia.post(&format!("{base}/releases"), release).await.created();
    let account = format!("/users/{}?hard_delete=true", app.id_of("mia"));
    root.delete(&account).await.with(204);
    app.work().await;

    let copy = id_of(&imported(&root, &exported(&root, &json!(project)).await, "copy").await);

    let base = format!("/projects/{copy}");
    let owners = root.get(&format!("{base}/pipeline_schedules")).await.each("owner");
    assert_eq!(owners, [Value::Null]);
    assert_eq!(root.get(&format!("{base}/releases")).await.each("tag_name"), ["v1"]);
}
