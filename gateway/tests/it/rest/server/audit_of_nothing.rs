//! What changes nothing is no audit event.

use kernel::Visibility::Private;
use serde_json::{Value, json};

use super::audit_of_actions::ada;
use crate::support::{Person, TestApp};

const INSTANCE: &str = "/audit_events?entity_type=Gitlab::Audit::InstanceScope&per_page=100";

/// IDs of the events of a list.
async fn events(reader: &Person<'_>, list: &str) -> Vec<Value> {
    reader.get(list).await.each("id")
}

#[actix_web::test]
async fn a_broadcast_message_that_stays_as_it_is_is_no_event() {
    let app = TestApp::new();
    let root = app.admin();
    let new = json!({ "message": "Noon", "target_access_levels": [10] });
    let made = root.post("/broadcast_messages", new.clone()).await.created();
    let path = format!("/broadcast_messages/{}", made["id"]);
    let before = events(&root, INSTANCE).await;
    app.clock.advance(time::Duration::minutes(1));

    root.put(&path, json!({})).await.ok();
    root.put(&path, new).await.ok();
    let blank = json!({ "message": { "message": ["can't be blank"] } });
    root.put(&path, json!({ "message": null })).await.refused(400, blank);

    assert_eq!(events(&root, INSTANCE).await, before);
    root.put(&path, json!({ "message": "Night" })).await.ok();
    assert_eq!(events(&root, INSTANCE).await.len(), before.len() + 1);
}

#[actix_web::test]
async fn what_is_set_in_a_project_to_what_it_was_is_no_event() {
    let app = TestApp::new();
    let ada = ada(&app);
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let at = |rest: &str| format!("{path}/{rest}");
    let night = json!({ "description": "night" });
    let trigger = ada.post(&at("triggers"), night.clone()).await.created();
    let rule = json!({ "name": "two", "approvals_required": 2 });
    let made = ada.post(&at("approval_rules"), rule.clone()).await.created();
    ada.post(&at("protected_branches"), json!({ "name": "stable" })).await.created();
    let door = json!({ "key": "DOOR", "value": "hunter2hunter2", "masked": true });
    ada.post(&at("variables"), door.clone()).await.created();
    let circuit = json!({ "webhook": "https://c.example.com/s3cret", "push_events": false });
    ada.put(&at("integrations/unify-circuit"), circuit.clone()).await.ok();
    let list = at("audit_events?per_page=100");
    let root = app.admin();
    let before = events(&root, &list).await;
    app.clock.advance(time::Duration::minutes(1));

    ada.put(&at(&format!("triggers/{}", trigger["id"])), night).await.ok();
    ada.put(&at(&format!("approval_rules/{}", made["id"])), rule).await.ok();
    let force = |on: bool| json!({ "allow_force_push": on });
    ada.patch(&at("protected_branches/stable"), force(false)).await.ok();
    ada.put(&at("variables/DOOR"), door).await.ok();
    ada.put(&at("integrations/unify-circuit"), circuit).await.ok();
    assert_eq!(events(&root, &list).await, before);

    ada.patch(&at("protected_branches/stable"), force(true)).await.ok();
    ada.put(&at("variables/DOOR"), json!({ "value": "hunter3hunter3" })).await.ok();
    let other = json!({ "webhook": "https://c.example.com/other" });
    ada.put(&at("integrations/unify-circuit"), other).await.ok();
    assert_eq!(events(&root, &list).await.len(), before.len() + 3);
}
