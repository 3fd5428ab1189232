//! Deployments in archives of projects: `crates/deployments/src/deployment/archive.rs`.

use ci::job::End;
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_contents::plain,
    archive_failures::{with_fields, with_lines},
    archives::{count_nothing, exported, imported},
    imports::work,
};
use crate::{
    rest::deployments::deployed_merge_requests::{deploy, merged},
    support::{
        Person, TestApp,
        ci::{commit, finish, job, run},
    },
};

/// What is told of each deployment, of what it brought, and of the last ones to environments; of jobs their names.
async fn deployments(person: &Person<'_>, project: &Value) -> Vec<Value> {
    let base = format!("/projects/{project}");
    let shown = |one: &Value| {
        let mut shown = plain(one);
        shown["deployable"] = one["deployable"]["name"].clone();
        shown
    };
    let mut all = Vec::new();
    for id in person.get(&format!("{base}/deployments?sort=asc")).await.each("id") {
        let path = format!("{base}/deployments/{id}");
        let mut one = shown(&person.get(&path).await.ok());
        one["brought"] = person.get(&format!("{path}/merge_requests")).await.each("iid").into();
        all.push(one);
    }
    for id in person.get(&format!("{base}/environments")).await.each("id") {
        let environment = person.get(&format!("{base}/environments/{id}")).await.ok();
        all.push(shown(&environment["last_deployment"]));
    }
    all
}

#[actix_web::test]
async fn deployments_come_back_with_what_they_brought() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    merged(&root, &project, "one").await;
    deploy(&root, &project, "production").await;
    app.clock.advance(Duration::hours(1));
    merged(&root, &project, "two").await;
    deploy(&root, &project, "production").await;
    let before = deployments(&root, &project).await;
    assert_eq!((before.len(), &before[1]["brought"]), (3, &json!([2])));

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    assert_eq!(deployments(&root, &done["id"]).await, before);
    let copy = format!("/projects/{}", done["id"]);
    let there = root.get(&format!("{copy}/merge_requests?environment=production&sort=asc")).await;
    assert_eq!(json!(there.each("iid")), json!([1, 2]));
    let one = root.get(&format!("{copy}/merge_requests/1")).await.ok();
    assert_eq!(one["first_deployed_to_production_at"], "2026-01-01T00:00:00.000Z");
    deploy(&root, &done["id"], "staging").await;
    let newest = root.get(&format!("{copy}/deployments?sort=desc")).await.each("iid");
    assert_eq!(newest[0], 3, "numbers go on");
}

#[actix_web::test]
async fn commits_of_deployments_come_along_and_what_was_under_way_is_canceled() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let base = format!("/projects/{project}");
    let tip = json!(root.commit(&project, "topic", "topic.txt").await);
    let new = json!({ "environment": "review", "sha": tip, "ref": "topic", "tag": false,
                      "status": "running" });
    root.post(&format!("{base}/deployments"), new).await.created();
    root.delete(&format!("{base}/repository/branches/topic")).await.with(204);
    work(&app).await;

    let done = imported(&root, &exported(&root, &project).await, "copy").await;

    let copy = format!("/projects/{}", done["id"]);
    let found = root.get(&format!("{copy}/deployments")).await.ok();
    assert_eq!((&found[0]["status"], &found[0]["sha"]), (&json!("canceled"), &tip));
    let sha = tip.as_str().expect("a commit");
    root.get(&format!("{copy}/repository/commits/{sha}")).await.ok();
}

struct Approvals<'a> {
    project: Value,
    mia: Person<'a>,
    max: Person<'a>,
}

impl<'a> Approvals<'a> {
    /// A project with a deployment that two people approved, and another one that one of them approved so far.
    async fn new(app: &'a TestApp) -> Self {
        let project = app.project(&app.person("olga"), "engine", Private);
        let (mia, max) =
            (app.member(project, "mia", Maintainer), app.member(project, "max", Maintainer));
        let dan = app.member(project, "dan", Developer);
        commit(&mia, project, "main", "first", "other: {script: x}").await;
        let protection = json!({ "name": "production", "required_approval_count": 2,
                                 "deploy_access_levels": [{ "access_level": 30 }] });
        let base = format!("/projects/{project}");
        mia.post(&format!("{base}/protected_environments"), protection).await.created();
        let branch = json!({ "branch": "feature", "ref": "main" });
        dan.post(&format!("{base}/repository/branches"), branch).await.created();
        let all = Self { project: json!(project), mia, max };
        all.deploy(&dan, project, "second").await;
        all.approve(&all.mia, &json!(project), 0).await;
        all.approve(&all.max, &json!(project), 0).await;
        run(app, &dan, project, "deploy").await;
        finish(app, &dan, project, "deploy", End::Success).await;
        all.deploy(&dan, project, "third").await;
        all.approve(&all.mia, &json!(project), 1).await;
        work(app).await;
        all
    }

    async fn deploy(&self, dan: &Person<'_>, project: ProjectId, message: &str) {
        let text = format!("deploy: {{script: x, environment: production}} # {message}\n");
        commit(dan, project, "feature", message, &text).await;
    }

    async fn approve(&self, person: &Person<'_>, project: &Value, place: usize) {
        let path = format!("/projects/{project}/deployments");
        let id = person.get(&format!("{path}?sort=asc")).await.each("id")[place].clone();
        let verdict = json!({ "status": "approved", "comment": "Go" });
        person.post(&format!("{path}/{id}/approval"), verdict).await.created();
    }
}

#[actix_web::test]
async fn a_deployment_that_waits_for_approvals_is_approved_anew_in_a_copy() {
    let app = TestApp::new();
    let set = Approvals::new(&app).await;
    let root = app.admin();
    let before = deployments(&root, &set.project).await;
    assert_eq!(before[0]["approvals"].as_array().map(Vec::len), Some(2));

    let done = imported(&root, &exported(&root, &set.project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = &done["id"];
    let after = deployments(&root, copy).await;
    assert_eq!((&after[0], &after[2]), (&before[0], &before[2]));
    assert_eq!((&after[1]["status"], &after[1]["approvals"]), (&json!("created"), &json!([])));
    assert_eq!(after[1]["pending_approval_count"], 2);
    let id = ProjectId(copy.as_i64().expect("an id"));
    let waiting = job(&root, id, "deploy").await;
    assert_eq!((&waiting["status"], &waiting["user"]), (&json!("manual"), &Value::Null));
    let play = format!("/projects/{copy}/jobs/{}/play", waiting["id"]);
    set.mia.post(&play, json!({})).await.ok();
    assert_eq!(deployments(&root, copy).await[1]["status"], "blocked");
    set.approve(&root, copy, 1).await;
    set.approve(&set.max, copy, 1).await;
    let begun = job(&root, id, "deploy").await;
    assert_eq!((&begun["status"], &begun["user"]["username"]), (&json!("pending"), &json!("mia")));
}

#[actix_web::test]
async fn nobody_brings_along_approvals_of_a_deployment_that_waits() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let set = Approvals::new(&app).await;
    let root = app.admin();
    let archive = exported(&root, &set.project).await;
    let ids = root.get(&format!("/projects/{}/deployments?sort=asc", set.project)).await.each("id");
    let forged = with_lines(&archive, "project/deployment_approvals.ndjson", |mut row| {
        row["deployment_id"] = ids[1].clone();
        row.to_string()
    });

    let done = imported(&root, &forged, "forged").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let after = deployments(&root, &done["id"]).await;
    assert_eq!((&after[1]["status"], &after[1]["approvals"]), (&json!("created"), &json!([])));
}

#[actix_web::test]
async fn whoever_plays_the_job_of_a_deployment_is_whom_others_approve() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let set = Approvals::new(&app).await;
    let root = app.admin();
    let review = json!({ "name": "review/free" });
    let free = root.post(&format!("/projects/{}/environments", set.project), review).await;
    let free = free.created()["id"].clone();
    let archive = exported(&root, &set.project).await;
    for (name, fields, status) in [
        ("elsewhere", json!({ "environment_id": free }), "canceled"),
        ("nobodys", json!({ "user_id": 1_000_000 }), "created"),
        // It says that it is over, and its job still waits.
        ("ended", json!({ "status": "success" }), "success"),
    ] {
        let forged = with_fields(&archive, "project/deployments.ndjson", &fields);
        let copy = imported(&root, &forged, name).await["id"].clone();
        assert_eq!(deployments(&root, &copy).await[1]["status"], status, "{name}");
        let id = ProjectId(copy.as_i64().expect("an id"));
        let waiting = job(&root, id, "deploy").await["id"].clone();

        set.mia.post(&format!("/projects/{copy}/jobs/{waiting}/play"), json!({})).await.ok();

        assert_eq!(job(&root, id, "deploy").await["status"], "manual", "{name}");
        let path = format!("/projects/{copy}/deployments");
        let newest = root.get(&format!("{path}?sort=desc")).await.ok()[0].clone();
        let told = (&newest["status"], &newest["environment"]["name"]);
        assert_eq!(told, (&json!("blocked"), &json!("production")), "{name}");
        let own = json!({ "message": "You cannot approve your own deployment." });
        let path = format!("{path}/{}/approval", newest["id"]);
        set.mia.post(&path, json!({ "status": "approved" })).await.refused(400, own);
    }
}

#[actix_web::test]
async fn environments_of_a_copy_are_not_stopped_by_themselves() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "engine", Private);
    let (mia, root) = (app.member(project, "mia", Maintainer), app.admin());
    let text = "up: {script: x, environment: {name: r, on_stop: down, auto_stop_in: 1 day}}\n\
                down: {script: x, when: manual, environment: {name: r, action: stop}}\n";
    commit(&mia, project, "main", "first", text).await;
    run(&app, &mia, project, "up").await;
    finish(&app, &mia, project, "up", End::Success).await;
    work(&app).await;
    let environments = format!("/projects/{project}/environments");
    assert!(mia.get(&environments).await.ok()[0]["auto_stop_at"].is_string());
    let past = json!({ "state": "stopping", "auto_stop_at": "2026-01-01T00:00:00.000000Z",
                       "auto_delete_at": "2026-01-01T00:00:00.000000Z" });
    let archive = exported(&root, &json!(project)).await;
    let archive = with_fields(&archive, "project/environments.ndjson", &past);

    let copy = imported(&root, &archive, "copy").await["id"].clone();
    app.clock.advance(Duration::days(2));
    app.recurring().await;
    work(&app).await;

    let found = root.get(&format!("/projects/{copy}/environments")).await.ok();
    let told = (&found[0]["state"], &found[0]["auto_stop_at"]);
    assert_eq!(told, (&json!("available"), &Value::Null));
    let down = job(&root, ProjectId(copy.as_i64().expect("an id")), "down").await;
    assert_eq!((&down["status"], &down["user"]), (&json!("manual"), &Value::Null));
}

#[actix_web::test]
async fn a_deployment_whose_job_is_not_there_does_not_wait() {
    let app = TestApp::new();
    let set = Approvals::new(&app).await;
    let root = app.admin();
    let jobless = json!({ "job_id": 1_000_000, "user_id": 1_000_000 });
    let archive = exported(&root, &set.project).await;
    let archive = with_fields(&archive, "project/deployments.ndjson", &jobless);

    let done = imported(&root, &archive, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = format!("/projects/{}/deployments?sort=asc", done["id"]);
    let found = root.get(&copy).await.ok();
    let told =
        |place: usize| ["status", "deployable", "user"].map(|name| found[place][name].clone());
    assert_eq!(told(0), [json!("success"), Value::Null, Value::Null]);
    assert_eq!(told(1), [json!("canceled"), Value::Null, Value::Null]);
}

#[actix_web::test]
async fn deployments_that_no_project_can_have_are_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    merged(&root, &project, "one").await;
    deploy(&root, &project, "production").await;
    let archive = exported(&root, &project).await;
    let long = "x".repeat(1_025);
    for (name, list, fields, told) in [
        ("number", "deployments", json!({ "iid": 0 }), "deployments: iid is out of range"),
        ("sha", "deployments", json!({ "sha": "main" }), "sha does not have a valid value"),
        ("status", "deployments", json!({ "status": "paused" }), "status does not have a valid"),
        ("ref", "deployments", json!({ "ref_name": long }), "ref_name does not have a valid value"),
        ("source", "merge_requests", json!({ "source_branch": long }), "source_branch does not"),
        ("target", "merge_requests", json!({ "target_branch": long }), "target_branch does not"),
        ("home", "deployments", json!({ "environment_id": "x" }), "environment_id is not an id"),
        ("moment", "deployed_merge_requests", json!({ "deployed_at": 7 }), "is not a moment"),
    ] {
        let hostile = with_fields(&archive, &format!("project/{list}.ndjson"), &fields);
        let done = imported(&root, &hostile, name).await;
        assert_eq!(done["import_status"], "failed", "{name}: {done}");
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told), "{name}: {error}");
        let left = root.get(&format!("/projects/{}/deployments", done["id"])).await.ok();
        assert_eq!(left, json!([]), "{name}");
    }
}
