//! Links in letters, from the letter to what they do.

use actix_web::http::Method;
use kernel::Ts;
use serde_json::{Value, json};

use crate::support::{Answer, MailSink, TestApp};

fn account(more: &Value) -> Value {
    let mut body = json!({ "email": "ada@example.org", "name": "Ada", "username": "ada" });
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    body
}

/// The link in the one letter that has one, from the server's root on.
fn link(sink: &MailSink) -> String {
    // Long lines are folded on their way.
    let texts = sink.take().into_iter().map(|it| it.data.replace("=\n", "").replace("=3D", "="));
    let mut with_link = texts.filter(|text| text.contains("http://forge.test/users/"));
    let text = with_link.next().expect("a letter with a link");
    let at = text.find("http://forge.test/users/").expect("a link");
    let url: String = text[at..].chars().take_while(|letter| !letter.is_whitespace()).collect();
    url.replace("http://forge.test/", "//")
}

async fn submit(app: &TestApp, path: &str, fields: &str) -> Answer {
    let kind = "application/x-www-form-urlencoded";
    app.anonymous().send_bytes(Method::POST, path, kind, fields.as_bytes()).await
}

fn confirmed_at(app: &TestApp) -> Option<Ts> {
    app.user("ada").confirmed_at
}

#[actix_web::test]
async fn an_address_is_confirmed_by_its_letter_once() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    app.admin().post("/users", account(&json!({ "force_random_password": true }))).await.created();
    app.work().await;
    assert_eq!(confirmed_at(&app), None);

    let link = link(&sink);
    let page = app.anonymous().get(&link).await;

    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(confirmed_at(&app).is_some());
    assert_eq!(app.anonymous().get(&link).await.status, 422, "it works once");
    assert_eq!(app.anonymous().get("//users/confirmation").await.status, 422);
}

#[actix_web::test]
async fn a_link_that_is_too_old_does_nothing_and_another_can_be_asked_for() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    app.admin().post("/users", account(&json!({ "force_random_password": true }))).await.created();
    app.work().await;
    let old = link(&sink);
    app.clock.advance(time::Duration::days(1));

    assert_eq!(app.anonymous().get(&old).await.status, 422);
    let known = submit(&app, "//users/confirmation", "email=ADA%40example.org").await;
    app.work().await;
    let new = link(&sink);
    let unknown = submit(&app, "//users/confirmation", "email=eve%40example.org").await;
    app.work().await;

    assert_eq!(known.bytes, unknown.bytes, "nobody learns who has an account");
    assert!(sink.take().is_empty());
    assert_eq!(app.anonymous().get(&new).await.status, 200);
    assert!(confirmed_at(&app).is_some());
}

#[actix_web::test]
async fn a_changed_address_waits_for_its_letter() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let root = app.admin();
    app.person("ada");
    let path = format!("/users/{}", app.user("ada").id);

    let changed = root.put(&path, json!({ "email": "countess@example.org" })).await.ok();
    assert_eq!(changed["email"], "ada@example.com");
    app.work().await;
    app.anonymous().get(&link(&sink)).await.with(200);
    assert_eq!(app.user("ada").email, "countess@example.org");

    let now = json!({ "email": "lovelace@example.org", "skip_reconfirmation": true });
    assert_eq!(root.put(&path, now).await.ok()["email"], "lovelace@example.org");
}

#[actix_web::test]
async fn an_address_that_somebody_took_meanwhile_is_not_confirmed() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let root = app.admin();
    app.person("ada");
    let path = format!("/users/{}", app.user("ada").id);
    root.put(&path, json!({ "email": "bob@example.com" })).await.ok();
    app.work().await;
    app.person("bob");

    let page = app.anonymous().get(&link(&sink)).await;

    assert_eq!(page.status, 422);
    assert_eq!(app.user("ada").email, "ada@example.com");
}

#[actix_web::test]
async fn a_password_is_set_by_its_letter_once() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let root = app.admin();
    let by_mail =
        json!({ "reset_password": true, "skip_confirmation": true, "password": "ignored" });
    root.post("/users", account(&by_mail)).await.created();
    app.work().await;
    let link = link(&sink);
    let token = link.split_once('=').expect("a token").1.to_owned();
    let form = app.anonymous().get(&link).await;
    assert!(String::from_utf8_lossy(&form.bytes).contains(&token));

    let set = |password: &str, again: &str| {
        format!("reset_password_token={token}&password={password}&password_confirmation={again}")
    };
    let edit = "//users/password/edit";
    assert_eq!(submit(&app, edit, &set("difference engine", "other")).await.status, 422);
    assert_eq!(submit(&app, edit, &set("short", "short")).await.status, 422);
    submit(&app, edit, &set("difference engine", "difference engine")).await.with(200);
    assert_eq!(submit(&app, edit, &set("another engine", "another engine")).await.status, 422);

    let grant =
        json!({ "grant_type": "password", "username": "ada", "password": "difference engine" });
    let pair = app.anonymous().post("//oauth/token", grant).await.ok();
    let bearer = format!("Bearer {}", pair["access_token"].as_str().expect("a token"));
    assert_eq!(app.anonymous().sending("Authorization", &bearer).get("/user").await.status, 200);
}

#[actix_web::test]
async fn a_password_that_expired_is_good_again_once_it_is_changed() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let (root, ada) = (app.admin(), app.person("ada"));
    let path = format!("/users/{}", app.user("ada").id);
    root.put(&path, json!({ "password": "difference engine" })).await.ok();
    assert_eq!(ada.get("/user").await.status, 403);

    let known = submit(&app, "//users/password", "email=ada%40example.com").await;
    let unknown = submit(&app, "//users/password", "email=eve%40example.com").await;
    app.work().await;
    let token = link(&sink).split_once('=').expect("a token").1.to_owned();
    let fields = format!(
        "reset_password_token={token}&password=analytical+engine&password_confirmation=analytical+engine"
    );
    submit(&app, "//users/password/edit", &fields).await.with(200);

    assert_eq!(known.bytes, unknown.bytes);
    assert_eq!(ada.get("/user").await.status, 200);
}

#[actix_web::test]
async fn a_page_shows_nothing_of_what_it_was_sent_as_markup() {
    let app = TestApp::new();
    for path in ["//users/password/new", "//users/confirmation/new"] {
        let page = app.anonymous().get(path).await;
        let policy = page.header("content-security-policy").expect("a policy").to_owned();
        assert!(page.status == 200 && policy.starts_with("default-src 'none'"), "{path}");
    }
    let odd = "//users/password/edit?reset_password_token=%3Cscript%3E";
    let page = app.anonymous().get(odd).await;
    assert_eq!(page.status, 422);
    assert!(!String::from_utf8_lossy(&page.bytes).contains("<script>"));
}

#[actix_web::test]
async fn no_secret_of_a_link_waits_in_the_queue() {
    let app = TestApp::new();
    app.admin().post("/users", account(&json!({ "reset_password": true }))).await.created();

    let queued = app.queued();

    assert!(queued.iter().any(|text| text.contains("new_account")), "{queued:?}");
    assert!(queued.iter().all(|text| !text.contains("token")), "{queued:?}");
}
