//! The variables that every job has: `crates/forge/src/{pipeline,runner}/variables.rs`.

use serde_json::{Value, json};

use super::program::set_up;
use crate::support::{TestApp, ci::commit};

fn value(payload: &Value, key: &str) -> Value {
    let all = payload["variables"].as_array().expect("variables");
    all.iter().rfind(|one| one["key"] == key).map_or(Value::Null, |one| one["value"].clone())
}

#[actix_web::test]
async fn a_job_knows_the_server_and_its_project() {
    let app = TestApp::new();
    let (project, mia, runner) = set_up(&app, "unit 1/2: {script: x}\n").await;
    let label = json!({ "external_authorization_classification_label": "secret" });
    mia.put(&format!("/projects/{project}"), label).await.ok();
    let file =
        json!({ "branch": "main", "content": "fn main() {}\n", "commit_message": "[skip ci]" });
    let path = format!("/projects/{project}/repository/files/main.rs");
    mia.post(&path, file).await.created();
    app.work().await;

    let payload = runner.take().await;

    for (key, wanted) in [
        ("CI_SERVER_REVISION", "0123abcd"),
        ("CI_TEMPLATE_REGISTRY_HOST", "registry.gitlab.com"),
        ("GITLAB_FEATURES", ""),
        ("CI_PAGES_DOMAIN", "forge.test"),
        ("CI_PAGES_URL", "http://olga.forge.test/one"),
        ("CI_PROJECT_CLASSIFICATION_LABEL", "secret"),
        ("CI_PROJECT_REPOSITORY_LANGUAGES", "rust"),
        ("CI_JOB_GROUP_NAME", "unit"),
        ("CI_JOB_TIMEOUT", "3600"),
        ("CI_REGISTRY", "forge.test"),
        ("CI_REGISTRY_IMAGE", "forge.test/olga/one"),
        ("CI_REGISTRY_USER", "gitlab-ci-token"),
        ("CI_DEPENDENCY_PROXY_USER", "gitlab-ci-token"),
    ] {
        assert_eq!(value(&payload, key), wanted, "{key}");
    }
    for key in ["CI_REGISTRY_PASSWORD", "CI_DEPENDENCY_PROXY_PASSWORD"] {
        let all = payload["variables"].as_array().expect("variables");
        let one = all.iter().find(|one| one["key"] == key).expect("a password");
        assert_eq!((&one["value"], &one["masked"]), (&payload["token"], &json!(true)));
    }
}

#[actix_web::test]
async fn a_job_of_a_tag_or_a_trigger_knows_that() {
    let app = TestApp::new();
    let text = "unit:\n  script: x\n  rules:\n    - if: $CI_COMMIT_TAG_MESSAGE == \"One\"\n    - if: $CI_PIPELINE_TRIGGERED && $CI_PIPELINE_CREATED_AT\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let tag = json!({ "tag_name": "v1", "ref": "main", "message": "One" });
    mia.post(&format!("/projects/{project}/repository/tags"), tag).await.created();
    assert_eq!(value(&runner.take().await, "CI_COMMIT_TAG_MESSAGE"), "One");
    let triggers = format!("/projects/{project}/triggers");
    let trigger = mia.post(&triggers, json!({ "description": "d" })).await.created();
    let token = trigger["token"].as_str().expect("a token");

    let call = format!("/projects/{project}/trigger/pipeline");
    app.anonymous().post(&call, json!({ "token": token, "ref": "main" })).await.created();

    let payload = runner.take().await;
    assert_eq!(value(&payload, "CI_PIPELINE_TRIGGERED"), "true");
    assert_eq!(value(&payload, "CI_TRIGGER_SHORT_TOKEN"), token[6..10]);
}

#[actix_web::test]
async fn a_job_of_a_release_knows_what_that_says_and_no_registry_that_is_switched_off() {
    let app = TestApp::new();
    let text = "variables: {NEW: x}\nunit: {script: x, rules: [{if: $CI_COMMIT_TAG}]}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let off = json!({ "container_registry_access_level": "disabled" });
    mia.put(&format!("/projects/{project}"), off).await.ok();
    let description = format!("All $NEW {}", "é".repeat(1100));
    let release = json!({ "tag_name": "v1", "ref": "main", "description": description });
    mia.post(&format!("/projects/{project}/releases"), release).await.created();
    app.work().await;

    let payload = runner.take().await;

    let told: String = description.chars().take(1024).collect();
    assert_eq!(value(&payload, "CI_RELEASE_DESCRIPTION"), told);
    for key in ["CI_REGISTRY", "CI_REGISTRY_IMAGE"] {
        assert_eq!(value(&payload, key), Value::Null);
    }
}

#[actix_web::test]
async fn a_job_of_a_merge_request_knows_its_version_and_its_target() {
    let app = TestApp::new();
    let text = "unit:\n  script: x\n  rules: [{if: '$CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED == \"true\"'}]\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    mia.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    commit(&mia, project, "topic", "more", &format!("{text}# more\n")).await;
    let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "t" });
    mia.post(&format!("/projects/{project}/merge_requests"), new).await.created();

    let payload = runner.take().await;

    let versions = format!("/projects/{project}/merge_requests/1/versions");
    let newest = mia.get(&versions).await.ok()[0]["id"].to_string();
    assert_eq!(value(&payload, "CI_MERGE_REQUEST_DIFF_ID"), newest);
}

#[actix_web::test]
async fn a_job_of_a_child_knows_what_its_branch_was_before() {
    let app = TestApp::new();
    let text = "down: {trigger: {include: [{local: child.yml}]}}\n";
    let (project, mia, runner) = set_up(&app, text).await;
    let before = mia.get(&format!("/projects/{project}/repository/commits/main")).await.ok();

    let file =
        json!({ "branch": "main", "commit_message": "child", "content": "unit: {script: x}" });
    let path = format!("/projects/{project}/repository/files/child.yml");
    mia.post(&path, file).await.created();
    app.work().await;

    let payload = runner.take().await;
    assert_eq!(payload["job_info"]["name"], "unit");
    assert_eq!(value(&payload, "CI_COMMIT_BEFORE_SHA"), before["id"]);
}
