//! Accounts that people make for themselves: `gateway/src/rest/org/sign_up_pages.rs`.

use org::user::State;
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

/// What ada sends, with some more.
async fn sign_up(app: &TestApp, more: Value) -> Answer {
    let mut fields = json!({ "name": "Ada", "username": "ada", "email": "ada@example.com",
                             "password": "difference engine no 2" });
    for (name, value) in more.as_object().expect("an object") {
        fields[name] = value.clone();
    }
    app.anonymous().post("//users/sign_up", fields).await
}

fn text(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.bytes).into_owned()
}

#[actix_web::test]
async fn nobody_makes_an_account_where_sign_up_is_closed() {
    let app = TestApp::new();
    assert!(text(&app.anonymous().get("//users/sign_up").await).contains("Make the account"));
    set(&app, json!({ "signup_enabled": false })).await;

    assert_eq!(app.anonymous().get("//users/sign_up").await.status, 403);
    let refused = sign_up(&app, json!({})).await;
    assert_eq!(refused.status, 403);
    assert!(text(&refused).contains("Sign-up is disabled"));
}

#[actix_web::test]
async fn an_account_waits_for_approval_where_the_settings_say_so() {
    let app = TestApp::new();
    assert_eq!(sign_up(&app, json!({})).await.status, 201);
    assert_eq!(app.user("ada").state, State::PendingApproval);

    set(&app, json!({ "require_admin_approval_after_user_signup": false })).await;
    let second = json!({ "username": "bob", "email": "bob@example.com" });
    assert_eq!(sign_up(&app, second).await.status, 201);
    assert_eq!(app.user("bob").state, State::Active);
    let pair = json!({ "grant_type": "password", "username": "bob", "password": "difference engine no 2" });
    app.anonymous().post("//oauth/token", pair).await.ok();
}

#[actix_web::test]
async fn the_terms_are_accepted_before_there_is_an_account() {
    let app = TestApp::new();
    set(&app, json!({ "enforce_terms": true, "terms": "Be kind & <b>" })).await;
    let page = text(&app.anonymous().get("//users/sign_up").await);
    assert!(page.contains("Be kind &amp; &lt;b&gt;"), "{page}");

    let refused = sign_up(&app, json!({})).await;
    assert_eq!(refused.status, 422);
    assert!(text(&refused).contains("terms must be accepted"));
    assert_eq!(sign_up(&app, json!({ "terms_opt_in": true })).await.status, 201);
}

#[actix_web::test]
async fn only_welcome_addresses_and_good_passwords_make_an_account() {
    let app = TestApp::new();
    set(&app, json!({ "domain_allowlist": ["inside.test"] })).await;
    let refused = text(&sign_up(&app, json!({})).await);
    assert!(refused.contains("email is not allowed for sign-up"), "{refused}");
    let weak = json!({ "email": "ada@inside.test", "password": "short" });
    assert!(text(&sign_up(&app, weak).await).contains("password is too short"));
    assert_eq!(sign_up(&app, json!({ "email": "ada@inside.test" })).await.status, 201);
    let again = sign_up(&app, json!({ "email": "ada@inside.test" })).await;
    assert_eq!(again.status, 422);
}
