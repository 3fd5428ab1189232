//! What happened to alerts: `crates/security/src/alert/note.rs`.

use kernel::AccessLevel::{Developer, Reporter};
use serde_json::json;

use super::monitor::set_up;
use crate::support::TestApp;

#[actix_web::test]
async fn what_happens_to_an_alert_is_told_newest_first() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let dev = app.member(project, "dev", Developer);
    let settings = format!("/projects/{project}/alert_management_settings");
    mia.put(&settings, json!({ "create_issue": true })).await.ok();
    let path = format!("/projects/{project}/alert_management_alerts/1");
    monitor.send(json!({ "title": "a", "monitoring_tool": "nagios" })).await.ok();
    dev.put(&path, json!({ "status": "acknowledged" })).await.ok();
    let over = json!({ "title": "a", "monitoring_tool": "nagios", "end_time": "2026-01-01" });
    monitor.send(over).await.ok();

    let path = format!("{path}/notes");
    let told = dev.get(&path).await.ok();

    let bodies = [
        "changed the status to **Resolved**",
        "logged a recovery alert from **nagios**",
        "changed the status to **Acknowledged**",
        "created incident #1 for this alert",
        "logged an alert from **nagios**",
    ];
    assert_eq!(dev.get(&path).await.each("body"), bodies);
    assert_eq!(told[2]["author"]["username"], "dev");
    assert_eq!((&told[0]["author"], &told[0]["system"]), (&json!(null), &json!(true)));
    let kinds = ["status", "new_alert_added", "status", "alert_issue_added", "new_alert_added"];
    assert_eq!(dev.get(&path).await.each("kind"), kinds);
}

#[actix_web::test]
async fn notes_of_alerts_are_for_developers_and_come_in_pages() {
    let app = TestApp::new();
    let (project, _, monitor) = set_up(&app, "http").await;
    let (dev, rob) = (app.member(project, "dev", Developer), app.member(project, "rob", Reporter));
    monitor.send(json!({ "title": "a" })).await.ok();
    let path = format!("/projects/{project}/alert_management_alerts/1");
    dev.put(&path, json!({ "status": "ignored" })).await.ok();

    let second = dev.get(&format!("{path}/notes?per_page=1&page=2")).await;

    assert_eq!(second.each("body"), ["logged an alert from **My Monitor**"]);
    rob.get(&format!("{path}/notes")).await.with(403);
    let none = json!({ "message": "404 Alert Not Found" });
    dev.get(&format!("/projects/{project}/alert_management_alerts/9/notes"))
        .await
        .refused(404, none);
}
