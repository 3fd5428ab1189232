//! Epics and iterations by GraphQL.

use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::{
    support::TestApp,
    support::epics::{epic, issue, set_up},
};

#[actix_web::test]
async fn an_epic_is_made_changed_and_given_an_issue() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app, "private").await;
    issue(&ada, project, json!({ "title": "Root" })).await;
    let input = r##"groupPath: "orchid", title: "Grow", color: "#00ff00", startDateFixed: "2026-12-01",
        startDateIsFixed: true"##;
    let made = mutate(&ada, "createEpic", input, "epic { iid title color startDate state }").await;
    assert_eq!(made["errors"], json!([]));
    assert_eq!((&made["epic"]["iid"], &made["epic"]["color"]), (&json!("1"), &json!("#00ff00")));
    let input = r#"groupPath: "orchid", iid: "1", issueIid: "1", projectPath: "orchid/site""#;
    let added =
        mutate(&ada, "epicAddIssue", input, "epic { hasIssues } epicIssue { title epic { iid } }")
            .await;
    assert_eq!(added["epicIssue"], json!({ "title": "Root", "epic": { "iid": "1" } }));
    let input = r#"groupPath: "orchid", iid: "1", title: "Grown", stateEvent: CLOSE"#;
    let closed = mutate(&ada, "updateEpic", input, "epic { title state }").await;
    assert_eq!(closed["epic"], json!({ "title": "Grown", "state": "closed" }));
    let query = r#"{ group(fullPath: "orchid") { epic(iid: 1) { issues { nodes { title } } }
        epics(state: closed) { count nodes { title } } } }"#;
    let shown = ask(&ada, query).await["group"].clone();
    assert_eq!(nodes(&shown["epic"]["issues"], "title"), ["Root"]);
    assert_eq!(nodes(&shown["epics"], "title"), ["Grown"]);
    let eve = app.person("eve");
    let foreign =
        r#"mutation { createEpic(input: { groupPath: "orchid", title: "x" }) { errors } }"#;
    assert_eq!(refusal(&eve, foreign).await, REFUSED);
}

#[actix_web::test]
async fn an_epic_seems_empty_to_those_who_may_read_nothing_inside_it() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "public").await;
    let eve = app.person("eve");
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let secret = json!({ "title": "Poison", "confidential": true, "epic_iid": 1 });
    let child = json!({ "title": "Snakes", "confidential": true });
    let inside = format!("/groups/{group}/epics/1");
    issue(&ada, project, secret).await;
    ada.post(&format!("{inside}/epics"), child).await.created();
    let query = r#"{ group(fullPath: "orchid") { epic(iid: 1) { hasChildren hasIssues } } }"#;
    let told = |shown: Value| shown["group"]["epic"].clone();
    let (all, none) = (true, false);
    for (person, wanted) in [(&ada, all), (&eve, none)] {
        let shown = told(ask(person, query).await);
        assert_eq!(shown, json!({ "hasChildren": wanted, "hasIssues": wanted }));
    }
    issue(&ada, project, json!({ "title": "Weeds" })).await;
    ada.put(&format!("/projects/{project}/issues/2"), json!({ "epic_iid": 1 })).await.ok();
    assert_eq!(told(ask(&eve, query).await), json!({ "hasChildren": false, "hasIssues": true }));
}

#[actix_web::test]
async fn iterations_are_made_in_a_cadence_and_given_to_issues() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app, "private").await;
    issue(&ada, project, json!({ "title": "Root" })).await;
    let payload = "iterationCadence { id title automatic }";
    let cadence =
        mutate(&ada, "iterationCadenceCreate", r#"groupPath: "orchid", title: "Weekly""#, payload)
            .await;
    let cadence = cadence["iterationCadence"]["id"].as_str().expect("an id").to_owned();
    let input = format!(
        r#"groupPath: "orchid", iterationsCadenceId: "{cadence}", title: "One",
           startDate: "2026-12-01", dueDate: "2026-12-07""#
    );
    let made = mutate(&ada, "iterationCreate", &input, "iteration { id title sequence }").await;
    assert_eq!((&made["errors"], &made["iteration"]["title"]), (&json!([]), &json!("One")));
    let again = mutate(&ada, "createIteration", &input, "iteration { id }").await;
    let said = "cannot overlap with other existing Iterations within this iterations cadence";
    assert_eq!(again, json!({ "errors": [said], "iteration": null }));
    let id = made["iteration"]["id"].as_str().expect("an id");
    let input = format!(r#"projectPath: "orchid/site", iid: "1", iterationId: "{id}""#);
    let set = mutate(&ada, "issueSetIteration", &input, "issue { iteration { title } }").await;
    assert_eq!(set["issue"]["iteration"]["title"], "One");
    let input = format!(r#"groupPath: "orchid", id: "{id}", title: "First""#);
    let changed = mutate(&ada, "updateIteration", &input, "iteration { title }").await;
    assert_eq!(changed["iteration"]["title"], "First");
    mutate(&ada, "iterationDelete", &format!(r#"id: "{id}""#), "group { fullPath }").await;
    let query =
        r#"{ project(fullPath: "orchid/site") { issue(iid: "1") { iteration { title } } } }"#;
    assert_eq!(ask(&ada, query).await["project"]["issue"]["iteration"], Value::Null);
}
