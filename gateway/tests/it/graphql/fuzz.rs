//! Random queries and mutations, as each kind of caller: none ends in a failure of the server, and none shows what the
//! REST API hides.
//!
//! `FORGEWAY_FUZZ_ROUNDS` says how many queries each caller sends, and `FORGEWAY_FUZZ_SEED` which ones.

use std::collections::BTreeMap;

use kernel::{
    AccessLevel::Guest,
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use super::fuzz_queries::{Random, Types, text};
use crate::{
    rest::security::{
        findings::{finding, keep},
        monitor::{Monitor, integrate},
    },
    support::{Person, TestApp, ci},
};

const ENDPOINT: &str = "//api/graphql";
/// How many queries each caller sends, unless somebody says otherwise: a few seconds.
const ROUNDS: usize = 60;
/// The pipeline of the projects that queries find.
const PIPELINE: &str = "build:\n  script: make\ntest:\n  stage: deploy\n  script: make test\n";

#[expect(
    clippy::disallowed_methods,
    reason = "how long a test goes on is no setting of the server"
)]
fn variable(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Where the REST API has each record, by its global id.
type RecordPaths = BTreeMap<String, String>;

/// A public project, a private one with a guest, and a private group with a project, each with what projects hold.
async fn fill(app: &TestApp) -> RecordPaths {
    let ada = app.person("ada");
    let bob = app.person("bob");
    for (path, visibility) in [("forge", Public), ("hidden", Private)] {
        let project = app.project(&ada, path, visibility);
        ci::commit(&ada, project, "main", "Build", PIPELINE).await;
        app.issue(project, &ada);
        app.confidential_issue(project, &ada);
        app.merge_request(project, &ada);
        let at = |rest: &str| format!("/projects/{project}/{rest}");
        ada.post(&at("labels"), json!({ "name": "bug", "color": "#aabbcc" })).await.created();
        ada.post(&at("milestones"), json!({ "title": "1.0" })).await.created();
        ada.post(&at("issues/1/notes"), json!({ "body": "Why?" })).await.created();
        ada.post(&at("merge_requests/1/discussions"), json!({ "body": "How?" })).await.created();
        fill_operations(app, &ada, project).await;
    }
    app.member(app.project_id("ada/hidden"), &bob.username, Guest);
    let group = ada.group_with("orchid", json!({ "visibility": "private" })).await;
    let new = json!({ "name": "site", "namespace_id": group, "visibility": "private" });
    let site = ada.post("/projects", new).await.created()["id"].clone();
    ada.post(&format!("/projects/{site}/issues"), json!({ "title": "Leak" })).await.created();
    for confidential in [false, true] {
        let new = json!({ "title": "Plan", "confidential": confidential });
        ada.post(&format!("/groups/{group}/epics"), new).await.created();
    }
    places(&app.admin()).await
}

/// What belongs to the running of a project.
async fn fill_operations(app: &TestApp, ada: &Person<'_>, project: ProjectId) {
    let at = |rest: &str| format!("/projects/{project}/{rest}");
    ada.post(&at("boards"), json!({ "name": "Next" })).await.created();
    ada.post(&at("environments"), json!({ "name": "production" })).await.created();
    keep(app, project, finding(&format!("Weak hash of {project}")));
    let monitor = Monitor::of(app, &integrate(ada, project, json!({ "type": "http" })).await);
    assert!(monitor.send(json!({ "title": "Down" })).await.status < 300);
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    ada.post("/user/runners", new).await.created();
}

async fn places(admin: &Person<'_>) -> RecordPaths {
    let mut places = RecordPaths::new();
    for (class, list, part) in [
        ("Issue", "/issues?scope=all&per_page=100", "issues"),
        ("MergeRequest", "/merge_requests?scope=all&per_page=100", "merge_requests"),
    ] {
        for one in admin.get(list).await.ok().as_array().expect("a list") {
            let place = format!("/projects/{}/{part}/{}", one["project_id"], one["iid"]);
            places.insert(format!("gid://gitlab/{class}/{}", one["id"]), place);
        }
    }
    for (class, list) in [("Project", "projects"), ("Group", "groups")] {
        let all = format!("/{list}?per_page=100&all_available=true");
        for one in admin.get(&all).await.ok().as_array().expect("a list") {
            let place = format!("/{list}/{}", one["id"]);
            places.insert(format!("gid://gitlab/{class}/{}", one["id"]), place.clone());
            places.extend(places_inside(admin, list, &place).await);
        }
    }
    for one in admin.get("/runners/all").await.ok().as_array().expect("a list") {
        places.insert(
            format!("gid://gitlab/Ci::Runner/{}", one["id"]),
            path_of("/runners", &one["id"]),
        );
    }
    places
}

fn path_of(list: &str, id: &Value) -> String {
    format!("{list}/{id}")
}

/// What is inside of a project or of a group.
async fn places_inside(admin: &Person<'_>, kind: &str, place: &str) -> RecordPaths {
    let lists: &[(&str, &str, &str)] = match kind {
        "projects" => &[
            ("Board", "boards", "id"),
            ("Environment", "environments", "id"),
            ("AlertManagement::Alert", "alert_management_alerts", "iid"),
            ("Vulnerability", "vulnerabilities", "id"),
        ],
        _ => &[("Epic", "epics", "iid")],
    };
    let mut places = RecordPaths::new();
    for (class, list, number) in lists {
        let all = format!("{place}/{list}");
        for one in admin.get(&all).await.ok().as_array().expect("a list") {
            let path = match *class {
                "Vulnerability" => path_of("/vulnerabilities", &one["id"]),
                _ => path_of(&all, &one[*number]),
            };
            places.insert(format!("gid://gitlab/{class}/{}", one["id"]), path);
        }
    }
    places
}

/// The global ids of records in an answer.
fn ids(answer: &Value, found: &mut Vec<String>) {
    match answer {
        Value::Array(elements) => elements.iter().for_each(|element| ids(element, found)),
        Value::Object(fields) => {
            let is_named = fields.get("__typename").is_some_and(Value::is_string);
            if let (true, Some(Value::String(id))) = (is_named, fields.get("id")) {
                // A work item is an issue under another name.
                found.push(id.replace("/WorkItem/", "/Issue/"));
            }
            fields.values().for_each(|value| ids(value, found));
        }
        _ => {}
    }
}

fn callers(app: &TestApp) -> Vec<Person<'_>> {
    vec![app.anonymous(), app.person("eve"), app.person("bob"), app.person("ada"), app.admin()]
}

fn types() -> Types {
    Types::of(&resolvers::schema().expect("a schema").introspection())
}

#[actix_web::test]
async fn random_queries_neither_fail_nor_show_what_is_hidden() {
    let app = TestApp::new();
    let places = fill(&app).await;
    let types = types();
    let rounds = variable("FORGEWAY_FUZZ_ROUNDS", ROUNDS);
    let seed = variable("FORGEWAY_FUZZ_SEED", 1);
    let mut shown = 0;
    for (number, caller) in callers(&app).iter().enumerate() {
        let mut random = Random::new(u64::try_from(seed * 5 + number).expect("a seed"));
        let mut known = BTreeMap::new();
        for round in 0..rounds {
            // Callers begin at different places, so that all fields have their turn soon.
            let query = types.query(&mut random, round + rounds * (number + seed));
            let answer = caller.post(ENDPOINT, json!({ "query": query })).await;
            let who = &caller.username;
            assert!(answer.status < 500, "seed {seed}, {who}: {} to {query}", answer.status);
            let mut found = Vec::new();
            ids(&answer.body["data"], &mut found);
            for id in found {
                let Some(place) = places.get(&id) else { continue };
                if !known.contains_key(&id) {
                    known.insert(id.clone(), caller.get(place).await.status);
                }
                assert_eq!(known[&id], 200, "seed {seed}, {who} saw {id} by {query}");
                shown += 1;
            }
        }
    }
    assert!(shown > 0, "nothing was seen at all");
}

#[actix_web::test]
async fn random_mutations_do_not_fail() {
    let app = TestApp::new();
    fill(&app).await;
    let types = types();
    let seed = variable("FORGEWAY_FUZZ_SEED", 1);
    let repeats = variable("FORGEWAY_FUZZ_ROUNDS", ROUNDS).div_ceil(ROUNDS);
    let mut random = Random::new(u64::try_from(seed).expect("a seed"));
    // The owner and the administrator come last: they may delete what the others were to try.
    for caller in callers(&app) {
        for field in types.fields("Mutation") {
            for _ in 0..repeats {
                let query = types.mutation(&mut random, field);
                let answer = caller.post(ENDPOINT, json!({ "query": query })).await;
                let (who, name) = (&caller.username, text(&field["name"]));
                assert!(
                    answer.status < 500,
                    "seed {seed}, {who}, {name}: {} to {query}",
                    answer.status
                );
                let is_null = answer.body["data"][&name].is_null();
                let is_told = answer.body["errors"].is_array();
                assert!(!is_null || is_told, "seed {seed}, {who}: {name} is silent: {query}");
            }
        }
    }
}
