//! Deployments: `gateway/src/rest/deployments/project_deployments.rs`.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Person, TestApp, ci::commit};

struct Set<'a> {
    project: ProjectId,
    dan: Person<'a>,
    path: String,
    sha: String,
}

async fn set_up(app: &TestApp) -> Set<'_> {
    let olga = app.person("olga");
    let project = app.project(&olga, "engine", Private);
    let sha = commit(&olga, project, "main", "first", "job: {script: x, when: manual}").await;
    let dan = app.member(project, "dan", Developer);
    Set { project, dan, path: format!("/projects/{project}/deployments"), sha }
}

impl Set<'_> {
    fn body(&self, environment: &str, status: &str) -> Value {
        json!({ "environment": environment, "sha": self.sha, "ref": "main", "tag": false, "status": status })
    }

    async fn deploy(&self, environment: &str, status: &str) -> Value {
        self.dan.post(&self.path, self.body(environment, status)).await.created()
    }

    async fn ids(&self, query: &str) -> Vec<Value> {
        self.dan.get(&format!("{}{query}", self.path)).await.each("iid")
    }
}

#[actix_web::test]
async fn a_deployment_is_reported_and_makes_its_environment() {
    let app = TestApp::new();
    let set = set_up(&app).await;

    let made = set.deploy("production", "running").await;

    assert_eq!((&made["iid"], &made["status"]), (&json!(1), &json!("running")));
    assert_eq!((&made["sha"], &made["ref"]), (&json!(set.sha), &json!("main")));
    assert_eq!((&made["user"]["username"], &made["deployable"]), (&json!("dan"), &Value::Null));
    assert_eq!(made["environment"]["name"], "production");
    let one = format!("{}/{}", set.path, made["id"]);
    assert_eq!(set.dan.get(&one).await.ok(), made);
    let refs = app.refs(set.project);
    let kept =
        refs.iter().any(|(name, _)| name.ends_with("refs/environments/production/deployments/1"));
    assert!(kept, "{refs:?}");

    let done = set.dan.put(&one, json!({ "status": "success" })).await.ok();
    assert_eq!(done["status"], "success");
    let environment =
        format!("/projects/{}/environments/{}", set.project, made["environment"]["id"]);
    let shown = set.dan.get(&environment).await.ok();
    assert_eq!(shown["last_deployment"]["id"], made["id"]);
    assert_eq!(shown["last_deployment"].get("environment"), None);
    let again = set.dan.put(&one, json!({ "status": "running" })).await;
    again.refused(400, json!({ "message": { "status": ["cannot transition via \"run\""] } }));
}

#[actix_web::test]
async fn what_is_there_already_is_not_deployed_again() {
    let app = TestApp::new();
    let set = set_up(&app).await;

    let first = set.deploy("production", "success").await;

    assert_eq!(set.deploy("production", "success").await["id"], first["id"]);
    assert_ne!(set.deploy("staging", "success").await["id"], first["id"]);
    assert_ne!(set.deploy("production", "failed").await["id"], first["id"]);
}

#[actix_web::test]
async fn a_new_deployment_brings_a_stopped_environment_back() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    let id = set.deploy("production", "success").await["environment"]["id"].clone();
    let environment = format!("/projects/{}/environments/{id}", set.project);
    set.dan.post(&format!("{environment}/stop"), json!({})).await.ok();

    let running = set.deploy("production", "running").await;
    assert_eq!(set.dan.get(&environment).await.ok()["state"], "stopped");
    let one = format!("{}/{}", set.path, running["id"]);
    set.dan.put(&one, json!({ "status": "success" })).await.ok();

    assert_eq!(set.dan.get(&environment).await.ok()["state"], "available");
}

#[actix_web::test]
async fn a_ref_is_a_branch_or_a_tag_as_the_caller_says() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    let tag = json!({ "tag_name": "v1", "ref": "main" });
    set.dan.post(&format!("/projects/{}/repository/tags", set.project), tag).await.created();
    for (name, tag, status) in [
        ("main", false, 201),
        ("v1", true, 201),
        ("main", true, 400),
        ("v1", false, 400),
        (set.sha.as_str(), false, 400),
        ("HEAD", false, 400),
        ("main~0", false, 400),
        ("refs/heads/main", false, 400),
    ] {
        let mut body = set.body("production", "success");
        (body["ref"], body["tag"]) = (json!(name), json!(tag));
        let answer = set.dan.post(&set.path, body).await;
        assert_eq!(answer.status, status, "{name} {tag}: {}", answer.body);
        if status == 400 {
            assert_eq!(answer.body["message"]["ref"][0], "The branch or tag does not exist");
        }
    }
}

#[actix_web::test]
async fn what_cannot_be_deployed_is_refused() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    let with = |key: &str, value: Value| {
        let mut body = set.body("production", "success");
        body[key] = value;
        body
    };
    for (body, told) in [
        (with("environment", json!("")), json!({ "error": "environment is empty" })),
        (with("sha", json!("")), json!({ "error": "sha is empty" })),
        (with("ref", json!("")), json!({ "error": "ref is empty" })),
        (
            with("status", json!("created")),
            json!({ "error": "status does not have a valid value" }),
        ),
        (
            with("sha", json!("0".repeat(40))),
            json!({ "message": { "sha": ["The commit does not exist"] } }),
        ),
        (
            with("ref", json!("none")),
            json!({ "message": { "ref": ["The branch or tag does not exist"] } }),
        ),
    ] {
        set.dan.post(&set.path, body).await.refused(400, told);
    }
    set.dan.post(&set.path, with("environment", json!("a:b"))).await.with(400);
    assert!(set.ids("").await.is_empty());
}

#[actix_web::test]
async fn deployments_are_filtered_and_sorted() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    for (environment, status) in
        [("production", "running"), ("staging", "success"), ("production", "failed")]
    {
        set.deploy(environment, status).await;
        app.clock.advance(Duration::hours(1));
    }
    let first = set.dan.get(&set.path).await.ok()[0]["id"].clone();
    set.dan.put(&format!("{}/{first}", set.path), json!({ "status": "success" })).await.ok();

    assert_eq!(set.ids("").await, [1, 2, 3]);
    assert_eq!(set.ids("?sort=desc").await, [3, 2, 1]);
    for order in ["iid", "created_at", "ref"] {
        assert_eq!(set.ids(&format!("?order_by={order}&sort=desc")).await, [3, 2, 1], "{order}");
    }
    assert_eq!(set.ids("?order_by=updated_at").await, [2, 3, 1]);
    assert_eq!(set.ids("?updated_after=2026-01-01T00:30:00Z").await, [2, 3, 1]);
    assert_eq!(set.ids("?updated_before=2026-01-01T01:30:00Z&sort=desc").await, [2]);
    assert_eq!(set.ids("?environment=production").await, [1, 3]);
    assert_eq!(set.ids("?environment=none").await, Vec::<Value>::new());
    assert_eq!(set.ids("?status=success&environment=production").await, [1]);
    assert_eq!(set.ids("?status=blocked").await, Vec::<Value>::new());
    assert_eq!(set.ids("?per_page=2&page=2").await, [3]);
    let bad = json!({ "error": "order_by does not have a valid value" });
    set.dan.get(&format!("{}?order_by=name", set.path)).await.refused(400, bad);
    let keyset = set.dan.get(&format!("{}?pagination=keyset", set.path)).await;
    assert_eq!(keyset.status, 405);
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    app.clock.advance(Duration::microseconds(1_500));
    set.deploy("production", "success").await;

    assert_eq!(set.dan.counts_until(&set.path, "updated_before").await, [1, 0]);
}

#[actix_web::test]
async fn a_page_of_deployments_takes_as_many_statements_whatever_its_length() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    set.deploy("production", "success").await;
    let count = async || app.cost(async || drop(set.ids("").await)).await;
    let of_one = count().await;
    for environment in ["a", "b", "c", "d"] {
        set.deploy(environment, "success").await;
    }

    assert_eq!(count().await, of_one);
}

#[actix_web::test]
async fn maintainers_remove_what_is_neither_under_way_nor_there() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    let mia = app.member(set.project, "mia", Maintainer);
    let one = |made: &Value| format!("{}/{}", set.path, made["id"]);
    let (old, running) =
        (set.deploy("production", "failed").await, set.deploy("production", "running").await);
    let there = set.deploy("production", "success").await;

    set.dan.delete(&one(&old)).await.with(403);
    let told = json!({ "message": "Cannot destroy running deployment" });
    mia.delete(&one(&running)).await.refused(400, told);
    let told = json!({ "message": "Deployment currently deployed to environment" });
    mia.delete(&one(&there)).await.refused(400, told);
    mia.delete(&one(&old)).await.with(204);

    app.work().await;
    set.dan.get(&one(&old)).await.refused(404, json!({ "message": "404 Not found" }));
    let refs = app.refs(set.project);
    assert!(!refs.iter().any(|(name, _)| name.ends_with("deployments/1")), "{refs:?}");
    assert_eq!(set.deploy("staging", "success").await["iid"], 4);
}

#[actix_web::test]
async fn guests_see_no_deployments_and_strangers_no_project() {
    let app = TestApp::new();
    let set = set_up(&app).await;
    let one = format!("{}/{}", set.path, set.deploy("production", "success").await["id"]);

    app.member(set.project, "gus", Guest).get(&one).await.with(403);
    app.person("stranger").get(&one).await.with(404);
    app.anonymous().get(&one).await.with(401);
    let reporter = app.member(set.project, "rob", kernel::AccessLevel::Reporter);
    reporter.put(&one, json!({ "status": "failed" })).await.with(403);
}
