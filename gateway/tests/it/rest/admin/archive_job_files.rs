//! Logs and artifacts of jobs in archives: `crates/forge/src/archive/{job_logs,job_artifacts}.rs`.

use std::io::{Read as _, Write as _};

use actix_web::http::Method;
use ci::job_files::{JobFileLimits, JobFileStore as _, JobFiles};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use kernel::{
    AccessLevel::Guest,
    ids::{JobId, ProjectId},
};
use org::jobs::PurgeDeletions;
use serde_json::{Value, json};
use tar::Archive;
use time::Duration;

use super::{
    archive_failures::{rewritten, set_writable},
    archives::{count_nothing, exported, imported},
    imports::work,
};
use crate::{
    rest::runners::{
        job_artifacts::{archive, walk},
        program::{Work, set_up},
    },
    support::{
        Person, TestApp,
        ci::{job, pipelines},
    },
};

const JOBS: &str = "build: {script: x, artifacts: {paths: [out]}}\nunit: {script: x}\n";
const XML: &str = "<testsuite name='s'><testcase name='ok' classname='c' time='1.5'/>\
                   <testcase name='bad'><failure>no</failure></testcase></testsuite>";
const JUNIT: &str = "?artifact_type=junit&artifact_format=gzip";
/// A log with signs for terminals.
const LOG: &str = "building\r\n\u{1b}[0K\u{fffd}\n";

fn gzip(text: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(text.as_bytes()).expect("memory");
    packer.finish().expect("memory")
}

/// A project with a job that left an archive for a week, and one with a report of tests and a log for developers, which
/// failed.
async fn worked(app: &TestApp) -> (ProjectId, Person<'_>) {
    count_nothing(app).await;
    let (project, mia, runner) = set_up(app, JOBS).await;
    for _ in 0..2 {
        let payload = runner.take().await;
        let work = Work::new(app, &payload);
        if payload["job_info"]["name"] == "build" {
            let brought = work.bring("?expire_in=1%20week", "out.zip", &archive()).await;
            brought.with(201);
            work.write(0, LOG).await.with(202);
            work.report(json!({ "state": "success" })).await.with(200);
        } else {
            work.bring(JUNIT, "junit.xml.gz", &gzip(XML)).await.with(201);
            let caller = work.caller.sending("Content-Range", "0-3");
            let path = format!("{}/trace?debug_trace=true", work.path);
            caller.send_bytes(Method::PATCH, &path, "text/plain", b"env!").await.with(202);
            work.report(json!({ "state": "failed" })).await.with(200);
        }
    }
    (project, mia)
}

fn id_of(done: &Value) -> ProjectId {
    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    ProjectId(done["id"].as_i64().expect("an id"))
}

/// Files of a project, of artifacts and of logs.
fn files(app: &TestApp, project: ProjectId) -> [usize; 2] {
    ["artifacts", "logs"].map(|folder| walk(&app.state.data().join(format!("{folder}/{project}"))))
}

async fn path_of(person: &Person<'_>, project: ProjectId, name: &str) -> String {
    format!("/projects/{project}/jobs/{}", job(person, project, name).await["id"])
}

/// What is shown of the files of a job.
async fn shown(person: &Person<'_>, project: ProjectId, name: &str) -> Value {
    let (job, path) = (job(person, project, name).await, path_of(person, project, name).await);
    let mut contents = Vec::new();
    for file in ["trace", "artifacts", "artifacts/out/a.txt"] {
        let answer = person.get(&format!("{path}/{file}")).await;
        contents.push(json!({ "status": answer.status, "bytes": answer.bytes }));
    }
    json!({
        "artifacts": job["artifacts"],
        "artifacts_file": job["artifacts_file"],
        "artifacts_expire_at": job["artifacts_expire_at"],
        "contents": contents,
    })
}

/// The tests of the only pipeline of a project.
async fn tests(person: &Person<'_>, project: ProjectId) -> Value {
    let pipeline = pipelines(person, project, "").await[0]["id"].clone();
    person.get(&format!("/projects/{project}/pipelines/{pipeline}/test_report")).await.ok()
}

async fn size(person: &Person<'_>, project: ProjectId) -> Value {
    let shown = person.get(&format!("/projects/{project}?statistics=true")).await.ok();
    shown["statistics"]["job_artifacts_size"].clone()
}

#[actix_web::test]
async fn logs_and_artifacts_come_back_equal() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;

    let copy = id_of(&imported(&mia, &exported(&mia, &json!(project)).await, "copy").await);

    for name in ["build", "unit"] {
        let (before, after) = (shown(&mia, project, name).await, shown(&mia, copy, name).await);
        assert_eq!(before, after, "{name}");
    }
    let build = shown(&mia, copy, "build").await;
    assert_eq!(build["contents"][0]["bytes"], json!(LOG.as_bytes()));
    assert_eq!(build["contents"][1]["bytes"], json!(archive()));
    assert_eq!(build["contents"][2]["bytes"], json!(b"one"));
    let report = tests(&mia, copy).await;
    assert_eq!((&report["total_count"], &report), (&json!(2), &tests(&mia, project).await));
    assert_eq!(size(&mia, copy).await, size(&mia, project).await);
    assert_eq!(files(&app, copy), files(&app, project));
    let gus = app.member(copy, "gus", Guest);
    for (name, status) in [("build", 200), ("unit", 403)] {
        let trace = format!("{}/trace", path_of(&mia, copy, name).await);
        assert_eq!(gus.get(&trace).await.status, status, "{name}");
    }
}

#[actix_web::test]
async fn what_came_with_an_archive_is_kept_expires_and_goes_as_anything_else() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let archive = exported(&mia, &json!(project)).await;
    let [kept, left] = [
        id_of(&imported(&mia, &archive, "kept").await),
        id_of(&imported(&mia, &archive, "left").await),
    ];
    let path = path_of(&mia, kept, "build").await;
    let shown = mia.post(&format!("{path}/artifacts/keep"), json!({})).await.ok();
    assert!(shown["artifacts_expire_at"].is_null(), "{shown}");

    app.clock.advance(Duration::days(8));
    app.recurring().await;

    let gone = path_of(&mia, left, "build").await;
    assert_eq!(mia.get(&format!("{path}/artifacts")).await.status, 200);
    assert_eq!(mia.get(&format!("{gone}/artifacts")).await.status, 404);
    assert_eq!(mia.get(&format!("{gone}/trace")).await.bytes, LOG.as_bytes());
    assert_eq!(files(&app, left), [2, 2], "the report with its tests, and the logs");
    mia.post(&format!("{}/erase", path_of(&mia, left, "unit").await), json!({})).await.created();
    assert_eq!(files(&app, left), [0, 1]);
    assert_eq!(files(&app, kept), [4, 2]);
    mia.delete(&format!("/projects/{kept}")).await.with(202);
    forge::purge::run(&app.state, PurgeDeletions {}).await.expect("it is purged");
    assert_eq!(files(&app, kept), [0, 0]);
}

/// Paths of the entries of an archive below a folder.
fn entries(archive: &[u8], folder: &str) -> usize {
    let mut tar = Archive::new(GzDecoder::new(archive));
    let paths = tar.entries().expect("entries").map(|entry| {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").to_string_lossy().into_owned();
        entry.read_to_end(&mut Vec::new()).expect("a content");
        path
    });
    paths.filter(|path| path.starts_with(folder)).count()
}

#[actix_web::test]
async fn what_is_secret_closed_or_expired_stays_behind() {
    let app = TestApp::new();
    let text = "old: {script: x}\nsealed: {script: x}\nclosed: {script: x, artifacts: {paths: [out], access: none}}\n\
                open: {script: x}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    for _ in 0..4 {
        let payload = runner.take().await;
        let work = Work::new(&app, &payload);
        let (query, content) = match payload["job_info"]["name"].as_str() {
            Some("old") => ("?expire_in=1%20day", archive()),
            Some("sealed") => ("?artifact_type=dotenv&artifact_format=gzip", gzip("TOKEN=t0p")),
            _ => ("", archive()),
        };
        work.bring(query, "x", &content).await.with(201);
        work.report(json!({ "state": "failed" })).await.with(200);
    }
    app.clock.advance(Duration::days(2));

    let packed = exported(&mia, &json!(project)).await;

    assert_eq!(entries(&packed, "job-artifacts/"), 1);
    let copy = id_of(&imported(&mia, &packed, "copy").await);
    for (name, count) in [("old", 0), ("sealed", 0), ("closed", 0), ("open", 2)] {
        let shown = job(&mia, copy, name).await;
        assert_eq!(shown["artifacts"].as_array().map(Vec::len), Some(count), "{name}");
    }
}

#[actix_web::test]
async fn a_log_that_still_grows_stays_behind() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let (project, mia, runner) = set_up(&app, JOBS).await;
    let work = Work::new(&app, &runner.take().await);
    work.write(0, "half").await.with(202);

    let packed = exported(&mia, &json!(project)).await;

    assert_eq!(entries(&packed, "job-logs/"), 0);
    work.write(4, " and all").await.with(202);
    work.report(json!({ "state": "success" })).await.with(200);
    assert_eq!(entries(&exported(&mia, &json!(project)).await, "job-logs/"), 1);
}

#[actix_web::test]
async fn an_import_that_was_cut_off_has_no_file_twice() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let packed = exported(&mia, &json!(project)).await;
    set_writable(&app, "job_artifacts", false);
    let half = imported(&mia, &packed, "copy").await;
    assert_eq!(half["import_status"], "started", "{half}");
    let copy = ProjectId(half["id"].as_i64().expect("an id"));
    assert_eq!(files(&app, copy), files(&app, project), "contents come before their rows");

    set_writable(&app, "job_artifacts", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;

    id_of(&mia.get(&format!("/projects/{copy}/import")).await.ok());
    assert_eq!(files(&app, copy), files(&app, project), "the same ones");
    assert_eq!(shown(&mia, copy, "build").await, shown(&mia, project, "build").await);
    assert_eq!(size(&mia, copy).await, size(&mia, project).await);
}

#[actix_web::test]
async fn an_import_that_fails_late_leaves_no_file() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let packed = exported(&mia, &json!(project)).await;
    set_writable(&app, "job_artifacts", false);
    let half = imported(&mia, &packed, "copy").await;
    let copy = ProjectId(half["id"].as_i64().expect("an id"));
    for _ in 0..6 {
        app.clock.advance(Duration::minutes(1));
        work(&app).await;
    }

    let failed = mia.get(&format!("/projects/{copy}/import")).await.ok();
    assert_eq!(failed["import_status"], "failed", "{failed}");
    assert_eq!(files(&app, copy), [0, 0]);
    assert_eq!(mia.get(&format!("/projects/{copy}/jobs")).await.ok(), json!([]));
    assert_eq!(files(&app, project), [4, 2], "those of others stay");
}

type Rows = Vec<Value>;

/// The same archive with other rows of a list.
fn with_rows(archive: &[u8], list: &str, change: impl Fn(&mut Rows)) -> Vec<u8> {
    rewritten(archive, |path, content| {
        if path != format!("tree/project/{list}.ndjson") {
            return (path, content);
        }
        let text = String::from_utf8(content).expect("lines");
        let rows = text.lines().map(|line| serde_json::from_str(line).expect("a row"));
        let mut rows: Rows = rows.collect();
        change(&mut rows);
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        (path, lines.into_bytes())
    })
}

#[actix_web::test]
async fn files_that_lie_of_themselves_are_refused() {
    type Case = (&'static str, fn(&mut Rows), &'static str);
    const CASES: [Case; 14] = [
        ("job_logs", |rows| rows[0]["size"] = json!(3), "a log of another size"),
        ("job_logs", |rows| rows[0]["size"] = json!(-1), "out of range"),
        ("job_logs", |rows| rows[0]["job_id"] = json!(999), "lacks the content job-logs/999"),
        ("job_logs", |rows| rows[0]["job_id"] = json!("../7"), "another type of value"),
        ("job_logs", |rows| rows.push(rows[0].clone()), "two logs of one job"),
        ("job_artifacts", |rows| rows[0]["file_type"] = json!("odd"), "cannot be read"),
        ("job_artifacts", |rows| rows[0]["file_type"] = json!("metadata"), "a type or format"),
        ("job_artifacts", |rows| rows[0]["file_format"] = json!("raw"), "a type or format"),
        ("job_artifacts", |rows| rows[0]["filename"] = json!("../../x"), "without a usable name"),
        ("job_artifacts", |rows| rows[0]["filename"] = json!("a\"\r\nb"), "without a usable name"),
        ("job_artifacts", |rows| rows[0]["size"] = json!(1), "an artifact of another size"),
        ("job_artifacts", |rows| rows[0]["id"] = json!(999), "the content job-artifacts/999"),
        ("job_artifacts", |rows| rows.push(rows[0].clone()), "an artifact twice"),
        ("job_artifacts", |rows| rows[0]["expires_at"] = json!("soon"), "cannot be read"),
    ];
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let packed = exported(&mia, &json!(project)).await;
    for (number, (list, change, told)) in CASES.into_iter().enumerate() {
        let hostile = with_rows(&packed, list, change);
        let done = imported(&mia, &hostile, &format!("copy-{number}")).await;
        assert_eq!(done["import_status"], "failed", "{told}: {done}");
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told), "{told}: {error}");
        let copy = ProjectId(done["id"].as_i64().expect("an id"));
        assert_eq!(files(&app, copy), [0, 0], "{told}");
    }
}

#[actix_web::test]
async fn files_of_jobs_that_an_archive_does_not_have_are_left_out() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let build = job(&mia, project, "build").await["id"].clone();
    let lost = |rows: &mut Rows| {
        for row in rows.iter_mut().filter(|row| row["job_id"] == build) {
            row["job_id"] = json!(999_999);
        }
    };
    let packed = exported(&mia, &json!(project)).await;
    let packed = with_rows(&with_rows(&packed, "job_logs", lost), "job_artifacts", lost);
    let log = format!("job-logs/{build}");
    let packed = rewritten(&packed, |path, content| {
        let path = if path == log { "job-logs/999999".to_owned() } else { path };
        (path, content)
    });

    let copy = id_of(&imported(&mia, &packed, "copy").await);

    let shown = job(&mia, copy, "build").await;
    assert_eq!(shown["artifacts"], json!([]), "{shown}");
    assert_eq!(files(&app, copy), [2, 1], "those of the other job");
}

#[actix_web::test]
async fn an_archive_that_is_broken_inside_is_an_artifact_without_a_list() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let mut broken = archive();
    // The list ends within the name of its file.
    let size = broken.len() - 22 + 12;
    broken[size] -= 5;
    let packed = rewritten(&exported(&mia, &json!(project)).await, |path, content| {
        let content = if content == archive() { broken.clone() } else { content };
        (path, content)
    });

    let copy = id_of(&imported(&mia, &packed, "copy").await);

    let kinds: Vec<Value> = job(&mia, copy, "build").await["artifacts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["file_type"].clone())
        .collect();
    assert_eq!(kinds, ["archive", "trace"]);
}

#[actix_web::test]
async fn of_very_many_files_those_of_the_newest_jobs_count() {
    let app = TestApp::new();
    let (project, mia) = worked(&app).await;
    let mut jobs = Vec::new();
    for name in ["build", "unit"] {
        jobs.push(JobId(job(&mia, project, name).await["id"].as_i64().expect("an id")));
    }
    jobs.sort_unstable();

    let newest = |files: JobFiles, most: usize| {
        let limits = JobFileLimits { files: most, bytes: u64::MAX };
        app.write(move |tx| {
            let after = tx.job_before_newest_files(project, files, limits)?;
            tx.jobs_with_files(project, files, after, 9)
        })
    };

    assert_eq!(newest(JobFiles::Logs, 2), jobs);
    assert_eq!(newest(JobFiles::Logs, 1), jobs[1..]);
    assert!(newest(JobFiles::Logs, 0).is_empty());
    assert_eq!(newest(JobFiles::Artifacts, 3), jobs, "an archive, its list and a report");
    assert!(newest(JobFiles::Artifacts, 0).is_empty());
}
