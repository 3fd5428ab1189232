//! What jobs leave behind: `gateway/src/rest/{runners,ci}/job_artifacts.rs`.

use actix_web::http::Method;
use kernel::{
    AccessLevel::{Developer, Guest, Maintainer},
    Visibility,
    ids::ProjectId,
};
use serde_json::json;
use time::Duration;

use super::program::{Runner, Work, set_up};
use crate::support::{
    TestApp,
    ci::{commit, job, pipelines},
};

/// A zip file that holds `out/a.txt` with `one` in it, not packed.
pub(crate) fn archive() -> Vec<u8> {
    let (name, content) = (b"out/a.txt", b"one");
    let common: Vec<u8> = [
        &[20, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &0x7a6c_86f1_u32.to_le_bytes(),
        &3_u32.to_le_bytes(),
        &3_u32.to_le_bytes(),
        &9_u16.to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    let file = [b"PK\x03\x04", &common[..], name, content].concat();
    let entry = [b"PK\x01\x02\x14\x03", &common[..], &[0; 10], &[0; 4], name].concat();
    let [size, start] = [entry.len(), file.len()].map(|one| u32::try_from(one).expect("small"));
    let end = [
        b"PK\x05\x06",
        &[0, 0, 0, 0, 1, 0, 1, 0][..],
        &size.to_le_bytes(),
        &start.to_le_bytes(),
        &[0, 0],
    ];
    [file, entry, end.concat()].concat()
}

const ONE: &str = "job: {script: x, artifacts: {paths: [out]}}\n";

#[actix_web::test]
async fn an_archive_is_kept_and_comes_back_whole_and_by_file() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);

    let kept = work
        .bring(
            "?expire_in=1%20week&artifact_type=archive&artifact_format=zip",
            "artifacts.zip",
            &archive(),
        )
        .await;

    assert_eq!((kept.status, kept.bytes.as_slice()), (201, &b"201"[..]));
    work.bring("", "artifacts.zip", &archive()).await.with(201);
    let other = json!({ "message": "another artifact of the same type already exists" });
    work.bring("", "artifacts.zip", b"other").await.refused(400, other);
    work.write(0, "log").await.with(202);
    work.report(json!({ "state": "success" })).await.with(200);
    let shown = job(&mia, project, "job").await;
    let kinds: Vec<_> = shown["artifacts"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["file_type"].clone())
        .collect();
    assert_eq!(kinds, ["archive", "metadata", "trace"]);
    assert_eq!(
        shown["artifacts_file"],
        json!({ "filename": "artifacts.zip", "size": archive().len() })
    );
    assert!(shown["runner"]["id"].is_number());
    let path = format!("/projects/{project}/jobs/{}/artifacts", payload["id"]);
    assert_eq!(mia.get(&path).await.bytes, archive());
    for file in [format!("{path}/out/a.txt"), format!("{path}/out%2Fa.txt")] {
        let found = mia.get(&file).await;
        assert_eq!((found.status, found.bytes.as_slice()), (200, &b"one"[..]), "{file}");
    }
    let newest = format!("/projects/{project}/jobs/artifacts/main");
    assert_eq!(mia.get(&format!("{newest}/download?job=job")).await.bytes, archive());
    assert_eq!(mia.get(&format!("{newest}/raw/out/a.txt?job=job")).await.bytes, b"one");
    mia.get(&format!("{newest}/download")).await.refused(400, json!({ "error": "job is missing" }));
    mia.get(&format!("{newest}/download?job=no")).await.with(404);
    mia.get(&format!("{path}/out/no.txt")).await.with(404);
    for odd in ["..%2Fout%2Fa.txt", "%2Fout%2Fa.txt"] {
        mia.get(&format!("{path}/{odd}")).await.with(400);
    }
}

#[actix_web::test]
async fn only_a_running_job_brings_artifacts_that_fit() {
    let app = TestApp::new();
    app.admin().put("/application/settings", json!({ "max_artifacts_size": 1 })).await.ok();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let work = Work::new(&app, &runner.take().await);

    let wrong = json!({ "message": "Invalid file format with specified file type" });
    for query in [
        "?artifact_type=junit",
        "?artifact_type=sast&artifact_format=zip",
        "?artifact_type=metadata&artifact_format=gzip",
    ] {
        work.bring(query, "x", b"x").await.refused(400, wrong.clone());
    }
    work.bring("?artifact_type=odd", "x", b"x").await.with(400);
    work.bring("?artifact_type=junit&artifact_format=gzip", "../../junit.xml.gz", b"x")
        .await
        .with(201);
    let large = vec![0; (1 << 20) + 1];
    let refusal = json!({ "message": "file size has reached maximum size limit" });
    work.bring("", "large.zip", &large).await.refused(413, refusal);
    let stranger =
        Work { caller: app.anonymous(), ..Work::new(&app, &json!({ "id": 1, "token": "x" })) };
    stranger.bring("", "a.zip", &archive()).await.with(403);
    work.report(json!({ "state": "success" })).await.with(200);
    let late = work.bring("", "a.zip", &archive()).await;
    assert_eq!((late.status, late.header("Job-Status")), (403, Some("success")));
    let shown = job(&mia, project, "job").await;
    assert_eq!(shown["artifacts"][0]["filename"], "junit.xml.gz");
    assert!(shown.get("artifacts_file").is_none());
}

#[actix_web::test]
async fn later_jobs_fetch_what_earlier_ones_left() {
    let app = TestApp::new();
    let text = "a: {script: x, artifacts: {paths: [out]}}\nb: {stage: deploy, script: x}\nc: {stage: deploy, script: x, dependencies: []}\n";
    let (_, _, runner) = set_up(&app, text).await;
    let first = runner.take().await;
    let work = Work::new(&app, &first);
    work.bring("", "artifacts.zip", &archive()).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);

    let (b, c) = (runner.take().await, runner.take().await);

    assert_eq!(c["dependencies"], json!([]));
    let wanted = json!([{ "id": first["id"], "name": "a", "token": b["token"],
        "artifacts_file": { "filename": "artifacts.zip", "size": archive().len() } }]);
    assert_eq!(b["dependencies"], wanted);
    let path = format!("/jobs/{}/artifacts", first["id"]);
    let fetched = Work::new(&app, &b).caller.get(&path).await;
    assert_eq!((fetched.status, fetched.bytes), (200, archive()));
    // Its own ones a job fetches when it has ended, too.
    work.caller.get(&path).await.with(200);
    app.anonymous().get(&path).await.with(403);
}

#[actix_web::test]
async fn fields_before_the_file_say_what_is_brought() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let work = Work::new(&app, &runner.take().await);
    let field = |name: &str, value: &str| {
        format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n")
    };
    let path = format!("{}/artifacts?artifact_type=archive", work.path);
    let bring = async |kind: &str, format: &str| {
        let fields = [field("artifact_type", kind), field("artifact_format", format)].concat();
        let head = "Content-Disposition: form-data; name=\"file\"; filename=\"a.zip\"";
        let body = format!("{fields}--edge\r\n{head}\r\n\r\nx\r\n--edge--\r\n");
        let form = "multipart/form-data; boundary=edge";
        work.caller.send_bytes(Method::POST, &path, form, body.as_bytes()).await
    };

    let unknown = json!({ "message": "artifact_type does not have a valid value" });
    bring("nothing", "zip").await.refused(400, unknown);
    let wrong = json!({ "message": "Invalid file format with specified file type" });
    bring("lsif", "gzip").await.refused(400, wrong);
    bring("lsif", "zip").await.with(201);

    let kept = job(&mia, project, "job").await["artifacts"].clone();
    assert_eq!(kept[0]["file_type"], "lsif", "{kept}");
}

#[actix_web::test]
async fn a_job_of_another_project_fetches_nothing() {
    let app = TestApp::new();
    let (_, _, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    work.bring("", "artifacts.zip", &archive()).await.with(201);
    let eve = app.person("eve");
    let other = app.project(&eve, "other", Visibility::Private);
    commit(&eve, other, "main", "jobs", ONE).await;
    let theirs = Runner::of(&eve, other, json!({})).await.take().await;

    let path = format!("/jobs/{}/artifacts", payload["id"]);
    Work::new(&app, &theirs).caller.get(&path).await.with(404);
}

#[actix_web::test]
async fn artifacts_are_shown_to_whom_the_job_says() {
    let app = TestApp::new();
    let text = "job: {script: x, artifacts: {paths: [out], public: false}}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    work.bring("", "artifacts.zip", &archive()).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    let path = format!("/projects/{project}/jobs/{}/artifacts", payload["id"]);
    let file = format!("{path}/out/a.txt");

    let (gus, dan) = (app.member(project, "gus", Guest), app.member(project, "dan", Developer));
    for path in [&path, &file] {
        gus.get(path).await.with(403);
        app.person("eve").get(path).await.with(404);
        app.anonymous().get(path).await.with(404);
        assert_eq!(dan.get(path).await.status, 200);
    }
    dan.delete(&path).await.with(403);
    mia.delete(&path).await.with(204);
    mia.get(&path).await.with(404);
}

#[actix_web::test]
async fn what_expired_goes_unless_it_is_the_newest_or_kept() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let mut paths = Vec::new();
    for round in 0..3 {
        if round > 0 {
            mia.post(&format!("/projects/{project}/pipeline"), json!({ "ref": "main" }))
                .await
                .created();
        }
        let payload = runner.take().await;
        let work = Work::new(&app, &payload);
        work.bring("?expire_in=1%20day", "artifacts.zip", &archive()).await.with(201);
        work.report(json!({ "state": "success" })).await.with(200);
        paths.push(format!("/projects/{project}/jobs/{}/artifacts", payload["id"]));
    }
    assert_eq!(pipelines(&mia, project, "").await.len(), 3);
    let kept = mia.post(&format!("{}/keep", paths[0]), json!({})).await.ok();
    assert!(kept["artifacts_expire_at"].is_null());

    app.clock.advance(Duration::days(2));
    app.recurring().await;

    for (path, status) in paths.iter().zip([200, 404, 200]) {
        assert_eq!(mia.get(path).await.status, status, "{path}");
    }
    let folder = app.state.data().join("artifacts");
    let files = walk(&folder);
    assert_eq!(files, 4, "two archives with their lists");
    mia.delete(&format!("/projects/{project}/artifacts")).await.with(202);
    app.member(project, "dan", Developer)
        .delete(&format!("/projects/{project}/artifacts"))
        .await
        .with(403);
}

/// Takes the next job, which leaves an archive for a day and ends like this; its path.
async fn left_for_a_day(
    app: &TestApp,
    runner: &Runner<'_>,
    project: ProjectId,
    state: &str,
) -> String {
    let payload = runner.take().await;
    let work = Work::new(app, &payload);
    work.bring("?expire_in=1%20day", "artifacts.zip", &archive()).await.with(201);
    work.report(json!({ "state": state })).await.with(200);
    format!("/projects/{project}/jobs/{}/artifacts", payload["id"])
}

#[actix_web::test]
async fn of_a_job_that_was_retried_only_the_newest_stays() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let first = left_for_a_day(&app, &runner, project, "success").await;
    let retry = first.replace("/artifacts", "/retry");
    mia.post(&retry, json!({})).await.created();
    let second = left_for_a_day(&app, &runner, project, "success").await;

    app.clock.advance(Duration::days(2));
    app.recurring().await;

    assert_eq!((mia.get(&first).await.status, mia.get(&second).await.status), (404, 200));
}

const FAMILY: &str = "own: {script: x, artifacts: {paths: [out]}}\n\
    down: {trigger: {include: [{local: child.yml}], strategy: depend}}\n";

#[actix_web::test]
async fn children_stay_with_the_pipeline_that_made_them() {
    let app = TestApp::new();
    let (project, mia, runner) =
        set_up(&app, "skipped: {script: x, rules: [{when: never}]}\n").await;
    let child =
        json!({ "branch": "main", "commit_message": "[skip ci]", "content": "in: {script: x}\n" });
    mia.post(&format!("/projects/{project}/repository/files/child.yml"), child).await.created();
    commit(&mia, project, "main", "family", FAMILY).await;
    app.work().await;
    let mut left = Vec::new();
    for state in ["success", "success"] {
        left.push(left_for_a_day(&app, &runner, project, state).await);
    }
    // Of the next one only the child succeeds: that is no success of the branch.
    commit(&mia, project, "main", "again", &format!("{FAMILY}# again\n")).await;
    app.work().await;
    let mut again = Vec::new();
    for _ in 0..2 {
        let payload = runner.take().await;
        let state = if payload["job_info"]["name"] == "in" { "success" } else { "failed" };
        let work = Work::new(&app, &payload);
        work.bring("?expire_in=1%20day", "artifacts.zip", &archive()).await.with(201);
        work.report(json!({ "state": state })).await.with(200);
        again.push(format!("/projects/{project}/jobs/{}/artifacts", payload["id"]));
    }

    app.clock.advance(Duration::days(2));
    app.recurring().await;

    for (path, status) in left.iter().zip([200, 200]).chain(again.iter().zip([404, 404])) {
        assert_eq!(mia.get(path).await.status, status, "{path}");
    }
}

#[actix_web::test]
async fn nothing_stays_where_the_installation_does_not_want_it() {
    let app = TestApp::new();
    app.admin().put("/application/settings", json!({ "keep_latest_artifact": false })).await.ok();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let left = left_for_a_day(&app, &runner, project, "success").await;

    app.clock.advance(Duration::days(2));
    app.recurring().await;

    mia.get(&left).await.with(404);
}

/// The number of files below a folder.
pub(crate) fn walk(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { walk(&entry.path()) } else { 1 }).sum()
}

#[actix_web::test]
async fn what_is_erased_is_gone_with_its_files() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    work.bring("", "artifacts.zip", &archive()).await.with(201);
    work.write(0, "secret").await.with(202);
    work.report(json!({ "state": "success" })).await.with(200);
    let path = format!("/projects/{project}/jobs/{}", payload["id"]);

    let erased = mia.post(&format!("{path}/erase"), json!({})).await.created();

    assert_eq!(erased["artifacts"], json!([]));
    mia.get(&format!("{path}/artifacts")).await.with(404);
    assert!(mia.get(&format!("{path}/trace")).await.bytes.is_empty());
    for folder in ["artifacts", "logs"] {
        assert_eq!(walk(&app.state.data().join(folder)), 0, "{folder}");
    }
    assert!(app.member(project, "max", Maintainer).get(&path).await.ok()["erased_at"].is_string());
}

#[actix_web::test]
async fn contents_whose_rows_never_came_are_swept_up() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let payload = runner.take().await;
    let work = Work::new(&app, &payload);
    work.bring("?expire_in=never", "artifacts.zip", &archive()).await.with(201);
    work.bring("?artifact_type=junit&artifact_format=gzip", "r.xml.gz", b"x").await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    let folder = app.state.data().join("artifacts");
    let kept = walk(&folder);
    let id = payload["id"].as_i64().expect("an id");
    let own = folder.join(format!("{project}/1/{id}"));
    let places = ["archive-00", "junit-11-cases", "archive-22#1"].map(|name| own.join(name));
    let lost = folder.join(format!("{project}/1/99999/archive-33"));
    std::fs::create_dir_all(lost.parent().expect("a folder")).expect("a folder is made");
    let young = folder.join(format!("{project}/1/99999/archive-44"));
    for place in places.iter().chain([&lost, &young]) {
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder is made");
        std::fs::write(place, "left by a server that was killed").expect("a file is written");
    }
    age(&folder, &young);

    app.recurring().await;

    assert!(places.iter().chain([&lost]).all(|place| !place.exists()), "{places:?}");
    assert!(young.is_file(), "its row may be on its way");
    assert_eq!(walk(&folder), kept + 1);
    let path = format!("/projects/{project}/jobs/{id}/artifacts");
    assert_eq!(mia.get(&path).await.bytes, archive());
}

/// Makes all files two days old but one.
pub(crate) fn age(folder: &std::path::Path, young: &std::path::Path) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            age(&path, young);
        } else if path != young {
            let file = std::fs::File::options().append(true).open(&path).expect("a file");
            let ago = std::time::Duration::from_secs(48 * 3600);
            let kept = file.metadata().and_then(|it| it.modified()).expect("a time");
            file.set_modified(kept.checked_sub(ago).expect("a time")).expect("its time is set");
        }
    }
}
