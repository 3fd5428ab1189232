//! Findings of single pipelines: `gateway/src/rest/security/vulnerability_findings.rs`.

use kernel::{
    AccessLevel::{Developer, Reporter},
    ids::ProjectId,
};
use serde_json::{Value, json};

pub(crate) use super::reports::JOBS;
use super::reports::{bring, report, scanned, weakness};
use crate::{
    rest::runners::program::{Runner, set_up},
    support::{Person, TestApp, ci::pipelines},
};

fn of(project: ProjectId, query: &str) -> String {
    format!("/projects/{project}/vulnerability_findings{query}")
}

/// A report of the default branch with `a` and `b`, and one of another branch with `b` and `c`; the id of its pipeline.
pub(crate) async fn two_branches(
    person: &Person<'_>,
    runner: &Runner<'_>,
    project: ProjectId,
) -> i64 {
    bring(runner, "sast", report(&[weakness("a"), weakness("b")]).to_string().as_bytes()).await;
    let branch = format!("/projects/{project}/repository/branches?branch=side&ref=main");
    person.post(&branch, json!({})).await.created();
    bring(runner, "sast", report(&[]).to_string().as_bytes()).await;
    let mut last = weakness("c");
    last["severity"] = json!("Low");
    scanned(person, runner, project, "side", &[last, weakness("b")]).await;
    pipelines(person, project, "").await[0]["id"].as_i64().expect("an id")
}

#[actix_web::test]
async fn another_branch_has_findings_that_are_no_vulnerabilities() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    let side = two_branches(&mia, &runner, project).await;

    let main = mia.get(&of(project, "")).await.each("name");
    let found = mia.get(&of(project, &format!("?pipeline_id={side}"))).await.ok();

    assert_eq!(main, ["a", "b"]);
    let seen: Vec<_> = found.as_array().expect("a list").iter().collect();
    let told: Vec<_> = seen.iter().map(|one| (&one["name"], one["id"].is_null())).collect();
    assert_eq!(told, [(&json!("b"), false), (&json!("c"), true)], "the worst first");
    assert_eq!(
        seen[1]["scanner"],
        json!({ "external_id": "semgrep", "name": "Semgrep", "vendor": "V" })
    );
    assert_eq!((&seen[1]["state"], &seen[1]["severity"]), (&json!("detected"), &json!("low")));
    assert_eq!(
        mia.get(&format!("/projects/{project}/vulnerabilities")).await.each("title"),
        ["b", "a"]
    );
}

#[actix_web::test]
async fn findings_are_filtered_and_dismissed_ones_shown_on_demand() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    let side = two_branches(&mia, &runner, project).await;
    let id = mia.get(&format!("/projects/{project}/vulnerabilities")).await.ok()[0]["id"].clone();
    mia.post(&format!("/vulnerabilities/{id}/dismiss"), json!({})).await.created();

    for (query, names) in [
        ("", &["c"][..]),
        ("&scope=all", &["b", "c"]),
        ("&scope=all&severity=low", &["c"]),
        ("&scope=all&severity=high,critical", &["b"]),
        ("&scope=all&report_type=dast", &[]),
        ("&scope=all&confidence=high", &[]),
        ("&scope=all&per_page=1&page=2", &["c"]),
    ] {
        let path = of(project, &format!("?pipeline_id={side}{query}"));
        assert_eq!(mia.get(&path).await.each("name"), names, "{query}");
    }
    let refusal = json!({ "error": "severity does not have a valid value" });
    mia.get(&of(project, "?severity=odd")).await.refused(400, refusal);
}

#[actix_web::test]
async fn findings_are_for_developers_and_of_their_project() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    assert_eq!(mia.get(&of(project, "")).await.ok(), json!([]));
    bring(&runner, "sast", report(&[weakness("a")]).to_string().as_bytes()).await;
    let pipeline = pipelines(&mia, project, "").await[0]["id"].clone();

    app.anonymous().get(&of(project, "")).await.with(401);
    app.person("eve").get(&of(project, "")).await.with(404);
    app.member(project, "rob", Reporter).get(&of(project, "")).await.with(403);
    let dev = app.member(project, "dev", Developer);
    assert_eq!(dev.get(&of(project, "")).await.each("name"), ["a"]);
    let other = app.project(&dev, "other", kernel::Visibility::Private);
    let elsewhere = dev.get(&of(other, &format!("?pipeline_id={pipeline}"))).await;
    assert_eq!(elsewhere.ok(), Value::Array(Vec::new()), "a pipeline of another project");
}

#[actix_web::test]
async fn a_report_that_cannot_be_used_has_no_findings() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    bring(&runner, "sast", b"{\"version\": \"15.0.0\"").await;

    assert_eq!(mia.get(&of(project, "")).await.ok(), json!([]));
}
