//! Findings of scanners and alerts in archives of projects: `crates/security/src/archive`.

use kernel::{AccessLevel::Developer, Visibility::Private, ids::ProjectId};
use security::vulnerability::Finding;
use serde_json::{Value, json};

use super::{
    archive_contents::plain,
    archive_failures::with_fields,
    archives::{count_nothing, exported, imported},
};
use crate::{
    rest::{
        runners::program::{Runner, set_up},
        security::{
            findings::{finding, identifier, keep},
            metric_images::{PNG, upload},
            monitor::{Monitor, set_up as monitored},
            reports::{JOBS, bring, report, weakness},
        },
    },
    support::{
        Person, TestApp,
        ci::{commit, pipelines},
    },
};

/// What a list of a project shows, without identities.
async fn shown(person: &Person<'_>, project: &Value, list: &str) -> Vec<Value> {
    let all = person.get(&format!("/projects/{project}/{list}")).await.ok();
    let mut all = plain(&all).as_array().expect("a list").clone();
    for fields in all.iter_mut().filter_map(Value::as_object_mut) {
        fields
            .retain(|name, _| !["uuid", "issue_id", "file_path", "token"].contains(&name.as_str()));
    }
    all
}

/// What people said of vulnerabilities, as GraphQL tells it.
async fn judgements(person: &Person<'_>, path: &str) -> Value {
    let query = format!(
        r#"{{ project(fullPath: "{path}") {{ vulnerabilities {{ nodes {{ title stateTransitions {{ nodes {{
           fromState toState comment }} }} }} }} }} }}"#
    );
    person.post("//api/graphql", json!({ "query": query })).await.ok()
}

#[actix_web::test]
async fn findings_come_back_with_what_people_said_of_them() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "one", Private);
    let (dev, root) = (app.member(project, "dev", Developer), app.admin());
    let hash = Finding {
        identifiers: vec![identifier("cwe", "328", "CWE-328")],
        description: Some("MD5".to_owned()),
        ..finding("Weak hash")
    };
    keep(&app, project, hash);
    keep(&app, project, finding("Open door"));
    let listed = dev.get(&format!("/projects/{project}/vulnerabilities")).await.each("id");
    let said = json!({ "dismissal_reason": "used_in_tests", "comment": "only in tests" });
    dev.post(&format!("/vulnerabilities/{}/dismiss", listed[1]), said).await.created();
    dev.post(&format!("/vulnerabilities/{}/confirm", listed[0]), json!({})).await.created();
    let project = json!(project);
    let before = shown(&root, &project, "vulnerabilities").await;
    let said = judgements(&root, "olga/one").await;

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    assert_eq!(shown(&root, &done["id"], "vulnerabilities").await, before);
    assert_eq!(before[1]["dismissed_by_id"], json!(app.user("dev").id));
    assert_eq!(judgements(&root, "root/copy").await, said);
    assert!(said.to_string().contains("only in tests"), "{said}");
}

/// A finding of which its scanner keeps track by more than its place.
fn tracked(name: &str) -> Value {
    let mut found = weakness(name);
    let signature = json!({ "algorithm": "scope_offset", "value": format!("{name}|main[0]:1") });
    found["tracking"] = json!({ "type": "source", "items": [{ "signatures": [signature] }] });
    found
}

#[actix_web::test]
async fn reports_of_a_copy_know_the_findings_that_came_along() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, JOBS).await;
    let told = report(&[weakness("a"), tracked("b")]).to_string();
    bring(&runner, "sast", told.as_bytes()).await;
    for id in mia.get(&format!("/projects/{project}/vulnerabilities")).await.each("id") {
        mia.post(&format!("/vulnerabilities/{id}/dismiss"), json!({})).await.created();
    }
    let (root, findings) = (app.admin(), "vulnerability_findings?scope=all");
    let before = shown(&root, &json!(project), findings).await;

    let done = imported(&root, &exported(&root, &json!(project)).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let after = shown(&root, &done["id"], findings).await;
    let states: Vec<&Value> = after.iter().map(|one| &one["state"]).collect();
    assert_eq!(states, ["dismissed", "dismissed"]);
    let named = |all: &[Value]| all.iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
    assert_eq!(named(&after), named(&before));
    let copy = ProjectId(done["id"].as_i64().expect("an id"));
    commit(&root, copy, "main", "again", &format!("{JOBS}# again\n")).await;
    let runner = Runner::of(&root, copy, json!({})).await;
    bring(&runner, "sast", told.as_bytes()).await;
    assert_eq!(pipelines(&root, copy, "").await.len(), 2);
    let known = root.get(&format!("/projects/{copy}/vulnerabilities")).await;
    assert_eq!(known.each("resolved_on_default_branch"), [false, false]);
}

/// A project with an alert that became an incident, and all that an alert can have.
async fn alerted(app: &TestApp) -> (ProjectId, Person<'_>, Monitor<'_>) {
    let (project, mia, monitor) = monitored(app, "http").await;
    let base = format!("/projects/{project}");
    mia.put(&format!("{base}/alert_management_settings"), json!({ "create_issue": true }))
        .await
        .ok();
    mia.post(&format!("{base}/environments"), json!({ "name": "production" })).await.created();
    let alert = json!({ "title": "Disk is full", "monitoring_tool": "nagios", "hosts": ["a", "b"],
                        "gitlab_environment_name": "production", "severity": "high" });
    monitor.send(alert).await.ok();
    let one = format!("{base}/alert_management_alerts/1");
    mia.put(&one, json!({ "status": "acknowledged" })).await.ok();
    let about = [("url", "https://grafana.test/d"), ("url_text", "Panel")];
    upload(&mia, &format!("{one}/metric_images"), ("cpu.png", PNG), &about).await.created();
    let query = format!(
        r#"mutation {{ alertSetAssignees(input: {{ projectPath: "olga/one", iid: "1",
           assigneeUsernames: ["{}"] }}) {{ errors }} }}"#,
        mia.username
    );
    let given = mia.post("//api/graphql", json!({ "query": query })).await.ok();
    assert_eq!(given["data"]["alertSetAssignees"]["errors"], json!([]), "{given}");
    (project, mia, monitor)
}

const ALERTS: &str = "alert_management_alerts";
const PICTURES: &str = "alert_management_alerts/1/metric_images";

#[actix_web::test]
async fn alerts_come_back_with_their_notes_pictures_and_incidents() {
    let app = TestApp::new();
    let (project, _, _) = alerted(&app).await;
    let (root, project) = (app.admin(), json!(project));
    let lists = [ALERTS, "alert_management_alerts/1/notes", PICTURES];
    let mut before = Vec::new();
    for list in lists {
        before.push(shown(&root, &project, list).await);
    }

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = format!("/projects/{}", done["id"]);
    for (list, before) in lists.iter().zip(before) {
        let mut after = shown(&root, &done["id"], list).await;
        for (one, before) in after.iter_mut().zip(&before) {
            // It is an id of the copy.
            if before.get("environment_id").is_some() {
                assert_ne!(one["environment_id"], Value::Null);
                one["environment_id"] = before["environment_id"].clone();
            }
        }
        assert_eq!(after, before, "{list}");
        assert!(!before.is_empty(), "{list}");
    }
    let alert = root.get(&format!("{copy}/{ALERTS}/1")).await.ok();
    let incident = root.get(&format!("{copy}/issues/1")).await.ok();
    assert_eq!(alert["issue_id"], incident["id"]);
    let picture = root.get(&format!("{copy}/{PICTURES}")).await.ok()[0]["file_path"].clone();
    let path = picture.as_str().expect("an address").replace("http://forge.test", "/");
    assert_eq!(root.get(&path).await.bytes, PNG);
    let settings = root.get(&format!("{copy}/alert_management_settings")).await.ok();
    assert_eq!(settings["create_issue"], true);
    let query = r#"{ project(fullPath: "root/copy") { alertManagementAlerts(assigneeUsername: "mia") {
        nodes { title } } } }"#;
    let found = root.post("//api/graphql", json!({ "query": query })).await.ok();
    let given = &found["data"]["project"]["alertManagementAlerts"]["nodes"][0];
    assert_eq!(given["title"], "Disk is full", "{found}");
}

#[actix_web::test]
async fn monitors_need_a_new_key_for_a_copy_where_they_are_let_in_again() {
    let app = TestApp::new();
    let (project, _, monitor) = alerted(&app).await;
    let root = app.admin();
    let list = "alert_management_integrations";
    let before = root.get(&format!("/projects/{project}/{list}")).await.ok()[0].clone();

    let done = imported(&root, &exported(&root, &json!(project)).await, "copy").await;

    let copy = format!("/projects/{}/{list}", done["id"]);
    let after = root.get(&copy).await.ok()[0].clone();
    assert_eq!((&after["name"], &after["type"]), (&before["name"], &before["type"]));
    assert_eq!(after["active"], false);
    assert_ne!(after["token"], before["token"]);
    let inactive = Monitor::of(&app, &after);
    inactive.send(json!({ "title": "Slow" })).await.with(403);
    root.put(&format!("{copy}/{}", after["id"]), json!({ "active": true })).await.ok();
    let old = Monitor { path: inactive.path.clone(), ..monitor };
    old.send(json!({ "title": "Slow" })).await.with(401);
    let taken = inactive.send(json!({ "title": "Slow" })).await.ok();
    assert_eq!(taken[0]["iid"], 2, "numbers go on: {taken}");
}

#[actix_web::test]
async fn what_no_finding_and_no_alert_can_have_is_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let (project, _, _) = alerted(&app).await;
    keep(&app, project, finding("Weak hash"));
    let root = app.admin();
    let archive = exported(&root, &json!(project)).await;
    for (name, list, fields) in [
        ("identifiers", "vulnerabilities", json!({ "identifiers": "[1]" })),
        ("location", "vulnerabilities", json!({ "location": "[]" })),
        ("links", "vulnerabilities", json!({ "links": "{" })),
        ("state", "vulnerabilities", json!({ "state": "odd" })),
        ("payload", "alerts", json!({ "payload": "" })),
        ("hosts", "alerts", json!({ "hosts": "{}" })),
        ("iid", "alerts", json!({ "iid": -1 })),
        ("kind", "alert_notes", json!({ "kind": "odd" })),
        ("url", "alert_metric_images", json!({ "url": "javascript:alert(1)" })),
        ("endpoint", "alert_integrations", json!({ "endpoint": "../../../api/x" })),
        ("mappings", "alert_integrations", json!({ "mappings": "[]" })),
    ] {
        let hostile = with_fields(&archive, &format!("project/{list}.ndjson"), &fields);
        let done = imported(&root, &hostile, &format!("odd-{name}")).await;
        assert_eq!(done["import_status"], "failed", "{name}: {done}");
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(&format!("{list}: {name} ")), "{name}: {error}");
        let left = root.get(&format!("/projects/{}/{ALERTS}", done["id"])).await.ok();
        assert_eq!(left, json!([]), "{name}");
    }
}

#[actix_web::test]
async fn rows_of_an_archive_reach_nothing_of_other_projects() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let (project, _, _) = alerted(&app).await;
    keep(&app, project, finding("Weak hash"));
    let root = app.admin();
    let archive = exported(&root, &json!(project)).await;
    for (name, list, fields, seen, count) in [
        ("name", "alert_metric_images", json!({ "filename": "../../7/x.png" }), PICTURES, 1),
        ("file", "alert_metric_images", json!({ "secret": "0".repeat(32) }), PICTURES, 0),
        ("issue", "alerts", json!({ "issue_id": 1_000_000 }), ALERTS, 1),
        ("pipeline", "vulnerabilities", json!({ "pipeline_id": 1_000_000 }), "vulnerabilities", 1),
    ] {
        let hostile = with_fields(&archive, &format!("project/{list}.ndjson"), &fields);
        let done = imported(&root, &hostile, &format!("odd-{name}")).await;
        assert_eq!(done["import_status"], "finished", "{name}: {done}");
        let all = root.get(&format!("/projects/{}/{seen}", done["id"])).await.ok();
        assert_eq!(all.as_array().map(Vec::len), Some(count), "{name}: {all}");
        if name == "name" {
            assert_eq!(all[0]["filename"], "cpu.png");
        }
        let found = root.get(&format!("/projects/{}/vulnerabilities", done["id"])).await;
        assert_ne!(found.each("uuid"), [json!("uuid of Weak hash")], "{name}");
    }
}
