//! Jobs of which only one runs at a time.

use ci::job::End;
use kernel::{AccessLevel::Reporter, Visibility::Private};
use serde_json::json;

use crate::support::{
    TestApp,
    ci::{commit, finish, job, run},
};

const TEXT: &str = "one: {script: x, resource_group: prod/eu}\ntwo: {script: x, resource_group: prod/eu}\nfree: {script: x}\n";

#[actix_web::test]
async fn one_job_of_a_group_runs_at_a_time() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", TEXT).await;
    let status = async |name: &str| job(&ada, project, name).await["status"].clone();

    assert_eq!([status("one").await, status("two").await], ["pending", "waiting_for_resource"]);
    assert_eq!(status("free").await, "pending");
    let group = format!("/projects/{project}/resource_groups/prod%2Feu");
    let waiting = ada.get(&format!("{group}/upcoming_jobs")).await.each("name");
    assert_eq!(waiting, ["two"]);
    run(&app, &ada, project, "one").await;
    finish(&app, &ada, project, "one", End::failed("script_failure")).await;

    assert_eq!(status("two").await, "pending");
    assert_eq!(ada.get(&format!("{group}/upcoming_jobs")).await.ok(), json!([]));
}

#[actix_web::test]
async fn the_job_that_has_a_group_is_shown() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", TEXT).await;
    let groups = format!("/projects/{project}/resource_groups");
    let path = format!("{groups}/prod%2Feu/current_job");
    let current = async || ada.get(&path).await.ok();

    for name in ["one", "two"] {
        assert_eq!(current().await["id"], job(&ada, project, name).await["id"], "{name}");
        run(&app, &ada, project, name).await;
        finish(&app, &ada, project, name, End::Success).await;
    }
    assert_eq!(current().await, json!(null));
    let missing = json!({ "message": "404 Not found" });
    ada.get(&format!("{groups}/none/current_job")).await.refused(404, missing);
    let rob = app.member(project, "rob", Reporter);
    assert_eq!(rob.get(&path).await.status, 403);
}

#[actix_web::test]
async fn the_order_of_a_group_is_shown_and_changed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", TEXT).await;
    let list = format!("/projects/{project}/resource_groups");

    let groups = ada.get(&list).await.ok();
    assert_eq!(
        (&groups[0]["key"], &groups[0]["process_mode"]),
        (&json!("prod/eu"), &json!("unordered"))
    );
    let one = format!("{list}/prod%2Feu");
    let set = ada.put(&one, json!({ "process_mode": "oldest_first" })).await.ok();
    assert_eq!(set["process_mode"], "oldest_first");
    assert_eq!(ada.get(&one).await.ok(), set);
    let set = ada.put(&one, json!({ "process_mode": "newest_ready_first" })).await.ok();
    assert_eq!(set["process_mode"], "newest_ready_first");
    let unknown = json!({ "error": "process_mode does not have a valid value" });
    ada.put(&one, json!({ "process_mode": "any" })).await.refused(400, unknown);
    ada.get(&format!("{list}/none")).await.refused(404, json!({ "message": "404 Not found" }));
    let rob = app.member(project, "rob", Reporter);
    assert_eq!(rob.get(&list).await.status, 403);
    ada.post(&format!("/projects/{project}/archive"), json!({})).await.created();
    assert_eq!(ada.put(&one, json!({ "process_mode": "newest_first" })).await.status, 403);
    assert_eq!(ada.get(&one).await.ok(), set);
}

#[actix_web::test]
async fn a_deleted_pipeline_gives_back_what_it_held() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    ada.put(
        &format!("/projects/{project}"),
        json!({ "auto_cancel_pending_pipelines": "disabled" }),
    )
    .await
    .ok();
    let text = "one: {script: x, resource_group: prod}";
    commit(&ada, project, "main", "first", text).await;
    let held = job(&ada, project, "one").await["pipeline"]["id"].clone();
    commit(&ada, project, "main", "second", &format!("{text}\n# 2")).await;
    assert_eq!(job(&ada, project, "one").await["status"], "waiting_for_resource");

    ada.delete(&format!("/projects/{project}/pipelines/{held}")).await.with(204);

    assert_eq!(job(&ada, project, "one").await["status"], "pending");
}

#[actix_web::test]
async fn a_group_whose_holder_is_gone_is_handed_on_in_time() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", TEXT).await;
    app.write(|tx| {
        use db::schema::resource_groups as groups;
        use diesel::prelude::*;
        let lost = diesel::update(groups::table).set(groups::holder_id.eq(Some(0_i64)));
        db::each_backend!(tx, |conn| lost.execute(conn).map_err(db::error("Group")))
    });

    app.write(|tx| ci::resource_group::actions::free_stuck(tx, 100));

    assert_eq!(job(&ada, project, "two").await["status"], "pending");
}

#[actix_web::test]
async fn who_is_skipped_lets_later_ones_of_an_ordered_group_come_first() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    ada.put(
        &format!("/projects/{project}"),
        json!({ "auto_cancel_pending_pipelines": "disabled" }),
    )
    .await
    .ok();
    let text =
        "make: {script: x, stage: build}\nship: {script: x, stage: deploy, resource_group: prod}";
    commit(&ada, project, "main", "first", text).await;
    let set = json!({ "process_mode": "oldest_first" });
    ada.put(&format!("/projects/{project}/resource_groups/prod"), set).await.ok();
    let older = job(&ada, project, "make").await["id"].as_i64().unwrap();
    commit(&ada, project, "main", "second", &format!("{text}\n# 2")).await;
    run(&app, &ada, project, "make").await;
    finish(&app, &ada, project, "make", End::Success).await;
    assert_eq!(job(&ada, project, "ship").await["status"], "waiting_for_resource");

    let failed = End::failed("script_failure");
    app.write(move |tx| {
        ci::job::progress::run(tx, kernel::ids::JobId(older), None)?;
        ci::job::progress::finish(tx, kernel::ids::JobId(older), failed)
    });

    assert_eq!(job(&ada, project, "ship").await["status"], "pending");
}
