//! A project's pipelines.

use kernel::{AccessLevel::Developer, Visibility::Private, ids::ProjectId};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, pipelines},
};

async fn report(person: &Person<'_>, project: ProjectId, sha: &str, body: Value) -> Value {
    person.post(&format!("/projects/{project}/statuses/{sha}"), body).await.created()
}

/// Pipelines of `main` (failed), `topic` (running) and the tag `v1.0` (succeeded).
async fn three(ada: &Person<'_>, project: ProjectId) -> String {
    for (sha, state) in [("main", "failed"), ("topic", "running"), ("v1.0", "success")] {
        report(ada, project, sha, json!({ "state": state, "ref": sha })).await;
    }
    format!("/projects/{project}/pipelines")
}

#[actix_web::test]
async fn pipelines_are_chosen_ordered_and_paged() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    let list = three(&ada, project).await;
    let refs = async |query: &str| ada.get(&format!("{list}{query}")).await.each("ref");

    assert_eq!(refs("").await, ["v1.0", "topic", "main"]);
    assert_eq!(refs("?sort=asc&order_by=status").await, ["main", "topic", "v1.0"]);
    assert_eq!(refs("?scope=finished").await, ["v1.0", "main"]);
    assert_eq!(refs("?scope=finished&status=running").await, Vec::<Value>::new());
    assert_eq!(refs("?status=running").await, ["topic"]);
    assert_eq!(refs("?scope=tags").await, ["v1.0"]);
    assert_eq!(refs("?scope=branches").await, ["topic", "main"]);
    assert_eq!(refs("?ref=main&source=external&username=ADA").await, ["main"]);
    assert_eq!(refs("?username=nobody").await, Vec::<Value>::new());
    for source in ["push", "unknown", "security_orchestration_policy", "container_registry_push"] {
        assert_eq!(refs(&format!("?source={source}")).await, Vec::<Value>::new(), "{source}");
    }
    assert_eq!(refs("?yaml_errors=true").await, Vec::<Value>::new());
    assert_eq!(refs("?updated_before=2025-12-31").await, Vec::<Value>::new());
    let page = app.anonymous().get(&format!("{list}?per_page=2&page=2")).await;
    assert_eq!(page.header("x-total"), Some("3"));
    assert_eq!(page.each("iid"), [json!(1)]);
    let unknown = json!({ "error": "scope does not have a valid value" });
    ada.get(&format!("{list}?scope=all")).await.refused(400, unknown);
}

#[actix_web::test]
async fn pipelines_that_are_alike_in_what_orders_them_come_by_number() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    for sha in ["main~2", "main~1", "main"] {
        report(&ada, project, sha, json!({ "state": "failed", "ref": "main" })).await;
    }
    let list = format!("/projects/{project}/pipelines?ref=main&status=failed&username=ada");

    for order in ["ref", "status", "user_id"] {
        let ids = async |sort: &str| {
            ada.get(&format!("{list}&order_by={order}&sort={sort}")).await.each("iid")
        };
        assert_eq!(ids("asc").await, [1, 2, 3], "{order}");
        assert_eq!(ids("desc").await, [3, 2, 1], "{order}");
    }
}

#[actix_web::test]
async fn pipelines_are_found_by_their_name_and_by_when_they_were_made() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", "workflow: {name: Nightly}\nunit: {script: x}").await;
    app.clock.advance(time::Duration::hours(1));
    commit(&ada, project, "main", "second", "unit: {script: x}").await;
    let list = format!("/projects/{project}/pipelines");
    let names = async |query: &str| ada.get(&format!("{list}{query}")).await.each("name");

    let both = [Value::Null, json!("Nightly")];
    assert_eq!(names("").await, both);
    assert_eq!(names("?name=").await, both);
    assert_eq!(names("?name=Nightly").await, both[1..]);
    assert_eq!(names("?name=nightly").await, Vec::<Value>::new());
    assert_eq!(names("?created_before=2026-01-01T00:30:00Z").await, both[1..]);
    assert_eq!(names("?created_after=2026-01-01T00:30:00Z").await, both[..1]);
    assert_eq!(names("?created_after=2026-01-01T00:30:00Z&name=Nightly").await, both[..0]);
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    app.clock.advance(time::Duration::microseconds(1_500));
    commit(&ada, project, "main", "first", "unit: {script: x}").await;
    let found = async |query: &str| pipelines(&ada, project, query).await.len();
    let one = pipelines(&ada, project, "").await[0].clone();

    for field in ["created", "updated"] {
        let at = one[format!("{field}_at")].as_str().expect("a time").to_owned();
        assert_eq!(at, "2026-01-01T00:00:00.001Z");
        assert_eq!(found(&format!("?{field}_before={at}")).await, 1, "{field}");
        assert_eq!(found(&format!("?{field}_after={at}")).await, 1, "{field}");
        let finer = format!("?{field}_before=2026-01-01T00:00:00.001400Z");
        assert_eq!(found(&finer).await, 0, "{field}");
    }
}

#[actix_web::test]
async fn a_pipeline_is_given_another_name() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", "unit: {script: x}").await;
    let id = pipelines(&ada, project, "").await[0]["id"].clone();
    let path = format!("/projects/{project}/pipelines/{id}");
    let metadata = format!("{path}/metadata");

    let named = ada.put(&metadata, json!({ "name": " Release 1.0 " })).await.ok();
    assert_eq!((&named["name"], &named["id"]), (&json!("Release 1.0"), &id));
    assert_eq!(ada.get(&path).await.ok(), named);

    ada.put(&metadata, json!({})).await.refused(400, json!({ "error": "name is missing" }));
    for (name, flaw) in [
        (" ".to_owned(), "Name is too short (minimum is 1 character)"),
        ("x".repeat(256), "Name is too long (maximum is 255 characters)"),
    ] {
        let told = json!({ "message": format!("Failed to update pipeline - {flaw}") });
        ada.put(&metadata, json!({ "name": name })).await.refused(400, told);
    }
    let dan = app.member(project, "dan", Developer);
    let told = json!({ "message": "403 Forbidden" });
    dan.put(&metadata, json!({ "name": "x" })).await.refused(403, told);
    assert_eq!(ada.get(&path).await.ok(), named);
}

#[actix_web::test]
async fn only_the_newest_of_a_branch_that_is_there_counts_for_its_scope() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    report(&ada, project, "main~1", json!({ "state": "success", "ref": "main" })).await;
    let newest = report(&ada, project, "main", json!({ "state": "success" })).await;
    report(&ada, project, "main", json!({ "state": "success", "ref": "gone" })).await;

    let shown = ada.get(&format!("/projects/{project}/pipelines?scope=branches")).await;
    assert_eq!(shown.each("id"), [newest["pipeline_id"].clone()]);
}

#[actix_web::test]
async fn a_pipeline_is_shown_whole() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    report(&ada, project, "main", json!({ "state": "running", "name": "a", "coverage": 40 })).await;
    report(&ada, project, "main", json!({ "state": "running", "name": "b", "coverage": 41 })).await;
    app.clock.advance(time::Duration::seconds(90));
    for name in ["a", "b"] {
        report(&ada, project, "main", json!({ "state": "success", "name": name })).await;
    }

    let shown = ada.get(&format!("/projects/{project}/pipelines/latest")).await.ok();

    let id = shown["id"].as_i64().expect("an id");
    assert_eq!(ada.get(&format!("/projects/{project}/pipelines/{id}")).await.ok(), shown);
    assert_eq!(shown["web_url"], format!("http://forge.test/ada/forge/-/pipelines/{id}"));
    assert_eq!((&shown["duration"], &shown["coverage"]), (&json!(90), &json!("40.50")));
    assert_eq!((&shown["queued_duration"], &shown["tag"]), (&Value::Null, &json!(false)));
    assert_eq!(shown["finished_at"], "2026-01-01T00:01:30.000Z");
    assert_eq!(shown["before_sha"], "0".repeat(40));
    assert_eq!(shown["user"]["username"], "ada");
    let detailed = &shown["detailed_status"];
    assert_eq!(
        (&detailed["text"], &detailed["icon"]),
        (&json!("passed"), &json!("status_success"))
    );
    assert_eq!(detailed["details_path"], format!("/ada/forge/-/pipelines/{id}"));
}

#[actix_web::test]
async fn a_pipeline_that_is_not_there_is_not_shown() {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    let ada = app.person("ada");
    three(&ada, project).await;
    let other = app.project(&ada, "other", kernel::Visibility::Public);

    let missing = json!({ "message": "404 Not found" });
    ada.get(&format!("/projects/{other}/pipelines/1")).await.refused(404, missing);
    let forbidden = json!({ "message": "403 Forbidden" });
    for latest in [
        "pipelines/latest?ref=release/1.x",
        "pipelines/latest?ref=none",
        "pipeline/latest?ref=v1.0",
    ] {
        ada.get(&format!("/projects/{project}/{latest}")).await.refused(403, forbidden.clone());
    }
    let topic = ada.get(&format!("/projects/{project}/pipeline/latest?ref=topic")).await.ok();
    assert_eq!(topic["status"], "running");
}

#[actix_web::test]
async fn lists_cost_the_same_however_many_pipelines_there_are() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "a: {script: x}\ndown: {trigger: {include: [{template: Rust.gitlab-ci.yml}]}}\n";
    let home = format!("/projects/{project}");
    let made = async |count: usize| {
        for number in 0..count {
            let name =
                format!("b{}-{number}", pipelines(&ada, project, "?per_page=100").await.len());
            commit(&ada, project, "main", &name, &format!("{text}# {name}\n")).await;
            app.work().await;
        }
    };
    let cost = async |path: &str| {
        let path = format!("{home}/{path}");
        app.cost(async || drop(ada.get(&path).await.ok())).await
    };
    let lists = [
        "pipelines?per_page=100",
        "pipelines?per_page=100&source=parent_pipeline",
        "jobs?per_page=100",
        "repository/commits?per_page=100",
    ];

    made(2).await;
    let mut few = Vec::new();
    for list in lists {
        few.push(cost(list).await);
    }
    made(5).await;

    for (list, few) in lists.iter().zip(few) {
        assert_eq!(cost(list).await, few, "{list}");
    }
}
