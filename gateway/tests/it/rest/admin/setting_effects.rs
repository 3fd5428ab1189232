//! Settings of the installation at work.

use kernel::Visibility::Private;
use serde_json::{Value, json};

use super::receiver::{Receiver, deliver};
use crate::support::{
    TestApp,
    ci::{commit, pipelines},
};

/// A public key whose private one is nobody's.
const ECDSA: &str = "ecdsa-sha2-nistp256 \
    AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO\
    5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfU=";

async fn set(app: &TestApp, settings: Value) -> Value {
    app.admin().put("/application/settings", settings).await.ok()
}

#[actix_web::test]
async fn system_hooks_stay_outside_where_the_settings_say_it() {
    let (app, receiver) = (TestApp::new(), Receiver::new());
    let hook = json!({ "url": receiver.url("system") });
    app.admin().post("/hooks", hook.clone()).await.created();
    let ada = app.person("ada");
    ada.post("/projects", json!({ "name": "one" })).await.created();
    deliver(&app).await;
    assert!(receiver.told().iter().any(|told| told.body["event_name"] == "project_create"));

    set(&app, json!({ "allow_local_requests_from_system_hooks": false })).await;

    app.admin().post("/hooks", hook).await.refused(422, json!({ "error": "Invalid url given" }));
    ada.post("/projects", json!({ "name": "two" })).await.created();
    deliver(&app).await;
    assert!(receiver.told().is_empty());
}

#[actix_web::test]
async fn webhooks_reach_the_inner_places_that_are_listed() {
    let (app, receiver) = (TestApp::new(), Receiver::new());
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let hooks = format!("/projects/{project}/hooks");
    let hook = receiver.hook(&["issues_events"]);
    ada.post(&hooks, hook.clone()).await.refused(422, json!({ "error": "Invalid url given" }));

    set(&app, json!({ "outbound_local_requests_whitelist": ["127.0.0.1"] })).await;

    ada.post(&hooks, hook).await.created();
    ada.post(&format!("/projects/{project}/issues"), json!({ "title": "One" })).await.created();
    deliver(&app).await;
    assert_eq!(receiver.told().len(), 1);
}

#[actix_web::test]
async fn configurations_include_files_of_inner_places_where_the_settings_allow_it() {
    let (app, receiver) = (TestApp::new(), Receiver::new());
    receiver.says(&json!({ "build": { "script": "x" } }));
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let content = format!("include: {{ remote: '{}' }}\n", receiver.url("ci.yml"));
    let lint = format!("/projects/{project}/ci/lint");
    let body = json!({ "content": content });
    assert_eq!(ada.post(&lint, body.clone()).await.ok()["valid"], false);

    set(&app, json!({ "allow_local_requests_from_web_hooks_and_services": true })).await;

    let linted = ada.post(&lint, body).await.ok();
    assert_eq!((&linted["valid"], receiver.told().len()), (&json!(true), 1), "{linted}");
}

#[actix_web::test]
async fn new_projects_groups_and_people_begin_as_the_settings_say() {
    let app = TestApp::new();
    set(
        &app,
        json!({ "default_project_creation": 1, "default_projects_limit": 7,
                "default_project_visibility": "internal" }),
    )
    .await;
    let root = app.admin();
    let group = root.post("/groups", json!({ "name": "Crew", "path": "crew" })).await.created();
    assert_eq!(group["project_creation_level"], "maintainer");
    let project = root.post("/projects", json!({ "name": "engine" })).await.created();
    assert_eq!(project["visibility"], "internal");
    let new = json!({ "email": "bob@x.test", "name": "Bob", "username": "bob",
                      "password": "difference engine" });
    assert_eq!(root.post("/users", new).await.created()["projects_limit"], 7);
}

#[actix_web::test]
async fn keys_of_a_forbidden_kind_are_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    set(&app, json!({ "ecdsa_key_restriction": 384 })).await;
    let key = json!({ "title": "Laptop", "key": ECDSA });
    let told = json!({ "message": { "key": ["must be at least 384 bits"] } });
    ada.post("/user/keys", key.clone()).await.refused(400, told);
    set(&app, json!({ "ecdsa_key_restriction": -1 })).await;
    assert_eq!(ada.post("/user/keys", key.clone()).await.status, 400);
    set(&app, json!({ "ecdsa_key_restriction": 0 })).await;
    ada.post("/user/keys", key).await.created();
}

#[actix_web::test]
async fn jobs_of_auto_devops_see_the_domain_that_is_set() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    set(&app, json!({ "auto_devops_domain": "apps.example" })).await;
    let text = "job: {script: x, rules: [{if: '$KUBE_INGRESS_BASE_DOMAIN == \"apps.example\"'}]}\n";
    commit(&ada, project, "main", "one", text).await;
    app.work().await;
    assert!(pipelines(&ada, project, "").await.is_empty());

    ada.put(&format!("/projects/{project}"), json!({ "auto_devops_enabled": true })).await.ok();

    let new = json!({ "ref": "main" });
    ada.post(&format!("/projects/{project}/pipeline"), new).await.created();
}

#[actix_web::test]
async fn periods_of_housekeeping_are_set_together_or_not_at_all() {
    let app = TestApp::new();
    let path = "/application/settings";
    let refusal = json!({ "error": "housekeeping_full_repack_period is missing, housekeeping_incremental_repack_period is missing" });
    app.admin().put(path, json!({ "housekeeping_gc_period": 300 })).await.refused(400, refusal);
    let all = json!({ "housekeeping_gc_period": 300, "housekeeping_full_repack_period": 60,
                      "housekeeping_incremental_repack_period": 20 });
    assert_eq!(set(&app, all).await["housekeeping_gc_period"], 300);
}

#[actix_web::test]
async fn settings_that_nobody_set_have_the_defaults_of_the_contract() {
    let app = TestApp::new();
    let shown = app.admin().get("/application/settings").await.ok();
    for (name, value) in [
        ("max_yaml_size_bytes", json!(1_048_576)),
        ("default_branch_name", Value::Null),
        ("commit_email_hostname", json!("users.noreply.forge.test")),
        ("raw_blob_request_limit", json!(300)),
    ] {
        assert_eq!(shown[name], value, "{name}");
    }
    let http = json!({ "spam_check_endpoint_url": "https://spam.example" });
    let told = json!({ "message": { "spam_check_endpoint_url": ["is blocked: Only allowed schemes are tls, grpc"] } });
    app.admin().put("/application/settings", http).await.refused(400, told);
    let known = json!({ "spam_check_endpoint_url": "grpc://spam.example:8080" });
    assert_eq!(
        set(&app, known.clone()).await["spam_check_endpoint_url"],
        known["spam_check_endpoint_url"]
    );
}

#[actix_web::test]
async fn pages_have_the_limit_of_the_web_and_calls_that_of_the_api() {
    let app = TestApp::new();
    set(
        &app,
        json!({ "throttle_unauthenticated_enabled": true,
        "throttle_unauthenticated_requests_per_period": 2,
        "throttle_unauthenticated_period_in_seconds": 3600 }),
    )
    .await;
    let nobody = app.anonymous().from("198.51.100.7");
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(nobody.get("//users/sign_in").await.status);
    }
    assert_eq!(statuses, [200, 200, 429]);
    assert_eq!(nobody.get("/projects").await.status, 200, "calls of the API are counted apart");
}

#[actix_web::test]
async fn repositories_are_tidied_after_pushes_unless_that_is_off() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let graphs = app.state.storage.repository(project).as_path().join("objects/info/commit-graphs");
    let push = async |message: &str| {
        let text = format!("job: {{script: {message}}}\n");
        commit(&ada, project, "main", message, &text).await;
        app.work().await;
        app.clock.advance(time::Duration::minutes(1));
        app.work().await;
    };
    set(
        &app,
        json!({ "housekeeping_enabled": false, "housekeeping_gc_period": 200,
        "housekeeping_full_repack_period": 50, "housekeeping_incremental_repack_period": 10 }),
    )
    .await;
    push("one").await;
    assert!(!graphs.exists());

    set(
        &app,
        json!({ "housekeeping_enabled": true, "housekeeping_gc_period": 200,
        "housekeeping_full_repack_period": 50, "housekeeping_incremental_repack_period": 10 }),
    )
    .await;
    push("two").await;
    assert!(graphs.exists());
}

#[actix_web::test]
async fn diffs_show_as_much_as_the_settings_say() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let commits = format!("/projects/{project}/repository/commits");
    let write = async |path: &str, content: String| {
        let actions = json!([{ "action": "create", "file_path": path, "content": content }]);
        let body = json!({ "branch": "main", "commit_message": path, "actions": actions });
        let made = ada.post(&commits, body).await.created();
        format!("{commits}/{}/diff", made["id"].as_str().expect("a hash"))
    };
    let wide = write("wide", format!("{}\n", "x".repeat(99)).repeat(3000)).await;
    let long = write("long", "\n".repeat(60_000)).await;
    let is_shown = async |path: &str| ada.get(path).await.ok()[0]["diff"] != "";
    assert!(!is_shown(&wide).await && !is_shown(&long).await);

    set(&app, json!({ "diff_max_patch_bytes": 512_000 })).await;
    assert!(is_shown(&wide).await && !is_shown(&long).await);

    set(&app, json!({ "diff_max_lines": 100_000 })).await;
    assert!(is_shown(&wide).await && is_shown(&long).await);
}
