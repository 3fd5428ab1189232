//! What integrations send to the products that they are for.

use ci::job::End;
use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use super::receiver::{ReceivedRequest, Receiver, deliver};
use crate::support::{
    Person, TestApp,
    ci::{commit, finish, run},
};

struct Scene<'a> {
    app: &'a TestApp,
    receiver: Receiver,
    ada: Person<'a>,
    project: ProjectId,
}

impl<'a> Scene<'a> {
    /// A project with a first commit, and an integration whose address is the receiver's.
    async fn with(app: &'a TestApp, slug: &str, address: &str, given: Value) -> Self {
        let (receiver, ada) = (Receiver::new(), app.person("ada"));
        let project = app.project(&ada, "engine", Private);
        commit(&ada, project, "main", "one", "build: {script: x}\n").await;
        let mut given = given;
        given[address] = json!(receiver.url("there"));
        ada.put(&format!("/projects/{project}/integrations/{slug}"), given).await.ok();
        Self { app, receiver, ada, project }
    }

    async fn push(&self) {
        commit(&self.ada, self.project, "main", "two", "build: {script: y}\n").await;
    }

    async fn told(&self) -> Vec<ReceivedRequest> {
        self.app.work().await;
        deliver(self.app).await;
        self.receiver.told()
    }
}

/// The only request that a push leads to.
async fn after_push(slug: &str, address: &str, given: Value) -> ReceivedRequest {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, slug, address, given).await;
    scene.push().await;
    let mut told = scene.told().await;
    assert_eq!(told.len(), 1, "{slug}: {told:?}");
    told.remove(0)
}

const PERSON: &str = "Basic Y2k6czNjcmV0";

#[actix_web::test]
async fn bamboo_is_asked_to_build() {
    let given = json!({ "build_key": "FOO-BAR", "username": "ci", "password": "s3cret" });
    let told = after_push("bamboo", "bamboo_url", given).await;
    assert_eq!(told.path, "/there/updateAndBuild.action?buildKey=FOO%2DBAR&os_authType=basic");
    assert_eq!(told.header("Authorization"), Some(PERSON));
}

#[actix_web::test]
async fn jenkins_is_sent_the_push() {
    let given = json!({ "project_name": "my engine", "username": "ci", "password": "s3cret" });
    let told = after_push("jenkins", "jenkins_url", given).await;
    assert_eq!(told.path, "/there/project/my%20engine");
    assert_eq!(told.header("Authorization"), Some(PERSON));
    assert_eq!(told.header("X-Gitlab-Event"), Some("Push Hook"));
    let commits = &told.body["commits"];
    assert_eq!(
        (&told.body["ref"], &commits[0]["title"]),
        (&json!("refs/heads/main"), &json!("two"))
    );
}

#[actix_web::test]
async fn drone_is_sent_the_push_with_its_token() {
    let told = after_push("drone-ci", "drone_url", json!({ "token": "t/1" })).await;
    assert_eq!(told.path, "/there/hook?owner=ada&name=engine&access_token=t%2F1");
}

#[actix_web::test]
async fn squash_tm_is_sent_issues() {
    let app = TestApp::reaching("127.0.0.1");
    let scene = Scene::with(&app, "squash-tm", "url", json!({ "token": "a b" })).await;
    let issues = format!("/projects/{}/issues", scene.project);
    scene.ada.post(&issues, json!({ "title": "One" })).await.created();
    let told = scene.told().await;
    let [told] = told.as_slice() else { panic!("{told:?}") };
    assert_eq!(told.path, "/there?token=a%20b");
    assert_eq!(told.body["object_attributes"]["title"], "One");
}

#[actix_web::test]
async fn chat_rooms_are_told_in_their_own_form() {
    let line =
        |told: &ReceivedRequest, name: &str| told.body[name].as_str().expect("a text").to_owned();
    let quiet = json!({ "pipeline_events": false });
    let told = after_push("unify-circuit", "webhook", quiet.clone()).await;
    assert_eq!(
        (&told.body["subject"], &told.body["markdown"]),
        (&json!("ada/engine"), &json!(true))
    );
    assert!(line(&told, "text").contains("pushed to branch main"), "{told:?}");
    let told = after_push("webex-teams", "webhook", quiet).await;
    assert_eq!(told.path, "/there");
    assert!(line(&told, "markdown").contains("pushed to branch main"), "{told:?}");
}

#[actix_web::test]
async fn datadog_hears_of_pipelines_jobs_and_their_logs() {
    let app = TestApp::reaching("127.0.0.1");
    let given = json!({
        "api_key": "k3y", "datadog_site": "", "datadog_env": "live", "datadog_tags": "team:a\n\nx:y z",
        "archive_trace_events": true, "pipeline_events": true, "job_events": true,
        "push_events": false,
    });
    let scene = Scene::with(&app, "datadog", "api_url", given).await;
    run(&app, &scene.ada, scene.project, "build").await;
    scene.told().await;

    finish(&app, &scene.ada, scene.project, "build", End::failed("script_failure")).await;

    let told = scene.told().await;
    let mut kinds: Vec<&str> =
        told.iter().filter_map(|one| one.body["object_kind"].as_str()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["archive_trace", "build", "pipeline"]);
    assert_eq!(told[0].path, "/there?dd-api-key=k3y&env=live&tags=team%3Aa,x%3Ay%20z");
    let log = told.iter().find(|one| one.body["object_kind"] == "archive_trace").expect("a log");
    let address = log.body["trace_url"].as_str().expect("an address");
    let expected = format!("/projects/{}/jobs/{}/trace", scene.project, log.body["build_id"]);
    assert!(address.ends_with(&expected), "{address}");
}

#[actix_web::test]
async fn logs_are_told_only_where_that_is_wanted() {
    let app = TestApp::reaching("127.0.0.1");
    let given = json!({ "api_key": "k3y", "pipeline_events": false, "push_events": false });
    let scene = Scene::with(&app, "datadog", "api_url", given).await;
    run(&app, &scene.ada, scene.project, "build").await;
    finish(&app, &scene.ada, scene.project, "build", End::failed("script_failure")).await;
    assert!(scene.told().await.is_empty());
}
