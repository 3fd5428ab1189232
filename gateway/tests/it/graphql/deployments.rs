//! Environments and deployments by GraphQL.

use kernel::{
    AccessLevel::{Developer, Guest},
    Visibility::Private,
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::TestApp;

const AT: &str = r#"projectPath: "olga/engine""#;

#[actix_web::test]
async fn environments_are_made_listed_and_folded() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "engine", Private);
    let (dan, gus) = (app.member(project, "dan", Developer), app.member(project, "gus", Guest));
    for name in ["production", "review/a", "review/b"] {
        let input = format!(r#"{AT}, name: "{name}""#);
        let made = mutate(&dan, "environmentCreate", &input, "environment { name }").await;
        assert_eq!(made["environment"]["name"], name);
    }
    let listed = async |filters: &str| {
        let query = format!(
            r#"{{ project(fullPath: "olga/engine") {{ environments{filters} {{ count nodes {{ name }} }} }} }}"#
        );
        nodes(&ask(&dan, &query).await["project"]["environments"], "name")
    };
    assert_eq!(listed("").await, ["production", "review/a", "review/b"]);
    assert_eq!(listed(r#"(type: "review")"#).await, ["review/a", "review/b"]);
    assert_eq!(listed(r#"(search: "prod", states: ["available"])"#).await, ["production"]);
    let folders = r#"{ project(fullPath: "olga/engine") { nestedEnvironments { nodes { name size
        environment { name } } } } }"#;
    let shown = ask(&dan, folders).await["project"]["nestedEnvironments"]["nodes"].clone();
    assert_eq!(
        shown[1],
        json!({ "name": "review", "size": 2, "environment": { "name": "review/b" } })
    );
    let last = folders.replace("nestedEnvironments", "nestedEnvironments(last: 1)");
    let last = last.replace("{ nodes", "{ pageInfo { hasPreviousPage } nodes");
    let last = ask(&dan, &last).await["project"]["nestedEnvironments"].clone();
    assert_eq!(nodes(&last, "name"), ["review"]);
    assert_eq!(last["pageInfo"]["hasPreviousPage"], true);
    assert_eq!(ask(&gus, folders).await["project"]["nestedEnvironments"], Value::Null);
}

#[actix_web::test]
async fn an_environment_goes_from_state_to_state() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "engine", Private);
    let dan = app.member(project, "dan", Developer);
    let payload = "environment { id tier state externalUrl userPermissions { stopEnvironment destroyEnvironment } }";
    let input = format!(r#"{AT}, name: "production", externalUrl: "https://a.example""#);
    let made = mutate(&dan, "environmentCreate", &input, payload).await["environment"].clone();
    assert_eq!((&made["tier"], &made["state"]), (&json!("PRODUCTION"), &json!("available")));
    let again = mutate(&dan, "environmentCreate", &input, payload).await;
    assert_eq!(again["errors"], json!(["Name has already been taken"]));
    let id = format!("id: {}", made["id"]);
    let input = format!("{id}, tier: STAGING");
    let changed = mutate(&dan, "environmentUpdate", &input, payload).await;
    assert_eq!(changed["environment"]["tier"], "STAGING");
    let stopped = mutate(&dan, "environmentStop", &id, payload).await["environment"].clone();
    assert_eq!(stopped["state"], "stopped");
    assert_eq!(stopped["userPermissions"]["destroyEnvironment"], true);
    let remove = format!("mutation {{ environmentDelete(input: {{ {id} }}) {{ errors }} }}");
    assert_eq!(refusal(&app.person("eve"), &remove).await, REFUSED);
    assert_eq!(mutate(&dan, "environmentDelete", &id, "").await["errors"], json!([]));
}

#[actix_web::test]
async fn a_null_clears_what_an_environment_has_and_an_absent_argument_keeps_it() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "engine", Private);
    let dan = app.member(project, "dan", Developer);
    let payload = "environment { id tier externalUrl }";
    let input = format!(r#"{AT}, name: "demo", externalUrl: "https://a.example", tier: TESTING"#);
    let made = mutate(&dan, "environmentCreate", &input, payload).await["environment"].clone();
    let update = async |values: &str| {
        let input = format!("id: {}{values}", made["id"]);
        mutate(&dan, "environmentUpdate", &input, payload).await["environment"].clone()
    };

    assert_eq!(update("").await, made);
    let without_url = update(", externalUrl: null").await;
    assert_eq!(
        (&without_url["externalUrl"], &without_url["tier"]),
        (&Value::Null, &json!("TESTING"))
    );
    assert_eq!(update(", tier: null").await["tier"], "STAGING");
}

#[actix_web::test]
async fn protections_of_environments_are_shown_to_maintainers() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "engine", Private);
    let dan = app.member(project, "dan", Developer);
    mutate(&dan, "environmentCreate", &format!(r#"{AT}, name: "production""#), "").await;
    let fields = json!({ "name": "production", "required_approval_count": 2,
        "deploy_access_levels": [{ "access_level": 40 }] });
    olga.post(&format!("/projects/{project}/protected_environments"), fields).await.created();
    let query = r#"{ project(fullPath: "olga/engine") { environment(name: "production") {
        protectedEnvironments { nodes { name requiredApprovalCount } } } } }"#;
    let shown = ask(&olga, query).await["project"]["environment"].clone();
    let expected = json!([{ "name": "production", "requiredApprovalCount": 2 }]);
    assert_eq!(shown["protectedEnvironments"]["nodes"], expected);
    let hidden = ask(&dan, query).await["project"]["environment"].clone();
    assert_eq!(hidden["protectedEnvironments"], Value::Null);
}
