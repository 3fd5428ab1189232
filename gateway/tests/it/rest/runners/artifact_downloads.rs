//! Artifacts for people, whole and in parts: `gateway/src/rest/ci/job_artifacts.rs`.

use kernel::{AccessLevel::Guest, Visibility, ids::ProjectId};
use serde_json::{Value, json};

use super::{
    archives::{ZipMember, archive_of},
    program::{Runner, Work, set_up},
};
use crate::support::{Answer, Person, TestApp, ci::commit};

const ONE: &str = "job: {script: x, artifacts: {paths: [out]}}\n";
const TEXT: &[u8] = b"0123456789";

fn archive() -> Vec<u8> {
    archive_of(&[ZipMember::deflated("out/a.txt", TEXT), ZipMember::plain("out/b.txt", TEXT)])
}

/// A job that has brought an archive and succeeded; the answer is its id.
async fn brought(app: &TestApp, runner: &Runner<'_>) -> Value {
    let payload = runner.take().await;
    let work = Work::new(app, &payload);
    work.bring("", "artifacts.zip", &archive()).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    payload["id"].clone()
}

/// Where the archive is had, and one of its files.
fn doors(project: ProjectId, job: &Value) -> [String; 4] {
    let (of_job, of_ref) = (format!("jobs/{job}/artifacts"), "jobs/artifacts/main");
    [
        format!("/projects/{project}/{of_job}"),
        format!("/projects/{project}/{of_ref}/download?job=job"),
        format!("/projects/{project}/{of_job}/out/a.txt"),
        format!("/projects/{project}/{of_ref}/raw/out/b.txt?job=job"),
    ]
}

fn told(answer: &Answer) -> (u16, &[u8], Option<&str>) {
    (answer.status, &answer.bytes, answer.header("Content-Range"))
}

#[actix_web::test]
async fn parts_are_had_by_their_bytes_through_every_door() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    let [whole, newest, packed, plain] = doors(project, &brought(&app, &runner).await);
    let (all, length) = (archive(), archive().len());

    for (path, content) in
        [(&whole, &all[..]), (&newest, &all[..]), (&packed, TEXT), (&plain, TEXT)]
    {
        let length = content.len();
        let part = mia.sending("Range", "bytes=3-5").get(path).await;
        let place = format!("bytes 3-5/{length}");
        assert_eq!(told(&part), (206, &content[3..6], Some(place.as_str())), "{path}");
        let end = mia.sending("Range", "bytes=-2").get(path).await;
        assert_eq!((end.status, &end.bytes[..]), (206, &content[length - 2..]), "{path}");
        let behind = mia.sending("Range", &format!("bytes={length}-")).get(path).await;
        assert_eq!(behind.header("Content-Range"), Some(format!("bytes */{length}").as_str()));
        behind.refused(416, json!({ "error": "416 Range Not Satisfiable" }));
        let full = mia.get(path).await;
        assert_eq!(told(&full), (200, content, None), "{path}");
        assert_eq!(full.header("Accept-Ranges"), Some("bytes"));
        assert_eq!(mia.head(path).await.status, 200);
    }
    assert!(length > 10);
}

#[actix_web::test]
async fn a_download_that_broke_off_goes_on_only_with_the_same_content() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    for path in doors(project, &brought(&app, &runner).await) {
        let full = mia.get(&path).await;
        let tag = full.header("ETag").expect("a tag");
        assert!(tag.starts_with('"'), "{tag} is a strong one");

        let on = mia.sending("Range", "bytes=4-");
        assert_eq!(on.sending("If-Range", tag).get(&path).await.bytes, full.bytes[4..]);
        let other = on.sending("If-Range", "\"other\"").get(&path).await;
        assert_eq!((other.status, other.bytes), (200, full.bytes.clone()));
        let known = mia.sending("If-None-Match", tag).get(&path).await;
        assert_eq!((known.status, known.bytes.len()), (304, 0));
    }
}

#[actix_web::test]
async fn a_job_fetches_a_part_of_what_another_left() {
    let app = TestApp::new();
    let text = "a: {script: x, artifacts: {paths: [out]}}\nb: {stage: deploy, script: x}\n";
    let (_, _, runner) = set_up(&app, text).await;
    let first = brought(&app, &runner).await;
    let second = runner.take().await;

    let caller = Work::new(&app, &second).caller.sending("Range", "bytes=0-3");
    let part = caller.get(&format!("/jobs/{first}/artifacts?direct_download=true")).await;

    assert_eq!((part.status, &part.bytes[..]), (206, &archive()[..4]));
}

#[actix_web::test]
async fn anybody_downloads_what_a_public_project_shows() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "open", Visibility::Public);
    commit(&olga, project, "main", "jobs", ONE).await;
    let runner = Runner::of(&olga, project, json!({})).await;
    let doors = doors(project, &brought(&app, &runner).await);
    let gus = app.member(project, "gus", Guest);
    let statuses = async |caller: &Person<'_>| {
        let mut found = Vec::new();
        for path in &doors {
            found.push(caller.get(path).await.status);
        }
        found
    };

    assert_eq!(statuses(&app.anonymous()).await, [200; 4]);
    let own = format!("/projects/{project}");
    olga.put(&own, json!({ "public_jobs": false })).await.ok();
    assert_eq!(statuses(&app.anonymous()).await, [403; 4]);
    assert_eq!(statuses(&gus).await, [403; 4]);
    olga.put(&own, json!({ "visibility": "private" })).await.ok();
    assert_eq!(statuses(&app.anonymous()).await, [404; 4]);
    assert_eq!(statuses(&olga).await, [200; 4]);
}

#[actix_web::test]
async fn artifacts_of_a_branch_with_slashes_are_had_by_its_name() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, ONE).await;
    brought(&app, &runner).await;
    let branch = json!({ "branch": "a/b", "ref": "main" });
    mia.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let pipeline = json!({ "ref": "a/b" });
    mia.post(&format!("/projects/{project}/pipeline"), pipeline).await.created();
    brought(&app, &runner).await;

    let of_ref = format!("/projects/{project}/jobs/artifacts/a%2Fb");

    assert_eq!(mia.get(&format!("{of_ref}/download?job=job")).await.bytes, archive());
    assert_eq!(mia.get(&format!("{of_ref}/raw/out/a.txt?job=job")).await.bytes, TEXT);
    mia.get(&format!("{of_ref}/raw/out/a.txt?job=other")).await.with(404);
    mia.get(&format!("/projects/{project}/jobs/artifacts/b/download?job=job")).await.with(404);
}
