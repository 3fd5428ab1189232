//! What pipelines take from others: files for a child, artifacts of a family, the status of another project.

use std::io::Write as _;

use ci::job::End;
use flate2::{Compression, write::DeflateEncoder};
use kernel::{AccessLevel::Maintainer, Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use super::program::{Runner, Work, set_up};
use crate::support::{
    Person, TestApp,
    ci::{commit, finish, job, pipelines, run},
};

/// A zip file with one file in it.
fn zip(name: &str, content: &[u8]) -> Vec<u8> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(content).expect("memory");
    let packed = packer.finish().expect("memory");
    let [packed_size, size] =
        [packed.len(), content.len()].map(|one| u32::try_from(one).expect("small"));
    let length = u16::try_from(name.len()).expect("small");
    let common: Vec<u8> = [
        &[20, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0][..],
        &packed_size.to_le_bytes(),
        &size.to_le_bytes(),
        &length.to_le_bytes(),
        &[0, 0],
    ]
    .concat();
    let file = [b"PK\x03\x04", &common[..], name.as_bytes(), &packed].concat();
    let entry = [b"PK\x01\x02\x14\x03", &common[..], &[0; 10], &[0; 4], name.as_bytes()].concat();
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

const DYNAMIC: &str = "make: {script: x, artifacts: {paths: [out]}}\n\
    down: {stage: deploy, trigger: {include: [{artifact: out/child.yml, job: make}]}}\n";

/// The only bridge of the newest pipeline that somebody pushed.
async fn bridge(person: &Person<'_>, project: ProjectId) -> Value {
    let id = pipelines(person, project, "?source=push").await[0]["id"].clone();
    person.get(&format!("/projects/{project}/pipelines/{id}/bridges")).await.ok()[0].clone()
}

/// Lets the next job bring this archive, and succeed.
async fn brought(app: &TestApp, runner: &Runner<'_>, archive: Option<Vec<u8>>) -> Value {
    let payload = runner.take().await;
    let work = Work::new(app, &payload);
    if let Some(archive) = archive {
        work.bring("", "artifacts.zip", &archive).await.with(201);
    }
    work.report(json!({ "state": "success" })).await.with(200);
    app.work().await;
    payload
}

#[actix_web::test]
async fn a_job_writes_the_configuration_of_a_child() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, DYNAMIC).await;

    brought(&app, &runner, Some(zip("out/child.yml", b"unit: {script: x}"))).await;

    let made = bridge(&mia, project).await;
    assert_eq!(made["status"], "success");
    assert_eq!(made["downstream_pipeline"]["source"], "parent_pipeline");
    assert_eq!(runner.take().await["job_info"]["name"], "unit");
}

#[actix_web::test]
async fn a_child_says_why_it_has_no_configuration() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, DYNAMIC).await;
    let large = zip("out/child.yml", &vec![b'#'; (5 << 20) + 1]);
    let mut noise = Vec::with_capacity(6 << 20);
    let mut state: u32 = 1;
    while noise.len() < 6 << 20 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise.push(state.to_be_bytes()[0]);
    }
    for (archive, sentence) in [
        (None, "Job `make` not found in parent pipeline or does not have artifacts!"),
        (
            Some(zip("a.yml", b"a: 1")),
            "Path `out/child.yml` does not exist inside the `make` artifacts archive!",
        ),
        (
            Some(zip("out/child.yml/b", b"")),
            "Path `out/child.yml` was expected to be a file but it was a directory!",
        ),
        (Some(large), "Artifacts archive for job `make` is too large: max 5 MB"),
        (Some(zip("noise", &noise)), "Artifacts archive for job `make` is too large: max 5 MB"),
        (
            Some(zip("out/child.yml", b" ")),
            "Included file `out/child.yml` is empty or does not exist!",
        ),
        (
            Some(zip("out/child.yml", b"[")),
            "Included file `out/child.yml` does not have valid YAML syntax!",
        ),
        (
            Some(b"no zip".to_vec()),
            "Path `out/child.yml` does not exist inside the `make` artifacts archive!",
        ),
    ] {
        brought(&app, &runner, archive).await;
        let made = bridge(&mia, project).await;
        assert_eq!(made["failure_reason"], "downstream_pipeline_creation_failed", "{sentence}");
        let child = format!("/projects/{project}/pipelines/{}", made["downstream_pipeline"]["id"]);
        assert_eq!(mia.get(&child).await.ok()["yaml_errors"], sentence);
        let text = format!("{DYNAMIC}# {}\n", made["id"]);
        commit(&mia, project, "main", "again", &text).await;
    }
    let refused = json!({ "message": { "base":
        ["Including configs from artifacts is only allowed when triggering child pipelines"] } });
    commit(&mia, project, "main", "odd", "include: [{artifact: a.yml, job: make}]\n").await;
    let body = json!({ "ref": "main" });
    mia.post(&format!("/projects/{project}/pipeline"), body).await.refused(400, refused);
}

const FAMILY: &str = "make: {script: x, artifacts: {paths: [out]}}\n\
    down: {stage: deploy, variables: {PARENT: $CI_PIPELINE_ID}, trigger: {include: [{local: child.yml}]}}\n";

#[actix_web::test]
async fn a_child_fetches_what_its_parent_left() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "never: {script: x, rules: [{if: $NEVER}]}\n").await;
    let child = "unit: {script: x, variables: {UP: $PARENT}, needs: [{pipeline: $UP, job: make}]}\n\
        lost: {script: x, needs: [{pipeline: $PARENT, job: other}]}\n";
    let file = json!({ "branch": "main", "commit_message": "child [skip ci]", "content": child });
    mia.post(&format!("/projects/{project}/repository/files/child.yml"), file).await.created();
    commit(&mia, project, "main", "jobs", FAMILY).await;
    let archive = zip("out/a", b"a");
    let first = brought(&app, &runner, Some(archive.clone())).await;

    let unit = runner.take().await;

    assert_eq!(unit["job_info"]["name"], "unit");
    assert_eq!(unit["dependencies"][0]["id"], first["id"]);
    let path = format!("/jobs/{}/artifacts", first["id"]);
    let fetched = Work::new(&app, &unit).caller.get(&path).await;
    assert_eq!((fetched.status, fetched.bytes), (200, archive));
    runner.ask(json!({})).await.with(204);
    let lost = job(&mia, project, "lost").await;
    assert_eq!(lost["failure_reason"], "missing_dependency_failure");
}

#[actix_web::test]
async fn a_bridge_takes_the_status_of_another_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (engine, above) =
        (app.project(&ada, "engine", Private), app.project(&ada, "above", Private));
    commit(&ada, above, "main", "first", "unit: {script: x}").await;
    let text = "follow: {needs: {pipeline: ada/above}}\nlast: {stage: deploy, script: x}\n";
    commit(&ada, engine, "main", "first", text).await;
    app.work().await;
    assert_eq!(bridge(&ada, engine).await["status"], "pending");

    run(&app, &ada, above, "unit").await;
    assert_eq!(bridge(&ada, engine).await["status"], "running");
    finish(&app, &ada, above, "unit", End::Success).await;

    let followed = bridge(&ada, engine).await;
    assert_eq!(
        (&followed["status"], &followed["downstream_pipeline"]),
        (&json!("success"), &json!(null))
    );
    assert_eq!(job(&ada, engine, "last").await["status"], "pending");
    for (text, status) in [
        ("a: {script: x, when: manual, allow_failure: false}", "manual"),
        ("a: {script: x}", "pending"),
    ] {
        commit(&ada, above, "main", "next", text).await;
        let text = format!("follow: {{needs: {{pipeline: ada/above}}}} # {status}");
        commit(&ada, engine, "main", "next", &text).await;
        app.work().await;
        assert_eq!(bridge(&ada, engine).await["status"], status);
    }
    finish(&app, &ada, above, "a", End::failed("script_failure")).await;
    let failed = bridge(&ada, engine).await;
    assert_eq!(
        (&failed["status"], &failed["failure_reason"]),
        (&json!("failed"), &json!("unknown_failure"))
    );
}

#[actix_web::test]
async fn a_bridge_follows_only_what_its_person_may_read() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (engine, above) =
        (app.project(&ada, "engine", Private), app.project(&ada, "above", Private));
    let bob = app.member(engine, "bob", Maintainer);
    commit(&ada, above, "main", "first", "unit: {script: x}").await;
    ada.put(&format!("/projects/{above}"), json!({ "public_builds": false })).await.ok();
    let reason = async |path: &str| {
        let number = pipelines(&ada, engine, "").await.len();
        let text = format!("a: {{needs: {{pipeline: {path}}}}} # {number}");
        commit(&bob, engine, "main", "next", &text).await;
        app.work().await;
        bridge(&ada, engine).await["failure_reason"].clone()
    };

    assert_eq!(reason("ada/none").await, "upstream_bridge_project_not_found");
    assert_eq!(reason("ada/above").await, "upstream_bridge_project_not_found");
    ada.adds("bob", 10, &format!("/projects/{above}")).await;
    assert_eq!(reason("ada/above").await, "insufficient_upstream_permissions");
}
