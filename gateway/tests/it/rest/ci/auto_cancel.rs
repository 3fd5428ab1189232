//! A newer pipeline of a branch ends older ones.

use ci::job::End;
use forge::pipeline::{CancelOutdatedPipelines, MakeForPush};
use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};
use worker::Queue as _;

use crate::support::{
    Person, TestApp,
    ci::{commit, finish, job, pipelines, run},
};

const TEXT: &str = "unit: {script: x, interruptible: true}\n";

/// A commit with a configuration that differs from all before, a second later.
async fn push(app: &TestApp, person: &Person<'_>, project: ProjectId, text: &str) {
    app.clock.advance(time::Duration::seconds(1));
    let message = format!("at {:?}", app.clock.now());
    commit(person, project, "main", &message, &format!("{text}\n# {message}")).await;
}

async fn statuses(person: &Person<'_>, project: ProjectId, query: &str) -> Vec<Value> {
    let made = pipelines(person, project, query).await;
    made.iter().map(|one| one["status"].clone()).collect()
}

#[actix_web::test]
async fn what_others_report_keeps_no_pipeline_alive() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    push(&app, &ada, project, TEXT).await;
    let sha = pipelines(&ada, project, "").await[0]["sha"].clone();
    let report = format!("/projects/{project}/statuses/{}", sha.as_str().unwrap());
    ada.post(&report, json!({ "state": "success", "name": "lint" })).await.created();

    push(&app, &ada, project, TEXT).await;

    assert_eq!(statuses(&ada, project, "").await, ["pending", "canceled"]);
}

#[actix_web::test]
async fn children_are_judged_by_themselves_and_go_by_their_root() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let child = "quick: {script: x, interruptible: true}\nkeep: {script: x}";
    let file = json!({ "branch": "main", "commit_message": "[skip ci]", "content": child });
    ada.post(&format!("/projects/{project}/repository/files/child.yml"), file).await.created();
    let text = "down: {trigger: {include: [{local: child.yml}]}}";
    push(&app, &ada, project, text).await;
    app.work().await;
    run(&app, &ada, project, "keep").await;
    push(&app, &ada, project, text).await;
    app.work().await;
    push(&app, &ada, project, text).await;
    app.work().await;

    let children = statuses(&ada, project, "?source=parent_pipeline").await;
    assert_eq!(children, ["pending", "canceled", "running"]);
}

#[actix_web::test]
async fn only_what_may_be_interrupted_ends_where_the_configuration_says_so() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = format!(
        "workflow: {{auto_cancel: {{on_new_commit: interruptible}}}}\n{TEXT}keep: {{script: x}}"
    );
    push(&app, &ada, project, &text).await;
    let first = pipelines(&ada, project, "").await[0]["id"].clone();

    push(&app, &ada, project, &text).await;

    let jobs = ada.get(&format!("/projects/{project}/pipelines/{first}/jobs")).await;
    let mut jobs: Vec<Value> = jobs.each("status");
    jobs.sort_by_key(ToString::to_string);
    assert_eq!(jobs, ["canceled", "pending"]);
    let by = pipelines(&ada, project, "").await[0]["id"].clone();
    let id = kernel::ids::PipelineId(by.as_i64().unwrap());
    let more = app.write(move |tx| {
        let by = ci::pipeline::PipelineStore::hold_pipeline(tx, id)?;
        ci::pipeline::PipelineStore::outdated_pipelines(tx, &by, None, 10)
    });
    assert!(more.is_empty(), "it is not found again each time");
}

#[actix_web::test]
async fn a_late_pipeline_of_an_older_commit_leaves_that_of_the_branch_head_alone() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    push(&app, &ada, project, TEXT).await;
    let first = pipelines(&ada, project, "").await[0]["sha"].clone();
    push(&app, &ada, project, TEXT).await;
    app.clock.advance(time::Duration::seconds(1));
    let now = app.write(|tx| Ok(tx.now.0));
    let user = app.user("ada").id;
    let late = json!({ "project": project, "name": "refs/heads/main", "before": null,
                       "after": first, "user": user, "pushed_at": now });
    let late: MakeForPush = serde_json::from_value(late).unwrap();

    app.write(move |tx| tx.enqueue(&late));
    app.work().await;
    assert_eq!(statuses(&ada, project, "").await, ["pending", "pending", "canceled"]);

    let id = pipelines(&ada, project, "").await[0]["id"].clone();
    app.write(move |tx| {
        let rest: CancelOutdatedPipelines =
            serde_json::from_value(json!({ "pipeline": id })).unwrap();
        tx.enqueue(&rest)
    });
    app.work().await;
    assert_eq!(statuses(&ada, project, "").await, ["pending", "pending", "canceled"]);
}

#[actix_web::test]
async fn more_than_a_few_older_ones_end_in_the_background() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let own = format!("/projects/{project}");
    ada.put(&own, json!({ "auto_cancel_pending_pipelines": "disabled" })).await.ok();
    for _ in 0..12 {
        push(&app, &ada, project, TEXT).await;
    }
    ada.put(&own, json!({ "auto_cancel_pending_pipelines": "enabled" })).await.ok();

    push(&app, &ada, project, TEXT).await;
    let canceled = async || {
        let all = statuses(&ada, project, "?per_page=50").await;
        all.iter().filter(|status| **status == "canceled").count()
    };
    assert_eq!(canceled().await, 10);
    app.work().await;
    assert_eq!(canceled().await, 12);
    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::Success).await;
}

#[actix_web::test]
async fn a_failure_ends_the_rest_where_the_configuration_says_so() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "workflow: {auto_cancel: {on_job_failure: all}}\n\
                may: {script: x, allow_failure: true}\nagain: {script: x, retry: 1}\n\
                one: {script: x}\ntwo: {script: x}\nship: {stage: deploy, script: x}\n";
    push(&app, &ada, project, text).await;
    let status = async |name: &str| job(&ada, project, name).await["status"].clone();
    run(&app, &ada, project, "one").await;
    for harmless in ["may", "again"] {
        run(&app, &ada, project, harmless).await;
        finish(&app, &ada, project, harmless, End::failed("script_failure")).await;
    }
    assert_eq!((status("one").await, status("again").await), (json!("running"), json!("pending")));

    run(&app, &ada, project, "two").await;
    finish(&app, &ada, project, "two", End::failed("script_failure")).await;

    for name in ["one", "again", "ship"] {
        assert_eq!(status(name).await, "canceled", "{name}");
    }
    assert_eq!(statuses(&ada, project, "").await, ["failed"]);
}
