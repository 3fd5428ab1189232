//! Settings about what others do beside this server: registries, caches, and people with their keys.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use kernel::{AccessLevel::Reporter, Visibility};
use serde_json::{Value, json};

use crate::support::{Person, TestApp, ci::pipelines};

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

/// A project as clients make it, with a file that Auto DevOps knows.
async fn project_of_rust(person: &Person<'_>, name: &str) -> kernel::ids::ProjectId {
    let made = person.post("/projects", json!({ "name": name })).await.created();
    let id = kernel::ids::ProjectId(made["id"].as_i64().expect("an id"));
    let file = json!([{ "action": "create", "file_path": "Cargo.toml", "content": "[package]\n" }]);
    let commit = json!({ "branch": "main", "commit_message": "Begin", "actions": file });
    person.post(&format!("/projects/{id}/repository/commits"), commit).await.created();
    id
}

#[actix_web::test]
async fn a_project_without_a_configuration_has_the_jobs_of_auto_devops() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = project_of_rust(&ada, "engine").await;
    app.work().await;
    let made = pipelines(&ada, project, "").await;
    assert_eq!(made.len(), 1);
    let jobs = ada.get(&format!("/projects/{project}/jobs")).await.each("name");
    assert!(jobs.contains(&json!("rust-test")), "{jobs:?}");

    set(&app, json!({ "auto_devops_enabled": false })).await;

    let other = project_of_rust(&ada, "wheel").await;
    app.work().await;
    assert!(pipelines(&ada, other, "").await.is_empty());
    assert_eq!(ada.get(&format!("/projects/{other}")).await.ok()["auto_devops_enabled"], false);
}

#[actix_web::test]
async fn a_group_says_for_itself_whether_its_projects_have_auto_devops() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("crew", None).await;
    ada.put(&format!("/groups/{group}"), json!({ "auto_devops_enabled": false })).await.ok();
    let inner = ada.group("inner", Some(group)).await;
    let new = json!({ "name": "engine", "namespace_id": inner });
    assert_eq!(ada.post("/projects", new).await.created()["auto_devops_enabled"], false);
}

#[actix_web::test]
async fn packages_are_asked_for_where_the_settings_send_people() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Visibility::Private);
    for (setting, path, address) in [
        ("npm", "npm/@angular%2fcore", "https://registry.npmjs.org/@angular%2Fcore"),
        ("pypi", "pypi/simple/requests", "https://pypi.org/simple/requests/"),
        ("maven", "maven/org/a/1/a-1.jar", "https://repo.maven.apache.org/maven2/org/a/1/a-1.jar"),
    ] {
        let path = format!("/projects/{project}/packages/{path}");
        let sent = ada.get(&path).await;
        assert_eq!((sent.status, sent.header("Location")), (302, Some(address)));
        app.anonymous().get(&path).await.with(404);

        let setting = format!("{setting}_package_requests_forwarding");
        set(&app, json!({ setting: false })).await;

        ada.get(&path).await.refused(404, json!({ "message": "404 Package Not Found" }));
    }
}

/// What a registry is told by a token.
fn claims(answer: &Value) -> Value {
    let token = answer["token"].as_str().expect("a token");
    let body = token.split('.').nth(1).expect("claims");
    serde_json::from_slice(&BASE64.decode(body).expect("base64")).expect("JSON")
}

#[actix_web::test]
async fn a_token_for_images_counts_as_long_as_the_settings_say() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Visibility::Private);
    let bob = app.member(project, "bob", Reporter);
    set(&app, json!({ "container_registry_token_expire_delay": 7 })).await;
    let path = "//jwt/auth?service=container_registry&scope=repository:ada/engine/main:pull,push";

    let told = claims(&ada.by_password().get(path).await.ok());

    let access =
        json!([{ "type": "repository", "name": "ada/engine/main", "actions": ["pull", "push"] }]);
    assert_eq!((&told["access"], &told["aud"]), (&access, &json!("container_registry")));
    let span = told["exp"].as_i64().zip(told["iat"].as_i64()).map(|(end, begin)| end - begin);
    assert_eq!((span, &told["sub"]), (Some(420), &json!("ada")));
    let reads = claims(&bob.by_password().get(path).await.ok());
    assert_eq!(reads["access"][0]["actions"], json!(["pull"]));
    assert_eq!(claims(&app.anonymous().get(path).await.ok())["access"], json!([]));
    app.anonymous().sending("Authorization", "Basic YTpi").get(path).await.with(401);
}

#[actix_web::test]
async fn what_clients_keep_of_rendered_texts_is_old_after_a_new_version() {
    let app = TestApp::new();
    let path = "/version";
    let tag = app.admin().get(path).await.header("ETag").expect("a tag").to_owned();
    let client = app.admin().sending("If-None-Match", &tag);
    assert_eq!(client.get(path).await.status, 304);

    set(&app, json!({ "local_markdown_version": 1 })).await;

    assert_eq!(client.get(path).await.status, 200);
}

#[actix_web::test]
async fn people_without_a_key_are_told_so_where_the_settings_want_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "engine", Visibility::Public);
    let page = async |person: &Person<'_>| {
        let answer = person.get("//ada/engine").await;
        String::from_utf8(answer.bytes).expect("text").contains("You have no SSH key")
    };
    assert!(page(&ada).await);
    assert!(!page(&app.anonymous()).await);

    set(&app, json!({ "user_show_add_ssh_key_message": false })).await;

    assert!(!page(&ada).await);
}
