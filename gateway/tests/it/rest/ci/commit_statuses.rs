//! How far checks of a commit are that run elsewhere.

use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
    ids::ProjectId,
};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

fn forge() -> (TestApp, ProjectId) {
    let app = TestApp::new();
    let project = app.project_from(&Fixture::new());
    (app, project)
}

fn statuses(project: ProjectId, sha: &str) -> String {
    format!("/projects/{project}/statuses/{sha}")
}

async fn report(person: &Person<'_>, project: ProjectId, body: Value) -> Value {
    person.post(&statuses(project, "main"), body).await.created()
}

#[actix_web::test]
async fn a_check_goes_on_in_one_record_and_its_pipeline_follows() {
    let (app, project) = forge();
    let ada = app.person("ada");
    app.announced();

    let first = json!({ "state": "pending", "name": "build", "target_url": "https://ci.test/1" });
    let made = report(&ada, project, first).await;
    let running = json!({ "state": "running", "context": "build", "description": "Half", "coverage": "51.5" });
    report(&ada, project, running).await;
    let done = report(&ada, project, json!({ "state": "success", "name": "build" })).await;

    assert_eq!((&made["id"], &made["pipeline_id"]), (&done["id"], &done["pipeline_id"]));
    assert_eq!((&made["status"], &done["status"]), (&json!("pending"), &json!("success")));
    assert_eq!((&done["ref"], &done["target_url"]), (&json!("main"), &json!("https://ci.test/1")));
    assert_eq!((&done["description"], &done["coverage"]), (&json!("Half"), &json!(51.5)));
    assert_eq!((&made["started_at"], &made["finished_at"]), (&Value::Null, &Value::Null));
    assert_eq!(done["finished_at"], "2026-01-01T00:00:00.000Z");
    assert_eq!(done["author"]["username"], "ada");
    let commit = ada.get(&format!("/projects/{project}/repository/commits/main")).await.ok();
    assert_eq!((&commit["status"], &commit["id"]), (&json!("success"), &done["sha"]));
    let last = &commit["last_pipeline"];
    assert_eq!((&last["id"], &last["iid"]), (&done["pipeline_id"], &json!(1)));
    assert_eq!((&last["source"], &last["ref"]), (&json!("external"), &json!("main")));
    let told = app.announced().into_iter().filter(|(kind, _)| kind == "pipeline.changed");
    let told: Vec<Value> = told
        .map(|(_, told)| serde_json::from_str::<Value>(&told).unwrap_or_default()["status"].clone())
        .collect();
    assert_eq!(told, ["pending", "running", "success"]);
}

#[actix_web::test]
async fn what_ended_stays_and_the_next_report_is_a_new_record() {
    let (app, project) = forge();
    let ada = app.person("ada");
    let list = format!("/projects/{project}/repository/commits/main/statuses");

    let failed = report(&ada, project, json!({ "state": "failed" })).await;
    let again = report(&ada, project, json!({ "state": "success" })).await;

    assert_ne!(failed["id"], again["id"]);
    assert_eq!(failed["pipeline_id"], again["pipeline_id"]);
    assert_eq!(ada.get(&list).await.ok(), json!([again]));
    let all = ada.get(&format!("{list}?all=true")).await.each("status");
    assert_eq!(all, ["failed", "success"]);
    let pipeline = format!("/projects/{project}/pipelines/{}", again["pipeline_id"]);
    assert_eq!(ada.get(&pipeline).await.ok()["status"], "success");
}

#[actix_web::test]
async fn a_step_that_cannot_follow_is_refused() {
    let (app, project) = forge();
    let ada = app.person("ada");
    let main = statuses(project, "main");
    report(&ada, project, json!({ "state": "pending" })).await;

    let twice = "Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via \"enqueue\")";
    ada.post(&main, json!({ "state": "pending" })).await.refused(400, json!({ "message": twice }));
    report(&ada, project, json!({ "state": "running" })).await;
    let running = "Cannot transition status via :run from :running (Reason(s): Status cannot transition via \"run\")";
    ada.post(&main, json!({ "state": "running" }))
        .await
        .refused(400, json!({ "message": running }));
    let skip = "Cannot transition status via :skip from :running (Reason(s): Status cannot transition via \"skip\")";
    ada.post(&main, json!({ "state": "skipped" })).await.refused(400, json!({ "message": skip }));
}

#[actix_web::test]
async fn reports_of_several_people_stand_side_by_side() {
    let (app, project) = forge();
    let (ada, dev) = (app.person("ada"), app.member(project, "dev", Developer));

    let first = report(&ada, project, json!({ "state": "running", "name": "lint" })).await;
    let second = report(&dev, project, json!({ "state": "running", "name": "lint" })).await;
    let other = report(&ada, project, json!({ "state": "failed", "name": "docs" })).await;

    assert_ne!(first["id"], second["id"]);
    let list = format!("/projects/{project}/repository/commits/main/statuses");
    assert_eq!(ada.get(&list).await.each("id"), [second["id"].clone(), other["id"].clone()]);
    let pipeline = format!("/projects/{project}/pipelines/{}", other["pipeline_id"]);
    assert_eq!(ada.get(&pipeline).await.ok()["status"], "running");
}

#[actix_web::test]
async fn statuses_are_read_by_those_who_read_the_code() {
    let (app, project) = forge();
    let ada = app.person("ada");
    report(&ada, project, json!({ "state": "running", "name": "lint" })).await;
    ada.put(&format!("/projects/{project}"), json!({ "visibility": "private" })).await.ok();
    let (guest, reporter) =
        (app.member(project, "gil", Guest), app.member(project, "rob", Reporter));
    let list = format!("/projects/{project}/repository/commits/main/statuses");

    guest.get(&list).await.refused(403, json!({ "message": "403 Forbidden" }));
    assert_eq!(reporter.get(&list).await.each("name"), ["lint"]);
    assert_eq!(guest.get(&format!("/projects/{project}/pipelines")).await.status, 200);
}

#[actix_web::test]
async fn a_protected_branch_takes_reports_of_those_who_may_push_or_merge() {
    let (app, project) = forge();
    let (ada, dev) = (app.person("ada"), app.member(project, "dev", Developer));
    let rules = format!("/projects/{project}/protected_branches");
    ada.post(&rules, json!({ "name": "main" })).await.created();
    let body = json!({ "state": "success" });

    let forbidden = json!({ "message": "403 Forbidden" });
    dev.post(&statuses(project, "main"), body.clone()).await.refused(403, forbidden);
    let elsewhere = json!({ "state": "success", "ref": "topic" });
    dev.post(&statuses(project, "topic"), elsewhere.clone()).await.created();
    ada.post(&statuses(project, "main"), body.clone()).await.created();
    ada.delete(&format!("{rules}/main")).await.with(204);
    ada.post(&rules, json!({ "name": "main", "merge_access_level": 30 })).await.created();
    dev.post(&statuses(project, "main"), body).await.created();
    let guest = app.member(project, "guest", Guest);
    assert_eq!(
        guest.post(&statuses(project, "topic"), json!({ "state": "success" })).await.status,
        403
    );
}

#[actix_web::test]
async fn a_report_that_cannot_be_kept_is_refused_by_field() {
    let (app, project) = forge();
    let ada = app.person("ada");
    let main = statuses(project, "main");

    for (sent, message) in [
        (
            json!({ "target_url": "git://x" }),
            json!({ "target_url": ["is blocked: Only allowed schemes are http, https"] }),
        ),
        (
            json!({ "description": "d".repeat(256) }),
            json!({ "description": ["is too long (maximum is 255 characters)"] }),
        ),
        (json!({ "name": " " }), json!({ "name": ["can't be blank"] })),
    ] {
        let mut body = json!({ "state": "pending" });
        body.as_object_mut()
            .expect("an object")
            .extend(sent.as_object().cloned().unwrap_or_default());
        ada.post(&main, body).await.refused(400, json!({ "message": message }));
    }
    let unknown = json!({ "error": "state does not have a valid value" });
    ada.post(&main, json!({ "state": "odd" })).await.refused(400, unknown);
    ada.post(&main, json!({})).await.refused(400, json!({ "error": "state is missing" }));
    let absent = json!({ "message": "404 Commit Not Found" });
    ada.post(&statuses(project, "nowhere"), json!({ "state": "pending" }))
        .await
        .refused(404, absent);
    assert_eq!(ada.get(&format!("/projects/{project}/pipelines")).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_commit_that_no_branch_has_needs_a_name() {
    let app = TestApp::new();
    let fixture = Fixture::new();
    fixture.git(&["tag", "alone", "orphan"]);
    fixture.git(&["branch", "-D", "orphan"]);
    let project = app.project_from(&fixture);
    let ada = app.person("ada");
    let alone = statuses(project, "alone");

    let nowhere = json!({ "message": "404 References for commit Not Found" });
    ada.post(&alone, json!({ "state": "success" })).await.refused(404, nowhere);
    let named = ada.post(&alone, json!({ "state": "success", "ref": "alone" })).await.created();
    let pipeline = format!("/projects/{project}/pipelines/{}", named["pipeline_id"]);
    assert_eq!(ada.get(&pipeline).await.ok()["tag"], true);
    let again = ada.post(&alone, json!({ "state": "success" })).await.created();
    assert_eq!((&again["ref"], &again["pipeline_id"]), (&json!("alone"), &named["pipeline_id"]));
}

#[actix_web::test]
async fn a_report_is_pinned_to_the_pipeline_it_names() {
    let (app, project) = forge();
    let ada = app.person("ada");
    let on_main = report(&ada, project, json!({ "state": "success" })).await;
    let elsewhere = report(&ada, project, json!({ "state": "success", "ref": "other" })).await;
    assert_ne!(on_main["pipeline_id"], elsewhere["pipeline_id"]);

    let pinned = json!({ "state": "running", "name": "x", "pipeline_id": on_main["pipeline_id"] });
    let pinned = report(&ada, project, pinned).await;
    assert_eq!((&pinned["pipeline_id"], &pinned["ref"]), (&on_main["pipeline_id"], &json!("main")));
}

#[actix_web::test]
async fn a_pipeline_that_does_not_fit_is_as_good_as_none() {
    let (app, project) = forge();
    let ada = app.person("ada");
    let on_main = report(&ada, project, json!({ "state": "success" })).await;
    let other =
        json!({ "state": "running", "pipeline_id": on_main["pipeline_id"], "ref": "other" });
    let unknown = json!({ "state": "running", "pipeline_id": 4711 });

    let other = report(&ada, project, other).await;
    let unknown = report(&ada, project, unknown).await;

    assert_eq!((&other["ref"], &unknown["ref"]), (&json!("other"), &json!("main")));
    let made = [&on_main, &other, &unknown].map(|one| one["pipeline_id"].to_string());
    assert!(made[0] != made[1] && made[1] != made[2] && made[2] != made[0], "{made:?}");
}

#[actix_web::test]
async fn statuses_are_chosen_and_paged() {
    let (app, project) = forge();
    let ada = app.person("ada");
    for (name, place) in [("a", "main"), ("b", "main"), ("a", "other")] {
        report(&ada, project, json!({ "state": "success", "name": name, "ref": place })).await;
    }
    let list = format!("/projects/{project}/repository/commits/main/statuses");
    let names = async |query: &str| ada.get(&format!("{list}{query}")).await.each("name");

    assert_eq!(names("").await, ["a", "b", "a"]);
    assert_eq!(names("?ref=main").await, ["a", "b"]);
    assert_eq!(names("?name=b&ref=").await, ["b"]);
    assert_eq!(names("?stage=external&sort=desc").await, ["a", "b", "a"]);
    assert_eq!(names("?stage=test").await, Vec::<Value>::new());
    let page = ada.get(&format!("{list}?per_page=2&page=2")).await;
    assert_eq!(page.header("x-total"), Some("3"));
    assert_eq!(page.each("ref"), ["other"]);
    let invalid = json!({ "error": "all is invalid" });
    ada.get(&format!("{list}?all=perhaps")).await.refused(400, invalid);
}

#[actix_web::test]
async fn pipelines_that_are_kept_back_are_shown_from_reporters_on() {
    let (app, project) = forge();
    let (ada, guest) = (app.person("ada"), app.member(project, "guest", Guest));
    report(&ada, project, json!({ "state": "success" })).await;
    let list = format!("/projects/{project}/repository/commits/main/statuses");
    let commit = format!("/projects/{project}/repository/commits/main");
    assert_eq!(guest.get(&list).await.each("status"), ["success"]);
    assert_eq!(app.anonymous().get(&commit).await.ok()["status"], "success");

    ada.put(&format!("/projects/{project}"), json!({ "public_jobs": false })).await.ok();

    let forbidden = json!({ "message": "403 Forbidden" });
    guest.get(&list).await.refused(403, forbidden.clone());
    let pipelines = format!("/projects/{project}/pipelines");
    app.anonymous().get(&pipelines).await.refused(403, forbidden);
    let shown = app.anonymous().get(&commit).await.ok();
    assert_eq!((&shown["status"], &shown["last_pipeline"]), (&Value::Null, &Value::Null));
    assert_eq!(ada.get(&list).await.each("status"), ["success"]);
}

#[actix_web::test]
async fn nothing_is_reported_to_an_archived_pipeline() {
    let (app, project) = forge();
    let ada = app.person("ada");
    report(&ada, project, json!({ "state": "pending" })).await;
    let archive = json!({ "archive_builds_in_human_readable": "1 day" });
    app.admin().put("/application/settings", archive).await.ok();
    report(&ada, project, json!({ "state": "running" })).await;

    app.clock.advance(time::Duration::days(2));

    let told = json!({ "message": "403 Forbidden" });
    let late = json!({ "state": "success" });
    ada.post(&statuses(project, "main"), late).await.refused(403, told);
}
