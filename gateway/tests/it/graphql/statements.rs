//! Lists cost as many statements however long they are.

use kernel::{AccessLevel::Developer, Visibility::Public, ids::ProjectId};
use serde_json::{Value, json};

use super::review::{ask, mutate};
use crate::{
    rest::{
        review::epics::{epic, issue, set_up},
        security::findings::{finding, keep},
    },
    support::{Person, TestApp, ci},
};

/// How many statements a query takes, once what is prepared is prepared.
async fn cost(app: &TestApp, person: &Person<'_>, query: &str) -> usize {
    ask(person, query).await;
    app.statements();
    ask(person, query).await;
    app.statements().len()
}

/// What one more of each record adds to a project.
async fn grow(app: &TestApp, person: &Person<'_>, project: ProjectId, number: usize) {
    let at = |rest: &str| format!("/projects/{project}/{rest}");
    let new = json!({ "title": format!("Issue {number}"), "labels": format!("l{number}"),
        "assignee_ids": [app.user(&person.username).id.0] });
    let issue = person.post(&at("issues"), new).await.created()["iid"].clone();
    person.post(&at(&format!("issues/{issue}/notes")), json!({ "body": "Why?" })).await.created();
    let change = app.merge_request(project, person);
    let body = json!({ "body": "How?" });
    person.post(&at(&format!("merge_requests/{change}/notes")), body).await.created();
    let text = format!("one{number}:\n  script: make\ntwo{number}:\n  script: make\n");
    ci::commit(person, project, "main", "Build", &text).await;
    app.member(project, &format!("member{number}"), Developer);
    person.post(&at("environments"), json!({ "name": format!("env{number}") })).await.created();
    keep(app, project, finding(&format!("Weak hash {number}")));
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    person.post("/user/runners", new).await.created();
    let schedule = json!({ "description": "s", "ref": "main", "cron": "0 0 * * *" });
    let schedule = person.post(&at("pipeline_schedules"), schedule).await.created()["id"].clone();
    let variable = json!({ "key": "A", "value": "b" });
    let variables = at(&format!("pipeline_schedules/{schedule}/variables"));
    person.post(&variables, variable).await.created();
}

/// The lists of a project, each with what belongs to its rows.
const LISTS: &[(&str, &str)] = &[
    ("issues", "title author { username } labels { nodes { title } } assignees { nodes { username } }
        notes { nodes { body author { username } } } participants { nodes { username } } milestone { title }
        discussions { nodes { notes { nodes { body } } } } userPermissions { updateIssue } blockedByCount"),
    ("mergeRequests", "title author { username } approved approvedBy { nodes { username } } labels { nodes { title } }
        reviewers { nodes { username } } notes { nodes { body } } headPipeline { status } targetProject { path }"),
    ("pipelines", "status user { username } detailedStatus { text } stages { nodes { name jobs { nodes { name } } } }
        jobs { nodes { name } } userPermissions { updatePipeline }"),
    ("jobs", "name status stage { name } tags artifacts { nodes { name } } manualVariables { nodes { key } }
        pipeline { iid } userPermissions { updateBuild }"),
    ("projectMembers", "accessLevel { integerValue } user { username groupCount
        starredProjects { nodes { path } } }"),
    ("environments", "name state lastDeployment(status: SUCCESS) { iid }
        latestOpenedMostSevereAlert { title } userPermissions { stopEnvironment }"),
    ("vulnerabilities", "title state scanner { name } project { path } userPermissions { readVulnerability }"),
    ("runners", "description status tagList jobCount projectCount ownerProject { path }"),
    ("pipelineSchedules", "description owner { username } lastPipeline { iid } variables { nodes { key } }"),
    ("labels", "title color"),
];

#[actix_web::test]
async fn lists_of_a_project_cost_the_same_however_long() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let query_of = |(list, fields): &(&str, &str)| {
        format!(
            r#"{{ project(fullPath: "ada/forge") {{ {list}(first: 10) {{ nodes {{ {fields} }} }} }} }}"#
        )
    };
    for number in 0..2 {
        grow(&app, &ada, project, number).await;
    }
    let mut few = Vec::new();
    for list in LISTS {
        few.push(cost(&app, &ada, &query_of(list)).await);
    }
    for number in 2..5 {
        grow(&app, &ada, project, number).await;
    }
    for (list, few) in LISTS.iter().zip(few) {
        assert_eq!(cost(&app, &ada, &query_of(list)).await, few, "{}", list.0);
    }
}

#[actix_web::test]
async fn epics_with_their_issues_cost_the_same_however_many() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    let query = r#"{ group(fullPath: "orchid") { epics(first: 10) { nodes { title author { username }
        labels { nodes { title } } issues { weight nodes { title epic { iid } } } notes { nodes { body } } } } } }"#;
    let add = async |name: &str| {
        let made = epic(&ada, group, json!({ "title": name })).await;
        let made = issue(&ada, project, json!({ "title": name, "epic_id": made["id"] })).await;
        assert_ne!(made["epic"], Value::Null);
    };
    add("one").await;
    add("two").await;
    let few = cost(&app, &ada, query).await;
    for name in ["three", "four"] {
        add(name).await;
    }
    assert_eq!(cost(&app, &ada, query).await, few);
}

#[actix_web::test]
async fn boards_cost_the_same_however_many() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "forge", Public);
    let query = r#"{ project(fullPath: "ada/forge") { boards(first: 10) { nodes { name webPath
        labels { nodes { title } } lists { nodes { title listType collapsed } } } } } }"#;
    let add = async |name: &str| {
        let input = format!(r#"projectPath: "ada/forge", name: "{name}""#);
        mutate(&ada, "createBoard", &input, "board { id }").await;
    };
    add("one").await;
    add("two").await;
    let few = cost(&app, &ada, query).await;
    add("three").await;
    assert_eq!(cost(&app, &ada, query).await, few);
}
