//! Lists cost as many statements however long they are.

use kernel::{AccessLevel::Developer, Visibility::Public, ids::ProjectId};
use security::alert::{AlertSeverity, AlertStore as _, NewAlert};
use serde_json::{Value, json};

use super::review::{ask, mutate, nodes};
use crate::{
    rest::security::findings::{finding, keep},
    support::{
        Person, TestApp, ci,
        epics::{epic, issue, project_in, set_up},
    },
};

/// How many statements a query takes, once what is prepared is prepared.
async fn cost(app: &TestApp, person: &Person<'_>, query: &str) -> usize {
    app.cost(async || drop(ask(person, query).await)).await
}

/// What one more of each record adds to a project.
pub(super) async fn grow(app: &TestApp, person: &Person<'_>, project: ProjectId, number: usize) {
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
    let title =
        json!({ "title": format!("v{number}"), "due_date": format!("2030-01-{:02}", number + 1) });
    person.post(&at("milestones"), title).await.created();
    let spent = at(&format!("issues/{issue}/add_spent_time"));
    person.post(&spent, json!({ "duration": "1h" })).await.created();
    let rule = json!({ "name": format!("stable-{number}") });
    person.post(&at("protected_branches"), rule).await.created();
    let alert = alert(number);
    app.write(move |tx| tx.insert_alert(project, None, &alert));
}

fn alert(number: usize) -> NewAlert {
    NewAlert {
        title: format!("Alert {number}"),
        description: None,
        service: None,
        monitoring_tool: None,
        hosts: Vec::new(),
        severity: AlertSeverity::High,
        started_at: None,
        ended_at: None,
        fingerprint: Some(number.to_string()),
        environment: None,
        runbook: None,
        is_prometheus: false,
        payload: "{}".to_owned(),
    }
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
    ("milestones", "title stats { totalIssuesCount } project { path }"),
    ("alertManagementAlerts", "title issue { title } assignees { nodes { username } } notes { nodes { body } }
        todos { nodes { action } }"),
    ("timelogs", "timeSpent user { username } issue { title } project { path } userPermissions { adminTimelog }"),
    ("branchRules", "name isDefault branchProtection { allowForcePush } approvalRules { nodes { name } }"),
    ("workItems", "title author { username } userPermissions { updateWorkItem }"),
    ("nestedEnvironments", "name size environment { name }"),
    ("forkTargets", "fullPath"),
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
    let mut dearer = Vec::new();
    for (list, few) in LISTS.iter().zip(few) {
        let many = cost(&app, &ada, &query_of(list)).await;
        if many != few {
            dearer.push(format!("{}: {few} became {many}", list.0));
        }
    }
    assert!(dearer.is_empty(), "{}", dearer.join("\n"));
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
async fn boards_with_their_lists_cost_the_same_however_many() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let query = r#"{ project(fullPath: "ada/forge") { boards(first: 10) { nodes { name webPath
        labels { nodes { title } } iterationCadence { id } lists { nodes { title listType collapsed issuesCount
        totalWeight issues(first: 5) { count nodes { title author { username } labels { nodes { title } } } }
        newest: issues(last: 2) { nodes { title } pageInfo { hasPreviousPage } } } } } } } }"#;
    let add = async |name: &str| {
        let input = format!(r#"projectPath: "ada/forge", name: "{name}""#);
        let board = mutate(&ada, "createBoard", &input, "board { id }").await["board"].clone();
        let new = json!({ "name": name, "color": "#ff0000" });
        let label = ada.post(&format!("/projects/{project}/labels"), new).await.created();
        let input = format!(
            r#"boardId: {}, labelId: "gid://gitlab/ProjectLabel/{}""#,
            board["id"], label["id"]
        );
        mutate(&ada, "boardListCreate", &input, "list { id }").await;
        issue(&ada, project, json!({ "title": name, "labels": name, "weight": 2 })).await;
    };
    add("one").await;
    add("two").await;
    let few = cost(&app, &ada, query).await;
    add("three").await;
    add("four").await;
    assert_eq!(cost(&app, &ada, query).await, few);
    let boards = ask(&ada, query).await["project"]["boards"]["nodes"].clone();
    let lists = boards[0]["lists"]["nodes"].as_array().expect("lists").clone();
    let figures = lists.iter().map(|one| (one["issuesCount"].clone(), one["totalWeight"].clone()));
    let figures: Vec<(Value, Value)> = figures.collect();
    assert_eq!(figures, [(json!(3), json!(6)), (json!(1), json!(2)), (json!(0), json!(0))]);
    let whole = nodes(&lists[0]["issues"], "title");
    assert_eq!(nodes(&lists[0]["newest"], "title"), whole[1..], "the last two");
    assert_eq!(lists[0]["newest"]["pageInfo"]["hasPreviousPage"], true);
}

#[actix_web::test]
async fn boards_of_epics_cost_the_same_however_many() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let query = r#"{ group(fullPath: "orchid") { epicBoards(first: 10) { nodes { name
        lists { nodes { title epicsCount
        epics(first: 1) { nodes { title author { username } } pageInfo { hasNextPage } }
        oldest: epics(last: 1, filters: { authorUsername: "ada" }) { nodes { title labels { nodes { title } } } } } } } } } }"#;
    let add = async |name: &str| {
        let input = format!(r#"groupPath: "orchid", name: "{name}""#);
        let made = mutate(&ada, "epicBoardCreate", &input, "epicBoard { id }").await;
        let new = json!({ "name": name, "color": "#ff0000" });
        let label = ada.post(&format!("/groups/{group}/labels"), new).await.created();
        let input = format!(
            r#"boardId: {}, labelId: "gid://gitlab/GroupLabel/{}""#,
            made["epicBoard"]["id"], label["id"]
        );
        mutate(&ada, "epicBoardListCreate", &input, "list { id }").await;
        epic(&ada, group, json!({ "title": name, "labels": name })).await;
    };
    add("one").await;
    add("two").await;
    let few = cost(&app, &ada, query).await;
    add("three").await;
    assert_eq!(cost(&app, &ada, query).await, few);
    let boards = ask(&ada, query).await["group"]["epicBoards"]["nodes"].clone();
    let lists = &boards[0]["lists"];
    assert_eq!(nodes(lists, "epicsCount"), [2, 1, 0]);
    let open = &lists["nodes"][0];
    let shown = (nodes(&open["epics"], "title"), nodes(&open["oldest"], "title"));
    assert_eq!(shown, (vec![json!("three")], vec![json!("two")]));
    assert_eq!(open["epics"]["pageInfo"]["hasNextPage"], true);
}

/// What one more of each record adds to a group.
async fn grow_group(app: &TestApp, person: &Person<'_>, group: i64, number: usize) {
    let project = project_in(person, group, &format!("site{number}"), "private").await;
    let leaf = person.group(&format!("leaf{number}"), Some(group)).await;
    let at = |rest: &str| format!("/groups/{group}/{rest}");
    person.adds(&format!("member{number}"), 30, &format!("/groups/{group}")).await;
    person.adds(&format!("member{number}"), 40, &format!("/groups/{leaf}")).await;
    let label = json!({ "name": format!("l{number}"), "color": "#ff0000" });
    person.post(&at("labels"), label).await.created();
    person.post(&at("milestones"), json!({ "title": format!("v{number}") })).await.created();
    epic(
        person,
        group,
        json!({ "title": format!("Epic {number}"), "labels": format!("l{number}") }),
    )
    .await;
    let made = issue(person, project, json!({ "title": format!("Issue {number}") })).await;
    let spent = format!("/projects/{project}/issues/{}/add_spent_time", made["iid"]);
    person.post(&spent, json!({ "duration": "1h" })).await.created();
    app.merge_request(project, person);
    keep(app, project, finding(&format!("Weak hash {number}")));
    let new = json!({ "runner_type": "group_type", "group_id": group });
    person.post("/user/runners", new).await.created();
    person.post(&format!("/projects/{project}/star"), json!({})).await;
    let todo = format!("/projects/{project}/issues/{}/todo", made["iid"]);
    person.post(&todo, json!({})).await.created();
}

/// The lists of a group, each with what belongs to its rows.
const OF_GROUPS: &[(&str, &str)] = &[
    ("groupMembers(relations: [DIRECT, DESCENDANTS])", "accessLevel { integerValue } createdBy { username }
        group { fullPath } userPermissions { readGroup } user { username status { message } groups { count nodes { fullPath } }
        groupMemberships { nodes { group { fullPath } } } projectMemberships { nodes { project { path } } } }"),
    ("projects", "fullPath namespace { fullPath } group { fullPath } userPermissions { readProject }
        statistics { storageSize } openIssuesCount codeCoverageSummary { coverageCount }"),
    ("descendantGroups", "fullPath parent { fullPath } userPermissions { createProjects } billableMembersCount"),
    ("issues", "title author { username } reference milestone { title } epic { title } userPermissions { updateIssue }"),
    ("mergeRequests", "title project { path } approved securityReportsUpToDateOnTargetBranch"),
    ("epics", "title author { username } labels { nodes { title } } userPermissions { updateEpic } notes { nodes { body } }"),
    ("labels", "title color"),
    ("milestones", "title stats { totalIssuesCount } group { fullPath } subgroupMilestone"),
    ("vulnerabilities", "title project { path } scanner { vendor } stateTransitions { nodes { toState } }"),
    ("vulnerabilityScanners", "name vendor"),
    ("runners", "description status groups { nodes { fullPath } } userPermissions { updateRunner }"),
    ("timelogs", "timeSpent user { username } issue { title } project { path }"),
    ("workItems", "title author { username }"),
];

/// Lists of the root, and of the caller.
const OF_THE_ROOT: &[(&str, &str)] = &[
    ("projects", "fullPath namespace { fullPath } userPermissions { readProject } languages { name }"),
    ("groups", "fullPath parent { fullPath } userPermissions { readGroup }"),
    ("users", "username namespace { fullPath } groupCount groups { count nodes { fullPath parent { fullPath } } }
        groupMemberships { nodes { accessLevel { integerValue } group { fullPath } } } starredProjects { nodes { path } }"),
    ("vulnerabilities", "title project { path }"),
    ("runners", "description jobCount projectCount ownerProject { path }"),
];

const OF_THE_CALLER: &[(&str, &str)] = &[
    ("todos", "action body author { username } project { path } target { ... on Issue { title } }"),
    ("groups", "fullPath parent { fullPath }"),
    ("groupMemberships", "group { fullPath } userPermissions { readGroup }"),
    ("projectMemberships", "project { fullPath } userPermissions { readProject }"),
    ("authoredMergeRequests", "title project { path } headPipeline { iid }"),
    ("starredProjects", "fullPath openIssuesCount"),
    ("timelogs", "timeSpent issue { title } project { path }"),
];

/// Queries of all these lists, with ten elements of each.
fn queries() -> Vec<String> {
    let page = |(list, fields): &(&str, &str)| match list.strip_suffix(')') {
        Some(list) => format!("{list}, first: 10) {{ nodes {{ {fields} }} }}"),
        None => format!("{list}(first: 10) {{ nodes {{ {fields} }} }}"),
    };
    let of_groups = OF_GROUPS
        .iter()
        .map(|list| format!(r#"{{ group(fullPath: "orchid") {{ {} }} }}"#, page(list)));
    let of_the_root = OF_THE_ROOT.iter().map(|list| format!("{{ {} }}", page(list)));
    let of_the_caller =
        OF_THE_CALLER.iter().map(|list| format!("{{ currentUser {{ {} }} }}", page(list)));
    of_groups.chain(of_the_root).chain(of_the_caller).collect()
}

#[actix_web::test]
async fn lists_of_groups_and_of_people_cost_the_same_however_long() {
    let app = TestApp::new();
    let root = app.admin();
    let group = root.group("orchid", None).await;
    for number in 0..2 {
        grow_group(&app, &root, group, number).await;
    }
    let mut few = Vec::new();
    for query in queries() {
        few.push(cost(&app, &root, &query).await);
    }
    for number in 2..4 {
        grow_group(&app, &root, group, number).await;
    }
    let mut dearer = Vec::new();
    for (query, few) in queries().into_iter().zip(few) {
        let many = cost(&app, &root, &query).await;
        if many != few {
            dearer.push(format!("{few} became {many}: {query}"));
        }
    }
    assert!(dearer.is_empty(), "{}", dearer.join("\n"));
}
