//! Who lets jobs begin that deploy: `crates/ci/src/job/actions.rs`, `crates/forge/src/deployment/stop.rs`.

use ci::job::End;
use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, finish, job, run},
};

const TEXT: &str = "deploy: {script: x, when: manual, allow_failure: true, environment: {name: production, on_stop: stop}}\n\
                    stop: {script: x, when: manual, allow_failure: true, environment: {name: production, action: stop}}\n\
                    other: {script: x, when: manual, allow_failure: true}\n";

/// Production, to which rob alone deploys, who is a reporter; mia is a maintainer.
async fn set_up(app: &TestApp) -> (ProjectId, Person<'_>, Person<'_>) {
    let project = app.project(&app.person("olga"), "engine", Private);
    let mia = app.member(project, "mia", Maintainer);
    let rob = app.member(project, "rob", Reporter);
    let user = app.user("rob").id.0;
    let body = json!({ "name": "production", "deploy_access_levels": [{ "user_id": user }] });
    mia.post(&format!("/projects/{project}/protected_environments"), body).await.created();
    commit(&mia, project, "main", "first", TEXT).await;
    (project, mia, rob)
}

async fn id(person: &Person<'_>, project: ProjectId, name: &str) -> Value {
    job(person, project, name).await["id"].clone()
}

#[actix_web::test]
async fn a_reporter_plays_what_deploys_where_they_are_let_and_nothing_else() {
    let app = TestApp::new();
    let (project, mia, rob) = set_up(&app).await;
    let jobs = format!("/projects/{project}/jobs");
    let (deploy, other) = (id(&mia, project, "deploy").await, id(&mia, project, "other").await);
    mia.post(&format!("{jobs}/{deploy}/play"), json!({})).await.with(403);
    for verb in ["play", "retry", "cancel", "artifacts/keep"] {
        rob.post(&format!("{jobs}/{other}/{verb}"), json!({})).await.with(403);
    }

    let played = rob.post(&format!("{jobs}/{deploy}/play"), json!({})).await.ok();

    assert_eq!(
        (&played["status"], &played["user"]["username"]),
        (&json!("pending"), &json!("rob"))
    );
    run(&app, &mia, project, "deploy").await;
    finish(&app, &mia, project, "deploy", End::failed("script_failure")).await;
    rob.post(&format!("{jobs}/{deploy}/retry"), json!({})).await.created();
    let again = id(&mia, project, "deploy").await;
    rob.post(&format!("{jobs}/{again}/cancel"), json!({})).await.created();
    rob.post(&format!("{jobs}/{again}/erase"), json!({})).await.with(403);
}

#[actix_web::test]
async fn whoever_may_play_its_job_stops_an_environment() {
    let app = TestApp::new();
    let (project, mia, rob) = set_up(&app).await;
    let deploy = id(&mia, project, "deploy").await;
    rob.post(&format!("/projects/{project}/jobs/{deploy}/play"), json!({})).await.ok();
    run(&app, &mia, project, "deploy").await;
    finish(&app, &mia, project, "deploy", End::Success).await;
    let listed = mia.get(&format!("/projects/{project}/environments")).await.ok();
    let stop = format!("/projects/{project}/environments/{}/stop", listed[0]["id"]);
    for body in [json!({}), json!({ "force": true })] {
        mia.post(&stop, body).await.with(403);
    }

    assert_eq!(rob.post(&stop, json!({})).await.ok()["state"], "stopping");

    // Without a job it takes a developer.
    let made = json!({ "name": "plain" });
    let plain = mia.post(&format!("/projects/{project}/environments"), made).await.created();
    let stop = format!("/projects/{project}/environments/{}/stop", plain["id"]);
    rob.post(&stop, json!({})).await.with(403);
    mia.post(&stop, json!({})).await.ok();
}

#[actix_web::test]
async fn who_retries_a_pipeline_leaves_out_what_others_deploy() {
    let app = TestApp::new();
    let (project, mia, rob) = set_up(&app).await;
    let (deploy, other) = (id(&mia, project, "deploy").await, id(&mia, project, "other").await);
    for (person, job) in [(&rob, &deploy), (&mia, &other)] {
        person.post(&format!("/projects/{project}/jobs/{job}/play"), json!({})).await.ok();
    }
    for name in ["deploy", "other"] {
        run(&app, &mia, project, name).await;
        finish(&app, &mia, project, name, End::failed("script_failure")).await;
    }
    let pipeline = job(&mia, project, "other").await["pipeline"]["id"].clone();

    mia.post(&format!("/projects/{project}/pipelines/{pipeline}/retry"), json!({})).await.created();

    assert_eq!(id(&mia, project, "deploy").await, deploy);
    assert_ne!(id(&mia, project, "other").await, other);
}

const SIMPLE: &str = "deploy: {script: x, when: manual, environment: production}\n";

#[actix_web::test]
async fn nobody_brings_back_what_was_overtaken_but_by_doing_it_once_more() {
    let app = TestApp::new();
    let project = app.project(&app.person("olga"), "engine", Private);
    let dan = app.member(project, "dan", Developer);
    let keep = json!({ "auto_cancel_pending_pipelines": "disabled" });
    app.person("olga").put(&format!("/projects/{project}"), keep).await.ok();
    commit(&app.person("olga"), project, "main", "first", SIMPLE).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    dan.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    commit(&dan, project, "topic", "more", &format!("{SIMPLE}# 1\n")).await;
    let old = id(&dan, project, "deploy").await;
    commit(&dan, project, "topic", "again", &format!("{SIMPLE}# 2\n")).await;
    run_by_hand(&app, &dan, project).await;

    for verb in ["play", "cancel"] {
        let path = format!("/projects/{project}/jobs/{old}/{verb}");
        dan.post(&path, json!({})).await.refused(403, json!({ "message": "403 Forbidden" }));
    }
    let off = json!({ "ci_forward_deployment_enabled": false });
    app.person("olga").put(&format!("/projects/{project}"), off).await.ok();
    dan.post(&format!("/projects/{project}/jobs/{old}/play"), json!({})).await.ok();
}

async fn run_by_hand(app: &TestApp, person: &Person<'_>, project: ProjectId) {
    let newest = id(person, project, "deploy").await;
    person.post(&format!("/projects/{project}/jobs/{newest}/play"), json!({})).await.ok();
    run(app, person, project, "deploy").await;
    finish(app, person, project, "deploy", End::Success).await;
}
