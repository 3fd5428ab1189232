//! Jobs that make another pipeline.

use ci::{
    job::{End, progress},
    resource_group::actions::free_stuck,
};
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

const CHILD: &str = "include: [{local: child.yml}]";

async fn with_child(person: &Person<'_>, project: ProjectId, child: &str) {
    let file = json!({ "branch": "main", "commit_message": "child [skip ci]", "content": child });
    let path = format!("/projects/{project}/repository/files/child.yml");
    person.post(&path, file).await.created();
}

/// The only bridge of the newest pipeline that somebody pushed.
async fn bridge(person: &Person<'_>, project: ProjectId) -> Value {
    let id = pipelines(person, project, "?source=push").await[0]["id"].clone();
    let address = format!("/projects/{project}/pipelines/{id}/bridges");
    person.get(&address).await.ok()[0].clone()
}

#[actix_web::test]
async fn a_child_pipeline_is_made_and_followed_where_that_is_wanted() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    with_child(&ada, project, "unit: {script: x}").await;
    let text = format!(
        "down: {{trigger: {{{CHILD}, strategy: depend}}}}\nlast: {{stage: deploy, script: x}}"
    );
    commit(&ada, project, "main", "first", &text).await;
    app.work().await;

    let made = bridge(&ada, project).await;
    assert_eq!((&made["name"], &made["status"]), (&json!("down"), &json!("pending")));
    let child = &made["downstream_pipeline"];
    assert_eq!(
        (&child["source"], &child["status"]),
        (&json!("parent_pipeline"), &json!("pending"))
    );
    assert_eq!(
        pipelines(&ada, project, "").await.len(),
        2,
        "with the skipped one, without the child"
    );
    assert_eq!(pipelines(&ada, project, "?source=parent_pipeline").await[0]["id"], child["id"]);

    run(&app, &ada, project, "unit").await;
    assert_eq!(bridge(&ada, project).await["status"], "running");
    finish(&app, &ada, project, "unit", End::failed("script_failure")).await;
    let ended = bridge(&ada, project).await;
    assert_eq!(
        (&ended["status"], &ended["failure_reason"]),
        (&json!("failed"), &json!("unknown_failure"))
    );
    let retry = format!("/projects/{project}/pipelines/{}/retry", child["id"]);
    ada.post(&retry, json!({})).await.created();
    assert_eq!(bridge(&ada, project).await["status"], "pending");
    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::Success).await;
    assert_eq!(bridge(&ada, project).await["status"], "success");
}

#[actix_web::test]
async fn a_bridge_mirrors_a_child_that_waits_for_somebody_or_is_skipped() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for (name, may_fail, first) in [("engine", false, "manual"), ("other", true, "skipped")] {
        let project = app.project(&ada, name, Private);
        let child = format!("unit: {{script: x, when: manual, allow_failure: {may_fail}}}");
        with_child(&ada, project, &child).await;
        let text = format!("down: {{trigger: {{{CHILD}, strategy: mirror}}}}");
        commit(&ada, project, "main", "first", &text).await;
        app.work().await;
        let status = async || bridge(&ada, project).await["status"].clone();
        assert_eq!(status().await, first);

        let unit = job(&ada, project, "unit").await["id"].clone();
        ada.post(&format!("/projects/{project}/jobs/{unit}/play"), json!({})).await.ok();
        app.work().await;
        assert_eq!(status().await, "pending");
        run(&app, &ada, project, "unit").await;
        assert_eq!(status().await, "running");
        finish(&app, &ada, project, "unit", End::Success).await;
        assert_eq!(status().await, "success");
    }
}

#[actix_web::test]
async fn a_child_is_not_the_pipeline_of_its_commit() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    with_child(&ada, project, "unit: {script: x}").await;
    let text = format!("down: {{trigger: {{{CHILD}}}}}\nown: {{script: x}}");
    let sha = commit(&ada, project, "main", "first", &text).await;
    app.work().await;
    let own = pipelines(&ada, project, "?source=push").await[0]["id"].clone();
    assert_eq!(pipelines(&ada, project, "?source=parent_pipeline").await.len(), 1);

    let latest = ada.get(&format!("/projects/{project}/pipelines/latest")).await.ok();
    assert_eq!(latest["id"], own);
    let path = format!("/projects/{project}/repository/commits/{sha}");
    assert_eq!(ada.get(&path).await.ok()["last_pipeline"]["id"], own);
    let status = json!({ "state": "success", "name": "outside" });
    ada.post(&format!("/projects/{project}/statuses/{sha}"), status).await.created();
    let of_commit = ada.get(&format!("{path}/statuses?name=outside")).await.ok();
    assert_eq!(of_commit[0]["pipeline_id"], own);
}

#[actix_web::test]
async fn a_pipeline_of_another_project_gets_what_the_bridge_says() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (engine, other) =
        (app.project(&ada, "engine", Private), app.project(&ada, "other", Private));
    commit(&ada, other, "main", "first [skip ci]", "unit: {script: x, rules: [{if: $TO}]}").await;

    let text = "down: {variables: {TO: prod}, trigger: ada/other}";
    commit(&ada, engine, "main", "first", text).await;
    app.work().await;

    let made = bridge(&ada, engine).await;
    assert_eq!(made["status"], "success");
    let there = &pipelines(&ada, other, "?source=pipeline").await[0];
    assert_eq!(made["downstream_pipeline"]["id"], there["id"]);
    let set = ada.get(&format!("/projects/{other}/pipelines/{}/variables", there["id"])).await.ok();
    assert_eq!((&set[0]["key"], &set[0]["value"]), (&json!("TO"), &json!("prod")));
}

#[actix_web::test]
async fn what_a_bridge_made_elsewhere_is_told_to_those_who_may_read_it_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (engine, other) = (app.project(&ada, "engine", Public), app.project(&ada, "other", Public));
    commit(&ada, other, "main", "first [skip ci]", "unit: {script: x}").await;
    commit(&ada, engine, "main", "first", "down: {trigger: ada/other}").await;
    app.work().await;
    let stranger = app.person("stranger");
    assert!(bridge(&stranger, engine).await["downstream_pipeline"].is_object());

    let hidden = json!({ "public_builds": false });
    ada.put(&format!("/projects/{other}"), hidden).await.ok();

    assert_eq!(bridge(&stranger, engine).await["downstream_pipeline"], json!(null));
    assert!(bridge(&ada, engine).await["downstream_pipeline"].is_object());
    let reporter = app.member(other, "rob", Reporter);
    assert!(bridge(&reporter, engine).await["downstream_pipeline"].is_object());
}

#[actix_web::test]
async fn a_bridge_says_why_its_pipeline_is_not_made() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    app.project(&ada, "empty", Private);
    let reason = async |text: &str| {
        commit(&ada, project, "main", "next", text).await;
        app.work().await;
        bridge(&ada, project).await["failure_reason"].clone()
    };

    assert_eq!(reason("a: {trigger: ada/none}").await, "downstream_bridge_project_not_found");
    assert_eq!(reason("a: {trigger: ada/engine}").await, "invalid_bridge_trigger");
    assert_eq!(reason("a: {trigger: ada/empty}").await, "downstream_pipeline_creation_failed");
}

#[actix_web::test]
async fn a_bridge_into_a_branch_that_is_protected_from_its_person_says_so() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (engine, other) =
        (app.project(&ada, "engine", Private), app.project(&ada, "other", Private));
    commit(&ada, other, "main", "first [skip ci]", "unit: {script: x}").await;
    commit(&ada, engine, "main", "first [skip ci]", "down: {trigger: ada/other}").await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{engine}/repository/branches"), branch).await.created();
    app.member(other, "dan", Developer);
    let dan = app.member(engine, "dan", Developer);
    let outcome = async |message: &str| {
        let text = format!("down: {{trigger: ada/other}}\n# {message}");
        commit(&dan, engine, "topic", message, &text).await;
        app.work().await;
        let made = bridge(&dan, engine).await;
        (made["status"].clone(), made["failure_reason"].clone())
    };

    let refused = (json!("failed"), json!("insufficient_bridge_permissions"));
    assert_eq!(outcome("protected").await, refused);
    ada.delete(&format!("/projects/{other}/protected_branches/main")).await.with(204);
    assert_eq!(outcome("open").await, (json!("success"), json!(null)));
}

#[actix_web::test]
async fn children_are_made_two_deep() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let again = format!("down: {{trigger: {{{CHILD}}}}}");
    with_child(&ada, project, &again).await;
    commit(&ada, project, "main", "first", &again).await;
    app.work().await;

    let children = pipelines(&ada, project, "?source=parent_pipeline").await;
    assert_eq!(children.len(), 2);
    let last = format!("/projects/{project}/pipelines/{}/bridges", children[0]["id"]);
    let bridges = ada.get(&last).await.ok();
    assert_eq!(bridges[0]["failure_reason"], "reached_max_descendant_pipelines_depth");
}

/// A child that is followed, in a resource group with the job `after`.
fn in_group(strategy: &str) -> String {
    let group = "resource_group: one";
    format!(
        "down: {{{group}, trigger: {{{CHILD}, strategy: {strategy}}}}}\nafter: {{{group}, script: x}}"
    )
}

#[actix_web::test]
async fn a_bridge_gives_its_resource_back_and_waits_for_it_again() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    with_child(&ada, project, "unit: {script: x}").await;
    commit(&ada, project, "main", "first", &in_group("depend")).await;
    app.work().await;
    let after = async || job(&ada, project, "after").await["status"].clone();
    assert_eq!(after().await, "waiting_for_resource");

    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::failed("script_failure")).await;
    assert_eq!(
        (&bridge(&ada, project).await["status"], after().await),
        (&json!("failed"), json!("pending"))
    );

    let child = bridge(&ada, project).await["downstream_pipeline"]["id"].clone();
    ada.post(&format!("/projects/{project}/pipelines/{child}/retry"), json!({})).await.created();
    assert_eq!(bridge(&ada, project).await["status"], "waiting_for_resource");
    run(&app, &ada, project, "after").await;
    finish(&app, &ada, project, "after", End::Success).await;
    assert_eq!(bridge(&ada, project).await["status"], "pending");
}

/// A project whose bridge has the resource for which `after` waits, and waits for somebody as its child does.
async fn waiting_with_resource(app: &TestApp, ada: &Person<'_>, text: &str) -> ProjectId {
    let project = app.project(ada, "engine", Private);
    with_child(ada, project, "unit: {script: x, when: manual, allow_failure: false}").await;
    commit(ada, project, "main", "first", text).await;
    app.work().await;
    assert_eq!(bridge(ada, project).await["status"], "manual");
    project
}

#[actix_web::test]
async fn a_bridge_whose_waiting_child_is_deleted_ends_and_gives_its_resource_back() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = waiting_with_resource(&app, &ada, &in_group("mirror")).await;
    assert_eq!(job(&ada, project, "after").await["status"], "waiting_for_resource");
    let made = bridge(&ada, project).await;
    let child = &made["downstream_pipeline"]["id"];

    ada.delete(&format!("/projects/{project}/pipelines/{child}")).await.with(204);

    assert_eq!(bridge(&ada, project).await["status"], "canceled");
    assert_eq!(job(&ada, project, "after").await["status"], "pending");
    let again = format!("/projects/{project}/jobs/{}/retry", made["id"]);
    ada.post(&again, json!({})).await.created();
}

#[actix_web::test]
async fn a_bridge_ends_when_the_project_of_its_pipeline_goes() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (down, up) = (app.project(&ada, "down", Private), app.project(&ada, "up", Private));
    let child = "unit: {script: x, when: manual, allow_failure: false}";
    commit(&ada, down, "main", "child [skip ci]", child).await;
    let text = "down: {resource_group: one, trigger: {project: ada/down, strategy: mirror}}";
    commit(&ada, up, "main", "first", text).await;
    app.work().await;
    assert_eq!(bridge(&ada, up).await["status"], "manual");

    ada.delete(&format!("/projects/{down}")).await.with(202);
    app.work().await;

    assert_eq!(bridge(&ada, up).await["status"], "canceled");
    let holder = format!("/projects/{up}/resource_groups/one/current_job");
    assert_eq!(ada.get(&holder).await.ok(), json!(null));
}

#[actix_web::test]
async fn a_bridge_that_waits_for_somebody_is_canceled_with_its_pipeline() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = waiting_with_resource(&app, &ada, &in_group("mirror")).await;
    let holder = format!("/projects/{project}/resource_groups/one/current_job");
    assert_eq!(ada.get(&holder).await.ok()["name"], "down");
    let own = bridge(&ada, project).await["pipeline"]["id"].clone();
    let own = format!("/projects/{project}/pipelines/{own}");

    ada.post(&format!("{own}/cancel"), json!({})).await.ok();

    assert_eq!(bridge(&ada, project).await["status"], "canceled");
    assert_eq!(ada.get(&own).await.ok()["status"], "canceled");
    assert_eq!(ada.get(&holder).await.ok(), json!(null));
}

#[actix_web::test]
async fn a_bridge_that_is_deleted_while_it_waits_for_somebody_lets_the_next_one_begin() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let text = format!("down: {{resource_group: one, trigger: {{{CHILD}, strategy: mirror}}}}");
    let project = waiting_with_resource(&app, &ada, &text).await;
    let first = bridge(&ada, project).await["pipeline"]["id"].clone();
    commit(&ada, project, "main", "second", &format!("{text}\n# 2")).await;
    assert_eq!(bridge(&ada, project).await["status"], "waiting_for_resource");

    ada.delete(&format!("/projects/{project}/pipelines/{first}")).await.with(204);

    assert_eq!(bridge(&ada, project).await["status"], "pending");
    app.work().await;
    assert_eq!(bridge(&ada, project).await["status"], "manual");
}

#[actix_web::test]
async fn a_bridge_that_waits_for_somebody_keeps_its_resource_while_its_child_is_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = waiting_with_resource(&app, &ada, &in_group("mirror")).await;
    let after = async || job(&ada, project, "after").await["status"].clone();
    app.write(|tx| free_stuck(tx, 100));
    assert_eq!(after().await, "waiting_for_resource");

    app.write(|tx| {
        use db::schema::pipelines;
        use diesel::prelude::*;
        let lost = diesel::update(pipelines::table).set(pipelines::parent_job_id.eq(None::<i64>));
        db::each_backend!(tx, |conn| lost.execute(conn).map_err(db::error("Pipeline")))?;
        free_stuck(tx, 100)
    });

    assert_eq!(after().await, "pending");
}

#[actix_web::test]
async fn a_bridge_that_gets_its_resource_later_makes_its_pipeline_then() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    with_child(&ada, project, "unit: {script: x}").await;
    let group = "resource_group: one";
    let text = format!("first: {{{group}, script: x}}\ndown: {{{group}, trigger: {{{CHILD}}}}}");
    commit(&ada, project, "main", "first", &text).await;
    assert_eq!(bridge(&ada, project).await["status"], "waiting_for_resource");

    run(&app, &ada, project, "first").await;
    finish(&app, &ada, project, "first", End::Success).await;
    app.work().await;

    assert_eq!(bridge(&ada, project).await["status"], "success");
    assert_eq!(pipelines(&ada, project, "?source=parent_pipeline").await.len(), 1);
}

#[actix_web::test]
async fn a_bridge_fails_with_the_configuration_of_its_pipeline() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    with_child(&ada, project, "unit: {script: x, foo: 1}").await;
    for strategy in ["", ", strategy: depend"] {
        let text = format!("down: {{trigger: {{{CHILD}{strategy}}}}}");
        commit(&ada, project, "main", "next", &text).await;
        app.work().await;

        let made = bridge(&ada, project).await;
        let reason = json!("downstream_pipeline_creation_failed");
        assert_eq!((&made["status"], &made["failure_reason"]), (&json!("failed"), &reason));
        assert_eq!(made["downstream_pipeline"]["status"], "failed");
    }
}

#[actix_web::test]
async fn what_is_passed_down_is_written_out_with_all_variables() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (engine, other) =
        (app.project(&ada, "engine", Private), app.project(&ada, "other", Private));
    commit(&ada, other, "main", "first [skip ci]", "unit: {script: x}").await;
    let variable = json!({ "key": "LEVEL", "value": "2" });
    ada.post(&format!("/projects/{engine}/variables"), variable).await.created();

    let text = "down: {variables: {FROM: $CI_PROJECT_PATH-$LEVEL, RAW: {value: $LEVEL, expand: false}}, \
                trigger: $CI_PROJECT_NAMESPACE/other}";
    commit(&ada, engine, "main", "first", text).await;
    app.work().await;

    let there = &pipelines(&ada, other, "?source=pipeline").await[0];
    let set = ada.get(&format!("/projects/{other}/pipelines/{}/variables", there["id"])).await;
    assert_eq!(set.each("value"), ["ada/engine-2", "$LEVEL"]);
}

#[actix_web::test]
async fn a_bridge_whose_pipeline_is_gone_or_never_came_fails_in_time() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    with_child(&ada, project, "unit: {script: x}").await;
    commit(&ada, project, "main", "first", &format!("down: {{trigger: {{{CHILD}}}}}")).await;

    app.clock.advance(time::Duration::hours(2));
    app.write(|tx| {
        let stale = progress::stale(tx, 100)?;
        progress::drop_stale(tx, &stale, None)
    });

    let reason = bridge(&ada, project).await["failure_reason"].clone();
    assert_eq!(reason, "downstream_pipeline_creation_failed");
}

#[actix_web::test]
async fn a_child_is_compared_with_what_its_branch_was_before() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let rules = |paths: &str| format!("{{script: x, rules: [{{changes: [{paths}]}}]}}");
    let child = format!("code: {}\ntexts: {}", rules("src/*"), rules("docs/*"));
    with_child(&ada, project, &child).await;
    commit(&ada, project, "main", "first", &format!("down: {{trigger: {{{CHILD}}}}}")).await;

    let file = json!({ "branch": "main", "commit_message": "code", "content": "x" });
    let path = format!("/projects/{project}/repository/files/src%2Fengine.rs");
    ada.post(&path, file).await.created();
    app.work().await;

    let made = bridge(&ada, project).await["downstream_pipeline"]["id"].clone();
    let jobs = ada.get(&format!("/projects/{project}/pipelines/{made}/jobs")).await;
    assert_eq!(jobs.each("name"), ["code"]);
}

#[actix_web::test]
async fn a_bridge_with_an_environment_passes_down_what_is_known_there() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (engine, other) =
        (app.project(&ada, "engine", Private), app.project(&ada, "other", Private));
    commit(&ada, other, "main", "first [skip ci]", "unit: {script: x}").await;
    for (scope, value) in [("*", "1"), ("prod/*", "2")] {
        let variable = json!({ "key": "LEVEL", "value": value, "environment_scope": scope });
        ada.post(&format!("/projects/{engine}/variables"), variable).await.created();
    }

    let told = "$LEVEL $CI_ENVIRONMENT_NAME $CI_ENVIRONMENT_TIER $CI_NODE_TOTAL $CI_JOB_NAME_SLUG \
                $CI_PIPELINE_CREATED_AT";
    let text = format!(
        "down it: {{environment: prod/eu, variables: {{TOLD: {told}}}, trigger: ada/other}}"
    );
    commit(&ada, engine, "main", "first", &text).await;
    app.work().await;

    let own = pipelines(&ada, engine, "").await[0]["created_at"].clone();
    let created = own.as_str().expect("a time").split('.').next().expect("seconds").to_owned();
    let there = &pipelines(&ada, other, "?source=pipeline").await[0];
    let set = ada.get(&format!("/projects/{other}/pipelines/{}/variables", there["id"])).await;
    assert_eq!(set.each("value"), [format!("2 prod/eu production 1 down-it {created}Z")]);
}
