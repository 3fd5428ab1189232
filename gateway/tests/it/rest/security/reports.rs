//! Reports of scanners: `crates/forge/src/security/imports.rs`, `crates/security/src/{report,scan}`.

use db::schema::job_artifacts;
use diesel::prelude::*;
use kernel::{
    AccessLevel::{Developer, Reporter},
    ids::{PipelineId, ProjectId},
};
use security::{
    report::REPORT_SIZE_LIMIT,
    scan::{Scan, ScanStatus, ScanStore as _, keep_findings},
    vulnerability::{ReportType, State},
};
use serde_json::{Value, json};

use super::findings::finding;
use crate::{
    rest::runners::program::{Runner, Work, set_up},
    support::{
        Person, TestApp,
        ci::{commit, pipelines},
    },
};

pub(crate) const JOBS: &str = "scan: {script: x}\n";

/// One finding of a report.
pub(crate) fn weakness(name: &str) -> Value {
    json!({
        "id": name, "name": name, "severity": "High", "description": format!("about {name}"),
        "identifiers": [
            { "type": "cve", "name": format!("CVE-{name}"), "value": format!("CVE-{name}"), "url": "https://cve.test" },
            { "type": "rule", "name": "Rule 1", "value": "1" },
        ],
        "location": { "file": format!("{name}.rb"), "start_line": 1, "end_line": 2 },
    })
}

pub(crate) fn report(findings: &[Value]) -> Value {
    let tool =
        json!({ "id": "semgrep", "name": "Semgrep", "version": "1", "vendor": { "name": "V" } });
    json!({
        "version": "15.0.4", "vulnerabilities": findings,
        "scan": {
            "analyzer": tool, "scanner": tool, "type": "sast", "status": "success",
            "start_time": "2022-01-01T00:00:00", "end_time": "2022-01-01T00:00:01",
        },
    })
}

/// Takes the next job, brings a report, and ends the job.
pub(crate) async fn bring(runner: &Runner<'_>, kind: &str, content: &[u8]) {
    let payload = runner.take().await;
    let work = Work::new(runner.app, &payload);
    let query = format!("?artifact_type={kind}&artifact_format=raw");
    work.bring(&query, "gl-report.json", content).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    runner.app.work().await;
}

/// A pipeline of a branch, with this report.
pub(super) async fn scanned(
    person: &Person<'_>,
    runner: &Runner<'_>,
    project: ProjectId,
    branch: &str,
    found: &[Value],
) {
    commit(person, project, branch, "again", &format!("{JOBS}# {found:?}")).await;
    bring(runner, "sast", report(found).to_string().as_bytes()).await;
}

async fn titles(person: &Person<'_>, project: ProjectId, query: &str) -> Vec<Value> {
    person.get(&format!("/projects/{project}/vulnerabilities{query}")).await.each("title")
}

async fn scans(app: &TestApp, person: &Person<'_>, project: ProjectId) -> Vec<Scan> {
    let id = pipelines(person, project, "").await[0]["id"].as_i64().expect("an id");
    app.write(move |tx| tx.scans_of_pipeline(PipelineId(id)))
}

#[actix_web::test]
async fn what_a_scanner_reports_becomes_a_vulnerability() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    assert_eq!(titles(&mia, project, "").await, Vec::<Value>::new());

    bring(&runner, "sast", report(&[weakness("a"), weakness("b")]).to_string().as_bytes()).await;

    assert_eq!(titles(&mia, project, "").await, ["b", "a"]);
    let listed = mia.get(&format!("/projects/{project}/vulnerabilities")).await.ok();
    let one = &listed[1];
    assert_eq!((&one["state"], &one["severity"]), (&json!("detected"), &json!("high")));
    assert_eq!(one["scanner"], json!({ "external_id": "semgrep", "name": "Semgrep" }));
    assert_eq!(one["identifiers"][0]["external_id"], "CVE-a");
    assert_eq!(one["location"], json!({ "file": "a.rb", "start_line": 1, "end_line": 2 }));
    let [scan] = &scans(&app, &mia, project).await[..] else { panic!("one scan") };
    assert_eq!((scan.status, scan.findings), (ScanStatus::Succeeded, 2));
}

#[actix_web::test]
async fn a_weakness_is_one_vulnerability_over_all_pipelines() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    bring(&runner, "sast", report(&[weakness("a"), weakness("b")]).to_string().as_bytes()).await;
    let id = mia.get(&format!("/projects/{project}/vulnerabilities")).await.ok()[1]["id"].clone();
    mia.post(&format!("/vulnerabilities/{id}/confirm"), json!({})).await.created();

    scanned(&mia, &runner, project, "main", &[weakness("b"), weakness("c")]).await;

    assert_eq!(titles(&mia, project, "").await, ["c", "b", "a"]);
    assert_eq!(titles(&mia, project, "?resolved_on_default_branch=true").await, ["a"]);
    let gone = mia.get(&format!("/vulnerabilities/{id}")).await.ok();
    assert_eq!(gone["state"], json!(State::Confirmed), "the state is for people");

    scanned(&mia, &runner, project, "main", &[weakness("a")]).await;
    assert_eq!(titles(&mia, project, "?resolved_on_default_branch=true").await, ["c", "b"]);
    scanned(&mia, &runner, project, "main", &[]).await;
    assert_eq!(titles(&mia, project, "?resolved_on_default_branch=true").await.len(), 3);
}

#[actix_web::test]
async fn other_branches_change_nothing() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    bring(&runner, "sast", report(&[weakness("a")]).to_string().as_bytes()).await;
    let branch = format!("/projects/{project}/repository/branches?branch=side&ref=main");
    mia.post(&branch, json!({})).await.created();

    let payload = runner.ask(json!({})).await;
    if payload.status == 201 {
        Work::new(&app, &payload.body).report(json!({ "state": "success" })).await.with(200);
    }
    scanned(&mia, &runner, project, "side", &[weakness("b"), weakness("c")]).await;
    let [scan] = &scans(&app, &mia, project).await[..] else { panic!("one scan") };
    assert_eq!((scan.findings, scan.on_default_branch), (2, false));

    assert_eq!(titles(&mia, project, "").await, ["a"]);
    assert_eq!(
        titles(&mia, project, "?resolved_on_default_branch=true").await,
        Vec::<Value>::new()
    );
}

#[actix_web::test]
async fn an_older_pipeline_that_ends_later_changes_nothing() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    let older = runner.take().await;
    scanned(&mia, &runner, project, "main", &[weakness("new")]).await;

    let work = Work::new(&app, &older);
    let content = report(&[weakness("old")]).to_string();
    let query = "?artifact_type=sast&artifact_format=raw";
    work.bring(query, "gl-report.json", content.as_bytes()).await.with(201);
    work.report(json!({ "state": "success" })).await.with(200);
    app.work().await;

    assert_eq!(titles(&mia, project, "").await, ["new"]);
    assert_eq!(
        titles(&mia, project, "?resolved_on_default_branch=true").await,
        Vec::<Value>::new()
    );
}

#[actix_web::test]
async fn an_import_that_a_newer_one_overtakes_keeps_nothing_more() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    bring(&runner, "sast", report(&[weakness("a")]).to_string().as_bytes()).await;
    let older = pipelines(&mia, project, "").await[0]["id"].as_i64().expect("an id");
    scanned(&mia, &runner, project, "main", &[weakness("b")]).await;

    let kept = app.write(move |tx| {
        let late = [finding("late")];
        keep_findings(tx, (project, PipelineId(older)), ReportType::Sast, &late)
    });

    assert!(!kept);
    assert_eq!(titles(&mia, project, "").await, ["b", "a"]);
    assert_eq!(titles(&mia, project, "?resolved_on_default_branch=true").await, ["a"]);
}

#[actix_web::test]
async fn a_report_that_is_too_large_is_not_opened() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    let work = Work::new(&app, &runner.take().await);
    let content = report(&[weakness("a")]).to_string();
    let query = "?artifact_type=sast&artifact_format=raw";
    work.bring(query, "gl-report.json", content.as_bytes()).await.with(201);
    let size = i64::try_from(REPORT_SIZE_LIMIT).expect("a size") + 1;
    app.write(move |tx| {
        let larger = diesel::update(job_artifacts::table).set(job_artifacts::size.eq(size));
        db::each_backend!(tx, |conn| larger.execute(conn).map_err(db::error("Artifact")))
    });

    work.report(json!({ "state": "success" })).await.with(200);
    app.work().await;

    let [scan] = &scans(&app, &mia, project).await[..] else { panic!("one scan") };
    assert_eq!(scan.error_list().expect("a list"), ["Report is too large"]);
    assert_eq!(titles(&mia, project, "").await, Vec::<Value>::new());
}

#[actix_web::test]
async fn a_report_that_is_none_fails_its_scan_and_nothing_else() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    bring(&runner, "sast", report(&[weakness("a")]).to_string().as_bytes()).await;
    let mut odd = report(&[weakness("b"), json!({ "name": 1 })]);
    odd["version"] = json!("13.0.0");
    let deep = "[".repeat(1_000_000);
    let zip = [0_u8, 159, 146, 150];
    let broken = b"{\"version\":\"15.0.4\",\"vulnerabilities\":[{\"name\":\"\xff\xfe\"}]}";
    let inner = format!("{{\"vulnerabilities\":[{}", "[".repeat(100_000));
    let mut versionless = report(&[weakness("b")]);
    versionless.as_object_mut().expect("a report").remove("version");
    let versionless = versionless.to_string();
    for (content, sentence) in [
        (
            odd.to_string().as_bytes(),
            "property '/vulnerabilities/1' is missing required keys: identifiers, location",
        ),
        (deep.as_bytes(), "Invalid report format"),
        (&zip[..], "JSON parsing failed"),
        (b"[]", "Invalid report format"),
        (&broken[..], "JSON parsing failed"),
        (inner.as_bytes(), "JSON parsing failed"),
        (
            versionless.as_bytes(),
            "Report version not provided, sast report type supports versions: 14.x, 15.x",
        ),
    ] {
        commit(&mia, project, "main", "again", &format!("{JOBS}# {sentence} {}", content.len()))
            .await;
        bring(&runner, "sast", content).await;

        let [scan] = &scans(&app, &mia, project).await[..] else { panic!("one scan") };
        assert_eq!(scan.status, ScanStatus::Failed);
        assert_eq!(scan.error_list().expect("a list")[0], sentence);
        assert_eq!(titles(&mia, project, "").await, ["a"]);
        assert_eq!(titles(&mia, project, "?resolved_on_default_branch=false").await, ["a"]);
    }
}

#[actix_web::test]
async fn which_projects_were_scanned_is_told_to_those_who_read_findings() {
    let app = TestApp::new();
    let keeper = app.person("keeper");
    let group = keeper.group_with("works", json!({ "visibility": "public" })).await;
    let new = json!({ "name": "scanned", "namespace_id": group, "visibility": "public" });
    let made = keeper.post("/projects", new).await.created();
    let project = ProjectId(made["id"].as_i64().expect("an id"));
    commit(&keeper, project, "main", "jobs", JOBS).await;
    let runner = Runner::of(&keeper, project, json!({})).await;
    bring(&runner, "sast", report(&[]).to_string().as_bytes()).await;
    let (dan, rea) = (app.member(project, "dan", Developer), app.member(project, "rea", Reporter));
    let path = format!("/groups/{group}/projects?with_security_reports=true");
    let query =
        r#"{ group(fullPath: "works") { projects(hasVulnerabilities: true) { nodes { name } } } }"#;

    for (person, told) in
        [(&dan, 1), (&app.admin(), 1), (&rea, 0), (&app.person("eve"), 0), (&app.anonymous(), 0)]
    {
        assert_eq!(person.get(&path).await.each("name").len(), told, "{}", person.username);
        let found = person.post("//api/graphql", json!({ "query": query })).await.ok();
        let nodes = found["data"]["group"]["projects"]["nodes"].as_array().map(Vec::len);
        assert_eq!(nodes, Some(told), "{} by GraphQL", person.username);
    }
}

#[actix_web::test]
async fn a_group_finds_its_projects_with_reports() {
    let app = TestApp::new();
    let keeper = app.person("keeper");
    let group = keeper.group("tools", None).await;
    let mut ids = Vec::new();
    for name in ["scanned", "plain"] {
        let wanted = json!({ "name": name, "namespace_id": group });
        let id = keeper.post("/projects", wanted).await.created()["id"].as_i64().expect("an id");
        ids.push(ProjectId(id));
    }
    commit(&keeper, ids[0], "main", "jobs", JOBS).await;
    let runner = Runner::of(&keeper, ids[0], json!({})).await;
    bring(&runner, "sast", report(&[]).to_string().as_bytes()).await;

    let path = format!("/groups/{group}/projects?with_security_reports=true");
    assert_eq!(keeper.get(&path).await.each("name"), ["scanned"]);
}
