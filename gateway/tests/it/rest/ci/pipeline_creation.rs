//! What makes pipelines, and what keeps them from being made.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use ci::pipeline::Source;
use forge::{
    pipeline::{Request, make},
    user::standing::person_in_project,
};
use org::{
    access::{IdOrPath, locate_project},
    project::{actions::discard, store::ProjectStore as _},
};
use repo::{
    git::{Oid, RefName},
    push::{Push, PushSource, RefChange, land_apart},
    testing::Fixture,
};

use crate::support::{
    TestApp,
    ci::{commit, pipelines, run},
};

const TWO_STAGES: &str = "stages: [build, test]\nmake:\n  stage: build\n  script: make\nunit:\n  stage: test\n  script: test\n";

#[actix_web::test]
async fn a_commit_has_its_pipeline_when_it_is_answered() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);

    let sha = commit(&ada, project, "main", "first", TWO_STAGES).await;

    let made = &pipelines(&ada, project, "").await[0];
    assert_eq!((&made["sha"], &made["source"]), (&json!(sha), &json!("push")));
    assert_eq!((&made["status"], &made["ref"]), (&json!("pending"), &json!("main")));
    let jobs = ada.get(&format!("/projects/{project}/pipelines/{}/jobs", made["id"])).await;
    let jobs = jobs.ok();
    let of = |field: &str| -> Vec<Value> {
        jobs.as_array().unwrap().iter().map(|job| job[field].clone()).collect()
    };
    assert_eq!(of("name"), ["unit", "make"]);
    assert_eq!(of("status"), ["created", "pending"]);
    app.work().await;
    assert_eq!(pipelines(&ada, project, "").await.len(), 1, "it is made once");
}

#[actix_web::test]
async fn branches_and_tags_get_one_and_what_is_without_a_configuration_none() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let other = app.project(&ada, "notes", Private);
    commit(&ada, project, "main", "first", "unit: {script: test}").await;

    let tag = json!({ "tag_name": "v1", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/tags"), tag).await.created();
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let file = json!({ "branch": "main", "content": "x", "commit_message": "x" });
    ada.post(&format!("/projects/{other}/repository/files/a"), file).await.created();

    let refs: Vec<Value> =
        pipelines(&ada, project, "").await.iter().map(|one| one["ref"].clone()).collect();
    assert_eq!(refs, ["topic", "v1", "main"]);
    assert_eq!(pipelines(&ada, other, "").await, Vec::<Value>::new());
}

#[actix_web::test]
async fn a_broken_configuration_fails_and_a_message_may_skip() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);

    commit(&ada, project, "main", "broken", "unit: {script: x, foo: 1}").await;
    commit(&ada, project, "main", "words [skip ci]", "unit: {script: x}").await;
    commit(
        &ada,
        project,
        "main",
        "filtered",
        "workflow: {rules: [{when: never}]}\nunit: {script: x}",
    )
    .await;

    let made = pipelines(&ada, project, "").await;
    let statuses: Vec<&Value> = made.iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["skipped", "failed"]);
    let broken = &pipelines(&ada, project, "?yaml_errors=true").await[0];
    let whole = ada.get(&format!("/projects/{project}/pipelines/{}", broken["id"])).await.ok();
    assert_eq!(whole["yaml_errors"], "jobs:unit config contains unknown keys: foo");
}

#[actix_web::test]
async fn a_pipeline_is_made_for_whoever_asks() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "unit:\n  script: x\n  rules: [{if: '$LEVEL == \"2\"'}]\n";
    commit(&ada, project, "main", "first [skip ci]", text).await;
    let address = format!("/projects/{project}/pipeline");

    let body = json!({ "ref": "main", "variables": [{ "key": "LEVEL", "value": "2" }] });
    let made = ada.post(&address, body).await.created();

    assert_eq!((&made["source"], &made["status"]), (&json!("api"), &json!("pending")));
    assert_eq!(made["before_sha"], "0".repeat(40));
    let set = ada.get(&format!("/projects/{project}/pipelines/{}/variables", made["id"])).await;
    let shown = json!([{ "variable_type": "env_var", "key": "LEVEL", "value": "2", "raw": false }]);
    assert_eq!(set.ok(), shown);
    let base = |text: &str| json!({ "message": { "base": [text] } });
    let empty = base("No stages / jobs for this pipeline.");
    ada.post(&address, json!({ "ref": "main" })).await.refused(400, empty);
    let missing = base("Reference not found");
    ada.post(&address, json!({ "ref": "none" })).await.refused(400, missing);
    assert_eq!(pipelines(&ada, project, "?source=api").await.len(), 1);
}

#[actix_web::test]
async fn a_pipeline_needs_one_ref_and_a_configuration() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let address = format!("/projects/{project}/pipeline");
    let base = |text: &str| json!({ "message": { "base": [text] } });
    let ask = |name: &str| json!({ "ref": name });
    ada.post(&address, ask("main")).await.refused(400, base("Reference not found"));
    let file = json!({ "branch": "main", "content": "x", "commit_message": "x" });
    ada.post(&format!("/projects/{project}/repository/files/a"), file).await.created();
    ada.post(&address, ask("main")).await.refused(400, base("Missing CI config file"));
    commit(&ada, project, "main", "one [skip ci]", "unit: {script: x}").await;
    let tag = json!({ "tag_name": "main", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/tags"), tag).await.created();

    ada.post(&address, ask("main")).await.refused(400, base("Ref is ambiguous"));

    for (name, tag) in [("refs/heads/main", false), ("refs/tags/main", true)] {
        let made = ada.post(&address, ask(name)).await.created();
        assert_eq!((&made["ref"], &made["tag"]), (&json!("main"), &json!(tag)));
    }
}

#[actix_web::test]
async fn a_pipeline_needs_a_ref_that_leads_to_a_commit() {
    let app = TestApp::new();
    let fixture = Fixture::new();
    fixture.git(&["tag", "page", "main:README.md"]);
    fixture.git(&["tag", "topic", "main:README.md"]);
    let project = app.project_from(&fixture);
    let ada = app.person("ada");

    for name in ["page", "refs/tags/page", "topic"] {
        let told = json!({ "message": { "base": ["Commit not found"] } });
        let address = format!("/projects/{project}/pipeline");
        ada.post(&address, json!({ "ref": name })).await.refused(400, told);
        let lint = json!({ "content": "a: {script: x}", "dry_run": true, "ref": name });
        let lint = ada.post(&format!("/projects/{project}/ci/lint"), lint).await.ok();
        assert_eq!(lint["errors"], json!(["Commit not found"]));
    }
    assert_eq!(pipelines(&ada, project, "").await, Vec::<Value>::new());
}

#[actix_web::test]
async fn who_may_not_push_runs_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    commit(&ada, project, "main", "first [skip ci]", "unit: {script: x}").await;
    let rob = app.member(project, "rob", Reporter);
    let dan = app.member(project, "dan", Developer);
    let address = format!("/projects/{project}/pipeline");
    let body = json!({ "ref": "main" });

    rob.post(&address, body.clone()).await.refused(403, json!({ "message": "403 Forbidden" }));
    let text = "You do not have sufficient permission to run a pipeline on 'main'. Please select a different branch or contact your administrator for assistance.";
    let closed = json!({ "message": { "base": [text] } });
    dan.post(&address, body.clone()).await.refused(400, closed);
    ada.post(&address, body).await.created();
}

#[actix_web::test]
async fn a_newer_pipeline_of_a_branch_ends_an_older_one_that_may_be_interrupted() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "unit: {script: x, interruptible: true}\nkeep: {script: x}";
    let statuses = async || -> Vec<Value> {
        let made = pipelines(&ada, project, "").await;
        made.iter().map(|one| one["status"].clone()).collect()
    };
    commit(&ada, project, "main", "one", text).await;
    let next = |number: u8| format!("{text}\n# {number}");
    app.clock.advance(time::Duration::seconds(1));
    commit(&ada, project, "main", "two", &next(2)).await;
    assert_eq!(statuses().await, ["pending", "canceled"]);

    run(&app, &ada, project, "keep").await;
    app.clock.advance(time::Duration::seconds(1));
    commit(&ada, project, "main", "three", &next(3)).await;
    assert_eq!(statuses().await, ["pending", "running", "canceled"]);
}

#[actix_web::test]
async fn variables_of_the_project_decide_which_jobs_there_are() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let variables = format!("/projects/{project}/variables");
    ada.post(&variables, json!({ "key": "LEVEL", "value": "2" })).await.created();
    let hidden = json!({ "key": "SAFE", "value": "1", "protected": true });
    ada.post(&variables, hidden).await.created();

    let text = "a: {script: x, rules: [{if: $LEVEL}]}\nb: {script: x, rules: [{if: $SAFE}]}\nc: {script: x}";
    commit(&ada, project, "main", "first", text).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();

    let names = async |id: &Value| {
        ada.get(&format!("/projects/{project}/pipelines/{id}/jobs")).await.each("name")
    };
    let made = pipelines(&ada, project, "").await;
    assert_eq!(names(&made[1]["id"]).await, ["c", "b", "a"]);
    assert_eq!(names(&made[0]["id"]).await, ["c", "a"], "the branch is not protected");
}

#[actix_web::test]
async fn a_push_that_needs_nothing_leaves_no_work() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let off = json!({ "builds_access_level": "disabled" });
    ada.put(&format!("/projects/{project}"), off).await.ok();

    commit(&ada, project, "main", "first", TWO_STAGES).await;

    let promised = || app.queued().iter().any(|payload| payload.contains("pushed_at"));
    for _ in 0..100 {
        if !promised() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("it is still to be done");
}

#[actix_web::test]
async fn the_first_four_refs_of_a_push_have_one_also_where_a_ref_is_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let at: Oid =
        commit(&ada, project, "main", "first [skip ci]", "x: {script: x}").await.parse().unwrap();
    let sha = commit(&ada, project, "main", "second", "y: {script: x}").await;
    let new: Oid = sha.parse().unwrap();
    let actor = app.user("ada").actor();
    let located = app.write(move |tx| locate_project(tx, actor, &IdOrPath::Id(project.0)));
    let change = |name: &str| {
        let name = RefName::branch(name).unwrap();
        RefChange::plain(name, None, Some(new))
    };
    let mut changes: Vec<RefChange> = ["a", "b", "c", "d", "e", "f", "g"].map(change).into();
    changes[2] = RefChange { old: Some(at), ..changes[2].clone() };

    let push = Push::new(located.0.0, located.1, PushSource::Git, changes);
    let parts = land_apart(app.state.writer(), &push, false).await;

    assert_eq!((parts.accepted.len(), parts.refused.len()), (6, 1));
    app.work().await;
    let made = pipelines(&ada, project, "").await;
    let refs: Vec<&Value> = made.iter().map(|one| &one["ref"]).collect();
    assert_eq!(refs, ["e", "d", "b", "a", "main", "main"]);
}

#[actix_web::test]
async fn a_configuration_knows_the_number_of_its_pipeline() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "all: {script: x}\n\
        second:\n  script: x\n  environment: review/$CI_PIPELINE_IID\n  rules: [{if: '$CI_PIPELINE_IID == \"2\"'}]\n";

    for message in ["first", "second", "third"] {
        commit(&ada, project, "main", message, &format!("{text}# {message}\n")).await;
    }

    let made: Vec<Value> =
        pipelines(&ada, project, "").await.iter().map(|one| one["iid"].clone()).collect();
    assert_eq!(made, [3, 2, 1]);
    let jobs = ada.get(&format!("/projects/{project}/jobs")).await;
    assert_eq!(jobs.each("name"), ["all", "second", "all", "all"]);
    let environments = ada.get(&format!("/projects/{project}/environments")).await;
    assert_eq!(environments.each("name"), ["review/2"]);
}

#[actix_web::test]
async fn a_number_that_was_reserved_for_nothing_leaves_a_gap() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "never: {script: $CI_PIPELINE_IID, rules: [{if: $NO}]}\n";

    commit(&ada, project, "main", "nothing", text).await;
    commit(&ada, project, "main", "something", &format!("{text}unit: {{script: x}}")).await;

    assert_eq!(pipelines(&ada, project, "").await[0]["iid"], 2);
}

#[actix_web::test]
async fn a_tag_runs_whatever_the_message_of_its_commit_says() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", "unit: {script: x}").await;

    let tag = json!({ "tag_name": "v1", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/tags"), tag).await.created();

    assert_eq!(pipelines(&ada, project, "?ref=v1").await[0]["status"], "pending");
}

#[actix_web::test]
async fn a_project_that_was_deleted_meanwhile_gets_no_pipeline() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", "unit: {script: x}").await;
    let user = app.user("ada").id;
    let person = app.write(move |tx| person_in_project(tx, user, &IdOrPath::Id(project.0)));
    let person = person.expect("the owner");
    app.write(move |tx| {
        let found = tx.project(project)?;
        discard(tx, &found)
    });

    let made = make(
        &app.state.forge,
        Request {
            facts: person.facts,
            who: person.who,
            source: Source::Api,
            ref_name: "main".to_owned(),
            variables: Vec::new(),
            schedule: None,
            schedule_run: None,
            trigger: None,
            parent: None,
        },
    );

    let refused = made.await.expect_err("no pipeline");
    assert!(format!("{refused:?}").contains("Project is deleted!"), "{refused:?}");
}
