//! Who may send alerts: `gateway/src/rest/security/alert_integrations.rs`.

use kernel::AccessLevel::{Developer, Maintainer};
use serde_json::json;

use super::monitor::{Monitor, integrate, set_up};
use crate::support::TestApp;

#[actix_web::test]
async fn an_integration_is_made_changed_and_taken_away() {
    let app = TestApp::new();
    let (project, mia, _) = set_up(&app, "http").await;
    let made = integrate(&mia, project, json!({ "name": "Ärger & Co" })).await;
    let key = made["token"].as_str().expect("a key");
    assert_eq!((key.len(), &made["type"], &made["active"]), (32, &json!("http"), &json!(true)));
    let url = made["url"].as_str().expect("an address");
    assert!(url.starts_with("http://forge.test/olga/one/alerts/notify/rger-co/"), "{url}");
    let path = format!("/projects/{project}/alert_management_integrations/{}", made["id"]);
    assert_eq!(mia.get(&path).await.ok(), made);

    let plain = json!({ "field_name": "title", "path": ["a"], "type": "string", "label": null });
    let whole =
        json!({ "field_name": "hosts", "path": ["b"], "type": "array", "label": "Machines" });
    let mappings = json!([plain, whole]);
    let example = "{\"a\":1}";
    let change = json!({ "name": "New", "payload_attribute_mappings": mappings, "payload_example": example });
    let changed = mia.put(&path, change).await.ok();

    assert_eq!(
        (&changed["name"], &changed["payload_attribute_mappings"]),
        (&json!("New"), &mappings)
    );
    assert_eq!((&changed["token"], &changed["payload_example"]), (&made["token"], &json!(example)));
    let refusal = json!({ "message": { "payload_example": ["is invalid"] } });
    mia.put(&path, json!({ "payload_example": "[1" })).await.refused(400, refusal);
    let listed = mia.get(&format!("/projects/{project}/alert_management_integrations")).await;
    assert_eq!(listed.each("name"), ["My Monitor", "New"]);
    mia.delete(&path).await.with(204);
    mia.get(&path).await.with(404);
}

#[actix_web::test]
async fn a_new_key_ends_the_old_one() {
    let app = TestApp::new();
    let (project, mia, _) = set_up(&app, "http").await;
    let made = integrate(&mia, project, json!({})).await;
    let path =
        format!("/projects/{project}/alert_management_integrations/{}/reset_token", made["id"]);

    let reset = mia.post(&path, json!({})).await.created();

    assert_ne!(reset["token"], made["token"]);
    assert_eq!(reset["url"], made["url"]);
    Monitor::of(&app, &made).send(json!({})).await.with(401);
    Monitor::of(&app, &reset).send(json!({})).await.ok();
}

#[actix_web::test]
async fn integrations_are_for_maintainers() {
    let app = TestApp::new();
    let (project, mia, _) = set_up(&app, "http").await;
    let (dev, eve) = (app.member(project, "dev", Developer), app.person("eve"));
    for path in ["alert_management_integrations", "alert_management_settings"] {
        let path = format!("/projects/{project}/{path}");
        app.anonymous().get(&path).await.with(401);
        eve.get(&path).await.with(404);
        dev.get(&path).await.with(403);
        app.member(project, "max", Maintainer).get(&path).await.ok();
    }
    let path = format!("/projects/{project}/alert_management_integrations");
    let new = json!({ "name": "x", "active": true });
    dev.post(&path, new).await.with(403);
    let blank = json!({ "name": " ", "active": true });
    mia.post(&path, blank).await.refused(400, json!({ "message": { "name": ["can't be blank"] } }));
    mia.post(&path, json!({}))
        .await
        .refused(400, json!({ "error": "name is missing, active is missing" }));
    let odd = json!({ "name": "x", "active": true, "payload_attribute_mappings": [{ "field_name": "title", "path": [] }] });
    let refusal = json!({ "message": { "payload_attribute_mappings": ["is invalid"] } });
    mia.post(&path, odd).await.refused(400, refusal);
}

#[actix_web::test]
async fn settings_have_defaults_and_are_changed_one_by_one() {
    let app = TestApp::new();
    let (project, mia, _) = set_up(&app, "http").await;
    let path = format!("/projects/{project}/alert_management_settings");
    let usual = json!({ "create_issue": false, "send_email": false, "auto_close_incident": true,
                        "issue_template_key": null });
    assert_eq!(mia.get(&path).await.ok(), usual);

    let changed = mia.put(&path, json!({ "create_issue": true })).await.ok();

    assert_eq!(changed["create_issue"], true);
    mia.put(&path, json!({ "auto_close_incident": false })).await.ok();
    let expected = json!({ "create_issue": true, "send_email": false, "auto_close_incident": false,
                           "issue_template_key": null });
    assert_eq!(mia.get(&path).await.ok(), expected);
    mia.put(&path, json!({})).await.with(400);
}
