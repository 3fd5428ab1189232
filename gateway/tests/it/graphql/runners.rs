//! Runners by GraphQL.

use std::collections::BTreeMap;

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::{
    rest::runners::program::set_up,
    support::{Person, TestApp},
};

async fn runner(person: &Person<'_>, project: ProjectId, tags: &[&str]) -> String {
    let new = json!({ "runner_type": "project_type", "project_id": project.0, "tag_list": tags,
        "description": "builder", "maintenance_note": "for *us*" });
    let made = person.post("/user/runners", new).await.created();
    format!("gid://gitlab/Ci::Runner/{}", made["id"])
}

#[actix_web::test]
async fn a_runner_tells_when_its_token_expires() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let endless = runner(&olga, project, &["linux"]).await;
    let interval = json!({ "project_runner_token_expiration_interval": 7200 });
    app.admin().put("/application/settings", interval).await.ok();
    let expiring = runner(&olga, project, &["linux"]).await;

    for (id, begin) in [(endless, None), (expiring, Some("2026-01-01T02:00:00"))] {
        let shown = ask(&olga, &format!(r#"{{ runner(id: "{id}") {{ tokenExpiresAt }} }}"#)).await;
        let told = shown["runner"]["tokenExpiresAt"].as_str();
        assert_eq!(told.and_then(|told| told.get(..19)), begin, "{shown}");
    }
}

#[actix_web::test]
async fn a_runner_is_shown_to_those_who_look_after_it() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let dan = app.member(project, "dan", Developer);
    let id = runner(&olga, project, &["linux"]).await;
    let query = format!(
        r#"{{ runner(id: "{id}") {{ id description paused status runnerType tagList jobCount projectCount
            maintenanceNote ownerProject {{ fullPath }} projects {{ nodes {{ fullPath }} }} managers {{ count }}
            userPermissions {{ updateRunner }} }} }}"#
    );
    let shown = ask(&olga, &query).await["runner"].clone();
    assert_eq!((&shown["id"], &shown["status"]), (&json!(id), &json!("NEVER_CONTACTED")));
    assert_eq!(
        (&shown["runnerType"], &shown["tagList"]),
        (&json!("PROJECT_TYPE"), &json!(["linux"]))
    );
    assert_eq!((&shown["jobCount"], &shown["projectCount"]), (&json!(0), &json!(1)));
    assert_eq!(shown["ownerProject"]["fullPath"], "olga/one");
    assert_eq!(nodes(&shown["projects"], "fullPath"), ["olga/one"]);
    assert_eq!(shown["maintenanceNote"], "for *us*");
    assert_eq!(shown["userPermissions"], json!({ "updateRunner": true }));
    assert_eq!(ask(&dan, &query).await["runner"], Value::Null);
    assert_eq!(ask(&app.anonymous(), &query).await["runner"], Value::Null);
}

#[actix_web::test]
async fn runners_are_listed_by_search_tags_and_order() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let (first, second) =
        (runner(&olga, project, &["linux"]).await, runner(&olga, project, &["arm"]).await);
    let listed = async |filters: &str| {
        let query = format!(
            r#"{{ project(fullPath: "olga/one") {{ runners{filters} {{ nodes {{ id }} }} }} }}"#
        );
        nodes(&ask(&olga, &query).await["project"]["runners"], "id")
    };
    assert_eq!(listed("").await, [second.as_str(), first.as_str()]);
    assert_eq!(listed("(sort: CREATED_ASC)").await, [first.as_str(), second.as_str()]);
    assert_eq!(listed(r#"(tagList: ["arm"])"#).await, [second.as_str()]);
    assert_eq!(listed(r#"(search: "BUILD", first: 1)"#).await, [second.as_str()]);
    assert_eq!(listed(r#"(search: "nothing")"#).await, Vec::<Value>::new());
    assert_eq!(listed("(paused: true)").await, Vec::<Value>::new());
    assert_eq!(nodes(&ask(&olga, "{ runners { nodes { id } } }").await["runners"], "id").len(), 2);
}

#[actix_web::test]
async fn a_runner_is_found_by_its_token_and_by_the_beginning_that_is_shown() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    let made = olga.post("/user/runners", new).await.created();
    runner(&olga, project, &["linux"]).await;
    let token = made["token"].as_str().expect("a token");
    let found = async |search: &str| {
        let query = format!(r#"{{ runners(search: "{search}") {{ nodes {{ id }} }} }}"#);
        nodes(&ask(&olga, &query).await["runners"], "id")
    };
    let own = [json!(format!("gid://gitlab/Ci::Runner/{}", made["id"]))];

    for search in [token, &token[..10], &token["glrt-".len()..10]] {
        assert_eq!(found(search).await, own, "{search}");
    }
    assert_eq!(found(&token[..token.len() - 1]).await, Vec::<Value>::new());
    assert_eq!(found("glrt-").await, Vec::<Value>::new());
}

#[actix_web::test]
async fn figures_of_a_runner_tell_what_the_caller_may_list() {
    let app = TestApp::new();
    let (project, mia, program) = set_up(&app, "a: {script: x}\n").await;
    let id = mia.get(&format!("/projects/{project}/runners")).await.ok()[0]["id"].clone();
    let otto = app.person("otto");
    let other = app.project(&otto, "other", Private);
    otto.adds("mia", 40, &format!("/projects/{other}")).await;
    mia.post(&format!("/projects/{other}/runners"), json!({ "runner_id": id })).await.created();
    let max = app.member(other, "max", Maintainer);
    program.take().await;
    let figures = async |person: &Person<'_>, id: &Value| {
        let query = format!(
            r#"{{ runner(id: "gid://gitlab/Ci::Runner/{id}") {{ jobCount jobExecutionStatus projectCount }} }}"#
        );
        ask(person, &query).await["runner"].clone()
    };
    let told = |jobs: Value, does: Value, projects: Value| {
        let figures =
            [("jobCount", jobs), ("jobExecutionStatus", does), ("projectCount", projects)];
        json!(BTreeMap::from(figures))
    };

    let all = told(json!(1), json!("RUNNING"), json!(2));
    assert_eq!(figures(&mia, &id).await, all);
    assert_eq!(figures(&app.admin(), &id).await, all);
    assert_eq!(figures(&max, &id).await, told(json!(0), json!("IDLE"), json!(1)));
    let new = json!({ "runner_type": "instance_type" });
    let shared = app.admin().post("/user/runners", new).await.created()["id"].clone();
    assert_eq!(figures(&mia, &shared).await, told(Value::Null, Value::Null, Value::Null));
    let idle = told(json!(0), json!("IDLE"), Value::Null);
    assert_eq!(figures(&app.admin(), &shared).await, idle);
}

#[actix_web::test]
async fn which_runners_of_a_group_are_wanted_is_declared_by_either_name_of_its_type() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("orchid", None).await;
    let new = json!({ "runner_type": "group_type", "group_id": group });
    ada.post("/user/runners", new).await.created();
    for name in ["RunnerMembershipFilter", "CiRunnerMembershipFilter"] {
        let query = format!(
            r#"query q($m: {name}) {{ group(fullPath: "orchid") {{ runners(membership: $m) {{ count }} }} }}"#
        );
        let asked = json!({ "query": query, "variables": { "m": "DIRECT" } });
        let answer = ada.post("//api/graphql", asked).await.ok();
        assert_eq!(answer["data"]["group"]["runners"]["count"], 1, "{answer}");
    }
    let known = r#"{ __type(name: "RunnerMembershipFilter") { enumValues { name } } }"#;
    let values = ask(&ada, known).await["__type"]["enumValues"].clone();
    assert_eq!(values.as_array().map(Vec::len), Some(3));
}

#[actix_web::test]
async fn runners_are_changed_and_removed() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let id = runner(&olga, project, &["linux"]).await;
    let input = format!(r#"id: "{id}", paused: true, tagList: ["b", "a"], maximumTimeout: 900"#);
    let payload = "runner { paused tagList maximumTimeout }";
    let changed = mutate(&olga, "runnerUpdate", &input, payload).await;
    let shown = json!({ "paused": true, "tagList": ["a", "b"], "maximumTimeout": 900 });
    assert_eq!(changed, json!({ "errors": [], "runner": shown }));
    let input = format!(r#"id: "{id}", maximumTimeout: 5"#);
    let refused = mutate(&olga, "runnerUpdate", &input, payload).await;
    assert_eq!(refused["errors"], json!(["Maximum timeout needs to be at least 10 minutes"]));
    let remove = format!(r#"mutation {{ runnerDelete(input: {{ id: "{id}" }}) {{ errors }} }}"#);
    assert_eq!(refusal(&app.person("eve"), &remove).await, REFUSED);
    let many = format!(r#"ids: ["{id}"]"#);
    let removed = mutate(&olga, "bulkRunnerDelete", &many, "deletedCount deletedIds").await;
    assert_eq!(removed, json!({ "errors": [], "deletedCount": 1, "deletedIds": [id] }));
}

#[actix_web::test]
async fn a_registration_token_is_reset_by_those_who_may_register() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let input = format!(r#"type: PROJECT_TYPE, id: "gid://gitlab/Project/{project}""#);
    let reset = mutate(&olga, "runnersRegistrationTokenReset", &input, "token").await;
    assert!(reset["token"].as_str().is_some_and(|token| token.len() > 10), "{reset}");
    let all =
        "mutation { runnersRegistrationTokenReset(input: { type: INSTANCE_TYPE }) { token } }";
    assert_eq!(refusal(&olga, all).await, REFUSED);
}

#[actix_web::test]
async fn cost_factors_of_minutes_are_refused_instead_of_forgotten() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Private);
    let id = runner(&olga, project, &["linux"]).await;
    let input = format!(r#"id: "{id}", description: "new", publicProjectsMinutesCostFactor: 2.0"#);
    let changed = mutate(&olga, "runnerUpdate", &input, "runner { id }").await;
    let said = "Minutes have no cost factors: leave them out";
    assert_eq!(changed, json!({ "errors": [said], "runner": null }));
    let kept = ask(&olga, &format!(r#"{{ runner(id: "{id}") {{ description }} }}"#)).await;
    assert_eq!(kept["runner"]["description"], "builder");
}
