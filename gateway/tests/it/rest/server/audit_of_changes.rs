//! Audit events of shares, approvals, protections, webhooks and what administrators set: one row for each cause.

use actix_web::http::Method;
use kernel::Visibility::Private;
use serde_json::{Value, json};

use super::audit_of_actions::{ada, event};
use crate::support::{Person, TestApp};

/// A call, with the name of the event that it is to cause. `{made}` in the path is the ID that the call before answered.
struct Cause {
    method: Method,
    path: String,
    body: Value,
    event: &'static str,
}

fn post(path: String, body: Value, event: &'static str) -> Cause {
    Cause { method: Method::POST, path, body, event }
}

fn put(path: String, body: Value, event: &'static str) -> Cause {
    Cause { method: Method::PUT, path, body, event }
}

fn delete(path: String, event: &'static str) -> Cause {
    Cause { method: Method::DELETE, path, body: Value::Null, event }
}

/// Does each call, and finds its event as the newest of the list, with who did it and from where.
async fn assert_audited(by: &Person<'_>, list: &str, causes: Vec<Cause>) {
    let root = by.app.admin();
    let mut made = Value::Null;
    for cause in causes {
        let path = cause.path.replace("{made}", &made.to_string());
        let body = (!cause.body.is_null()).then_some(cause.body);
        let answer = by.send(cause.method, &path, body).await;
        assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.body);
        if answer.body["id"].is_number() {
            made = answer.body["id"].clone();
        }
        let newest = root.get(list).await.ok()[0].clone();
        assert_eq!(newest["event_name"], cause.event, "{path}: {newest}");
        assert_eq!(newest["author_id"], json!(by.app.id_of(&by.username)), "{path}");
        assert_eq!(newest["details"]["ip_address"], "203.0.113.7", "{path}");
    }
}

#[actix_web::test]
async fn shares_approvals_and_protections_of_a_project_are_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let group = ada.group("works", None).await;
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let at = |rest: &str| format!("{path}/{rest}");
    let share = json!({ "group_id": group, "group_access": 30 });
    let rule = |count: i64| json!({ "name": "two", "approvals_required": count });
    let production =
        json!({ "name": "production", "deploy_access_levels": [{ "access_level": 40 }] });
    let overriding = json!({ "disable_overriding_approvers_per_merge_request": true });
    let causes = vec![
        post(at("share"), share, "project_group_link_created"),
        delete(at(&format!("share/{group}")), "project_group_link_deleted"),
        post(at("approval_rules"), rule(2), "approval_rule_created"),
        put(at("approval_rules/{made}"), rule(3), "update_approval_rules"),
        delete(at("approval_rules/{made}"), "approval_rule_deleted"),
        post(
            at("approvals"),
            overriding,
            "project_disable_overriding_approvers_per_merge_request_updated",
        ),
        post(at("protected_environments"), production, "environment_protected"),
        put(
            at("protected_environments/production"),
            json!({ "required_approval_count": 1 }),
            "protected_environment_updated",
        ),
        delete(at("protected_environments/production"), "environment_unprotected"),
    ];
    assert_audited(&ada, &at("audit_events"), causes).await;

    let root = app.admin();
    let shared = event(&root, &path, "project_group_link_created").await;
    assert_eq!(
        (&shared["details"]["as"], &shared["details"]["target_details"]),
        (&json!("Developer"), &json!("works"))
    );
    let rule = event(&root, &path, "update_approval_rules").await;
    assert_eq!(rule["details"]["approvals_required"], 3);
}

#[actix_web::test]
async fn push_rules_triggers_and_job_tokens_of_a_project_are_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let other = app.project(&ada, "other", Private);
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let at = |rest: &str| format!("{path}/{rest}");
    let causes = vec![
        post(at("push_rule"), json!({ "deny_delete_tag": true }), "push_rule_created"),
        put(at("push_rule"), json!({ "deny_delete_tag": false }), "push_rule_updated"),
        delete(at("push_rule"), "push_rule_deleted"),
        post(at("triggers"), json!({ "description": "night" }), "pipeline_trigger_created"),
        put(at("triggers/{made}"), json!({ "description": "day" }), "pipeline_trigger_updated"),
        delete(at("triggers/{made}"), "pipeline_trigger_deleted"),
        post(
            at("job_token_scope/allowlist"),
            json!({ "target_project_id": other }),
            "secure_ci_job_token_project_added",
        ),
        delete(
            at(&format!("job_token_scope/allowlist/{other}")),
            "secure_ci_job_token_project_removed",
        ),
        Cause {
            method: Method::PATCH,
            path: at("job_token_scope"),
            body: json!({ "enabled": false }),
            event: "secure_ci_job_token_inbound_disabled",
        },
    ];
    assert_audited(&ada, &at("audit_events"), causes).await;
}

#[actix_web::test]
async fn shares_links_and_settings_of_a_group_are_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let (group, invited) = (ada.group("works", None).await, ada.group("guild", None).await);
    let path = format!("/groups/{group}");
    let at = |rest: &str| format!("{path}/{rest}");
    let share = json!({ "group_id": invited, "group_access": 30 });
    let saml = json!({ "saml_group_name": "smiths", "access_level": 30 });
    let causes = vec![
        post(at("share"), share, "group_share_with_group_link_created"),
        delete(at(&format!("share/{invited}")), "group_share_with_group_link_removed"),
        post(at("saml_group_links"), saml, "saml_group_links_created"),
        delete(at("saml_group_links/smiths"), "saml_group_links_removed"),
    ];
    assert_audited(&ada, &at("audit_events"), causes).await;

    ada.put(&path, json!({ "visibility": "public", "request_access_enabled": false })).await.ok();

    let root = app.admin();
    let seen = event(&root, &path, "group_visibility_level_updated").await;
    assert_eq!(
        (&seen["details"]["from"], &seen["details"]["to"]),
        (&json!("private"), &json!("public"))
    );
    event(&root, &path, "group_request_access_enabled_updated").await;
}

#[actix_web::test]
async fn features_looks_and_messages_of_the_installation_are_audited() {
    let app = TestApp::new();
    let root = app.admin().from("203.0.113.7");
    let at = |path: &str| path.to_owned();
    let causes = vec![
        post(at("/features/faster"), json!({ "value": true }), "instance_feature_updated"),
        delete(at("/features/faster"), "instance_feature_deleted"),
        put(at("/application/appearance"), json!({ "title": "Works" }), "appearance_updated"),
        post(at("/broadcast_messages"), json!({ "message": "Noon" }), "broadcast_message_created"),
        put(
            at("/broadcast_messages/{made}"),
            json!({ "message": "Night" }),
            "broadcast_message_updated",
        ),
        delete(at("/broadcast_messages/{made}"), "broadcast_message_deleted"),
    ];
    let list = "/audit_events?entity_type=Gitlab::Audit::InstanceScope";
    assert_audited(&root, list, causes).await;

    root.delete("/features/faster").await.with(204);
    root.put("/application/appearance", json!({ "title": "Works" })).await.ok();
    let newest = root.get(list).await.ok()[0].clone();
    assert_eq!(newest["event_name"], "broadcast_message_deleted", "what changes nothing is none");
}

#[actix_web::test]
async fn a_changed_webhook_is_audited_without_what_its_address_hides() {
    let app = TestApp::new();
    let ada = ada(&app);
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let at = |rest: &str| format!("{path}/hooks{rest}");
    let url = |rest: &str| json!({ "url": format!("https://{rest}") });
    let value = json!({ "value": "hunter2" });
    let causes = vec![
        post(at(""), url("a.example.com/hunter2"), "webhook_created"),
        put(at("/{made}"), url("b.example.com/hunter2?key=hunter2"), "webhook_updated"),
        put(at("/{made}/url_variables/door"), value, "webhook_updated"),
        delete(at("/{made}/url_variables/door"), "webhook_updated"),
        put(at("/{made}"), json!({ "push_events": false }), "webhook_updated"),
        put(at("/{made}"), json!({ "token": "hunter2" }), "webhook_updated"),
        delete(at("/{made}"), "webhook_destroyed"),
    ];
    assert_audited(&ada, &format!("{path}/audit_events"), causes).await;

    let events = app.admin().get(&format!("{path}/audit_events")).await.ok();
    assert!(!events.to_string().contains("hunter"), "{events}");
    let changes = events.as_array().expect("a list").iter().map(|event| &event["details"]);
    let told = |what: &str| changes.clone().any(|details| details["change"] == what);
    assert!(["url", "url_variables", "settings", "token"].into_iter().all(told), "{events}");
    let moved = changes.clone().find(|details| details["change"] == "url").expect("a change");
    assert_eq!(
        (&moved["from"], &moved["to"]),
        (&json!("https://a.example.com"), &json!("https://b.example.com"))
    );
}
