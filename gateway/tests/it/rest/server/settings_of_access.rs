//! Settings that say who gets in, from where and how often.

use kernel::Visibility::Public;
use org::user::{State, store::UserStore as _};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Answer, Person, TestApp};

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

async fn refs(person: &Person<'_>) -> Answer {
    person.get("//ada/engine.git/info/refs?service=git-upload-pack").await
}

#[actix_web::test]
async fn one_person_comes_from_as_many_addresses_as_the_settings_say() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    let limit = json!({ "unique_ips_limit_enabled": true, "unique_ips_limit_per_user": 2,
        "unique_ips_limit_time_window": 3600 });
    set(&app, limit).await;
    let from = |last: u8| ada.from(&format!("198.51.100.{last}"));

    from(1).get("/user").await.ok();
    from(2).get("/user").await.ok();
    let refusal = json!({ "message": "403 Forbidden" });
    from(3).get("/user").await.refused(403, refusal.clone());
    from(1).get("/user").await.refused(403, refusal);
    assert_eq!(refs(&from(1)).await.status, 403);
    app.person("bob").from("198.51.100.3").get("/user").await.ok();

    app.clock.advance(Duration::hours(1));
    from(3).get("/user").await.ok();
    set(&app, json!({ "unique_ips_limit_enabled": false })).await;
    for last in 4..7 {
        from(last).get("/user").await.ok();
    }
}

#[actix_web::test]
async fn large_files_have_a_limit_of_their_own() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "engine", Public);
    let limit = json!({ "throttle_authenticated_git_lfs_enabled": true,
        "throttle_authenticated_git_lfs_requests_per_period": 2,
        "throttle_authenticated_git_lfs_period_in_seconds": 3600 });
    set(&app, limit).await;
    let locks = async || ada.get("//ada/engine.git/info/lfs/locks").await;

    for _ in 0..2 {
        assert_ne!(locks().await.status, 429);
    }
    let refused = locks().await;
    let name = refused.header("ratelimit-name");
    assert_eq!((refused.status, name), (429, Some("throttle_authenticated_git_lfs")));
    assert_ne!(refs(&ada).await.status, 429, "fetches are counted apart");
}

#[actix_web::test]
async fn accounts_that_nobody_uses_are_deactivated_where_the_settings_say_so() {
    let app = TestApp::new();
    for name in ["ada", "bob"] {
        app.person(name);
    }
    let ada = app.user("ada").id;
    app.write(move |tx| tx.record_activity(ada));
    let on = json!({ "deactivate_dormant_users": true, "deactivate_dormant_users_period": 100 });
    set(&app, on).await;
    let state = |name: &str| app.user(name).state;
    let pass = async |days: i64| {
        app.clock.advance(Duration::days(days));
        app.recurring().await;
    };

    pass(0).await;
    pass(6).await;
    assert_eq!(state("bob"), State::Active);
    pass(1).await;
    assert_eq!((state("ada"), state("bob")), (State::Active, State::Deactivated), "bob never came");
    pass(92).await;
    assert_eq!(state("ada"), State::Active);
    pass(1).await;
    assert_eq!(state("ada"), State::Deactivated);
    assert_eq!(state("root"), State::Active, "somebody has to activate the others");
}

#[actix_web::test]
async fn an_account_is_dormant_after_as_many_days_as_the_settings_say() {
    let app = TestApp::new();
    app.person("ada");
    let (root, id) = (app.admin(), app.user("ada").id);
    app.write(move |tx| tx.record_activity(id));
    set(&app, json!({ "deactivate_dormant_users_period": 120 })).await;
    app.clock.advance(Duration::days(100));
    app.recurring().await;
    assert_eq!(app.user("ada").state, State::Active, "nothing is done unasked");

    let path = format!("/users/{id}/deactivate");
    let told = "403 Forbidden - The user you are trying to deactivate has been active in the past 120 days and cannot \
                be deactivated";
    root.post(&path, json!({})).await.refused(403, json!({ "message": told }));
    set(&app, json!({ "deactivate_dormant_users_period": 90 })).await;
    assert_eq!(root.post(&path, json!({})).await.created(), json!(true));
}

#[actix_web::test]
async fn groups_at_the_top_are_made_where_the_settings_let_people() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let top = ada.group("top", None).await;
    set(&app, json!({ "can_create_group": false })).await;

    let new = |path: &str| json!({ "name": path, "path": path });
    ada.post("/groups", new("more")).await.refused(403, json!({ "message": "403 Forbidden" }));
    ada.group("below", Some(top)).await;
    root.post("/groups", new("roots")).await.created();
    let bob = json!({ "email": "bob@x.test", "name": "Bob", "username": "bob",
        "password": "difference engine" });
    assert_eq!(root.post("/users", bob).await.created()["can_create_group"], false);
}
