//! Audit events of shares, approvals, protections, webhooks and what administrators set: one row for each cause.

use actix_web::http::Method;
use admin::audit::{AuditFilter, AuditStore as _};
use kernel::{Visibility::Private, ids::UserId, page::PageRequest};
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
async fn topics_and_nodes_of_the_installation_are_audited() {
    let app = TestApp::new();
    let root = app.admin().from("203.0.113.7");
    let at = |path: &str| path.to_owned();
    let node = json!({ "name": "north", "url": "https://north.test/", "primary": true });
    let other = json!({ "name": "south", "url": "https://north.test/" });
    let causes = vec![
        post(at("/topics"), json!({ "name": "rust", "title": "Rust" }), "topic_created"),
        put(at("/topics/{made}"), json!({ "title": "The language" }), "topic_updated"),
        delete(at("/topics/{made}"), "topic_deleted"),
        post(at("/geo_nodes"), node, "geo_node_created"),
        put(at("/geo_nodes/{made}"), other.clone(), "geo_node_updated"),
    ];
    assert_audited(&root, INSTANCE, causes).await;

    let id = root.get("/geo_nodes").await.ok()[0]["id"].clone();
    root.put(&format!("/geo_nodes/{id}"), other).await.ok();
    let updates = named(&root, INSTANCE, "geo_node_updated").await;
    assert_eq!(updates.len(), 1, "what changes nothing is none");
    let details = &updates[0]["details"];
    assert_eq!((&details["from"], &details["to"]), (&json!("north"), &json!("south")));
    root.delete(&format!("/geo_nodes/{id}")).await.with(204);
    assert_eq!(named(&root, INSTANCE, "geo_node_deleted").await.len(), 1);
}

#[actix_web::test]
async fn freeze_periods_of_a_project_are_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let at = |rest: &str| format!("{path}/freeze_periods{rest}");
    let period = json!({ "freeze_start": "0 23 * * 5", "freeze_end": "0 8 * * 1" });
    let causes = vec![
        post(at(""), period, "freeze_period_created"),
        put(at("/{made}"), json!({ "freeze_end": "0 9 * * 1" }), "freeze_period_updated"),
        delete(at("/{made}"), "freeze_period_deleted"),
    ];
    assert_audited(&ada, &format!("{path}/audit_events"), causes).await;

    let changed = event(&app.admin(), &path, "freeze_period_updated").await["details"].clone();
    assert_eq!(
        (&changed["change"], &changed["from"], &changed["to"]),
        (&json!("freeze_end"), &json!("0 8 * * 1"), &json!("0 9 * * 1"))
    );
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

const INSTANCE: &str = "/audit_events?entity_type=Gitlab::Audit::InstanceScope&per_page=100";
const GROUPS: &str = "/audit_events?entity_type=Group&per_page=100";
const PROJECTS: &str = "/audit_events?entity_type=Project&per_page=100";

/// The events of a list that have a name.
async fn named(reader: &Person<'_>, list: &str, name: &str) -> Vec<Value> {
    let events = reader.get(list).await.ok();
    let all = events.as_array().expect("a list").iter();
    all.filter(|event| event["event_name"] == name).cloned().collect()
}

fn paths(events: &[Value]) -> Vec<&str> {
    let mut paths: Vec<&str> = events
        .iter()
        .map(|event| event["details"]["entity_path"].as_str().expect("a path"))
        .collect();
    paths.sort_unstable();
    paths
}

#[actix_web::test]
async fn a_setting_with_a_url_is_audited_without_its_credentials() {
    let app = TestApp::new();
    let root = app.admin();
    for address in ["http://us:hunter2@es.example.com:9200", "https://us:hunter3@b.example.com/x"] {
        let address = json!({ "elasticsearch_url": address });
        root.put("/application/settings", address).await.ok();
    }

    let newest = named(&root, INSTANCE, "application_setting_updated").await[0].clone();
    assert_eq!(
        (&newest["details"]["from"], &newest["details"]["to"]),
        (&json!("http://es.example.com:9200"), &json!("https://b.example.com/x"))
    );
    let announced = format!("{:?}", app.announced());
    assert!(!announced.contains("hunter"), "{announced}");
}

#[actix_web::test]
async fn a_secret_setting_that_is_set_to_what_it_was_is_no_event() {
    let app = TestApp::new();
    let root = app.admin();
    for (key, count) in [("hunter2", 1), ("hunter2", 1), ("hunter3", 2)] {
        root.put("/application/settings", json!({ "akismet_api_key": key })).await.ok();
        let events = named(&root, INSTANCE, "application_setting_updated").await;
        assert_eq!(events.len(), count, "{events:?}");
        let stored = root.get("/application/settings").await.ok();
        assert_eq!(stored["akismet_api_key"], key);
    }
}

#[actix_web::test]
async fn what_goes_with_a_group_is_audited_each_by_its_name() {
    let app = TestApp::new();
    let ada = ada(&app);
    let top = ada.group("top", None).await;
    let inner = ada.group("inner", Some(top)).await;
    for (name, home) in [("engine", top), ("wheel", inner)] {
        let new = json!({ "name": name, "namespace_id": home });
        ada.post("/projects", new).await.created();
    }
    ada.delete(&format!("/groups/{top}")).await.with(202);

    let root = app.admin();
    let groups = named(&root, GROUPS, "group_destroyed").await;
    assert_eq!(paths(&groups), ["top", "top/inner"]);
    let projects = named(&root, PROJECTS, "project_destroyed").await;
    assert_eq!(paths(&projects), ["top/engine", "top/inner/wheel"]);
    for event in groups.iter().chain(&projects) {
        assert_eq!(event["author_id"], json!(app.id_of("ada")), "{event}");
    }
}

#[actix_web::test]
async fn what_goes_with_an_account_is_audited_as_whose_wish_it_was() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "engine", Private);
    let top = ada.group("top", None).await;
    ada.group("inner", Some(top)).await;
    let root = app.admin();
    root.delete(&format!("/users/{}?hard_delete=true", app.id_of("ada"))).await.with(204);
    app.work().await;

    let projects = named(&root, PROJECTS, "project_destroyed").await;
    assert_eq!(paths(&projects), ["ada/engine"]);
    let groups = named(&root, GROUPS, "group_destroyed").await;
    assert_eq!(paths(&groups), ["top", "top/inner"]);
    let people = named(&root, "/audit_events?entity_type=User", "user_destroyed").await;
    assert_eq!(people.len(), 1);
    for event in [projects, groups, people].iter().flatten() {
        assert_eq!(event["author_id"], json!(app.id_of("root")), "{event}");
        assert_eq!(event["details"]["author_name"], json!(app.user("root").name), "{event}");
    }
}

#[actix_web::test]
async fn what_goes_with_an_administrator_who_leaves_is_audited_under_their_name() {
    let app = TestApp::new();
    let root = app.admin();
    root.group("top", None).await;
    let (id, name) = (app.id_of("root"), app.user("root").name);
    root.delete(&format!("/users/{id}?hard_delete=true")).await.with(204);
    app.work().await;

    let page = PageRequest { page: 1, per_page: 100 };
    let all = app.write(move |tx| tx.audit_events(&AuditFilter::default(), page)).items;

    for end in ["group_destroyed", "user_destroyed"] {
        let event = all.iter().find(|event| event.event_name == end).expect(end);
        assert_eq!((event.author_id, &event.author_name), (Some(UserId(id)), &name));
    }
}

#[actix_web::test]
async fn shares_that_end_with_the_invited_group_are_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let (group, invited) = (ada.group("works", None).await, ada.group("guild", None).await);
    let group = format!("/groups/{group}");
    let project = format!("/projects/{}", app.project(&ada, "engine", Private));
    let share = json!({ "group_id": invited, "group_access": 30 });
    for place in [&group, &project] {
        ada.post(&format!("{place}/share"), share.clone()).await.created();
    }
    ada.delete(&format!("/groups/{invited}")).await.with(202);

    let root = app.admin();
    for (place, name) in
        [(&group, "group_share_with_group_link_removed"), (&project, "project_group_link_deleted")]
    {
        let end = event(&root, place, name).await;
        assert_eq!(
            (&end["details"]["target_details"], &end["details"]["target_id"]),
            (&json!("guild"), &json!(invited))
        );
        assert_eq!(end["author_id"], json!(app.id_of("ada")));
    }
}

#[actix_web::test]
async fn settings_of_a_project_are_audited_where_they_change_and_only_there() {
    let app = TestApp::new();
    let ada = ada(&app);
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let list = format!("{path}/audit_events?per_page=100");
    for (change, count) in [
        (json!({ "name": "engine" }), 0),
        (json!({ "name": "motor", "visibility": "public" }), 0),
        (json!({ "name": "mill", "lfs_enabled": false }), 1),
        (json!({ "name": "mill", "lfs_enabled": false }), 1),
        (json!({ "path": "mill", "description": "grinds" }), 2),
        (json!({ "topics": ["flour"] }), 3),
        (json!({ "topics": ["flour"], "description": "grinds" }), 3),
        (json!({ "issues_access_level": "private" }), 4),
    ] {
        ada.put(&path, change.clone()).await.ok();
        let events = named(&ada, &list, "project_settings_updated").await;
        assert_eq!(events.len(), count, "{change}");
    }
    let last = event(&ada, &path, "project_settings_updated").await["details"].clone();
    assert_eq!(
        (&last["change"], &last["from"], &last["to"]),
        (&json!("issues_access_level"), &json!("enabled"), &json!("private"))
    );
    for step in ["archive", "archive", "unarchive", "unarchive"] {
        ada.post(&format!("{path}/{step}"), json!({})).await.created();
    }
    for name in ["project_archived", "project_unarchived"] {
        assert_eq!(named(&ada, &list, name).await.len(), 1, "{name}");
    }
}

#[actix_web::test]
async fn settings_of_a_group_are_audited_once_where_they_change() {
    let app = TestApp::new();
    let ada = ada(&app);
    let path = format!("/groups/{}", ada.group("works", None).await);
    let list = format!("{path}/audit_events?per_page=100");
    for (change, count) in [
        (json!({}), 0),
        (json!({ "name": "works", "path": "works", "visibility": "private" }), 0),
        (json!({ "path": "mill", "membership_lock": true }), 0),
        (json!({ "require_two_factor_authentication": false, "visibility": "public" }), 0),
        (json!({ "description": "grinds" }), 1),
        (json!({ "description": "grinds" }), 1),
        (json!({ "name": "Mill", "share_with_group_lock": true }), 2),
    ] {
        ada.put(&path, change.clone()).await.ok();
        let events = named(&ada, &list, "group_updated").await;
        assert_eq!(events.len(), count, "{change}");
    }
    let last = event(&ada, &path, "group_updated").await["details"].clone();
    assert_eq!(
        (&last["change"], &last["from"], &last["to"]),
        (&json!("share_with_group_lock"), &json!("false"), &json!("true"))
    );
    for name in
        ["group_path_updated", "group_membership_lock_updated", "group_visibility_level_updated"]
    {
        assert_eq!(named(&ada, &list, name).await.len(), 1, "{name}");
    }
}
