//! A service that says who may enter projects.

use kernel::{AccessLevel::Developer, Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use super::receiver::Receiver;
use crate::support::{
    TestApp,
    ci::{commit, pipelines},
};

async fn ask(app: &TestApp, service: &Receiver) {
    let set = json!({
        "external_authorization_service_enabled": true,
        "external_authorization_service_default_label": "plain",
        "external_authorization_service_timeout": 10.0,
        "external_authorization_service_url": service.url("decide"),
    });
    app.admin().put("/application/settings", set).await.ok();
}

#[actix_web::test]
async fn projects_are_open_to_whom_the_service_admits() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}");
    ask(&app, &service).await;

    ada.get(&path).await.ok();
    ada.get(&format!("{path}/issues")).await.ok();

    let told = service.told();
    let [question] = told.as_slice() else { panic!("it is asked once: {told:?}") };
    let email = app.user("ada").email;
    let expected = json!({
        "user_identifier": email, "project_classification_label": "plain", "identities": [],
    });
    assert_eq!((question.path.as_str(), &question.body), ("/decide", &expected));
}

#[actix_web::test]
async fn the_label_of_a_project_is_what_the_service_judges() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}");
    let label = json!({ "external_authorization_classification_label": "secret" });
    ada.put(&path, label).await.ok();
    let bob = app.member(project, "bob", Developer);
    service.answers(401);
    ask(&app, &service).await;

    bob.get(&path).await.refused(404, json!({ "message": "404 Project Not Found" }));
    bob.get(&format!("{path}/issues")).await.with(404);

    assert_eq!(service.told()[0].body["project_classification_label"], "secret");
    app.admin().get(&path).await.ok();
    app.admin()
        .put("/application/settings", json!({ "external_authorization_service_enabled": false }))
        .await
        .ok();
    bob.get(&path).await.ok();
}

#[actix_web::test]
async fn an_answer_counts_for_hours_and_silence_not_at_all() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    ask(&app, &service).await;
    service.answers(500);
    ada.get(&path).await.with(404);
    service.answers(200);
    ada.get(&path).await.ok();
    service.answers(403);
    ada.get(&path).await.ok();

    app.clock.advance(time::Duration::hours(6));

    ada.get(&path).await.with(404);
    assert_eq!(service.told().len(), 3);
}

#[actix_web::test]
async fn what_lies_in_many_projects_and_what_nobody_asks_for_is_closed() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    app.project(&ada, "engine", kernel::Visibility::Public);
    ask(&app, &service).await;

    for path in ["/issues", "/merge_requests", "/todos"] {
        ada.get(path).await.refused(403, json!({ "message": "403 Forbidden" }));
    }
    let query = json!({ "query": "{ project(fullPath: \"ada/engine\") { id } }" });
    let answer = ada.post("//api/graphql", query).await;
    let body: Value = serde_json::from_slice(&answer.bytes).expect("JSON");
    assert!(body["data"]["project"].is_null(), "{body}");
    app.anonymous().get("/projects/ada%2Fengine").await.with(404);
    assert!(service.told().is_empty());
}

/// Two projects of one person: the service opens the first and keeps out of the second.
async fn two_projects(app: &TestApp, service: &Receiver) -> (ProjectId, ProjectId) {
    let ada = app.person("ada");
    let (open, closed) =
        (app.project(&ada, "engine", Private), app.project(&ada, "vault", Private));
    let label = json!({ "external_authorization_classification_label": "secret" });
    ada.put(&format!("/projects/{closed}"), label).await.ok();
    for project in [open, closed] {
        ada.post(&format!("/projects/{project}/issues"), json!({ "title": "Plan" }))
            .await
            .created();
    }
    commit(&ada, closed, "main", "one [skip ci]", "job: {script: x}\n").await;
    ask(app, service).await;
    ada.get(&format!("/projects/{open}")).await.ok();
    service.answers(403);
    (open, closed)
}

#[actix_web::test]
async fn the_service_is_asked_about_the_second_project_of_a_request_too() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (open, closed) = two_projects(&app, &service).await;
    let ada = app.person("ada");
    let refusal = json!({ "message": "404 Project Not Found" });
    let issue = format!("/projects/{open}/issues/1");

    for (path, body) in [
        (format!("{issue}/move"), json!({ "to_project_id": closed })),
        (format!("{issue}/clone"), json!({ "to_project_id": closed.to_string() })),
        (
            format!("{issue}/links"),
            json!({ "target_project_id": "ada/vault", "target_issue_iid": 1 }),
        ),
        (format!("/projects/{open}/fork/{closed}"), json!({})),
        (
            format!("/projects/{open}/merge_requests"),
            json!({ "source_branch": "a", "target_branch": "b", "title": "x", "target_project_id": closed }),
        ),
        (
            format!("/projects/{open}/repository/commits"),
            json!({ "branch": "a", "start_branch": "main", "commit_message": "x", "actions": [{ "action": "create", "file_path": "x", "content": "y" }],
                    "start_project": closed.to_string() }),
        ),
    ] {
        ada.post(&path, body).await.refused(404, refusal.clone());
    }
    let compare =
        format!("/projects/{open}/repository/compare?from=a&to=b&from_project_id={closed}");
    ada.get(&compare).await.refused(404, refusal);
    let told = service.told();
    assert!(told.iter().any(|one| one.body["project_classification_label"] == "secret"));
}

#[actix_web::test]
async fn texts_lead_to_no_project_that_the_service_has_not_opened() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (open, closed) = two_projects(&app, &service).await;
    let ada = app.person("ada");
    let rendered = async || {
        let text = json!({ "text": "#1 ada/vault#1", "gfm": true, "project": "ada/engine" });
        ada.post("/markdown", text).await.created()["html"].to_string()
    };

    let html = rendered().await;

    assert!(
        html.contains("/ada/engine/-/issues/1") && !html.contains("/ada/vault/-/issues/1"),
        "{html}"
    );
    service.answers(200);
    app.clock.advance(time::Duration::hours(6));
    for project in [open, closed] {
        ada.get(&format!("/projects/{project}")).await.ok();
    }
    assert!(rendered().await.contains("/ada/vault/-/issues/1"));
}

#[actix_web::test]
async fn configurations_include_no_files_of_projects_that_the_service_keeps_closed() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let (open, closed) =
        (app.project(&ada, "engine", Private), app.project(&ada, "vault", Private));
    commit(&ada, closed, "main", "one", "job: {script: x}\n").await;
    commit(&ada, open, "main", "one", "own: {script: x}\n").await;
    let label = json!({ "external_authorization_classification_label": "secret" });
    ada.put(&format!("/projects/{closed}"), label).await.ok();
    let text = "include: {project: ada/vault, file: .gitlab-ci.yml}\nown: {script: x}\n";
    let lint = async || {
        let body = json!({ "content": text });
        ada.post(&format!("/projects/{open}/ci/lint"), body).await.ok()["valid"].clone()
    };
    assert_eq!(lint().await, true);
    ask(&app, &service).await;
    ada.get(&format!("/projects/{open}")).await.ok();
    service.answers(401);

    assert_eq!(lint().await, false);
}

#[actix_web::test]
async fn bridges_lead_to_no_project_that_the_service_keeps_closed() {
    let (app, service) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (open, _) = two_projects(&app, &service).await;
    let ada = app.person("ada");
    let bridge = async |text: &str| {
        commit(&ada, open, "main", "next", text).await;
        app.work().await;
        let newest = pipelines(&ada, open, "?per_page=1").await[0]["id"].clone();
        let bridges = format!("/projects/{open}/pipelines/{newest}/bridges");
        let found = ada.get(&bridges).await.ok()[0].clone();
        (found["status"].clone(), found["failure_reason"].clone())
    };

    for (text, reason) in [
        ("a: {trigger: ada/vault}", "downstream_bridge_project_not_found"),
        ("a: {needs: {pipeline: ada/vault}}", "upstream_bridge_project_not_found"),
    ] {
        assert_eq!(bridge(text).await, (json!("failed"), json!(reason)), "{text}");
    }

    let told = service.told();
    assert!(told.iter().any(|one| one.body["project_classification_label"] == "secret"));
    service.answers(200);
    app.clock.advance(time::Duration::hours(6));
    assert_eq!(bridge("a: {trigger: ada/vault}").await.0, "success");
}
