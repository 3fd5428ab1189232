//! Pipeline triggers: `gateway/src/rest/ci/triggers.rs`.

use ci::trigger::{TriggerStore as _, TriggerToken};
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
    ids::ProjectId,
    page::PageRequest,
};
use serde_json::json;

use crate::support::{Person, TestApp, ci::commit};

fn set_up(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let project = app.project(&app.person("olga"), "one", Visibility::Private);
    (project, app.member(project, "mia", Maintainer), format!("/projects/{project}/triggers"))
}

#[actix_web::test]
async fn a_token_is_shown_to_its_owner_and_sealed_in_its_row() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    let max = app.member(project, "max", Maintainer);

    let trigger = mia.post(&path, json!({ "description": "nightly" })).await.created();

    let token = trigger["token"].as_str().expect("a token");
    assert!(token.starts_with(TriggerToken::PREFIX) && token.len() == 46, "{token}");
    assert_eq!(
        (&trigger["owner"]["username"], trigger["last_used"].is_null()),
        (&json!("mia"), true)
    );
    let one = format!("{path}/{}", trigger["id"]);
    assert_eq!(mia.get(&one).await.ok(), trigger);
    assert_eq!(app.admin().get(&one).await.ok()["token"], token);
    assert_eq!(max.get(&path).await.each("token"), [token[6..10].to_owned()]);
    let rows = app.write(move |tx| tx.triggers(project, PageRequest::default()));
    assert!(!format!("{rows:?}").contains(token));
}

#[actix_web::test]
async fn only_maintainers_have_triggers_and_owners_change_them() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    let max = app.member(project, "max", Maintainer);
    let dan = app.member(project, "dan", Developer);
    let new = json!({ "description": "nightly" });
    mia.post(&path, json!({})).await.refused(400, json!({ "error": "description is missing" }));
    let one = format!("{path}/{}", mia.post(&path, new.clone()).await.created()["id"]);

    dan.post(&path, new).await.with(403);
    dan.get(&path).await.with(403);
    max.put(&one, json!({ "description": "x" }))
        .await
        .refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(mia.put(&one, json!({ "description": "x" })).await.ok()["description"], "x");
    let early = mia.sending("If-Unmodified-Since", "Wed, 31 Dec 2025 00:00:00 GMT");
    assert_eq!(early.delete(&one).await.status, 412);
    max.delete(&one).await.with(204);
    mia.get(&one).await.refused(404, json!({ "message": "404 Trigger Not Found" }));
}

const JOBS: &str = "told: {script: x, rules: [{if: $KEY == \"yes\"}]}\n";

#[actix_web::test]
async fn a_token_makes_a_pipeline_with_the_rights_of_its_owner() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    commit(&mia, project, "main", "jobs", JOBS).await;
    let trigger = mia.post(&path, json!({ "description": "d" })).await.created();
    let token = &trigger["token"];
    let nobody = app.anonymous();
    let (call, by_ref) = (
        format!("/projects/{project}/trigger/pipeline"),
        format!("/projects/{project}/ref/main/trigger/pipeline"),
    );

    let body = json!({ "token": token, "ref": "main", "variables": { "KEY": "yes" } });
    let made = nobody.post(&call, body.clone()).await.created();

    assert_eq!((&made["source"], &made["user"]["username"]), (&json!("trigger"), &json!("mia")));
    nobody.post(&by_ref, json!({ "token": token, "variables": { "KEY": "yes" } })).await.created();
    assert!(!mia.get(&format!("{path}/{}", trigger["id"])).await.ok()["last_used"].is_null());
    let told = json!({ "message": "404 Not Found" });
    nobody
        .post(&call, json!({ "token": "glptt-x", "ref": "main" }))
        .await
        .refused(404, told.clone());
    let other = app.project(&mia, "other", Visibility::Public);
    nobody
        .post(&format!("/projects/{other}/trigger/pipeline"), body.clone())
        .await
        .refused(404, told.clone());
    let hook = nobody.sending("X-Gitlab-Event", "Pipeline Hook");
    hook.post(&call, body.clone()).await.refused(403, json!({ "message": "403 Forbidden" }));
    let odd = json!({ "token": token, "ref": "main", "variables": { "KEY": 1 } });
    let map = json!({ "message": "variables needs to be a map of key-valued strings" });
    nobody.post(&call, odd).await.refused(400, map);
    let blank = json!({ "token": token, "ref": "" });
    nobody.post(&call, blank).await.refused(400, json!({ "error": "ref is empty" }));
    app.block("mia");
    nobody.post(&call, body).await.refused(404, told);
}

#[actix_web::test]
async fn a_token_makes_no_pipeline_where_they_are_switched_off() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    commit(&mia, project, "main", "jobs", JOBS).await;
    let trigger = mia.post(&path, json!({ "description": "d" })).await.created();
    let off = json!({ "builds_access_level": "disabled" });
    mia.put(&format!("/projects/{project}"), off).await.ok();

    let body = json!({ "token": trigger["token"], "ref": "main" });
    let told = json!({ "message": { "base": ["Pipelines are disabled!"] } });
    app.anonymous()
        .post(&format!("/projects/{project}/trigger/pipeline"), body)
        .await
        .refused(400, told);
}

#[actix_web::test]
async fn a_call_without_variables_needs_no_right_to_set_them() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    commit(&mia, project, "main", "jobs", "unit: {script: x}").await;
    let topic = json!({ "branch": "topic", "ref": "main" });
    mia.post(&format!("/projects/{project}/repository/branches"), topic).await.created();
    let trigger = mia.post(&path, json!({ "description": "d" })).await.created();
    let olga = app.person("olga");
    let restrict = json!({ "restrict_user_defined_variables": true });
    olga.put(&format!("/projects/{project}"), restrict).await.ok();
    let member = format!("/projects/{project}/members/{}", app.user("mia").id);
    olga.put(&member, json!({ "access_level": 30 })).await.ok();
    let call = format!("/projects/{project}/trigger/pipeline");
    let token = &trigger["token"];

    let body = json!({ "token": token, "ref": "topic" });
    app.anonymous().post(&call, body).await.created();

    let body = json!({ "token": token, "ref": "topic", "variables": { "KEY": "yes" } });
    let told =
        json!({ "message": { "base": ["Insufficient permissions to set pipeline variables"] } });
    app.anonymous().post(&call, body).await.refused(400, told);
}
