//! What settings of the installation do to what people make and say.

use org::user::{actions::NewUser, password};
use serde_json::{Value, json};

use crate::support::TestApp;

async fn set(app: &TestApp, settings: Value) {
    app.admin().put("/application/settings", settings).await.ok();
}

#[actix_web::test]
async fn people_have_applications_where_the_settings_let_them() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let wanted = json!({ "name": "Board", "redirect_uri": "https://board.example/back", "scopes": "read_user" });
    let made = ada.post("//oauth/applications", wanted.clone()).await.created();
    assert!(made["secret"].as_str().is_some_and(|secret| secret.len() == 64));
    assert_eq!(ada.get("//oauth/applications").await.each("application_name"), ["Board"]);
    assert!(bob.get("//oauth/applications").await.each("id").is_empty());
    assert!(app.admin().get("/applications").await.each("id").is_empty());

    set(&app, json!({ "user_oauth_applications": false })).await;
    assert_eq!(ada.post("//oauth/applications", wanted).await.status, 403);
    let path = format!("//oauth/applications/{}", made["id"]);
    assert_eq!(bob.delete(&path).await.status, 404);
    ada.delete(&path).await.with(204);
}

#[actix_web::test]
async fn reports_of_abuse_go_to_the_address_that_is_set() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.person("eve");
    let report =
        json!({ "user_id": app.id_of("eve"), "category": "spam", "message": "She sells boats" });
    set(&app, json!({ "abuse_notification_email": "guard@example.com" })).await;

    ada.post("//-/abuse_reports", report).await.with(202);

    let letters = app.letters().join("\n");
    assert!(
        letters.contains("guard@example.com") && letters.contains("She sells boats"),
        "{letters}"
    );
    let blank = json!({ "user_id": app.id_of("eve"), "message": " " });
    assert_eq!(ada.post("//-/abuse_reports", blank).await.status, 400);
    let nobody = json!({ "user_id": 99_999, "message": "x" });
    assert_eq!(ada.post("//-/abuse_reports", nobody).await.status, 404);
}

#[actix_web::test]
async fn members_of_the_group_that_is_set_see_how_long_requests_take() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let group = ada.group("works", None).await;
    set(&app, json!({ "performance_bar_allowed_group_path": "works" })).await;
    let shown = app.admin().get("/application/settings").await.ok();
    assert_eq!(shown["performance_bar_allowed_group_id"], group);

    let asking =
        ["ada", "bob"].map(|name| app.person(name).sending("Cookie", "perf_bar_enabled=true"));
    let told = asking[0].get("/user").await;
    assert!(told.header("server-timing").is_some_and(|text| text.starts_with("total;dur=")));
    assert_eq!(asking[1].get("/user").await.header("server-timing"), None);
    assert_eq!(ada.get("/user").await.header("server-timing"), None);
    assert_eq!(bob.get("/user").await.header("server-timing"), None);
}

#[actix_web::test]
async fn the_help_page_says_what_the_settings_say() {
    let app = TestApp::new();
    let page = async || {
        let shown = app.anonymous().get("//help").await;
        String::from_utf8_lossy(&shown.bytes).into_owned()
    };
    assert!(!page().await.contains("Get help"));
    set(
        &app,
        json!({ "help_page_text": "Ask <Ada>", "help_page_support_url": "https://help.example",
        "help_page_documentation_base_url": "https://docs.example" }),
    )
    .await;

    let shown = page().await;

    assert!(shown.contains("Ask &lt;Ada&gt;"), "{shown}");
    assert!(shown.contains("https://help.example") && shown.contains("https://docs.example"));
    let odd = json!({ "help_page_support_url": "javascript:alert(1)" });
    assert_eq!(app.admin().put("/application/settings", odd).await.status, 400);
    assert!(!page().await.contains("javascript"));
}

#[actix_web::test]
async fn people_hear_of_a_sign_in_from_a_new_address_where_the_settings_say_so() {
    let app = TestApp::new();
    let hash = password::hash("difference engine").expect("a hash");
    app.someone(&NewUser { password_hash: Some(hash), ..NewUser::named("ada") }, &[]);
    let letters_after = async |address: &str| {
        let fields = json!({ "username": "ada", "password": "difference engine" });
        let browser = app.anonymous().from(address);
        assert_eq!(browser.post("//users/sign_in", fields).await.status, 303);
        app.letters()
    };

    assert_eq!(letters_after("192.0.2.1").await.len(), 0, "nothing is known of the first one");
    assert_eq!(letters_after("192.0.2.1").await.len(), 0);
    let letters = letters_after("192.0.2.2").await;
    assert!(letters.len() == 1 && letters[0].contains("192.0.2.2"), "{letters:?}");
    assert!(letters[0].contains("ada@example.com"), "{letters:?}");
    assert_eq!(letters_after("192.0.2.1").await.len(), 1, "the last two are known");

    set(&app, json!({ "notify_on_unknown_sign_in": false })).await;
    assert_eq!(letters_after("192.0.2.3").await.len(), 1);
}

#[actix_web::test]
async fn people_hear_that_they_were_deactivated_where_the_settings_say_so() {
    let app = TestApp::new();
    let (root, letters) = (app.admin(), || app.letters().len());
    let deactivate = async |name: &str| {
        let path = format!("/users/{}/deactivate", app.id_of(name));
        root.post(&path, json!({})).await.created();
    };

    deactivate("ada").await;
    assert_eq!(letters(), 1);
    assert!(app.letters()[0].contains("ada@example.com"));

    set(&app, json!({ "user_deactivation_emails_enabled": false })).await;
    deactivate("bob").await;
    assert_eq!(letters(), 1);
}
