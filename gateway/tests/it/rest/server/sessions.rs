//! Browsers in which somebody is signed in: `gateway/src/rest/org/session_pages.rs`.

use org::user::{State, actions::NewUser, password};
use serde_json::{Value, json};
use time::Duration;

use crate::support::{Answer, TestApp};

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

/// Ada has a password.
fn scene() -> TestApp {
    let app = TestApp::new();
    let hash = password::hash("difference engine").expect("a hash");
    app.someone(&NewUser { password_hash: Some(hash), ..NewUser::named("ada") }, &[]);
    app
}

async fn sign_in(app: &TestApp, password: &str) -> Answer {
    let fields = json!({ "username": "ada", "password": password });
    app.anonymous().post("//users/sign_in", fields).await
}

/// The cookie as a browser sends it back.
fn cookie(answer: &Answer) -> String {
    let whole = answer.header("set-cookie").expect("a cookie");
    whole.split(';').next().unwrap_or_default().to_owned()
}

async fn is_signed_in(app: &TestApp, cookie: &str) -> bool {
    let page = app.anonymous().sending("Cookie", cookie).get("//users/sign_in").await;
    String::from_utf8_lossy(&page.bytes).contains("signed in as ada")
}

#[actix_web::test]
async fn a_session_ends_when_nobody_uses_it_for_so_long() {
    let app = scene();
    assert_eq!(sign_in(&app, "wrong").await.status, 422);
    set(&app, json!({ "session_expire_delay": 30 })).await;
    let begun = sign_in(&app, "difference engine").await;
    assert!(begun.header("set-cookie").is_some_and(|whole| whole.contains("Max-Age=1800")));
    let cookie = cookie(&begun);

    app.clock.advance(Duration::minutes(29));
    assert!(is_signed_in(&app, &cookie).await);
    app.clock.advance(Duration::minutes(29));
    assert!(is_signed_in(&app, &cookie).await, "it was used in between");
    app.clock.advance(Duration::minutes(31));
    assert!(!is_signed_in(&app, &cookie).await);
}

#[actix_web::test]
async fn whoever_signs_in_uses_a_deactivated_account_again() {
    let app = scene();
    app.set_state("ada", State::Deactivated);
    assert_eq!(sign_in(&app, "wrong").await.status, 422);
    assert_eq!(app.user("ada").state, State::Deactivated);

    let cookie = cookie(&sign_in(&app, "difference engine").await);

    assert!(is_signed_in(&app, &cookie).await);
    assert_eq!(app.user("ada").state, State::Active);
    app.set_state("ada", State::Blocked);
    assert_eq!(sign_in(&app, "difference engine").await.status, 422);
}

#[actix_web::test]
async fn who_signs_out_is_sent_to_where_the_settings_say() {
    let app = scene();
    let cookie = cookie(&sign_in(&app, "difference engine").await);
    set(&app, json!({ "after_sign_out_path": "https://a.example/bye" })).await;

    let browser = app.anonymous().sending("Cookie", &cookie);
    let left = browser.post("//users/sign_out", json!({})).await;
    assert_eq!((left.status, left.header("location")), (303, Some("https://a.example/bye")));
    assert!(!is_signed_in(&app, &cookie).await);
}

#[actix_web::test]
async fn the_api_takes_no_session_and_a_new_password_ends_all() {
    let app = scene();
    let cookie = cookie(&sign_in(&app, "difference engine").await);
    assert_eq!(app.anonymous().sending("Cookie", &cookie).get("/user").await.status, 401);
    let ada = app.id_of("ada");
    let other = json!({ "password": "analytical engine" });
    app.admin().put(&format!("/users/{ada}"), other).await.ok();
    assert!(!is_signed_in(&app, &cookie).await);
}
