//! Vulnerabilities, alerts and integrations by GraphQL.

use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Private,
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::{
    rest::{
        runners::program,
        security::{
            findings::{finding, keep},
            monitor::set_up,
            pipeline_findings::{JOBS, two_branches},
        },
    },
    support::TestApp,
};

#[actix_web::test]
async fn vulnerabilities_are_listed_counted_and_judged() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    let dev = app.member(project, "dev", Developer);
    let rita = app.member(project, "rita", Reporter);
    keep(&app, project, finding("Weak hash"));
    let query = r#"{ project(fullPath: "olga/one") { vulnerabilities { count nodes { id title state reportType
        scanner { externalId } identifiers { externalType } location { __typename } project { fullPath } } }
        vulnerabilitySeveritiesCount(state: DETECTED) { critical high } securityDashboardPath } }"#;
    let shown = ask(&dev, query).await["project"].clone();
    let one = &shown["vulnerabilities"]["nodes"][0];
    assert_eq!((&one["title"], &one["state"]), (&json!("Weak hash"), &json!("DETECTED")));
    assert_eq!(one["project"]["fullPath"], "olga/one");
    let counted = async |arguments: &str| {
        let query = format!(
            r#"{{ project(fullPath: "olga/one") {{ vulnerabilities({arguments}) {{ count }} }} }}"#
        );
        ask(&dev, &query).await["project"]["vulnerabilities"]["count"].clone()
    };
    assert_eq!(counted("hasResolution: true").await, 0);
    assert_eq!(counted("hasResolution: false").await, 1);
    let scanner = r#"scannerId: ["gid://gitlab/Vulnerabilities::Scanner/"#;
    assert_eq!(counted(&format!(r#"{scanner}99"]"#)).await, 0);
    let hidden = ask(&rita, query).await["project"].clone();
    assert_eq!(
        (&hidden["vulnerabilities"], &hidden["securityDashboardPath"]),
        (&Value::Null, &Value::Null)
    );
    let input = format!(r#"id: {}, comment: "old", dismissalReason: USED_IN_TESTS"#, one["id"]);
    let payload = "vulnerability { state dismissalReason dismissedBy { username }
        stateTransitions { nodes { fromState toState comment } } }";
    let judged =
        mutate(&dev, "vulnerabilityDismiss", &input, payload).await["vulnerability"].clone();
    assert_eq!(judged["state"], "DISMISSED");
    assert_eq!(judged["dismissedBy"]["username"], "dev");
    let change = json!({ "fromState": "DETECTED", "toState": "DISMISSED", "comment": "old" });
    assert_eq!(judged["stateTransitions"]["nodes"], json!([change]));
    let (input, payload) =
        (format!("id: {}", one["id"]), "vulnerability { dismissedAt dismissedBy { username } }");
    let reverted = mutate(&dev, "vulnerabilityRevertToDetected", &input, payload).await;
    assert_eq!(reverted["vulnerability"], json!({ "dismissedAt": null, "dismissedBy": null }));
    let query =
        format!("mutation {{ vulnerabilityResolve(input: {{ id: {} }}) {{ errors }} }}", one["id"]);
    assert_eq!(refusal(&rita, &query).await, REFUSED);
}

#[actix_web::test]
async fn the_findings_of_a_pipeline_are_shown_to_developers() {
    let app = TestApp::new();
    let (project, mia, runner) = program::set_up(&app, JOBS).await;
    two_branches(&mia, &runner, project).await;
    let path = mia.get(&format!("/projects/{project}")).await.ok()["path_with_namespace"].clone();
    let query = |arguments: &str| {
        format!(
            "{{ project(fullPath: {path}) {{ pipelines(first: 1) {{ nodes {{ \
             securityReportFindings{arguments} {{ nodes {{ title severity state uuid }} }} }} }} }} }}"
        )
    };
    let shown = |answer: &Value| {
        answer["project"]["pipelines"]["nodes"][0]["securityReportFindings"].clone()
    };

    let all = shown(&ask(&mia, &query("")).await);
    let low = shown(&ask(&mia, &query("(severity: [\"low\"], state: [DETECTED])")).await);

    let titles: Vec<&Value> =
        all["nodes"].as_array().expect("nodes").iter().map(|one| &one["title"]).collect();
    assert_eq!(titles, ["b", "c"]);
    assert_eq!((&low["nodes"][0]["title"], &low["nodes"][1]), (&json!("c"), &Value::Null));
    let odd = shown(&ask(&mia, &query("(reportType: [\"odd\"])")).await);
    assert_eq!(odd["nodes"], json!([]));
    let rob = app.member(project, "rob", Reporter);
    assert_eq!(shown(&ask(&rob, &query("")).await), Value::Null);
}

#[actix_web::test]
async fn an_auditor_watches_projects_of_others() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    keep(&app, project, finding("Weak hash"));
    let (eve, user) = (app.person("eve"), app.user("eve").id);
    let id = format!("id: \"gid://gitlab/Project/{project}\"");
    let query =
        format!("mutation {{ addProjectToSecurityDashboard(input: {{ {id} }}) {{ errors }} }}");
    assert_eq!(refusal(&eve, &query).await, REFUSED);
    app.admin().put(&format!("/users/{user}"), json!({ "auditor": true })).await.ok();

    let added = mutate(&eve, "addProjectToSecurityDashboard", &id, "").await;

    assert_eq!(added["errors"], json!([]));
    let query = "{ instanceSecurityDashboard { vulnerabilityScanners { nodes { name } } } }";
    let shown = ask(&eve, query).await["instanceSecurityDashboard"].clone();
    assert_eq!(nodes(&shown["vulnerabilityScanners"], "name"), ["Semgrep"]);
}

#[actix_web::test]
async fn a_dashboard_shows_the_projects_that_somebody_watches() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    let dev = app.member(project, "dev", Developer);
    keep(&app, project, finding("Weak hash"));
    let id = format!(r#"id: "gid://gitlab/Project/{project}""#);
    let added = mutate(&dev, "addProjectToSecurityDashboard", &id, "project { fullPath }").await;
    assert_eq!(added["project"]["fullPath"], "olga/one");
    let query = "{ instanceSecurityDashboard { projects { nodes { fullPath } } vulnerabilityScanners { nodes { name } }
        vulnerabilityGrades { grade count } } vulnerabilities { nodes { title } } }";
    let shown = ask(&dev, query).await;
    let dashboard = &shown["instanceSecurityDashboard"];
    assert_eq!(nodes(&dashboard["projects"], "fullPath"), ["olga/one"]);
    assert_eq!(dashboard["vulnerabilityGrades"][0]["count"], 1);
    assert_eq!(nodes(&shown["vulnerabilities"], "title"), ["Weak hash"]);
    mutate(&dev, "removeProjectFromSecurityDashboard", &id, "").await;
    let shown = ask(&dev, query).await;
    assert_eq!(shown["instanceSecurityDashboard"]["projects"]["nodes"], json!([]));
    assert_eq!(ask(&app.anonymous(), query).await["instanceSecurityDashboard"], Value::Null);
}

#[actix_web::test]
async fn alerts_are_listed_counted_and_become_incidents() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    for (title, severity) in [("Disk is full", "high"), ("Slow", "low")] {
        monitor.send(json!({ "title": title, "severity": severity })).await.ok();
    }
    let shown = mia.get(&format!("/projects/{project}")).await.ok();
    let path = shown["path_with_namespace"].as_str().expect("a path").to_owned();
    let query = format!(
        r#"{{ project(fullPath: "{path}") {{ alertManagementAlerts(sort: SEVERITY_DESC) {{ nodes {{ iid title status
            severity eventCount }} }} alertManagementAlert(iid: "2") {{ title }}
            alertManagementAlertStatusCounts {{ all open resolved }} }} }}"#
    );
    let shown = ask(&mia, &query).await["project"].clone();
    assert_eq!(nodes(&shown["alertManagementAlerts"], "title"), ["Disk is full", "Slow"]);
    assert_eq!(shown["alertManagementAlert"]["title"], "Slow");
    let counts = json!({ "all": 2, "open": 2, "resolved": 0 });
    assert_eq!(shown["alertManagementAlertStatusCounts"], counts);
    let at = format!(r#"projectPath: "{path}", iid: "1""#);
    let input = format!("{at}, status: ACKNOWLEDGED");
    let changed = mutate(&mia, "updateAlertStatus", &input, "alert { status } issue { iid }").await;
    assert_eq!(changed["alert"]["status"], "ACKNOWLEDGED");
    let payload = "alert { issueIid } issue { title author { username }
        alertManagementAlerts { nodes { title } } }";
    let opened = mutate(&mia, "createAlertIssue", &at, payload).await;
    assert_eq!(
        (&opened["alert"]["issueIid"], &opened["issue"]["title"]),
        (&json!("1"), &json!("Disk is full"))
    );
    assert_eq!(nodes(&opened["issue"]["alertManagementAlerts"], "title"), ["Disk is full"]);
    let again = mutate(&mia, "createAlertIssue", &at, "issue { iid }").await;
    assert_eq!(again["errors"], json!(["An issue already exists"]));
}

#[actix_web::test]
async fn endpoints_for_alerts_are_made_changed_and_removed() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    let max = app.member(project, "max", Maintainer);
    let input = r#"projectPath: "olga/one", active: true, name: "Nagios", payloadAttributeMappings:
        [{ fieldName: TITLE, path: ["data", "summary"], type: STRING }]"#;
    let payload =
        "integration { id name active token url type payloadAttributeMappings { fieldName path } }";
    let made = mutate(&max, "httpIntegrationCreate", input, payload).await["integration"].clone();
    assert_eq!((&made["type"], &made["active"]), (&json!("HTTP"), &json!(true)));
    assert_eq!(
        made["payloadAttributeMappings"],
        json!([{ "fieldName": "TITLE", "path": ["data", "summary"] }])
    );
    let id = format!("id: {}", made["id"]);
    let input = format!("{id}, active: false");
    let changed = mutate(&max, "httpIntegrationUpdate", &input, payload).await;
    assert_eq!(changed["integration"]["active"], false);
    let reset = mutate(&max, "httpIntegrationResetToken", &id, payload).await;
    assert_ne!(reset["integration"]["token"], made["token"]);
    let input = r#"projectPath: "olga/one", active: true, apiUrl: "https://prometheus.example""#;
    let payload = "integration { id type apiUrl }";
    let other =
        mutate(&max, "prometheusIntegrationCreate", input, payload).await["integration"].clone();
    assert_eq!(
        (&other["type"], &other["apiUrl"]),
        (&json!("PROMETHEUS"), &json!("https://prometheus.example"))
    );
    let input = r#"projectPath: "olga/one", active: true, apiUrl: "prometheus""#;
    let refused = mutate(&max, "prometheusIntegrationCreate", input, payload).await;
    let said = "Api url is not a valid or allowed URL";
    assert_eq!(refused, json!({ "errors": [said], "integration": null }));
    let query = r#"{ project(fullPath: "olga/one") { alertManagementIntegrations { nodes { type } }
        alertManagementHttpIntegrations { nodes { name } }
        services(type: PROMETHEUS_SERVICE) { nodes { active } } } }"#;
    let shown = ask(&max, query).await["project"].clone();
    assert_eq!(nodes(&shown["alertManagementIntegrations"], "type"), ["HTTP", "PROMETHEUS"]);
    assert_eq!(nodes(&shown["alertManagementHttpIntegrations"], "name"), ["Nagios"]);
    assert_eq!(nodes(&shown["services"], "active"), [true]);
    let removed = mutate(&max, "httpIntegrationDestroy", &id, "integration { name }").await;
    assert_eq!(removed["integration"]["name"], "Nagios");
}

#[actix_web::test]
async fn alerts_are_given_to_people_and_spoken_of() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    monitor.send(json!({ "title": "Disk is full" })).await.ok();
    let shown = mia.get(&format!("/projects/{project}")).await.ok();
    let path = shown["path_with_namespace"].as_str().expect("a path").to_owned();
    let at = format!(r#"projectPath: "{path}", iid: "1""#);
    let input = format!(r#"{at}, assigneeUsernames: ["{}", "nobody"]"#, mia.username);
    let payload = "alert { id assignees { nodes { username } } }";
    let given = mutate(&mia, "alertSetAssignees", &input, payload).await["alert"].clone();
    assert_eq!(nodes(&given["assignees"], "username"), [json!(mia.username)]);
    let input = format!(r#"noteableId: {}, body: "On it.""#, given["id"]);
    let payload = "note { id body system author { username } discussion { resolvable notes { nodes { body } } } }";
    let said = mutate(&mia, "createNote", &input, payload).await["note"].clone();
    assert_eq!((&said["body"], &said["system"]), (&json!("On it."), &json!(false)));
    assert_eq!(nodes(&said["discussion"]["notes"], "body"), ["On it."]);
    let query = format!(
        r#"{{ project(fullPath: "{path}") {{
            all: alertManagementAlerts(assigneeUsername: "{}") {{ nodes {{ notes {{ count nodes {{ system }} }}
                discussions {{ nodes {{ noteable {{ __typename }} }} }} }} }}
            none: alertManagementAlerts(assigneeUsername: "nobody") {{ nodes {{ id }} }} }} }}"#,
        mia.username
    );
    let shown = ask(&mia, &query).await["project"].clone();
    let one = &shown["all"]["nodes"][0];
    assert_eq!(nodes(&one["notes"], "system"), [true, true, false]);
    assert_eq!(one["discussions"]["nodes"][0]["noteable"]["__typename"], "AlertManagementAlert");
    assert_eq!(shown["none"]["nodes"], json!([]));
}

#[actix_web::test]
async fn an_issue_becomes_the_incident_of_an_alert() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    monitor.send(json!({ "title": "Disk is full" })).await.ok();
    let shown = mia.get(&format!("/projects/{project}")).await.ok();
    let path = shown["path_with_namespace"].as_str().expect("a path").to_owned();
    let fields = json!({ "title": "Disks", "issue_type": "incident" });
    mia.post(&format!("/projects/{project}/issues"), fields).await.created();
    let at = format!(r#"projectPath: "{path}", iid: "1""#);
    let payload = "issue { alertManagementAlerts { nodes { id title } } }";
    let input = format!(r#"{at}, alertReferences: ["^alert#1"]"#);
    let linked = mutate(&mia, "issueLinkAlerts", &input, payload).await["issue"].clone();
    assert_eq!(nodes(&linked["alertManagementAlerts"], "title"), ["Disk is full"]);
    let alert = &linked["alertManagementAlerts"]["nodes"][0]["id"];
    let input = format!("{at}, alertId: {alert}");
    let freed = mutate(&mia, "issueUnlinkAlert", &input, payload).await["issue"].clone();
    assert_eq!(freed["alertManagementAlerts"]["nodes"], json!([]));
    let input = format!(r#"{at}, alertReferences: ["^alert#9"]"#);
    let unknown =
        format!("mutation {{ issueLinkAlerts(input: {{ {input} }}) {{ errors {payload} }} }}");
    assert_eq!(refusal(&mia, &unknown).await, REFUSED);
}

#[actix_web::test]
async fn vulnerabilities_are_counted_by_day_and_have_notes() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    let dev = app.member(project, "dev", Developer);
    let rita = app.member(project, "rita", Reporter);
    keep(&app, project, finding("Weak hash"));
    let today = kernel::time::date_text(app.clock.now().date());
    let query = format!(
        r#"{{ project(fullPath: "olga/one") {{ vulnerabilities {{ nodes {{ id notes {{ nodes {{ body }} }} }} }}
            vulnerabilitiesCountByDay(startDate: "2000-01-01", endDate: "{today}") {{
                nodes {{ date total high }} }} }} }}"#
    );
    let shown = ask(&dev, &query).await["project"].clone();
    let days = &shown["vulnerabilitiesCountByDay"]["nodes"];
    assert_eq!((&days[0]["date"], &days[0]["total"]), (&json!(today), &json!(1)));
    let input = format!(r#"id: {}, comment: "old""#, shown["vulnerabilities"]["nodes"][0]["id"]);
    mutate(&dev, "vulnerabilityResolve", &input, "").await;
    let shown = ask(&dev, &query).await["project"].clone();
    assert_eq!(shown["vulnerabilitiesCountByDay"]["nodes"][0]["total"], 0);
    let said = r#"changed vulnerability status to Resolved with the following comment: "old""#;
    assert_eq!(nodes(&shown["vulnerabilities"]["nodes"][0]["notes"], "body"), [said]);
    let hidden = ask(&rita, &query).await["project"].clone();
    assert_eq!(hidden["vulnerabilitiesCountByDay"], Value::Null);
}
