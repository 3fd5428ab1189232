//! How often the database is asked for one call: what is written here is noticed when it grows.

use std::collections::HashSet;

use kernel::{Visibility::Public, ids::MergeRequestId};
use review::merge_request::MergeRequestCommitStore as _;
use serde_json::json;

use crate::{
    rest::review::{merge_request_approvals::forge, merge_stage::Stage},
    support::{Person, TestApp},
};

/// How many statements, and which, for whoever looks at a failure.
fn ensure_at_most(app: &TestApp, most: usize) {
    let mut asked = app.statements();
    // That somebody was there is noted beside the call, now and then.
    let beside = ["UPDATE `access_tokens`", "UPDATE `users`"];
    asked.retain(|sql| beside.iter().all(|one| !sql.starts_with(one)));
    assert!(asked.len() <= most, "{} statements:\n{}", asked.len(), asked.join("\n"));
}

#[actix_web::test]
async fn an_issue_is_written_with_few_statements() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issues = format!("/projects/{project}/issues");
    let new = json!({ "title": "One", "description": "What is to be done" });
    ada.post(&issues, new.clone()).await.created();
    app.statements();

    ada.post(&issues, new).await.created();

    ensure_at_most(&app, 14);
}

#[actix_web::test]
async fn a_note_is_written_with_few_statements() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let notes = format!("/projects/{project}/issues/{}/notes", app.issue(project, &ada));
    ada.post(&notes, json!({ "body": "Yes" })).await.created();
    app.statements();

    ada.post(&notes, json!({ "body": "No" })).await.created();

    ensure_at_most(&app, 12);
}

#[actix_web::test]
async fn a_merge_request_is_read_with_few_statements() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    app.work().await;
    forge.dev.get(&forge.at).await.ok();
    app.statements();

    forge.dev.get(&forge.at).await.ok();

    ensure_at_most(&app, 14);
}

async fn statements_of(app: &TestApp, person: &Person<'_>, path: &str) -> usize {
    app.cost(async || drop(person.get(path).await.ok())).await
}

#[actix_web::test]
async fn a_list_costs_as_many_statements_however_long_it_is() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group_with("orchid", json!({ "visibility": "public" })).await;
    let new = json!({ "name": "site", "namespace_id": group, "visibility": "public", "initialize_with_readme": true });
    let project = ada.post("/projects", new).await.created()["id"].clone();
    let home = format!("/projects/{project}");
    let milestones = format!("{home}/milestones");
    let milestone = ada.post(&milestones, json!({ "title": "1.0" })).await.created()["id"].clone();
    let user = app.user("ada").id.0;
    let more = async |from: usize, to: usize| {
        for n in from..to {
            let new = json!({ "title": "An issue", "labels": format!("bug,l{n}"), "assignee_ids": [user],
                "milestone_id": milestone, "weight": n, "description": "- [ ] a" });
            ada.post(&format!("{home}/issues"), new).await.created();
            let new = json!({ "title": "A change", "source_branch": format!("b{n}"), "target_branch": "main",
                "labels": format!("bug,l{n}"), "assignee_ids": [user], "reviewer_ids": [user] });
            ada.post(&format!("{home}/merge_requests"), new).await.created();
            for item in ["issues/1", "merge_requests/1"] {
                let note = json!({ "body": format!("Note {n}") });
                ada.post(&format!("{home}/{item}/discussions"), note).await.created();
            }
            ada.post(&format!("{home}/issues/{}/todo", n + 1), json!({})).await;
        }
    };
    let lists = ["/issues?scope=all", "/merge_requests?scope=all", "/todos", "/events"]
        .map(str::to_owned)
        .into_iter();
    let of_group = ["issues", "merge_requests", "milestones", "labels"]
        .map(|list| format!("/groups/{group}/{list}"));
    let of_project = [
        "issues",
        "issues?with_labels_details=true",
        "merge_requests",
        "labels?with_counts=true",
        "issues/1/notes",
        "issues/1/discussions",
        "merge_requests/1/notes",
        "merge_requests/1/discussions",
        "events",
    ];
    let of_project = of_project.map(|list| format!("{home}/{list}"));
    let lists: Vec<String> = lists.chain(of_group).chain(of_project).collect();

    more(0, 2).await;
    let mut few = Vec::new();
    for list in &lists {
        few.push(statements_of(&app, &ada, list).await);
    }
    more(2, 9).await;

    for (list, few) in lists.iter().zip(few) {
        assert_eq!(statements_of(&app, &ada, list).await, few, "{list}");
    }
}

#[actix_web::test]
async fn a_push_of_a_long_history_asks_only_what_merge_requests_hold() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    stage.propose("other", json!({})).await;
    let held = stage.tip("feature").await["id"].as_str().unwrap_or_default().to_owned();
    let id = |shown: serde_json::Value| MergeRequestId(shown["id"].as_i64().unwrap_or_default());
    let among = [id(stage.shown(1).await), id(stage.shown(2).await)];
    let ask = |pushed: HashSet<String>| app.write(move |tx| tx.holding_any(&among, &pushed));
    let others: HashSet<String> = (0..20_000).map(|number| format!("{number:040x}")).collect();
    app.statements();

    assert_eq!(ask(others.clone()), HashSet::new());
    ensure_at_most(&app, 2);
    assert_eq!(ask(HashSet::from([held.clone()])), HashSet::from([among[0]]));
    assert_eq!(ask(&others | &HashSet::from([held])), HashSet::from([among[0]]));
}

#[actix_web::test]
async fn people_of_a_project_are_listed_with_at_most_one_look_at_what_is_shared() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Public);
    for (person, looks) in [(app.person("eve"), 1), (app.admin(), 0)] {
        app.statements();

        person.get(&format!("/projects/{project}/users")).await.ok();

        let asked = app.statements();
        let shares = asked.iter().filter(|sql| sql.contains("group_group_links"));
        assert!(shares.count() <= looks, "{}", asked.join("\n"));
    }
}

/// How often PostgreSQL is asked for one record, the first times aside, when statements are prepared.
async fn round_trips_of(app: &TestApp, person: &Person<'_>, path: &str) -> Vec<String> {
    for _ in 0..8 {
        person.get(path).await.ok();
    }
    app.round_trips();
    person.get(path).await.ok();
    app.round_trips()
}

#[actix_web::test]
async fn a_record_is_read_from_postgresql_with_few_round_trips() {
    let app = TestApp::new();
    let stage = Stage::with_merge_request(&app).await;
    let (ada, home) = (&stage.ada, &stage.home);
    let group = ada.group_with("orchid", json!({})).await;
    let empty = ada.post("/projects", json!({ "name": "empty" })).await.created()["id"].clone();
    let issue = app.issue(stage.id, ada);
    app.work().await;
    let user = app.user("ada").id;
    for (path, most) in [
        (format!("/users/{user}"), 2),
        (home.clone(), 2),
        (format!("/projects/{empty}"), 2),
        ("/projects/ada%2Fforge".to_owned(), 2),
        (format!("/groups/{group}"), 2),
        (format!("{home}/repository/branches/main"), 2),
        (format!("{home}/issues/{issue}"), 2),
        (stage.one(1), 8),
    ] {
        let asked = round_trips_of(&app, ada, &path).await;
        assert!(asked.len() <= most, "{path}: {} times\n{}", asked.len(), asked.join("\n"));
    }
}

#[actix_web::test]
async fn a_group_asks_as_often_however_many_projects_it_has() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group_with("orchid", json!({})).await;
    let path = format!("/groups/{group}");
    let more = async |from: usize, to: usize| {
        for n in from..to {
            let new = json!({ "name": format!("p{n}"), "namespace_id": group });
            ada.post("/projects", new).await.created();
        }
    };

    more(0, 1).await;
    let one = statements_of(&app, &ada, &path).await;
    more(1, 6).await;

    assert_eq!(statements_of(&app, &ada, &path).await, one);
}
