//! What people do to projects, groups and accounts, as audit events tell it.

use kernel::{AccessLevel::Maintainer, Visibility::Private};
use serde_json::{Value, json};

use crate::support::{Person, TestApp, keys::ssh_line};

/// The newest event of a place, by its name.
pub(super) async fn event(reader: &Person<'_>, place: &str, name: &str) -> Value {
    let events = reader.get(&format!("{place}/audit_events?per_page=100")).await.ok();
    let all = events.as_array().expect("a list").iter();
    let found = all.clone().find(|event| event["event_name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {events}")).clone()
}

/// Whether all of these happened, by ada, asking from her address.
async fn assert_told(app: &TestApp, place: &str, names: &[&str]) {
    let root = app.admin();
    for name in names {
        let told = event(&root, place, name).await;
        assert_eq!(told["author_id"], json!(app.id_of("ada")), "{name}");
        assert_eq!(told["details"]["ip_address"], "203.0.113.7", "{name}");
    }
}

pub(super) fn ada(app: &TestApp) -> Person<'_> {
    app.person("ada").from("203.0.113.7")
}

#[actix_web::test]
async fn what_becomes_of_a_project_is_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let group = ada.group("works", None).await;
    let id = ada.post("/projects", json!({ "name": "engine" })).await.created()["id"].clone();
    let path = format!("/projects/{id}");
    ada.put(&path, json!({ "visibility": "public" })).await.ok();
    ada.put(&path, json!({ "path": "motor" })).await.ok();
    ada.put(&path, json!({ "lfs_enabled": false })).await.ok();
    ada.post(&format!("{path}/archive"), json!({})).await.created();
    ada.post(&format!("{path}/unarchive"), json!({})).await.created();
    ada.put(&format!("{path}/transfer"), json!({ "namespace": group.to_string() })).await.ok();

    let names = [
        "project_visibility_level_updated",
        "project_path_updated",
        "project_settings_updated",
        "project_archived",
        "project_unarchived",
        "project_transferred",
    ];
    assert_told(&app, &path, &names).await;
    let shown = event(&app.admin(), &path, "project_visibility_level_updated").await;
    assert_eq!(
        (&shown["details"]["from"], &shown["details"]["to"]),
        (&json!("private"), &json!("public"))
    );

    ada.delete(&path).await.with(202);
    let all = app.admin().get("/audit_events?entity_type=Project&per_page=100").await.ok();
    let gone = &all[0];
    assert_eq!(
        (&gone["event_name"], &gone["author_id"]),
        (&json!("project_destroyed"), &json!(app.id_of("ada")))
    );
}

#[actix_web::test]
async fn a_changed_role_is_audited_with_both_roles_and_ends() {
    let app = TestApp::new();
    let ada = ada(&app);
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}");
    app.member(project, "mia", Maintainer);
    let mia = format!("{path}/members/{}", app.user("mia").id);
    ada.put(&mia, json!({ "access_level": 30, "expires_at": "2030-01-01" })).await.ok();

    assert_told(&app, &path, &["member_updated"]).await;
    let details = event(&app.admin(), &path, "member_updated").await["details"].clone();
    assert_eq!(
        (&details["from"], &details["to"], &details["expiry_from"]),
        (&json!("Maintainer"), &json!("Developer"), &Value::Null)
    );
    assert!(details["expiry_to"].as_str().is_some_and(|end| end.starts_with("2030-01-01")));
}

#[actix_web::test]
async fn who_protects_what_is_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}");
    let name = json!({ "name": "stable" });
    ada.post(&format!("{path}/protected_branches"), name.clone()).await.created();
    let force = json!({ "allow_force_push": true });
    ada.patch(&format!("{path}/protected_branches/stable"), force).await.ok();
    ada.delete(&format!("{path}/protected_branches/stable")).await.with(204);
    ada.post(&format!("{path}/protected_tags"), name).await.created();
    ada.delete(&format!("{path}/protected_tags/stable")).await.with(204);

    let names = [
        "protected_branch_created",
        "protected_branch_updated",
        "protected_branch_removed",
        "protected_tag_created",
        "protected_tag_removed",
    ];
    assert_told(&app, &path, &names).await;
    let made = event(&app.admin(), &path, "protected_branch_created").await;
    assert_eq!(made["details"]["target_details"], "stable");
    assert_eq!(made["details"]["push_access_levels"], "40");
}

#[actix_web::test]
async fn who_sets_variables_is_audited_without_their_values() {
    let app = TestApp::new();
    let ada = ada(&app);
    let group = ada.group("works", None).await;
    for place in
        [format!("/projects/{}", app.project(&ada, "engine", Private)), format!("/groups/{group}")]
    {
        let path = format!("{place}/variables");
        ada.post(&path, json!({ "key": "DOOR", "value": "hunter2hunter2" })).await.created();
        ada.put(&format!("{path}/DOOR"), json!({ "value": "hunter3hunter3" })).await.ok();
        ada.delete(&format!("{path}/DOOR")).await.with(204);

        let names = ["ci_variable_created", "ci_variable_updated", "ci_variable_deleted"];
        assert_told(&app, &place, &names).await;
        let events = app.admin().get(&format!("{place}/audit_events")).await.ok().to_string();
        assert!(events.contains("DOOR") && !events.contains("hunter"), "{events}");
    }
}

#[actix_web::test]
async fn who_has_keys_and_tokens_is_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let id = app.id_of("ada");
    let key = json!({ "title": "laptop", "key": ssh_line() });
    let key = ada.post("/user/keys", key).await.created();
    ada.delete(&format!("/user/keys/{}", key["id"])).await.with(204);
    let root = app.admin().from("203.0.113.7");
    let token = json!({ "name": "robot", "scopes": ["api"] });
    let path = format!("/users/{id}/impersonation_tokens");
    let token = root.post(&path, token).await.created();
    root.delete(&format!("{path}/{}", token["id"])).await.with(204);

    let query = format!("/audit_events?entity_type=User&entity_id={id}");
    let events = root.get(&query).await.ok();
    let told: Vec<(&Value, &Value)> = events
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| (&event["event_name"], &event["author_id"]))
        .collect();
    let (ada, root) = (json!(id), json!(app.id_of("root")));
    let wanted = [
        ("impersonation_token_revoked", &root),
        ("impersonation_token_created", &root),
        ("remove_ssh_key", &ada),
        ("add_ssh_key", &ada),
    ];
    for ((name, author), (wanted, by)) in told.iter().zip(wanted) {
        assert_eq!((name.as_str(), *author), (Some(wanted), by));
    }
    assert_eq!(events[3]["details"]["target_details"], "laptop");
}

#[actix_web::test]
async fn who_makes_tokens_of_projects_and_revokes_their_own_is_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let tokens = format!("{path}/access_tokens");
    let token = json!({ "name": "robot", "scopes": ["api"], "expires_at": "2026-02-01" });
    let made = ada.post(&tokens, token).await.created();
    ada.delete(&format!("{tokens}/{}", made["id"])).await.with(204);
    assert_told(&app, &path, &["resource_access_token_created", "resource_access_token_deleted"])
        .await;

    let query = format!("/audit_events?entity_type=User&entity_id={}", app.id_of("ada"));
    ada.delete("/personal_access_tokens/self").await.with(204);
    let last = app.admin().get(&query).await.ok()[0].clone();
    assert_eq!(last["event_name"], "personal_access_token_revoked");
}

#[actix_web::test]
async fn who_sets_hooks_and_integrations_is_audited_without_their_secrets() {
    let app = TestApp::new();
    let ada = ada(&app);
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let hook = json!({ "url": "https://example.com/hunter2", "token": "hunter2" });
    let hook = ada.post(&format!("{path}/hooks"), hook).await.created();
    ada.delete(&format!("{path}/hooks/{}", hook["id"])).await.with(204);
    let chat = json!({ "webhook": "https://example.com/hunter2" });
    ada.put(&format!("{path}/integrations/slack"), chat).await.ok();
    ada.delete(&format!("{path}/integrations/slack")).await.with(204);

    let names =
        ["webhook_created", "webhook_destroyed", "integration_updated", "integration_disabled"];
    assert_told(&app, &path, &names).await;
    let events = app.admin().get(&format!("{path}/audit_events")).await.ok().to_string();
    assert!(!events.contains("hunter"), "{events}");
}

#[actix_web::test]
async fn who_makes_and_removes_runners_is_audited() {
    let app = TestApp::new();
    let ada = ada(&app);
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}");
    let runner =
        json!({ "runner_type": "project_type", "project_id": project, "description": "mill" });
    let runner = ada.post("/user/runners", runner).await.created();
    let id = &runner["id"];
    ada.put(&format!("/runners/{id}"), json!({ "paused": true })).await.ok();
    ada.post(&format!("/runners/{id}/reset_authentication_token"), json!({})).await.created();
    ada.delete(&format!("/runners/{id}")).await.with(204);

    let names = [
        "ci_runner_registered",
        "ci_runner_updated",
        "ci_runner_token_reset",
        "ci_runner_unregistered",
    ];
    assert_told(&app, &path, &names).await;
    let events = app.admin().get(&format!("{path}/audit_events")).await.ok().to_string();
    assert!(
        events.contains("mill") && !events.contains(runner["token"].as_str().expect("a token"))
    );
}
