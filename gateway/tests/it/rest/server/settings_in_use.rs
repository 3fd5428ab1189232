//! What settings of the installation do.

use actix_web::http::Method;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use db::schema::users;
use diesel::prelude::*;
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Public,
};
use org::{settings::store::SettingsStore as _, token::Scope, user::actions::NewUser};
use repo::testing::Fixture;
use serde_json::{Value, json};
use time::Duration;

use crate::support::{
    Person, TestApp,
    ci::{commit, job},
};

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

async fn refs(person: &Person<'_>, service: &str) -> u16 {
    person.get(&format!("//ada/engine.git/info/refs?service={service}")).await.status
}

#[actix_web::test]
async fn administrators_need_a_token_with_admin_mode() {
    let app = TestApp::new();
    let plain = NewUser { admin: true, ..NewUser::named("boss") };
    let boss = app.someone(&plain, &[Scope::Api]);
    let ready = NewUser { admin: true, ..NewUser::named("chief") };
    let chief = app.someone(&ready, &[Scope::Api, Scope::AdminMode]);
    boss.get("/application/settings").await.ok();

    set(&app, json!({ "admin_mode": true })).await;

    assert_eq!(boss.get("/application/settings").await.status, 403);
    chief.put("/application/settings", json!({ "admin_mode": false })).await.ok();
    boss.get("/application/settings").await.ok();
}

#[actix_web::test]
async fn while_the_installation_is_maintained_nothing_is_changed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    set(&app, json!({ "maintenance_mode": true, "maintenance_mode_message": "Back at noon" }))
        .await;

    let refused = ada.post("/projects", json!({ "name": "wheel" })).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("900")));
    assert_eq!(refused.body, json!({ "message": "Back at noon" }));
    ada.get("/projects").await.ok();
    assert_eq!(refs(&ada, "git-receive-pack").await, 403);

    set(&app, json!({ "maintenance_mode": false })).await;
    ada.post("/projects", json!({ "name": "wheel" })).await.created();
}

#[actix_web::test]
async fn git_over_http_can_be_closed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project_from(&Fixture::new());
    assert_ne!(refs(&ada, "git-upload-pack").await, 403);

    set(&app, json!({ "enabled_git_access_protocol": "ssh" })).await;

    assert_eq!(refs(&ada, "git-upload-pack").await, 403);
    set(&app, json!({ "enabled_git_access_protocol": "" })).await;
    assert_ne!(refs(&ada, "git-upload-pack").await, 403);
}

#[actix_web::test]
async fn personal_tokens_end_in_time_or_are_not_taken_at_all() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let tokens = format!("/users/{}/personal_access_tokens", app.user("ada").id);
    set(&app, json!({ "max_personal_access_token_lifetime": 30 })).await;

    let wanted = |end: Option<&str>| json!({ "name": "x", "scopes": ["api"], "expires_at": end });
    assert_eq!(root.post(&tokens, wanted(None)).await.status, 422);
    assert_eq!(root.post(&tokens, wanted(Some("2999-01-01"))).await.status, 422);
    let soon = app.state.db.clock().now().plus(Duration::days(10)).iso();
    root.post(&tokens, wanted(Some(&soon[..10]))).await.created();

    set(&app, json!({ "disable_personal_access_tokens": true })).await;
    assert_eq!(ada.get("/user").await.status, 401);
}

#[actix_web::test]
async fn new_accounts_begin_as_the_settings_say() {
    let app = TestApp::new();
    set(
        &app,
        json!({ "user_default_external": true, "user_default_internal_regex": "@inside\\.test$",
        "user_defaults_to_private_profile": true }),
    )
    .await;
    let new = |name: &str, email: &str| json!({ "username": name, "name": name, "email": email, "password": "correct horse battery" });

    let outside = app.admin().post("/users", new("eve", "eve@else.test")).await.created();
    let inside = app.admin().post("/users", new("ida", "ida@inside.test")).await.created();

    assert_eq!((&outside["external"], &outside["private_profile"]), (&json!(true), &json!(true)));
    assert_eq!(inside["external"], false);
}

#[actix_web::test]
async fn new_projects_begin_without_shared_runners_where_the_settings_say_so() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let before = ada.post("/projects", json!({ "name": "with" })).await.created();
    set(&app, json!({ "shared_runners_enabled": false })).await;
    let after = ada.post("/projects", json!({ "name": "without" })).await.created();
    let enabled = [&before, &after].map(|project| project["shared_runners_enabled"].clone());
    assert_eq!(enabled, [json!(true), json!(false)]);
}

#[actix_web::test]
async fn owners_manage_only_what_the_settings_leave_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("works", None).await;
    let link = json!({ "cn": "all", "group_access": 30, "provider": "ldapmain" });
    set(
        &app,
        json!({ "allow_group_owners_to_manage_ldap": false,
        "group_owners_can_manage_default_branch_protection": false }),
    )
    .await;

    let path = format!("/groups/{group}");
    assert_eq!(ada.post(&format!("{path}/ldap_group_links"), link.clone()).await.status, 403);
    app.admin().post(&format!("{path}/ldap_group_links"), link).await.created();
    let kept = ada.put(&path, json!({ "default_branch_protection": 0 })).await.ok();
    assert_eq!(kept["default_branch_protection"], 2);
    let changed = app.admin().put(&path, json!({ "default_branch_protection": 0 })).await.ok();
    assert_eq!(changed["default_branch_protection"], 0);
}

#[actix_web::test]
async fn repositories_are_cloned_from_the_root_that_is_set() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let made = ada.post("/projects", json!({ "name": "engine" })).await.created();
    set(&app, json!({ "custom_http_clone_url_root": "https://git.example.com/" })).await;
    let shown = ada.get(&format!("/projects/{}", made["id"])).await.ok();
    assert_eq!(shown["http_url_to_repo"], "https://git.example.com/ada/engine.git");
}

#[actix_web::test]
async fn spans_of_time_are_told_in_hours_where_the_settings_say_so() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    let issue = app.issue(project, &ada);
    let path = format!("/projects/{project}/issues/{issue}/time_estimate");
    let days = ada.post(&path, json!({ "duration": "2d" })).await.with(200);
    set(&app, json!({ "time_tracking_limit_to_hours": true })).await;
    let hours = ada.get(&format!("/projects/{project}/issues/{issue}/time_stats")).await.ok();
    assert_eq!(days["human_time_estimate"], "2d");
    assert_eq!(hours["human_time_estimate"], "16h");
}

#[actix_web::test]
async fn files_are_as_large_as_the_settings_allow() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    set(&app, json!({ "max_attachment_size": 1 })).await;
    let path = format!("/projects/{project}/uploads");
    let form = |size: usize| {
        let head =
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n";
        [head.as_bytes(), &vec![b'x'; size], b"\r\n--b--\r\n"].concat()
    };
    let send = async |size| {
        let method = actix_web::http::Method::POST;
        ada.send_bytes(method, &path, "multipart/form-data; boundary=b", &form(size)).await.status
    };
    assert_eq!((send(1 << 20).await, send((1 << 20) + 1).await), (201, 413));
}

#[actix_web::test]
async fn who_asks_too_often_is_told_so_in_the_words_of_the_settings() {
    let app = TestApp::new();
    let ada = app.person("ada");
    set(
        &app,
        json!({ "throttle_authenticated_api_enabled": true,
        "throttle_authenticated_api_requests_per_period": 2,
        "throttle_authenticated_api_period_in_seconds": 3600,
        "rate_limiting_response_text": "Slowly" }),
    )
    .await;

    ada.get("/user").await.ok();
    ada.get("/user").await.ok();
    let refused = ada.get("/user").await;
    assert_eq!((refused.status, &*refused.bytes), (429, &b"Slowly\n"[..]));
}

#[actix_web::test]
async fn issues_notes_people_and_raw_files_have_limits() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project_from(&Fixture::new());
    set(
        &app,
        json!({ "issues_create_limit": 1, "notes_create_limit": 1, "users_get_by_id_limit": 1,
        "raw_blob_request_limit": 1, "notes_create_limit_allowlist": ["BOB"],
        "users_get_by_id_limit_allowlist": "bob" }),
    )
    .await;
    let issues = format!("/projects/{project}/issues");
    let made = ada.post(&issues, json!({ "title": "one" })).await.created();
    let notes = format!("{issues}/{}/notes", made["iid"]);
    let ask = async |person: &Person<'_>| {
        let person_path = format!("/users/{}", app.user("ada").id);
        let raw = format!("/projects/{project}/repository/files/README.md/raw?ref=main");
        [
            person.post(&issues, json!({ "title": "more" })).await.status,
            person.post(&notes, json!({ "body": "more" })).await.status,
            person.get(&person_path).await.status,
            person.get(&raw).await.status,
        ]
    };

    assert_eq!(ask(&ada).await[0], 429);
    assert_eq!(ask(&ada).await, [429; 4]);
    app.member(project, "bob", Developer);
    let bob = app.person("bob");
    assert_eq!(ask(&bob).await[1..3], [201, 200]);
    assert_eq!(ask(&bob).await[1..3], [201, 200], "bob is on both lists");
}

#[actix_web::test]
async fn old_jobs_are_not_done_again() {
    let app = TestApp::new();
    let words = json!({ "message": { "archive_builds_in_seconds": ["must be at least 1 day"] } });
    let short = json!({ "archive_builds_in_human_readable": "2 hours" });
    app.admin().put("/application/settings", short).await.refused(400, words);
    set(&app, json!({ "archive_builds_in_human_readable": "2 days" })).await;
    let mia = app.person("mia");
    let project = app.project_from(&Fixture::new());
    app.member(project, "mia", Maintainer);
    commit(&mia, project, "main", "CI", "job: {script: x}\n").await;
    let made = job(&mia, project, "job").await;
    let path = format!("/projects/{project}/jobs/{}", made["id"]);
    mia.post(&format!("{path}/cancel"), json!({})).await.created();

    app.clock.advance(Duration::days(2));

    let told = json!({ "message": "403 Forbidden - Job is not retryable" });
    mia.post(&format!("{path}/retry"), json!({})).await.refused(403, told);
    let pipeline = format!("/projects/{project}/pipelines/{}", made["pipeline"]["id"]);
    let told = json!({ "message": "403 Forbidden" });
    for action in ["retry", "cancel"] {
        let path = format!("{pipeline}/{action}");
        mia.post(&path, json!({})).await.refused(403, told.clone());
    }
    assert_eq!(job(&mia, project, "job").await["id"], made["id"], "nothing was done once more");
    set(&app, json!({ "archive_builds_in_human_readable": "" })).await;
    mia.post(&format!("{path}/retry"), json!({})).await.created();
}

#[actix_web::test]
async fn people_without_a_credential_are_sent_to_the_home_page() {
    let app = TestApp::new();
    set(&app, json!({ "home_page_url": "https://about.example", "sign_in_text": "Ask <Ada>" }))
        .await;
    let home = app.anonymous().get("//").await;
    assert_eq!((home.status, home.header("location")), (302, Some("https://about.example")));
    let page = app.anonymous().get("//-/api").await;
    assert!(String::from_utf8_lossy(&page.bytes).contains("Ask &lt;Ada&gt;"));
}

#[actix_web::test]
async fn people_hide_their_addresses_behind_the_host_that_is_set() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let path = format!("/users/{}", app.user("ada").id);
    app.admin().put(&path, json!({ "commit_email": "_private" })).await.ok();
    set(&app, json!({ "commit_email_hostname": "hidden.example" })).await;
    let shown = ada.get("/user").await.ok();
    let address = format!("{}-ada@hidden.example", app.user("ada").id);
    assert_eq!(shown["commit_email"], json!(address));
}

#[actix_web::test]
async fn runners_register_where_the_settings_let_them() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let made = ada.post("/projects", json!({ "name": "engine" })).await.created();
    let token = json!({ "token": made["runners_token"] });
    set(&app, json!({ "valid_runner_registrars": ["group"] })).await;
    assert_eq!(app.anonymous().post("/runners", token.clone()).await.status, 403);
    set(&app, json!({ "valid_runner_registrars": ["group", "project"] })).await;
    app.anonymous().post("/runners", token).await.created();
}

#[actix_web::test]
async fn passwords_are_taken_where_the_settings_let_them() {
    let app = TestApp::new();
    let hash = org::user::password::hash("difference engine").expect("a hash");
    let new = NewUser { password_hash: Some(hash), ..NewUser::named("ada") };
    let ada = app.someone(&new, &[]);
    app.project(&ada, "engine", Public);
    let pair = BASE64_STANDARD.encode("ada:difference engine");
    let git = app.anonymous().sending("Authorization", &format!("Basic {pair}"));
    let sign_in = async || {
        let form =
            json!({ "grant_type": "password", "username": "ada", "password": "difference engine" });
        app.anonymous().post("//oauth/token", form).await.status
    };
    assert_eq!((refs(&git, "git-upload-pack").await, sign_in().await), (200, 200));

    set(&app, json!({ "password_authentication_enabled_for_git": false, "signin_enabled": false }))
        .await;

    assert_eq!((refs(&git, "git-upload-pack").await, sign_in().await), (401, 400));
}

#[actix_web::test]
async fn a_pipeline_is_made_by_the_file_that_the_settings_name() {
    let app = TestApp::new();
    let mia = app.person("mia");
    let project = app.project_from(&Fixture::new());
    app.member(project, "mia", Maintainer);
    set(&app, json!({ "default_ci_config_path": "ci/build.yml" })).await;
    let actions = json!([{ "action": "create", "file_path": "ci/build.yml", "content": "job: {script: x}\n" }]);
    let body = json!({ "branch": "main", "commit_message": "CI", "actions": actions });
    mia.post(&format!("/projects/{project}/repository/commits"), body).await.created();
    assert_eq!(job(&mia, project, "job").await["name"], "job");
}

#[actix_web::test]
async fn pictures_from_elsewhere_come_by_way_of_the_proxy() {
    let app = TestApp::new();
    set(
        &app,
        json!({ "asset_proxy_enabled": true, "asset_proxy_url": "https://assets.example",
        "asset_proxy_secret_key": "shared-secret", "asset_proxy_allowlist": ["open.example"] }),
    )
    .await;
    let text = "![a](http://example.com/test.png) ![b](http://open.example/b.png)";
    let told = app.person("ada").post("/markdown", json!({ "text": text })).await.created();
    let html = told["html"].as_str().expect("HTML").to_owned();
    assert!(
        html.contains("https://assets.example/08df250eeeef1a8cf2c761475ac74c5065105612/"),
        "{html}"
    );
    assert!(html.contains("src=\"http://open.example/b.png\""), "{html}");
}

#[actix_web::test]
async fn clients_ask_again_as_seldom_as_the_settings_say() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    set(&app, json!({ "polling_interval_multiplier": "2.5" })).await;
    let path = format!("/security/projects/{project}/vulnerability_exports");
    let export = ada.post(&path, json!({})).await.created();
    let asked = ada.get(&format!("/security/vulnerability_exports/{}", export["id"])).await;
    assert_eq!((asked.status, asked.header("poll-interval")), (202, Some("12500")));
}

#[actix_web::test]
async fn while_the_installation_is_maintained_no_alert_and_no_large_file_is_taken() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    set(&app, json!({ "maintenance_mode": true, "maintenance_mode_message": "Back at noon" }))
        .await;

    let alert = app.anonymous().post("//ada/engine/alerts/notify.json", json!({})).await;
    assert_eq!((alert.status, alert.header("retry-after")), (503, Some("900")));
    let path = format!("//ada/engine.git/info/lfs/objects/{}/1", "0".repeat(64));
    let kind = "application/octet-stream";
    assert_eq!(ada.send_bytes(Method::PUT, &path, kind, b"x").await.status, 403);

    set(&app, json!({ "maintenance_mode": false })).await;
    let alert = app.anonymous().post("//ada/engine/alerts/notify.json", json!({})).await;
    assert_ne!(alert.status, 503);
    assert_ne!(ada.send_bytes(Method::PUT, &path, kind, b"x").await.status, 403);
}

#[actix_web::test]
async fn a_home_page_that_is_the_own_address_leads_to_no_circle() {
    let app = TestApp::new();
    set(&app, json!({ "home_page_url": app.state.urls.base() })).await;
    let home = app.anonymous().get("//").await;
    let page = app.state.urls.at("-/api");
    assert_eq!((home.status, home.header("location")), (302, Some(page.as_str())));
}

#[actix_web::test]
async fn a_period_beyond_all_times_keeps_accounts_from_being_deactivated() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let id = app.user("ada").id;
    let name = "deactivate_dormant_users_period";
    let told = json!({ "message": { name: ["must be less than or equal to 36500"] } });
    root.put("/application/settings", json!({ name: i64::MAX })).await.refused(400, told);
    // As it could be stored before there was a bound.
    app.write(move |tx| {
        let mut settings = tx.settings()?;
        settings.deactivate_dormant_users_period = i64::MAX;
        tx.store_settings(&settings)?;
        let seen = diesel::update(users::table.find(id));
        let seen = seen.set(users::last_activity_at.eq(Some(tx.now)));
        db::each_backend!(tx, |conn| seen.execute(conn).map_err(db::error("User")))
    });
    assert_eq!(root.post(&format!("/users/{id}/deactivate"), json!({})).await.status, 403);
}
