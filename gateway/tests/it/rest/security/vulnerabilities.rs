//! Vulnerabilities and what people think of them: `gateway/src/rest/security/vulnerabilities.rs`.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility,
    ids::ProjectId,
};
use security::vulnerability::{Finding, ReportType, Severity};
use serde_json::{Value, json};

use super::findings::{finding, keep};
use crate::support::{Person, TestApp};

/// A project with one vulnerability, and its path.
async fn set_up(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let project = app.project(&app.person("olga"), "one", Visibility::Private);
    let dev = app.member(project, "dev", Developer);
    keep(app, project, finding("Weak hash"));
    let listed = dev.get(&format!("/projects/{project}/vulnerabilities")).await.ok();
    (project, dev, format!("/vulnerabilities/{}", listed[0]["id"]))
}

#[actix_web::test]
async fn a_vulnerability_goes_from_state_to_state() {
    let app = TestApp::new();
    let (_, dev, path) = set_up(&app).await;
    let user = json!(app.user("dev").id);
    app.announced();
    for (step, state) in [
        ("confirm", "confirmed"),
        ("dismiss", "dismissed"),
        ("resolve", "resolved"),
        ("revert", "detected"),
    ] {
        let after = dev.post(&format!("{path}/{step}"), json!({})).await.created();
        assert_eq!(after["state"], state);
        if step != "revert" {
            assert_eq!(after[format!("{state}_by_id")], user);
            assert_eq!(after[format!("{state}_at")], "2026-01-01T00:00:00.000Z");
        }
        let again = dev.post(&format!("{path}/{step}"), json!({})).await;
        assert_eq!((again.status, again.bytes.len()), (304, 0), "{step}");
    }
    let told = app.announced();
    assert_eq!(told.len(), 4);
    assert_eq!(told[0].0, "vulnerability.changed");
    let seen = dev.get(&path).await.ok();
    for state in ["confirmed", "dismissed", "resolved"] {
        assert_eq!(seen[format!("{state}_by_id")], Value::Null, "a revert takes it back");
        assert_eq!(seen[format!("{state}_at")], Value::Null, "a revert takes it back");
    }
}

#[actix_web::test]
async fn a_dismissal_has_a_reason_and_comments_are_exported() {
    let app = TestApp::new();
    let (project, dev, path) = set_up(&app).await;
    let wrong = json!({ "dismissal_reason": "boredom" });
    let refusal = json!({ "error": "dismissal_reason does not have a valid value" });
    dev.post(&format!("{path}/dismiss"), wrong).await.refused(400, refusal);
    let told = json!({ "dismissal_reason": "used_in_tests", "comment": "only, in \"tests\"" });
    let dismissed = dev.post(&format!("{path}/dismiss"), told).await.created();
    assert_eq!(dismissed["dismissal_reason"], "used_in_tests");
    let reverted = dev.post(&format!("{path}/revert"), json!({ "comment": "oh" })).await.created();
    assert_eq!(reverted["dismissal_reason"], json!(null));
    let long = json!({ "comment": "x".repeat(50_001) });
    dev.post(&format!("{path}/resolve"), long).await.with(400);

    let exports = format!("/security/projects/{project}/vulnerability_exports");
    let export = dev.post(&exports, json!({})).await.created();
    app.work().await;
    let file = dev.get(&format!("/security/vulnerability_exports/{}/download", export["id"])).await;

    let text = String::from_utf8(file.bytes).expect("text");
    let comments = "\"2026-01-01 00:00:00 UTC|dev|dismissed|only, in \"\"tests\"\"; \
                    2026-01-01 00:00:00 UTC|dev|detected|oh\"\n";
    assert!(text.ends_with(comments), "{text}");
}

#[actix_web::test]
async fn vulnerabilities_are_for_developers() {
    let app = TestApp::new();
    let (project, dev, path) = set_up(&app).await;
    let (rob, eve) = (app.member(project, "rob", Reporter), app.person("eve"));
    for call in [path.clone(), format!("/projects/{project}/vulnerabilities")] {
        app.anonymous().get(&call).await.with(401);
        eve.get(&call).await.with(404);
        rob.get(&call).await.with(403);
        dev.get(&call).await.ok();
    }
    let confirm = format!("{path}/confirm");
    eve.post(&confirm, json!({})).await.refused(404, json!({ "message": "404 Not found" }));
    rob.post(&confirm, json!({})).await.with(403);
    dev.post("/vulnerabilities/999/confirm", json!({})).await.with(404);
    app.person("olga").post(&format!("/projects/{project}/archive"), json!({})).await.created();
    dev.post(&confirm, json!({})).await.with(403);
    dev.get(&path).await.ok();
}

#[actix_web::test]
async fn lists_are_filtered_and_paged() {
    let app = TestApp::new();
    let (project, dev, path) = set_up(&app).await;
    let other =
        Finding { report_type: ReportType::Dast, severity: Severity::Low, ..finding("Open door") };
    keep(&app, project, other);
    dev.post(&format!("{path}/confirm"), json!({})).await.created();
    let list = async |query: &str| {
        dev.get(&format!("/projects/{project}/vulnerabilities?{query}")).await.each("title")
    };

    assert_eq!(list("").await, ["Open door", "Weak hash"]);
    assert_eq!(list("state=confirmed").await, ["Weak hash"]);
    assert_eq!(list("state=confirmed,detected").await.len(), 2);
    assert_eq!(list("severity[]=low").await, ["Open door"]);
    assert_eq!(list("report_type=dast").await, ["Open door"]);
    assert_eq!(list("resolved_on_default_branch=true").await, Vec::<Value>::new());
    assert_eq!(list("per_page=1&page=2").await, ["Weak hash"]);
    assert_eq!(list("per_page=1&page=3").await, Vec::<Value>::new());
    let odd = dev.get(&format!("/projects/{project}/vulnerabilities?state=odd")).await;
    assert_eq!(odd.status, 400);
}
