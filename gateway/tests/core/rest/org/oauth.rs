//! Tokens for a password, and tokens that renew tokens.

use org::user::{actions::NewUser, password};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

/// Ada, who has a password.
fn with_password(app: &TestApp) {
    let hash = password::hash("difference engine").expect("a hash");
    let new = NewUser { password_hash: Some(hash), ..NewUser::named("ada") };
    app.someone(&new, &[]);
}

async fn ask(app: &TestApp, fields: Value) -> Answer {
    app.anonymous().post("//oauth/token", fields).await
}

async fn signed_in(app: &TestApp) -> Value {
    let fields =
        json!({ "grant_type": "password", "username": "ada", "password": "difference engine" });
    ask(app, fields).await.ok()
}

fn bearing<'a>(app: &'a TestApp, pair: &Value) -> Person<'a> {
    let token = pair["access_token"].as_str().expect("a token");
    app.anonymous().sending("Authorization", &format!("Bearer {token}"))
}

#[actix_web::test]
async fn a_password_gives_a_token_for_two_hours() {
    let app = TestApp::new();
    with_password(&app);

    let pair = signed_in(&app).await;

    assert_eq!((&pair["token_type"], &pair["scope"]), (&json!("Bearer"), &json!("api")));
    assert_eq!(bearing(&app, &pair).get("/user").await.ok()["username"], "ada");
    let info = bearing(&app, &pair).get("//oauth/token/info").await.ok();
    assert_eq!((&info["scope"], &info["expires_in"]), (&json!(["api"]), &json!(7200)));
    app.clock.advance(time::Duration::hours(2));
    assert_eq!(bearing(&app, &pair).get("/user").await.status, 401);
    assert!(app.user("ada").current_sign_in_at.is_some());
}

#[actix_web::test]
async fn of_two_credentials_that_of_an_application_counts() {
    let app = TestApp::new();
    with_password(&app);
    let pair = signed_in(&app).await;
    let own = |name: &str| app.person(name).token.expect("a token").reveal().to_owned();
    let (bob, cyd) = (own("bob"), own("cyd"));
    let who = async |bearer: &str, private: &str| {
        let person = app.anonymous().sending("Authorization", &format!("Bearer {bearer}"));
        person.sending("PRIVATE-TOKEN", private).get("/user").await.ok()["username"].clone()
    };

    assert_eq!(who(pair["access_token"].as_str().expect("a token"), &bob).await, "ada");
    assert_eq!(who(&cyd, &bob).await, "bob");
    assert_eq!(who("unknown", &bob).await, "bob");
}

#[actix_web::test]
async fn a_wrong_password_and_an_unknown_name_look_the_same() {
    let app = TestApp::new();
    with_password(&app);
    app.person("bob");

    let mut told = Vec::new();
    for (name, clear) in [("ada", "wrong"), ("nobody", "wrong"), ("bob", "wrong"), ("bob", "")] {
        let fields = json!({ "grant_type": "password", "username": name, "password": clear });
        let answer = ask(&app, fields).await;
        told.push((answer.status, answer.body));
    }

    assert_eq!((told[0].0, &told[0].1["error"]), (400, &json!("invalid_grant")));
    assert!(told.iter().all(|one| *one == told[0]));
}

#[actix_web::test]
async fn a_wrong_password_is_audited_where_there_is_such_an_account() {
    let app = TestApp::new();
    with_password(&app);
    for name in ["ada", "nobody"] {
        let fields = json!({ "grant_type": "password", "username": name, "password": "wrong" });
        let answer = app.anonymous().from("203.0.113.7").post("//oauth/token", fields).await;
        assert_eq!(answer.status, 400);
    }

    let (root, query) = (app.admin(), "/audit_events?entity_type=User");
    // Nobody waits for it.
    let failures = loop {
        let events = root.get(query).await.ok();
        let events = events.as_array().expect("a list").iter();
        let failed = events.filter(|event| event["event_name"] == "login_failed");
        let failed: Vec<Value> = failed.cloned().collect();
        if !failed.is_empty() {
            break failed;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    };
    let [failed] = &failures[..] else { panic!("{failures:?}") };
    assert_eq!(failed["entity_id"], json!(app.id_of("ada")));
    assert_eq!(failed["author_id"], -1, "nobody proved to be her");
    let details = &failed["details"];
    assert_eq!(details["author_name"], "An unauthenticated user");
    assert_eq!(
        (&details["failed_login"], &details["with"], &details["ip_address"]),
        (&json!("STANDARD"), &json!("standard"), &json!("203.0.113.7"))
    );
}

#[actix_web::test]
async fn who_guesses_too_often_has_to_wait() {
    let app = TestApp::new();
    with_password(&app);
    let wrong = json!({ "grant_type": "password", "username": "ada", "password": "wrong" });
    for _ in 0..10 {
        assert_eq!(ask(&app, wrong.clone()).await.status, 400);
    }

    let refused = ask(&app, wrong).await;

    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("600")));
    app.clock.advance(time::Duration::minutes(10));
    signed_in(&app).await;
}

#[actix_web::test]
async fn a_new_pair_ends_the_old_one_when_it_is_used() {
    let app = TestApp::new();
    with_password(&app);
    let old = signed_in(&app).await;
    let renew = |pair: &Value| json!({ "grant_type": "refresh_token", "refresh_token": pair["refresh_token"] });

    let new = ask(&app, renew(&old)).await.ok();

    assert_eq!(bearing(&app, &old).get("/user").await.status, 200);
    assert_eq!(bearing(&app, &new).get("/user").await.status, 200);
    assert_eq!(bearing(&app, &old).get("/user").await.status, 401);
}

#[actix_web::test]
async fn a_pair_renewed_after_its_end_may_be_stolen_and_ends_what_came_of_it() {
    let app = TestApp::new();
    with_password(&app);
    let old = signed_in(&app).await;
    let renew = |pair: &Value| json!({ "grant_type": "refresh_token", "refresh_token": pair["refresh_token"] });
    let new = ask(&app, renew(&old)).await.ok();
    bearing(&app, &new).get("/user").await.ok();

    assert_eq!(ask(&app, renew(&old)).await.body["error"], "invalid_grant");

    assert_eq!(bearing(&app, &new).get("/user").await.status, 401);
    assert_eq!(ask(&app, renew(&new)).await.body["error"], "invalid_grant");
}

#[actix_web::test]
async fn of_two_who_renew_the_same_pair_one_is_left() {
    let app = TestApp::new();
    with_password(&app);
    let old = signed_in(&app).await;
    let renew = json!({ "grant_type": "refresh_token", "refresh_token": old["refresh_token"] });

    let (one, other) = futures_util::join!(ask(&app, renew.clone()), ask(&app, renew));

    let (one, other) = (one.ok(), other.ok());
    let statuses = [
        bearing(&app, &one).get("/user").await.status,
        bearing(&app, &other).get("/user").await.status,
    ];
    assert!(statuses == [200, 401] || statuses == [401, 200], "{statuses:?}");
}

#[actix_web::test]
async fn a_renewed_pair_has_no_more_scopes_than_the_old_one() {
    let app = TestApp::new();
    with_password(&app);
    let fields = json!({ "grant_type": "password", "username": "ada", "password": "difference engine",
                         "scope": "read_user read_api" });
    let old = ask(&app, fields).await.ok();
    let renew = |scope: &str| {
        let secret = &old["refresh_token"];
        json!({ "grant_type": "refresh_token", "refresh_token": secret, "scope": scope })
    };

    assert_eq!(ask(&app, renew("read_user api")).await.body["error"], "invalid_scope");
    assert_eq!(ask(&app, renew("magic")).await.body["error"], "invalid_scope");
    assert_eq!(ask(&app, renew("read_user")).await.ok()["scope"], "read_user");
}

#[actix_web::test]
async fn a_pair_that_is_revoked_is_gone_by_both_halves() {
    let app = TestApp::new();
    with_password(&app);
    let pair = signed_in(&app).await;

    let nobody = app.anonymous();
    assert_eq!(nobody.post("//oauth/revoke", json!({ "token": "unknown" })).await.ok(), json!({}));
    let fields = json!({ "token": pair["refresh_token"] });
    assert_eq!(nobody.post("//oauth/revoke", fields).await.ok(), json!({}));

    assert_eq!(bearing(&app, &pair).get("//oauth/token/info").await.status, 401);
    assert_eq!(nobody.get("//oauth/token/info").await.body["error"], "invalid_token");
}

#[actix_web::test]
async fn other_grants_scopes_and_clients_are_refused_by_their_names() {
    let app = TestApp::new();
    with_password(&app);
    let right =
        json!({ "grant_type": "password", "username": "ada", "password": "difference engine" });
    let with = |field: &str, value: &str| {
        let mut fields = right.clone();
        fields[field] = json!(value);
        fields
    };

    assert_eq!(
        ask(&app, with("grant_type", "magic")).await.body["error"],
        "unsupported_grant_type"
    );
    assert_eq!(ask(&app, with("scope", "api everything")).await.body["error"], "invalid_scope");
    assert_eq!(ask(&app, with("client_id", "unknown")).await.status, 401);
    assert_eq!(ask(&app, json!({})).await.body["error"], "invalid_request");
    assert_eq!(ask(&app, with("scope", "read_api")).await.ok()["scope"], "read_api");
    app.block("ada");
    assert_eq!(ask(&app, right.clone()).await.body["error"], "invalid_grant");
}
