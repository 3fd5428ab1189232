//! Merge requests that a deployment brings.

use db::{Conn, Tx, each_backend, error, listing};
use diesel::{QueryableByName, RunQueryDsl, sql_query, sql_types::Text};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

pub(crate) async fn merged(person: &Person<'_>, project: &Value, branch: &str) -> i64 {
    person.commit_text(project, branch, branch, "x").await;
    let iid = person.propose(project, branch, branch).await["iid"].clone();
    let merge = format!("/projects/{project}/merge_requests/{iid}/merge");
    person.put(&merge, json!({})).await.ok();
    iid.as_i64().expect("a number")
}

pub(crate) async fn deploy(person: &Person<'_>, project: &Value, environment: &str) -> Value {
    let branch = person.get(&format!("/projects/{project}/repository/branches/main")).await.ok();
    let sha = &branch["commit"]["id"];
    let body = json!({ "environment": environment, "sha": sha, "ref": "main", "tag": false, "status": "success" });
    person.post(&format!("/projects/{project}/deployments"), body).await.created()["id"].clone()
}

#[actix_web::test]
async fn a_deployment_brings_what_was_merged_since_the_one_before() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("engine", "private").await;
    let first = merged(&ada, &project, "one").await;
    let before = deploy(&ada, &project, "production").await;
    let (second, third) =
        (merged(&ada, &project, "two").await, merged(&ada, &project, "three").await);

    let after = deploy(&ada, &project, "production").await;

    let brought = async |id: &Value, query: &str| {
        let path = format!("/projects/{project}/deployments/{id}/merge_requests{query}");
        ada.get(&path).await.each("iid")
    };
    assert_eq!(brought(&before, "").await, [first]);
    assert_eq!(brought(&after, "?sort=asc").await, [second, third]);
    assert_eq!(brought(&after, "?source_branch=three").await, [third]);
    assert_eq!(brought(&after, "?state=opened").await, Vec::<Value>::new());
    let one = ada.get(&format!("/projects/{project}/merge_requests/{first}")).await.ok();
    assert_eq!(one["first_deployed_to_production_at"], "2026-01-01T00:00:00.000Z");
    let unknown = ada.get(&format!("/projects/{project}/deployments/99/merge_requests")).await;
    unknown.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn lists_of_merge_requests_know_where_these_are() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("engine", "private").await;
    let first = merged(&ada, &project, "one").await;
    deploy(&ada, &project, "staging").await;
    app.clock.advance(time::Duration::hours(1));
    let second = merged(&ada, &project, "two").await;
    deploy(&ada, &project, "staging").await;
    ada.commit_text(&project, "three", "three", "x").await;
    ada.propose(&project, "three", "three").await;
    let listed = async |query: &str| {
        ada.get(&format!("/projects/{project}/merge_requests?sort=asc&{query}")).await.each("iid")
    };

    assert_eq!(listed("environment=staging").await, [first, second]);
    assert_eq!(listed("environment=production").await, Vec::<Value>::new());
    assert_eq!(listed("deployed_after=2026-01-01T00:30:00Z").await, [second]);
    assert_eq!(listed("environment=staging&deployed_before=2026-01-01T00:30:00Z").await, [first]);
    let one = ada.get(&format!("/projects/{project}/merge_requests/{first}")).await.ok();
    assert_eq!(one["first_deployed_to_production_at"], Value::Null);
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("engine", "private").await;
    merged(&ada, &project, "one").await;
    app.clock.advance(time::Duration::microseconds(1_500));
    deploy(&ada, &project, "staging").await;

    let list = format!("/projects/{project}/merge_requests?environment=staging");
    assert_eq!(ada.counts_until(&list, "deployed_before").await, [1, 0]);
}

#[actix_web::test]
async fn a_merge_request_whose_commit_was_picked_is_brought_too() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("engine", "private").await;
    let base = format!("/projects/{project}/repository");
    ada.post(&format!("{base}/branches"), json!({ "branch": "stable", "ref": "main" }))
        .await
        .created();
    let stable = async |environment: &str| {
        let tip = ada.get(&format!("{base}/branches/stable")).await.ok()["commit"]["id"].clone();
        let body = json!({ "environment": environment, "sha": tip, "ref": "stable", "tag": false, "status": "success" });
        ada.post(&format!("/projects/{project}/deployments"), body).await.created()["id"].clone()
    };
    stable("production").await;
    let iid = merged(&ada, &project, "one").await;
    let request = ada.get(&format!("/projects/{project}/merge_requests/{iid}")).await.ok();
    let sha = request["sha"].as_str().unwrap().to_owned();
    ada.post(&format!("{base}/commits/{sha}/cherry_pick"), json!({ "branch": "stable" }))
        .await
        .created();

    let id = stable("production").await;

    let path = format!("/projects/{project}/deployments/{id}/merge_requests");
    assert_eq!(ada.get(&path).await.each("iid"), [iid]);
}

#[derive(QueryableByName)]
struct PlanRow {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// How SQLite finds what was deployed for a list; nothing on PostgreSQL.
async fn plans(app: &TestApp, person: &Person<'_>, path: &str) -> Vec<String> {
    app.statements();
    person.get(path).await.ok();
    let asked = app.statements();
    let asked = asked.iter().filter(|sql| sql.contains("deployed_merge_requests dm"));
    let mut steps = Vec::new();
    for sql in asked {
        let sql = sql.split(" -- binds").next().unwrap_or_default();
        let explained = format!("EXPLAIN QUERY PLAN {sql}");
        let found: Vec<PlanRow> = app.write(move |tx| listing::rows(tx, &explained, &[]));
        steps.extend(found.into_iter().map(|row| row.detail));
    }
    steps
}

#[actix_web::test]
async fn filters_by_deployments_walk_no_table() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("engine", "private").await;
    merged(&ada, &project, "one").await;
    let deployment = deploy(&ada, &project, "staging").await;
    let since = "2020-01-01T00:00:00Z";
    for query in [
        "environment=staging".to_owned(),
        format!("deployed_after={since}"),
        format!("deployed_before={since}"),
        format!("environment=staging&deployed_after={since}&order_by=updated_at"),
        format!("state=merged&environment=staging&deployed_before={since}"),
    ] {
        for path in [
            format!("/projects/{project}/merge_requests?{query}"),
            format!("/projects/{project}/deployments/{deployment}/merge_requests?{query}"),
            format!("/merge_requests?scope=all&{query}"),
        ] {
            for step in plans(&app, &ada, &path).await {
                let is_walk = ["SCAN dm", "SCAN e", "SCAN i", "SCAN d"];
                let is_walk = is_walk.iter().any(|scan| step.split(" USING ").next() == Some(scan));
                assert!(!is_walk, "{path}: {step}");
            }
        }
    }
}

#[actix_web::test]
async fn what_a_deployment_brought_is_looked_up_by_the_deployment() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("engine", "private").await;
    merged(&ada, &project, "one").await;
    let deployment = deploy(&ada, &project, "staging").await;
    let path = format!("/projects/{project}/deployments/{deployment}/merge_requests");

    for step in plans(&app, &ada, &path).await {
        let is_search = step.starts_with("SEARCH dm ");
        assert!(!is_search || step.contains("(deployment_id=?"), "{step}");
    }
}

/// Of each merge request there are `more`, which were deployed with it.
fn repeat_merge_requests(tx: &mut Tx<'_>, more: i64) -> kernel::Result<()> {
    let columns = match &tx.conn {
        Conn::Sqlite(_) => "SELECT name AS detail FROM pragma_table_info('merge_requests')",
        Conn::Postgres(_) => {
            "SELECT column_name AS detail FROM information_schema.columns WHERE table_name = 'merge_requests'"
        }
    };
    let columns: Vec<PlanRow> = listing::rows(tx, columns, &[])?;
    let same: Vec<String> = columns.into_iter().map(|column| column.detail).collect();
    let same = same.iter().filter(|name| !["id", "iid"].contains(&name.as_str()));
    let same: String = same.map(|name| format!(", {name}")).collect();
    let rows = format!(
        "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {more}) \
         INSERT INTO merge_requests (iid{same}) SELECT iid + n{same} FROM merge_requests CROSS JOIN numbers"
    );
    let links = "INSERT INTO deployed_merge_requests (deployment_id, merge_request_id, environment_id, deployed_at, project_id) \
         SELECT dm.deployment_id, m.id, dm.environment_id, dm.deployed_at, dm.project_id FROM deployed_merge_requests dm \
         JOIN merge_requests m ON m.project_id = dm.project_id AND m.id <> dm.merge_request_id";
    for text in [rows.as_str(), links] {
        each_backend!(tx, |conn| sql_query(text).execute(conn).map_err(error("MergeRequest")))?;
    }
    Ok(())
}

#[actix_web::test]
async fn long_lists_everywhere_count_what_the_caller_may_read() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    for person in [&ada, &eve] {
        let project = person.filled_project("engine", "private").await;
        merged(person, &project, "one").await;
        deploy(person, &project, "staging").await;
    }
    app.write(|tx| repeat_merge_requests(tx, 30));

    let list = "/merge_requests?scope=all&environment=staging&per_page=5";
    let first = ada.get(list).await;
    let last = ada.get(&format!("{list}&page=7")).await;

    assert_eq!(first.header("x-total"), Some("31"));
    assert_eq!(first.each("iid"), [31, 30, 29, 28, 27]);
    assert_eq!(last.each("iid"), [1]);
    let since = format!("{list}&deployed_after=2020-01-01T00:00:00Z&order_by=updated_at");
    assert_eq!(ada.get(&since).await.header("x-total"), Some("31"));
}
