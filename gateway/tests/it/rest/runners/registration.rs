//! Runners that register: `gateway/src/rest/runners/registration.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Person, TestApp};

pub(super) async fn registration_token(person: &Person<'_>, path: &str) -> Value {
    let made = person.post(&format!("{path}/runners/reset_registration_token"), json!({})).await;
    made.created()["token"].clone()
}

#[actix_web::test]
async fn the_registration_token_says_whose_runner_it_becomes() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let group = olga.group_with("home", json!({})).await;
    let places = [
        (registration_token(&app.admin(), "").await, "instance_type"),
        (registration_token(&olga, &format!("/groups/{group}")).await, "group_type"),
        (registration_token(&olga, &format!("/projects/{project}")).await, "project_type"),
    ];
    let nobody = app.anonymous();

    for (token, runner_type) in places {
        let info =
            json!({ "name": "gitlab-runner", "version": "15.7.1", "features": { "a": true } });
        let new = json!({ "token": token, "description": "d", "tag_list": "b, a,b", "info": info });
        let made = nobody.post("/runners", new).await.created();
        let own = made["token"].as_str().expect("a token");
        assert!(!own.starts_with("glrt-") && made["token_expires_at"].is_null(), "{made}");
        let shown = app.admin().get(&format!("/runners/{}", made["id"])).await.ok();
        assert_eq!(shown["runner_type"], runner_type);
        assert_eq!(shown["tag_list"], json!(["a", "b"]));
        assert_eq!((&shown["version"], &shown["status"]), (&json!("15.7.1"), &json!("online")));
        assert!(shown.get("token").is_none());
    }
    let project_token =
        olga.get(&format!("/projects/{project}")).await.ok()["runners_token"].clone();
    nobody.post("/runners", json!({ "token": project_token })).await.created();
}

#[actix_web::test]
async fn a_token_that_was_reset_registers_nothing() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let path = format!("/projects/{project}");
    let old = olga.get(&path).await.ok()["runners_token"].clone();
    let new = registration_token(&olga, &path).await;
    let nobody = app.anonymous();
    let refusal = json!({ "message": "403 Forbidden" });

    for token in [old, json!("x"), json!("")] {
        nobody.post("/runners", json!({ "token": token })).await.refused(403, refusal.clone());
    }
    nobody.post("/runners", json!({ "token": new })).await.created();
    let dan = app.member(project, "dan", Developer);
    dan.post(&format!("{path}/runners/reset_registration_token"), json!({})).await.with(403);
    olga.post("/runners/reset_registration_token", json!({})).await.with(403);
    let wrong = json!({ "token": new, "run_untagged": false, "maximum_timeout": 5 });
    let refused = json!({ "message": {
        "tags_list": ["can not be empty when runner is not allowed to pick untagged jobs"],
        "maximum_timeout": ["needs to be at least 10 minutes"],
    } });
    nobody.post("/runners", wrong).await.refused(400, refused);
}

#[actix_web::test]
async fn a_runner_proves_who_it_is_gets_another_token_and_goes() {
    let app = TestApp::new();
    let token = registration_token(&app.admin(), "").await;
    let nobody = app.anonymous();
    let made = nobody.post("/runners", json!({ "token": token })).await.created();
    let own = &made["token"];

    let verified = nobody.post("/runners/verify", json!({ "token": own, "system_id": "s_1" }));
    assert_eq!(verified.await.ok(), made);
    nobody.post("/runners/verify", json!({ "token": token })).await.with(403);
    let found = nobody.sending("RUNNER-TOKEN", own.as_str().expect("a token"));
    found.get("/runners/router/discovery").await.with(501);
    nobody.get("/runners/router/discovery").await.with(403);
    let path = format!("/runners/{}/managers", made["id"]);
    assert_eq!(app.admin().get(&path).await.each("system_id"), ["s_1", "<legacy>"]);
    let gone = json!({ "token": own, "system_id": "s_1" });
    nobody
        .send(actix_web::http::Method::DELETE, "/runners/managers", Some(gone.clone()))
        .await
        .with(204);
    nobody.send(actix_web::http::Method::DELETE, "/runners/managers", Some(gone)).await.with(404);

    let reset = nobody.post("/runners/reset_authentication_token", json!({ "token": own }));
    let new = reset.await.created()["token"].clone();
    nobody.post("/runners/verify", json!({ "token": own })).await.with(403);
    let body = Some(json!({ "token": new }));
    nobody.send(actix_web::http::Method::DELETE, "/runners", body.clone()).await.with(204);
    nobody.send(actix_web::http::Method::DELETE, "/runners", body).await.with(403);
}

#[actix_web::test]
async fn calls_are_written_down_once_a_minute() {
    let app = TestApp::new();
    let token = registration_token(&app.admin(), "").await;
    let nobody = app.anonymous();
    let made = nobody.post("/runners", json!({ "token": token })).await.created();
    let verify = || nobody.post("/runners/verify", json!({ "token": made["token"] }));
    let path = format!("/runners/{}", made["id"]);
    verify().await.ok();
    let first = app.admin().get(&path).await.ok()["contacted_at"].clone();

    app.clock.advance(Duration::seconds(59));
    verify().await.ok();
    assert_eq!(app.admin().get(&path).await.ok()["contacted_at"], first);
    app.clock.advance(Duration::seconds(2));
    verify().await.ok();
    assert_ne!(app.admin().get(&path).await.ok()["contacted_at"], first);
}

#[actix_web::test]
async fn people_make_runners_where_they_may() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let project = app.project(&olga, "one", Visibility::Private);
    let (mia, dan) =
        (app.member(project, "mia", Maintainer), app.member(project, "dan", Developer));
    let new = json!({ "runner_type": "project_type", "project_id": project.0, "tag_list": ["x"] });

    let made = mia.post("/user/runners", new.clone()).await.created();

    assert!(made["token"].as_str().is_some_and(|token| token.starts_with("glrt-")));
    let refusal = json!({ "message": "403 Forbidden - Insufficient permissions" });
    dan.post("/user/runners", new.clone()).await.refused(403, refusal.clone());
    app.person("eve").post("/user/runners", new).await.with(404);
    mia.post("/user/runners", json!({ "runner_type": "instance_type" }))
        .await
        .refused(403, refusal);
    let missing = json!({ "error": "group_id is missing" });
    mia.post("/user/runners", json!({ "runner_type": "group_type" })).await.refused(400, missing);
    app.anonymous().post("/runners/verify", json!({ "token": made["token"] })).await.ok();
}

#[actix_web::test]
async fn a_token_is_valid_as_long_as_the_settings_say() {
    let app = TestApp::new();
    let (root, olga, nobody) = (app.admin(), app.person("olga"), app.anonymous());
    let project = app.project(&olga, "one", Visibility::Private);
    let group = olga.group("home", None).await;
    let intervals = json!({ "runner_token_expiration_interval": 7200,
        "group_runner_token_expiration_interval": 7260, "project_runner_token_expiration_interval": 7320 });
    root.put("/application/settings", intervals).await.ok();
    let own = json!({ "runner_token_expiration_interval": 7300 });
    olga.put(&format!("/projects/{project}"), own).await.ok();
    let in_seconds = |seconds| json!(app.clock.now().plus(Duration::seconds(seconds)).iso());

    let of_group = json!({ "runner_type": "group_type", "group_id": group });
    let made = olga.post("/user/runners", of_group).await.created();
    assert_eq!(made["token_expires_at"], in_seconds(7260));
    let of_project = json!({ "runner_type": "project_type", "project_id": project.0 });
    let made = olga.post("/user/runners", of_project).await.created();
    assert_eq!(made["token_expires_at"], in_seconds(7300), "the shorter one counts");
    let token = registration_token(&root, "").await;
    let made = nobody.post("/runners", json!({ "token": token })).await.created();
    assert_eq!(made["token_expires_at"], in_seconds(7200));
    let shown = json!({ "token": made["token"] });
    assert_eq!(nobody.post("/runners/verify", shown.clone()).await.ok(), made);

    app.clock.advance(Duration::seconds(7200));
    let refusal = json!({ "message": "403 Forbidden" });
    for path in ["/runners/verify", "/jobs/request", "/runners/reset_authentication_token"] {
        nobody.post(path, shown.clone()).await.refused(403, refusal.clone());
    }
    let path = format!("/runners/{}/reset_authentication_token", made["id"]);
    let reset = root.post(&path, json!({})).await.created();
    assert_eq!(reset["token_expires_at"], in_seconds(7200));
    nobody.post("/runners/verify", json!({ "token": reset["token"] })).await.ok();
}
