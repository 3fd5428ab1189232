//! What follows from alerts: `crates/forge/src/alert/incidents.rs`.

use kernel::{AccessLevel::Developer, ids::ProjectId};
use serde_json::{Value, json};

use super::monitor::{alerts, prometheus, set_up};
use crate::support::{MailSink, Person, TestApp};

async fn settings(mia: &Person<'_>, project: ProjectId, change: Value) {
    mia.put(&format!("/projects/{project}/alert_management_settings"), change).await.ok();
}

async fn issues(mia: &Person<'_>, project: ProjectId) -> Vec<Value> {
    let listed = mia.get(&format!("/projects/{project}/issues?issue_type=incident")).await.ok();
    listed.as_array().expect("a list").clone()
}

#[actix_web::test]
async fn an_alert_opens_an_incident_and_ends_it() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    monitor.send(json!({ "title": "before" })).await.ok();
    settings(&mia, project, json!({ "create_issue": true })).await;
    let told = json!({ "title": "Disk | full", "service": "db\n# x", "x": "```\n/close\n@mia" });

    monitor.send(told.clone()).await.ok();
    monitor.send(told.clone()).await.ok();

    let [incident] = &issues(&mia, project).await[..] else { panic!("one incident") };
    assert_eq!((&incident["title"], &incident["state"]), (&json!("Disk | full"), &json!("opened")));
    assert_eq!(incident["labels"], json!(["incident"]));
    assert_eq!(incident["author"]["username"], "alert-bot");
    let text = incident["description"].as_str().expect("a text");
    assert!(
        text.contains("| Severity | critical |") && text.contains("| Service | db \\# x |"),
        "{text}"
    );
    assert!(text.contains("\n````json\n"), "{text}");
    assert_eq!(alerts(&mia, project).await[0]["issue_id"], incident["id"]);

    let mut over = told;
    over["end_time"] = json!("2026-01-01T00:00:00Z");
    monitor.send(over).await.ok();
    assert_eq!(issues(&mia, project).await[0]["state"], "closed");
}

#[actix_web::test]
async fn an_incident_stays_open_where_that_is_wanted() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    settings(&mia, project, json!({ "create_issue": true, "auto_close_incident": false })).await;
    monitor.send(json!({ "title": "a" })).await.ok();
    monitor.send(json!({ "title": "a", "end_time": "2026-01-01T00:00:00Z" })).await.ok();

    assert_eq!(issues(&mia, project).await[0]["state"], "opened");
    settings(&mia, project, json!({ "auto_close_incident": true })).await;
    monitor.send(json!({ "title": "b" })).await.ok();
    let dev = app.member(project, "dev", Developer);
    let path = format!("/projects/{project}/alert_management_alerts/2");
    dev.put(&path, json!({ "status": "resolved" })).await.ok();
    assert_eq!(issues(&mia, project).await[0]["state"], "closed");
}

#[actix_web::test]
async fn an_incident_is_as_bad_as_its_alert() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    settings(&mia, project, json!({ "create_issue": true })).await;
    for severity in ["critical", "high", "medium", "low", "info", "unknown"] {
        monitor.send(json!({ "title": severity, "severity": severity })).await.ok();
    }

    let mut shown: Vec<String> = issues(&mia, project)
        .await
        .iter()
        .map(|one| format!("{} {}", one["title"], one["severity"]).replace('"', ""))
        .collect();

    shown.sort();
    let wanted = [
        "critical CRITICAL",
        "high HIGH",
        "info UNKNOWN",
        "low LOW",
        "medium MEDIUM",
        "unknown UNKNOWN",
    ];
    assert_eq!(shown, wanted);
}

#[actix_web::test]
async fn an_incident_that_is_closed_resolves_its_alert_for_good() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    settings(&mia, project, json!({ "create_issue": true })).await;
    monitor.send(json!({ "title": "a" })).await.ok();
    let issue = format!("/projects/{project}/issues/1");

    mia.put(&issue, json!({ "state_event": "close" })).await.ok();
    mia.put(&issue, json!({ "state_event": "reopen" })).await.ok();

    let ended = alerts(&mia, project).await.remove(0);
    assert_eq!(ended["status"], "resolved");
    assert!(ended["ended_at"].is_string(), "{ended}");
    let notes = format!("/projects/{project}/alert_management_alerts/1/notes");
    let told = "changed the status to **Resolved** because @mia closed incident #1";
    assert_eq!(mia.get(&notes).await.each("body")[0], told);
    monitor.send(json!({ "title": "a" })).await.ok();
    assert_eq!(alerts(&mia, project).await.len(), 2, "the monitor tells of it anew");
}

#[actix_web::test]
async fn an_alert_that_closes_its_incident_is_resolved_once() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    settings(&mia, project, json!({ "create_issue": true })).await;
    monitor.send(json!({ "title": "a" })).await.ok();
    monitor.send(json!({ "title": "a", "end_time": "2026-01-01T00:00:00Z" })).await.ok();

    let notes = format!("/projects/{project}/alert_management_alerts/1/notes");
    let told = [
        "changed the status to **Resolved**",
        "logged a recovery alert from **My Monitor**",
        "created incident #1 for this alert",
        "logged an alert from **My Monitor**",
    ];
    assert_eq!(mia.get(&notes).await.each("body"), told);
    assert_eq!(issues(&mia, project).await[0]["state"], "closed");
}

#[actix_web::test]
async fn an_incident_ends_with_the_text_of_its_template() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let path = format!("/projects/{project}/alert_management_settings");
    let unknown = json!({ "message": { "issue_template_key": ["not found"] } });
    for key in ["incident", "../../README", "a/b"] {
        let named = json!({ "issue_template_key": key });
        mia.put(&path, named).await.refused(400, unknown.clone());
    }
    let action = json!({ "action": "create", "file_path": ".gitlab/issue_templates/incident.md",
                         "content": "## Who was told?\n" });
    let commit = json!({ "branch": "main", "commit_message": "Add it", "actions": [action] });
    mia.post(&format!("/projects/{project}/repository/commits"), commit).await.created();
    let named = json!({ "create_issue": true, "issue_template_key": "incident" });
    assert_eq!(mia.put(&path, named).await.ok()["issue_template_key"], "incident");

    monitor.send(json!({ "title": "a" })).await.ok();
    monitor.send(json!({ "title": "a" })).await.ok();

    let [incident] = &issues(&mia, project).await[..] else { panic!("one incident") };
    let text = incident["description"].as_str().expect("a text");
    assert!(text.starts_with("#### Summary\n"), "{text}");
    assert!(text.trim_end().ends_with("```\n\n---\n\n## Who was told?"), "{text}");
    let file =
        format!("/projects/{project}/repository/files/.gitlab%2Fissue_templates%2Fincident.md");
    let removal = json!({ "branch": "main", "commit_message": "Remove it" });
    mia.send(actix_web::http::Method::DELETE, &file, Some(removal)).await.with(204);
    monitor.send(json!({ "title": "b" })).await.ok();
    assert_eq!(issues(&mia, project).await.len(), 2, "one that is gone holds nothing up");
}

#[actix_web::test]
async fn a_project_without_issues_takes_alerts() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    settings(&mia, project, json!({ "create_issue": true })).await;
    let off = json!({ "issues_access_level": "disabled" });
    mia.put(&format!("/projects/{project}"), off).await.ok();

    monitor.send(json!({ "title": "a" })).await.ok();

    assert_eq!(alerts(&mia, project).await[0]["issue_id"], json!(null));
}

#[actix_web::test]
async fn those_who_look_after_a_project_get_a_letter() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let (project, mia, monitor) = set_up(&app, "prometheus").await;
    app.member(project, "dev", Developer);
    settings(&mia, project, json!({ "send_email": true })).await;
    app.work().await;
    sink.take();
    let alert = json!({ "status": "firing", "labels": { "alertname": "Down" }, "startsAt": "2026-01-01T00:00:00Z" });

    monitor.send(prometheus(std::slice::from_ref(&alert))).await.with(201);
    monitor.send(prometheus(&[alert])).await.with(201);
    app.work().await;

    let mut told: Vec<Vec<String>> = sink.take().into_iter().map(|letter| letter.to).collect();
    told.sort();
    assert_eq!(told, [["mia@example.com"], ["olga@example.com"]]);
}

#[actix_web::test]
async fn the_account_that_opens_incidents_is_not_the_ghost() {
    let app = TestApp::new();
    let (bot, ghost) = app.write(|tx| {
        use org::user::internal::{alert_bot, ghost};
        Ok((alert_bot(tx)?, ghost(tx)?))
    });
    assert_ne!(bot.id, ghost.id);
    let again = app.write(org::user::internal::alert_bot);
    assert_eq!(again.id, bot.id);
}
