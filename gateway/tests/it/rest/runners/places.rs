//! Runners of groups, of projects and of the installation in lists, and what is checked when one is changed.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn made(person: &Person<'_>, new: Value) -> Value {
    person.post("/user/runners", new).await.created()
}

#[actix_web::test]
async fn a_group_lists_its_runners_those_above_and_the_installations() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let top = olga.group("top", None).await;
    let sub = olga.group("sub", Some(top)).await;
    let other = olga.group("other", None).await;
    let of_group = |group: i64| json!({ "runner_type": "group_type", "group_id": group });
    let shared = made(&app.admin(), json!({ "runner_type": "instance_type" })).await;
    let above = made(&olga, of_group(top)).await;
    let own = made(&olga, of_group(sub)).await;
    made(&olga, of_group(other)).await;
    let path = format!("/groups/{sub}/runners");

    let listed = olga.get(&path).await.each("id");

    assert_eq!(listed, [own["id"].clone(), above["id"].clone(), shared["id"].clone()]);
    for (query, found) in [
        ("?type=group_type", 2),
        ("?type=instance_type", 1),
        ("?status=never_contacted", 3),
        ("?paused=true", 0),
        ("?tag_list=x", 0),
    ] {
        assert_eq!(olga.get(&format!("{path}{query}")).await.each("id").len(), found, "{query}");
    }
    let mia = app.person("mia");
    olga.adds("mia", 40, &format!("/groups/{sub}")).await;
    mia.get(&path).await.with(403);
    let reset = format!("{path}/reset_registration_token");
    mia.post(&reset, json!({})).await.with(403);
    let new = olga.post(&reset, json!({})).await.created();
    assert!(new["token"].is_string() && new["token_expires_at"].is_null(), "{new}");
}

#[actix_web::test]
async fn all_runners_are_chosen_by_kind_and_by_how_they_are() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let own = json!({ "runner_type": "project_type", "project_id": project.0, "paused": true });
    let own = made(&olga, own).await;
    let shared = made(&app.admin(), json!({ "runner_type": "instance_type" })).await;
    let token = json!({ "token": shared["token"] });
    app.anonymous().post("/runners/verify", token).await.ok();
    let admin = app.admin();

    for (query, expected) in [
        ("?scope=specific", &own),
        ("?scope=shared", &shared),
        ("?scope=paused", &own),
        ("?scope=online", &shared),
        ("?status=never_contacted", &own),
        ("?paused=false", &shared),
        ("?type=project_type", &own),
    ] {
        let listed = admin.get(&format!("/runners/all{query}")).await.each("id");
        assert_eq!(listed, [expected["id"].clone()], "{query}");
    }
    app.clock.advance(time::Duration::hours(2));
    assert_eq!(admin.get("/runners/all?status=offline").await.each("id"), [shared["id"].clone()]);
    app.clock.advance(time::Duration::days(91));
    assert_eq!(admin.get("/runners/all?status=stale").await.each("status"), ["stale", "stale"]);
    let wrong = json!({ "error": "type does not have a valid value" });
    admin.get("/runners/all?type=odd").await.refused(400, wrong);
}

#[actix_web::test]
async fn what_a_runner_is_set_to_is_checked() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    let path = format!("/runners/{}", made(&olga, new).await["id"]);

    for (fields, message) in [
        (
            json!({ "run_untagged": false }),
            json!({ "tags_list": ["can not be empty when runner is not allowed to pick untagged jobs"] }),
        ),
        (
            json!({ "maximum_timeout": 599 }),
            json!({ "maximum_timeout": ["needs to be at least 10 minutes"] }),
        ),
        (
            json!({ "maintenance_note": "n".repeat(1025) }),
            json!({ "maintenance_note": ["is too long (maximum is 1024 characters)"] }),
        ),
    ] {
        olga.put(&path, fields).await.refused(400, json!({ "message": message }));
    }
    let wrong = json!({ "error": "access_level does not have a valid value" });
    olga.put(&path, json!({ "access_level": "odd" })).await.refused(400, wrong);
    let fields = json!({ "access_level": "ref_protected", "locked": true, "maximum_timeout": 600,
        "run_untagged": false, "tag_list": "b,a", "description": "d", "maintenance_note": "n" });
    let shown = olga.put(&path, fields).await.ok();
    let kept = ["access_level", "locked", "maximum_timeout", "run_untagged", "tag_list"];
    let kept: Vec<&Value> = kept.iter().map(|name| &shown[*name]).collect();
    assert_eq!(json!(kept), json!(["ref_protected", true, 600, false, ["a", "b"]]));
    assert!(shown.get("token").is_none());
}

#[actix_web::test]
async fn a_token_that_somebody_reset_is_the_runners_no_more() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    let runner = made(&olga, new).await;
    let path = format!("/runners/{}/reset_authentication_token", runner["id"]);
    let (mia, dan) =
        (app.member(project, "mia", Maintainer), app.member(project, "dan", Developer));
    let nobody = app.anonymous();

    dan.post(&path, json!({})).await.with(403);
    let reset = mia.post(&path, json!({})).await.created();

    assert!(reset["token"].as_str().is_some_and(|token| token.starts_with("glrt-")), "{reset}");
    assert!(reset["token_expires_at"].is_null());
    nobody.post("/runners/verify", json!({ "token": runner["token"] })).await.with(403);
    nobody.post("/jobs/request", json!({ "token": runner["token"] })).await.with(403);
    nobody.post("/runners/verify", json!({ "token": reset["token"] })).await.ok();
    mia.post("/runners/9999/reset_authentication_token", json!({})).await.with(404);
}

#[actix_web::test]
async fn what_a_runner_tells_of_itself_stays_when_it_tells_less() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let new = json!({ "runner_type": "project_type", "project_id": project.0 });
    let runner = made(&olga, new).await;
    let info = json!({ "name": "gitlab-runner", "version": "18.1", "revision": "abc", "platform": "linux",
        "architecture": "amd64", "features": { "cancelable": true }, "config": { "gpus": "" }, "labels": { "a": "b" } });
    let body = json!({ "token": runner["token"], "system_id": "s_1", "info": info });
    app.anonymous().post("/jobs/request", body).await.with(204);
    app.clock.advance(time::Duration::minutes(2));

    let less = json!({ "token": runner["token"], "system_id": "s_1" });
    app.anonymous().post("/runners/verify", less).await.ok();

    for path in
        [format!("/runners/{}", runner["id"]), format!("/runners/{}/managers", runner["id"])]
    {
        let shown = olga.get(&path).await.ok();
        let shown = if shown.is_array() { shown[0].clone() } else { shown };
        let known = ["version", "revision", "platform", "architecture", "status"];
        let known: Vec<&Value> = known.iter().map(|name| &shown[*name]).collect();
        assert_eq!(json!(known), json!(["18.1", "abc", "linux", "amd64", "online"]), "{path}");
    }
}
