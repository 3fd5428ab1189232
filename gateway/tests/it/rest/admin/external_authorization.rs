//! A service that says who may enter projects.

use kernel::{AccessLevel::Developer, Visibility::Private};
use serde_json::{Value, json};

use super::receiver::Receiver;
use crate::support::TestApp;

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
