//! Findings that are dismissed, alerts that people put on their lists or end by their incidents, mapped fields of alerts,
//! and what is told of reports, by GraphQL.

use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Private,
    ids::{JobId, PipelineId, ProjectId},
};
use security::{
    scan::{NewScan, ScanStore as _},
    vulnerability::ReportType,
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::{
    rest::security::{
        findings::{finding, keep},
        monitor::set_up,
    },
    support::{Person, TestApp, ci},
};

#[actix_web::test]
async fn a_finding_is_dismissed_by_its_identity() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    let dev = app.member(project, "dev", Developer);
    let rita = app.member(project, "rita", Reporter);
    keep(&app, project, finding("Weak hash"));
    let input = r#"uuid: "uuid of Weak hash", comment: "old", dismissalReason: FALSE_POSITIVE"#;
    let done = mutate(&dev, "securityFindingDismiss", input, "uuid").await;
    assert_eq!(done, json!({ "errors": [], "uuid": "uuid of Weak hash" }));
    let again = mutate(&dev, "securityFindingDismiss", input, "uuid").await;
    assert_eq!(again["errors"], json!([]));

    let query = r#"{ project(fullPath: "olga/one") { vulnerabilities { nodes {
        state dismissalReason scanner { vendor } } } vulnerabilityScanners { nodes { vendor } } } }"#;
    let shown = ask(&dev, query).await["project"].clone();
    let one = &shown["vulnerabilities"]["nodes"][0];
    assert_eq!(
        (&one["state"], &one["dismissalReason"]),
        (&json!("DISMISSED"), &json!("FALSE_POSITIVE"))
    );
    assert_eq!(one["scanner"]["vendor"], "Semgrep Inc.");
    assert_eq!(nodes(&shown["vulnerabilityScanners"], "vendor"), ["Semgrep Inc."]);
    for (person, uuid) in [(&rita, "uuid of Weak hash"), (&dev, "another")] {
        let dismiss = format!(
            r#"mutation {{ securityFindingDismiss(input: {{ uuid: "{uuid}" }}) {{ errors }} }}"#
        );
        assert_eq!(refusal(person, &dismiss).await, REFUSED);
    }
}

/// The path of a project.
async fn path_of(person: &Person<'_>, project: ProjectId) -> String {
    let shown = person.get(&format!("/projects/{project}")).await.ok();
    shown["path_with_namespace"].as_str().expect("a path").to_owned()
}

#[actix_web::test]
async fn an_alert_is_put_on_ones_list_by_its_incident() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let rita = app.member(project, "rita", Reporter);
    monitor.send(json!({ "title": "Disk is full" })).await.ok();
    let path = path_of(&mia, project).await;
    let at = format!(r#"projectPath: "{path}", iid: "1""#);
    let payload = "alert { iid } todo { action target { ... on Issue { title } } }";
    let early = mutate(&mia, "alertTodoCreate", &at, payload).await;
    assert_eq!(early["errors"], json!(["The alert has no incident yet: create one first"]));
    assert_eq!((&early["alert"]["iid"], &early["todo"]), (&json!("1"), &Value::Null));
    mutate(&mia, "createAlertIssue", &at, "").await;

    let made = mutate(&mia, "alertTodoCreate", &at, payload).await;
    let todo = json!({ "action": "marked", "target": { "title": "Disk is full" } });
    assert_eq!((&made["errors"], &made["todo"]), (&json!([]), &todo));
    let again = mutate(&mia, "alertTodoCreate", &at, payload).await;
    assert_eq!(again["todo"], todo);
    let query = format!(
        r#"{{ project(fullPath: "{path}") {{ alertManagementAlert(iid: "1") {{
           todos {{ nodes {{ action }} }} done: todos(state: done) {{ nodes {{ action }} }} }} }} }}"#
    );
    let shown = ask(&mia, &query).await["project"]["alertManagementAlert"].clone();
    assert_eq!(nodes(&shown["todos"], "action"), ["marked"]);
    assert_eq!(shown["done"]["nodes"], json!([]));
    let refused = format!("mutation {{ alertTodoCreate(input: {{ {at} }}) {{ errors }} }}");
    assert_eq!(refusal(&rita, &refused).await, REFUSED);
}

#[actix_web::test]
async fn an_incident_is_as_bad_as_its_alert_and_ends_it_for_good() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    monitor.send(json!({ "title": "Disk is full", "severity": "medium" })).await.ok();
    let path = path_of(&mia, project).await;
    let at = format!(r#"projectPath: "{path}", iid: "1""#);
    let opened = mutate(&mia, "createAlertIssue", &at, "issue { severity }").await;
    assert_eq!(opened, json!({ "errors": [], "issue": { "severity": "MEDIUM" } }));

    for (event, state) in [("CLOSE", "closed"), ("REOPEN", "opened")] {
        let input = format!("{at}, stateEvent: {event}");
        let payload =
            "issue { state alertManagementAlerts { nodes { status notes { nodes { body } } } } }";
        let moved = mutate(&mia, "updateIssue", &input, payload).await["issue"].clone();

        let alert = &moved["alertManagementAlerts"]["nodes"][0];
        assert_eq!((&moved["state"], &alert["status"]), (&json!(state), &json!("RESOLVED")));
        let told = "changed the status to **Resolved** because @mia closed incident #1";
        assert_eq!(nodes(&alert["notes"], "body").last(), Some(&json!(told)));
    }
}

#[actix_web::test]
async fn a_mapping_is_shown_as_it_was_sent() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    let max = app.member(project, "max", Maintainer);
    let input = r#"projectPath: "olga/one", active: true, name: "Nagios", payloadAttributeMappings: [
        { fieldName: START_TIME, path: ["times", 0, "007"], type: DATETIME, label: "Start" },
        { fieldName: HOSTS, path: ["hosts"], type: ARRAY }]"#;
    let payload = "integration { id payloadAttributeMappings { fieldName path type label } }";
    let wanted = json!([
        { "fieldName": "START_TIME", "path": ["times", 0, "007"], "type": "DATETIME", "label": "Start" },
        { "fieldName": "HOSTS", "path": ["hosts"], "type": "ARRAY", "label": null },
    ]);

    let made = mutate(&max, "httpIntegrationCreate", input, payload).await["integration"].clone();
    let input = format!("id: {}, active: false", made["id"]);
    let later = mutate(&max, "httpIntegrationUpdate", &input, payload).await["integration"].clone();

    assert_eq!(made["payloadAttributeMappings"], wanted);
    assert_eq!(later["payloadAttributeMappings"], wanted);
}

#[actix_web::test]
async fn a_merge_request_tells_whether_its_target_was_scanned() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "one", Private);
    app.merge_request(project, &ada);
    let query = r#"{ project(fullPath: "ada/one") { mergeRequests { nodes {
        targetBranch securityReportsUpToDateOnTargetBranch } } } }"#;
    let told = async || {
        let shown = ask(&ada, query).await["project"]["mergeRequests"].clone();
        nodes(&shown, "securityReportsUpToDateOnTargetBranch")
    };
    ci::commit(&ada, project, "main", "Build", "build:\n  script: make\n").await;
    assert_eq!(told().await, [false]);
    let newest = ci::pipelines(&ada, project, "?ref=main").await[0]["id"].as_i64().expect("an id");
    let job = ci::job(&ada, project, "build").await["id"].as_i64().expect("an id");
    let scan = NewScan {
        job: JobId(job),
        report_type: ReportType::Sast,
        on_default_branch: true,
        scanners: vec!["semgrep".to_owned()],
        findings: 0,
        errors: Vec::new(),
        warnings: Vec::new(),
    };
    app.write(move |tx| tx.save_scan(project, PipelineId(newest), &scan));
    assert_eq!(told().await, [true]);
    ci::commit(&ada, project, "main", "Again", "build:\n  script: make all\n").await;
    assert_eq!(told().await, [false]);
}
