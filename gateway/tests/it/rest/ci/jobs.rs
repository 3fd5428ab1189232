//! Jobs: how they are listed, and what people do with them.

use base64::{Engine as _, engine::general_purpose::URL_SAFE};
use ci::job::{End, JobStore as _, JobVariableStore as _, progress};
use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, finish, job, pipelines, run},
};

const TEXT: &str = "stages: [build, test, ship]\nmake: {stage: build, script: x, tags: [linux]}\nunit: {stage: test, script: x, retry: 1}\nship: {stage: ship, script: x, when: manual}\n";

async fn set_up(app: &TestApp) -> (Person<'_>, ProjectId) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", TEXT).await;
    (ada, project)
}

async fn statuses(person: &Person<'_>, project: ProjectId) -> Vec<(String, String)> {
    let listed = person.get(&format!("/projects/{project}/jobs")).await.ok();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let jobs = listed.as_array().expect("a list");
    jobs.iter().map(|job| (text(&job["name"]), text(&job["status"]))).collect()
}

fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, status)| ((*name).to_owned(), (*status).to_owned())).collect()
}

#[actix_web::test]
async fn jobs_follow_one_another_and_their_pipeline_follows_them() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;

    run(&app, &ada, project, "make").await;
    app.clock.advance(time::Duration::seconds(30));
    finish(&app, &ada, project, "make", End::Success).await;
    let all = named(&[("ship", "created"), ("unit", "pending"), ("make", "success")]);
    assert_eq!(statuses(&ada, project).await, all);

    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::failed("script_failure")).await;
    let again =
        named(&[("unit", "pending"), ("ship", "created"), ("unit", "failed"), ("make", "success")]);
    assert_eq!(statuses(&ada, project).await, again, "it is tried once more");
    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::failed("script_failure")).await;
    let pipeline = &pipelines(&ada, project, "").await[0];
    assert_eq!(pipeline["status"], "failed");
    let whole = ada.get(&format!("/projects/{project}/pipelines/{}", pipeline["id"])).await.ok();
    assert_eq!((&whole["duration"], &whole["yaml_errors"]), (&json!(30), &Value::Null));
    assert_eq!(job(&ada, project, "ship").await["status"], "skipped");
}

#[actix_web::test]
async fn a_job_is_shown_with_what_belongs_to_it() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    run(&app, &ada, project, "make").await;
    app.clock.advance(time::Duration::seconds(5));
    finish(&app, &ada, project, "make", End::failed("script_failure")).await;

    let listed = job(&ada, project, "make").await;

    let shown = ada.get(&format!("/projects/{project}/jobs/{}", listed["id"])).await.ok();
    assert_eq!(shown, listed);
    assert_eq!((&shown["tag_list"], &shown["duration"]), (&json!(["linux"]), &json!(5.0)));
    assert_eq!(
        (&shown["stage"], &shown["failure_reason"]),
        (&json!("build"), &json!("script_failure"))
    );
    assert_eq!((&shown["runner"], &shown["artifacts"]), (&Value::Null, &json!([])));
    assert_eq!(shown["commit"]["title"], "first");
    assert_eq!(shown["user"]["username"], "ada");
    assert_eq!(shown["pipeline"]["status"], "failed");
    let page = format!("http://forge.test/ada/engine/-/jobs/{}", shown["id"]);
    assert_eq!(shown["web_url"], page);
    assert!(job(&ada, project, "unit").await.get("failure_reason").is_none());
}

#[actix_web::test]
async fn jobs_are_chosen_by_status_and_paged() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    run(&app, &ada, project, "make").await;
    let list = format!("/projects/{project}/jobs");
    let names = async |query: &str| ada.get(&format!("{list}{query}")).await.each("name");

    assert_eq!(names("?scope=running").await, ["make"]);
    assert_eq!(names("?scope[]=running&scope[]=created").await, ["ship", "unit", "make"]);
    assert_eq!(names("?scope=failed").await, Vec::<Value>::new());
    assert_eq!(names("?per_page=1&page=2").await, ["unit"]);
    let unknown = json!({ "error": "scope does not have a valid value" });
    ada.get(&format!("{list}?scope=done")).await.refused(400, unknown);
    assert_eq!(app.anonymous().get(&list).await.status, 401);
}

#[actix_web::test]
async fn jobs_are_paged_by_the_last_one_of_the_page_before() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let list = format!("/projects/{project}/jobs?pagination=keyset");
    let names = async |query: &str| ada.get(&format!("{list}{query}")).await.each("name");

    let first = ada.get(&format!("{list}&per_page=2&scope[]=created&scope[]=pending")).await;
    let next = first.header("link").expect("a link").to_owned();
    assert_eq!((first.header("x-total"), first.header("x-page")), (None, None));
    let shown = first.ok();
    assert_eq!((&shown[0]["name"], &shown[1]["name"]), (&json!("ship"), &json!("unit")));
    let address = next.trim_start_matches('<').split('>').next().expect("an address");
    let (_, query) = address.split_once("/jobs?").expect("a query");
    let last = ada.get(&format!("/projects/{project}/jobs?{query}")).await;
    assert_eq!(last.header("link"), None);
    assert_eq!(last.each("name"), ["make"]);
    let before = &shown[1]["id"];
    assert_eq!(names(&format!("&id_before={before}&order_by=id&sort=desc")).await, ["make"]);
    for bad in ["&cursor=x", "&cursor=", "&cursor=eyJpZCI6IngifQ=="] {
        let unreadable = json!({ "error": "cursor is invalid" });
        ada.get(&format!("{list}{bad}")).await.refused(400, unreadable);
    }
    let other = "Keyset pagination is not yet available for this type of request";
    for order in ["&order_by=name", "&sort=asc"] {
        ada.get(&format!("{list}{order}")).await.refused(405, json!({ "error": other }));
    }
}

#[actix_web::test]
async fn a_cursor_of_jobs_is_read_only_with_keyset() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let list = format!("/projects/{project}/jobs");
    let cursor = URL_SAFE.encode(r#"{"id":"1","_kd":"n"}"#);

    for ignored in [cursor.as_str(), "x"] {
        let page = ada.get(&format!("{list}?cursor={ignored}&sort=asc")).await;
        assert_eq!(page.header("x-page"), Some("1"));
        assert_eq!(page.each("name"), ["ship", "unit", "make"], "{ignored}");
    }
    let keyset = ada.get(&format!("{list}?pagination=keyset&cursor={cursor}")).await;
    assert_eq!(keyset.header("x-page"), None);
    assert!(keyset.each("name").is_empty());
    let unit = job(&ada, project, "unit").await["id"].clone();
    let older = ada.get(&format!("{list}?id_before={unit}&page=1")).await;
    assert_eq!((older.header("x-page"), older.header("x-total")), (Some("1"), None));
    assert_eq!(older.each("name"), ["make"]);
}

#[actix_web::test]
async fn a_job_is_played_canceled_retried_and_erased() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    for name in ["make", "unit"] {
        run(&app, &ada, project, name).await;
        finish(&app, &ada, project, name, End::Success).await;
    }
    let ship = job(&ada, project, "ship").await;
    assert_eq!(ship["status"], "manual");
    assert_eq!(pipelines(&ada, project, "").await[0]["status"], "success");
    let at = |id: &Value, what: &str| format!("/projects/{project}/jobs/{id}/{what}");

    let body = json!({ "job_variables_attributes": [{ "key": "TO", "value": "prod" }] });
    let null = json!({ "job_variables_attributes": [{ "key": "TO", "value": "a\u{0}b" }] });
    assert_eq!(ada.post(&at(&ship["id"], "play"), null).await.status, 400);
    let played = ada.post(&at(&ship["id"], "play"), body).await.ok();
    assert_eq!(played["status"], "pending");
    let unplayable = json!({ "message": "400 Bad request - Unplayable Job" });
    ada.post(&at(&ship["id"], "play"), json!({})).await.refused(400, unplayable);
    let fixed = json!({ "message": "403 Forbidden - Job is not retryable" });
    ada.post(&at(&ship["id"], "retry"), json!({})).await.refused(403, fixed);
    let canceled = ada.post(&at(&ship["id"], "cancel"), json!({})).await.created();
    assert_eq!(canceled["status"], "canceled");
    let again = ada.post(&at(&ship["id"], "retry"), json!({})).await.created();
    assert_ne!(again["id"], ship["id"]);
    assert_eq!(again["status"], "pending", "what begins by hand begins at once");
    let make = job(&ada, project, "make").await;
    let erased = ada.post(&at(&make["id"], "erase"), json!({})).await.created();
    assert!(erased["erased_at"].is_string());
    let gone = json!({ "message": "403 Forbidden - Job is not erasable!" });
    ada.post(&at(&make["id"], "erase"), json!({})).await.refused(403, gone);
}

#[actix_web::test]
async fn a_pipeline_is_canceled_retried_and_deleted() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let id = pipelines(&ada, project, "").await[0]["id"].clone();
    let at = |what: &str| format!("/projects/{project}/pipelines/{id}{what}");

    let canceled = ada.post(&at("/cancel"), json!({})).await.ok();
    assert_eq!(canceled["status"], "canceled");
    let all = named(&[("ship", "canceled"), ("unit", "canceled"), ("make", "canceled")]);
    assert_eq!(statuses(&ada, project).await, all);

    let again = ada.post(&at("/retry"), json!({})).await.created();
    assert_eq!(again["status"], "pending");
    let jobs = ada.get(&at("/jobs")).await.each("status");
    assert_eq!(jobs, ["created", "created", "pending"]);
    let with_old = ada.get(&at("/jobs?include_retried=true")).await;
    assert_eq!(with_old.header("x-total"), Some("6"));

    let dan = app.member(project, "dan", Developer);
    assert_eq!(dan.delete(&at("")).await.status, 403);
    assert_eq!(ada.delete(&at("")).await.status, 204);
    assert_eq!(ada.get(&at("")).await.status, 404);
    assert_eq!(statuses(&ada, project).await, named(&[]));
}

#[actix_web::test]
async fn whoever_may_not_deploy_retries_a_pipeline_without_its_deployments() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let dan = app.member(project, "dan", Developer);
    let protect = json!({ "name": "live", "deploy_access_levels": [{ "access_level": 40 }] });
    ada.post(&format!("/projects/{project}/protected_environments"), protect).await.created();
    let text = "unit: {script: x}\nship: {script: x, environment: live}\n";
    commit(&ada, project, "main", "first [skip ci]", text).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    commit(&ada, project, "topic", "second", &format!("{text}# 2\n")).await;
    for name in ["unit", "ship"] {
        run(&app, &ada, project, name).await;
        finish(&app, &ada, project, name, End::failed("script_failure")).await;
    }

    let id = pipelines(&ada, project, "?ref=topic").await[0]["id"].clone();
    dan.post(&format!("/projects/{project}/pipelines/{id}/retry"), json!({})).await.created();

    let all = named(&[("unit", "pending"), ("ship", "failed"), ("unit", "failed")]);
    assert_eq!(statuses(&ada, project).await, all);
}

#[actix_web::test]
async fn only_who_may_push_changes_what_runs_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    commit(&ada, project, "main", "first", TEXT).await;
    let make = job(&ada, project, "make").await["id"].clone();
    let (rob, dan) = (app.member(project, "rob", Reporter), app.member(project, "dan", Developer));
    let cancel = format!("/projects/{project}/jobs/{make}/cancel");
    let forbidden = json!({ "message": "403 Forbidden" });

    rob.post(&cancel, json!({})).await.refused(403, forbidden.clone());
    dan.post(&cancel, json!({})).await.refused(403, forbidden.clone());
    let id = pipelines(&ada, project, "").await[0]["id"].clone();
    let variables = format!("/projects/{project}/pipelines/{id}/variables");
    dan.get(&variables).await.refused(403, forbidden);
    assert_eq!(
        app.anonymous().get(&format!("/projects/{project}/pipelines/{id}/jobs")).await.status,
        200
    );
}

#[actix_web::test]
async fn a_delayed_job_begins_when_its_time_has_come() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "later: {script: x, when: delayed, start_in: 10 minutes}";
    commit(&ada, project, "main", "first", text).await;
    assert_eq!(pipelines(&ada, project, "").await[0]["status"], "scheduled");

    let start = |tx: &mut db::Tx<'_>| {
        let due = tx.jobs_due(100)?;
        progress::start_due(tx, &due)
    };
    app.write(start);
    assert_eq!(job(&ada, project, "later").await["status"], "scheduled");
    app.clock.advance(time::Duration::minutes(10));
    app.write(start);

    assert_eq!(job(&ada, project, "later").await["status"], "pending");
    assert_eq!(pipelines(&ada, project, "").await[0]["status"], "pending");
}

#[actix_web::test]
async fn what_nobody_takes_or_tells_of_fails_in_time() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let sweep = |tx: &mut db::Tx<'_>| {
        let stale = progress::stale(tx, 100)?;
        progress::drop_stale(tx, &stale, None)
    };

    app.clock.advance(time::Duration::hours(23));
    app.write(sweep);
    assert_eq!(job(&ada, project, "make").await["status"], "pending");
    app.clock.advance(time::Duration::hours(2));
    app.write(sweep);

    let make = job(&ada, project, "make").await;
    assert_eq!(
        (&make["status"], &make["failure_reason"]),
        (&json!("failed"), &json!("stuck_or_timeout_failure"))
    );
}

#[actix_web::test]
async fn what_no_runner_could_take_fails_after_an_hour() {
    let app = TestApp::new();
    let (ada, project) = set_up(&app).await;
    let other = app.project(&ada, "other", Private);
    commit(&ada, other, "main", "first", TEXT).await;
    let runner =
        json!({ "runner_type": "project_type", "project_id": other.0, "tag_list": ["linux"] });
    ada.post("/user/runners", runner).await.created();

    app.clock.advance(time::Duration::minutes(50));
    app.recurring().await;
    assert_eq!(job(&ada, project, "make").await["status"], "pending");
    app.clock.advance(time::Duration::hours(2));
    app.recurring().await;

    let make = job(&ada, project, "make").await;
    assert_eq!(
        (&make["status"], &make["failure_reason"]),
        (&json!("failed"), &json!("stuck_or_timeout_failure"))
    );
    assert_eq!(job(&ada, other, "make").await["status"], "pending");
}

#[actix_web::test]
async fn lists_cost_the_same_however_many_jobs_there_are() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = |count: usize| -> String {
        (0..count)
            .map(|number| {
                let down = "trigger: {include: [{template: Rust.gitlab-ci.yml}]}";
                format!("job{number}: {{script: x, tags: [t{number}]}}\ndown{number}: {{{down}}}\n")
            })
            .collect()
    };
    let asked = async |count: usize| {
        commit(&ada, project, "main", "jobs", &text(count)).await;
        let id = pipelines(&ada, project, "").await[0]["id"].clone();
        app.work().await;
        let mut costs = Vec::new();
        for list in ["jobs", "bridges"] {
            let path = format!("/projects/{project}/pipelines/{id}/{list}?per_page=100");
            costs.push(app.cost(async || drop(ada.get(&path).await.ok())).await);
        }
        costs
    };

    let few = asked(2).await;
    assert_eq!(asked(30).await, few);
}

#[actix_web::test]
async fn a_played_job_is_tried_again_by_itself_with_its_variables() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", "ship: {script: x, when: manual, retry: 1}").await;
    let ship = job(&ada, project, "ship").await["id"].clone();
    let given = json!({ "job_variables_attributes": [{ "key": "TO", "value": "prod" }] });
    ada.post(&format!("/projects/{project}/jobs/{ship}/play"), given).await.ok();

    run(&app, &ada, project, "ship").await;
    finish(&app, &ada, project, "ship", End::failed("script_failure")).await;

    let again = job(&ada, project, "ship").await;
    assert_ne!(again["id"], ship);
    assert_eq!(again["status"], "pending");
    let id = kernel::ids::JobId(again["id"].as_i64().unwrap());
    let vault = app.state.vault.clone();
    let given = app.write(move |tx| tx.job_variables(&vault, id));
    assert_eq!(given, [("TO".to_owned(), "prod".to_owned())]);
}

#[actix_web::test]
async fn what_runs_for_a_merge_request_is_guarded_as_its_branch() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", "x: {script: x}").await;
    let branch = json!({ "branch": "release", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let protect = json!({ "name": "release", "push_access_level": 40, "merge_access_level": 40 });
    ada.post(&format!("/projects/{project}/protected_branches"), protect).await.created();
    let text =
        "ship: {script: x, when: manual, rules: [{if: $CI_MERGE_REQUEST_IID, when: manual}]}";
    commit(&ada, project, "release", "more", text).await;
    let new = json!({ "source_branch": "release", "target_branch": "main", "title": "t" });
    ada.post(&format!("/projects/{project}/merge_requests"), new).await.created();
    let ship = job(&ada, project, "ship").await;
    let dan = app.member(project, "dan", Developer);

    let play = format!("/projects/{project}/jobs/{}/play", ship["id"]);
    dan.post(&play, json!({})).await.refused(403, json!({ "message": "403 Forbidden" }));
    let cancel = format!("/projects/{project}/pipelines/{}/cancel", ship["pipeline"]["id"]);
    assert_eq!(dan.post(&cancel, json!({})).await.status, 403);
    assert_eq!(ada.post(&play, json!({})).await.status, 200);
}

#[actix_web::test]
async fn variables_of_users_may_be_for_maintainers_alone() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, other) =
        (app.project(&ada, "engine", Private), app.project(&ada, "other", Private));
    let dan = app.member(project, "dan", Developer);
    ada.adds("dan", 30, &format!("/projects/{other}")).await;
    for id in [project, other] {
        let closed = json!({ "restrict_user_defined_variables": true });
        ada.put(&format!("/projects/{id}"), closed).await.ok();
    }
    commit(&ada, other, "main", "first [skip ci]", "x: {script: x}").await;
    commit(&ada, project, "main", "first [skip ci]", "x: {script: x}").await;
    for (id, name) in [(other, "dev"), (project, "topic")] {
        let branch = json!({ "branch": name, "ref": "main" });
        ada.post(&format!("/projects/{id}/repository/branches"), branch).await.created();
    }

    let text = "ship: {script: x, when: manual}\ndown: {variables: {A: b}, trigger: {project: ada/other, branch: dev}}";
    commit(&dan, project, "topic", "mine", text).await;
    app.work().await;

    let ship = job(&ada, project, "ship").await;
    let play = format!("/projects/{project}/jobs/{}/play", ship["id"]);
    let given = json!({ "job_variables_attributes": [{ "key": "TO", "value": "prod" }] });
    assert_eq!(dan.post(&play, given).await.status, 403);
    let bridges = format!("/projects/{project}/pipelines/{}/bridges", ship["pipeline"]["id"]);
    let down = ada.get(&bridges).await.ok();
    assert_eq!(down[0]["failure_reason"], "downstream_pipeline_creation_failed");
    assert_eq!(dan.post(&play, json!({})).await.status, 200);
}

#[actix_web::test]
async fn a_value_that_no_column_holds_is_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", "ship: {script: x, when: manual}").await;
    let ship = job(&ada, project, "ship").await["id"].clone();
    let given = json!({ "job_variables_attributes": [{ "key": "TO", "value": "a\u{0}" }] });
    let play = format!("/projects/{project}/jobs/{ship}/play");
    assert_eq!(ada.post(&play, given).await.status, 400);
    let body = json!({ "ref": "main", "variables": [{ "key": "A", "value": "a\u{0}" }] });
    assert_eq!(ada.post(&format!("/projects/{project}/pipeline"), body).await.status, 400);

    commit(&ada, project, "main", "second", r#"unit: {script: "a\0"}"#).await;
    let id = pipelines(&ada, project, "").await[0]["id"].clone();
    let made = ada.get(&format!("/projects/{project}/pipelines/{id}")).await.ok();
    let text = "(): string contains null byte";
    assert_eq!(made["yaml_errors"], text);
}

#[actix_web::test]
async fn a_pipeline_is_made_and_moves_on_by_as_many_statements_however_many_jobs_it_has() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let address = format!("/projects/{project}/pipeline");
    let asked = async |count: usize| {
        let jobs = |stage: &str| -> String {
            (0..count).map(|n| format!("{stage}{n}: {{stage: {stage}, script: x {n}}}\n")).collect()
        };
        let text = format!("first: {{stage: .pre, script: x}}\n{}{}", jobs("build"), jobs("test"));
        commit(&ada, project, "main", &format!("{count} [skip ci]"), &text).await;
        app.statements();
        ada.post(&address, json!({ "ref": "main" })).await.created();
        let made = app.statements().len();
        run(&app, &ada, project, "first").await;
        app.statements();
        finish(&app, &ada, project, "first", End::Success).await;
        (made, app.statements().len())
    };

    let few = asked(2).await;
    assert_eq!(asked(40).await, few);
}
