//! An application, somebody who lets it act for them, and those who want to be taken for either.

use actix_web::http::Method;
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use org::{
    application::actions::{self, NewApplication},
    user::{actions::NewUser, password},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Answer, Person, TestApp};

const BACK: &str = "https://board.example.com/back?x=1";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

/// Ada has a password, and there is an application.
struct Scene {
    app: TestApp,
    uid: String,
    secret: String,
}

fn register(app: &TestApp, name: &str, confidential: bool, trusted: bool) -> (String, String) {
    let new = NewApplication {
        name: name.to_owned(),
        redirect_uri: format!("{BACK}\nhttps://board.example.com/other"),
        scopes: "api read_user sudo".to_owned(),
        trusted,
        confidential,
    };
    let (made, secret) = app.write(move |tx| actions::register(tx, None, &new));
    (made.uid, secret.reveal().to_owned())
}

impl Scene {
    fn of(confidential: bool) -> Self {
        let app = TestApp::new();
        let hash = password::hash("difference engine").expect("a hash");
        let new = NewUser { password_hash: Some(hash), ..NewUser::named("ada") };
        app.someone(&new, &[]);
        let (uid, secret) = register(&app, "Board <b>", confidential, false);
        Self { app, uid, secret }
    }

    /// What the application asks for, changed in some of its values.
    fn request(&self, changes: &[(&'static str, &str)]) -> String {
        let mut fields = vec![
            ("client_id", self.uid.clone()),
            ("redirect_uri", BACK.to_owned()),
            ("response_type", "code".to_owned()),
            ("state", "a&b".to_owned()),
        ];
        for (name, value) in changes {
            fields.retain(|(known, _)| known != name);
            fields.push((*name, (*value).to_owned()));
        }
        let encoded = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
        pairs.join("&")
    }

    async fn authorization_page(&self, changes: &[(&'static str, &str)]) -> Answer {
        let path = format!("//oauth/authorize?{}", self.request(changes));
        self.app.anonymous().get(&path).await
    }

    async fn answer(&self, changes: &[(&'static str, &str)]) -> Answer {
        let own = [("username", "ada"), ("password", "difference engine"), ("decision", "allow")];
        let fields = self.request(&[&own[..], changes].concat());
        let kind = "application/x-www-form-urlencoded";
        let nobody = self.app.anonymous();
        nobody.send_bytes(Method::POST, "//oauth/authorize", kind, fields.as_bytes()).await
    }

    async fn code(&self, changes: &[(&'static str, &str)]) -> String {
        let answer = self.answer(changes).await;
        assert_eq!(answer.status, 302, "{}", String::from_utf8_lossy(&answer.bytes));
        let address = answer.header("location").expect("an address").to_owned();
        let (_, code) = address.split_once("&code=").expect("a code");
        code.split('&').next().unwrap_or_default().to_owned()
    }

    async fn change(&self, code: &str, changes: Value) -> Answer {
        let mut fields = json!({ "grant_type": "authorization_code", "code": code, "redirect_uri": BACK,
                                 "client_id": self.uid, "client_secret": self.secret });
        for (name, value) in changes.as_object().expect("an object") {
            fields[name] = value.clone();
        }
        self.app.anonymous().post("//oauth/token", fields).await
    }

    async fn refused(&self, code: &str, changes: Value) {
        let answer = self.change(code, changes.clone()).await;
        assert_eq!(
            (answer.status, &answer.body["error"]),
            (400, &json!("invalid_grant")),
            "{changes}"
        );
    }

    fn bearing(&self, pair: &Value) -> Person<'_> {
        let token = pair["access_token"].as_str().expect("a token");
        self.app.anonymous().sending("Authorization", &format!("Bearer {token}"))
    }
}

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

#[actix_web::test]
async fn somebody_signs_in_and_an_application_acts_for_them() {
    let scene = Scene::of(true);
    let page = scene.authorization_page(&[]).await;
    let text = String::from_utf8_lossy(&page.bytes).into_owned();
    assert!(page.status == 200 && text.contains("Board &lt;b&gt;") && !text.contains("<b>Board"));
    let policy = page.header("content-security-policy").expect("a policy").to_owned();
    assert!(policy.contains("form-action 'self' https://board.example.com;"), "{policy}");
    assert!(!text.contains("http://cdn") && !text.contains("<script"));

    let answer = scene.answer(&[]).await;

    let address = answer.header("location").expect("an address").to_owned();
    assert!(address.starts_with(&format!("{BACK}&code=")) && address.ends_with("&state=a%26b"));
    let code = scene.code(&[]).await;
    let answer = scene.change(&code, json!({})).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let pair = answer.ok();
    assert_eq!((&pair["expires_in"], &pair["scope"]), (&json!(7200), &json!("api")));
    assert_eq!(scene.bearing(&pair).get("/user").await.ok()["username"], "ada");
    let info = scene.bearing(&pair).get("//oauth/token/info").await.ok();
    assert_eq!(info["application"]["uid"], scene.uid);
}

#[actix_web::test]
async fn who_cannot_be_sent_back_is_shown_the_code() {
    const HERE: &str = "urn:ietf:wg:oauth:2.0:oob";
    let mut scene = Scene::of(true);
    let new = json!({ "name": "Terminal", "redirect_uri": HERE, "scopes": "api" });
    let made = scene.app.admin().post("/applications", new).await.created();
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    (scene.uid, scene.secret) = (text("application_id"), text("secret"));
    let page = scene.authorization_page(&[("redirect_uri", HERE)]).await;
    let policy = page.header("content-security-policy").expect("a policy").to_owned();
    assert!(page.status == 200 && policy.contains("form-action 'self';"), "{policy}");

    let shown = scene.answer(&[("redirect_uri", HERE)]).await;

    assert_eq!((shown.status, shown.header("location")), (200, None));
    assert_eq!(shown.header("cache-control"), Some("no-store"));
    let html = String::from_utf8_lossy(&shown.bytes).into_owned();
    let (_, code) = html.split_once("<code>").expect("a code");
    let (code, _) = code.split_once("</code>").expect("its end");
    scene.change(code, json!({ "redirect_uri": HERE })).await.ok();
    let denied = scene.answer(&[("redirect_uri", HERE), ("decision", "deny")]).await;
    assert_eq!((denied.status, denied.header("location")), (400, None));
}

#[actix_web::test]
async fn who_denies_or_cannot_sign_in_gives_nothing() {
    let scene = Scene::of(true);

    let denied = scene.answer(&[("decision", "deny"), ("password", "")]).await;
    let wrong = scene.answer(&[("password", "wrong")]).await;

    let address = denied.header("location").expect("an address").to_owned();
    assert!(denied.status == 302 && address.contains("&error=access%5Fdenied&"), "{address}");
    assert!(!address.contains("code="));
    assert_eq!((wrong.status, wrong.header("location")), (422, None));
    assert_eq!(scene.answer(&[("username", "nobody")]).await.status, 422);
    for _ in 0..10 {
        scene.answer(&[("password", "wrong")]).await;
    }
    let often = scene.answer(&[]).await;
    assert_eq!((often.status, often.header("retry-after")), (429, Some("600")));
    scene.app.clock.advance(time::Duration::minutes(10));
    scene.app.block("ada");
    assert_eq!(scene.answer(&[]).await.status, 422, "somebody blocked");
}

#[actix_web::test]
async fn a_form_that_another_site_sends_gives_nothing() {
    let scene = Scene::of(true);
    let own = json!({ "username": "ada", "password": "difference engine" });
    let begun = scene.app.anonymous().post("//users/sign_in", own.clone()).await;
    let cookie = begun.header("set-cookie").and_then(|whole| whole.split(';').next()).expect("one");
    let browser = scene.app.anonymous().sending("Cookie", cookie);
    let fields = scene.request(&[("decision", "allow")]);
    let kind = "application/x-www-form-urlencoded";
    for (name, value) in [
        ("Origin", "https://evil.example.com"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let page = browser.sending(name, value);
        let agreed =
            page.send_bytes(Method::POST, "//oauth/authorize", kind, fields.as_bytes()).await;
        let begun = page.post("//users/sign_in", own.clone()).await;
        let left = page.post("//users/sign_out", json!({})).await;
        for answer in [agreed, begun, left] {
            assert_eq!((answer.status, answer.header("location")), (403, None), "{value}");
            assert_eq!(answer.header("set-cookie"), None, "{value}");
        }
    }
    let here = browser.sending("Origin", scene.app.state.urls.origin());
    let here = here.sending("Sec-Fetch-Site", "same-origin");
    for page in [&browser, &here] {
        let agreed =
            page.send_bytes(Method::POST, "//oauth/authorize", kind, fields.as_bytes()).await;
        assert!(
            agreed.status == 302
                && agreed.header("location").is_some_and(|to| to.contains("code="))
        );
    }
}

#[actix_web::test]
async fn nobody_is_sent_where_the_application_does_not_lead() {
    let scene = Scene::of(true);
    for address in [
        "https://evil.example.com/back",
        "https://board.example.com/back",
        "https://board.example.com/back?x=1&y=2",
        "https://board.example.com/back?x=1/../other",
        "HTTPS://board.example.com/back?x=1",
        "https://board.example.com:443/back?x=1",
        "https://board.example.com/back?x=1 https://evil.example.com",
        "",
    ] {
        for answer in [
            scene.authorization_page(&[("redirect_uri", address)]).await,
            scene.answer(&[("redirect_uri", address)]).await,
        ] {
            assert_eq!((answer.status, answer.header("location")), (400, None), "{address}");
        }
    }
    assert_eq!(scene.authorization_page(&[("client_id", "unknown")]).await.status, 400);
    let long = scene.authorization_page(&[("state", &"s".repeat(2049))]).await;
    assert_eq!((long.status, long.header("location")), (400, None));
}

#[actix_web::test]
async fn a_request_that_is_wrong_is_told_to_the_application() {
    let scene = Scene::of(true);
    for (name, value, error) in [
        ("response_type", "token", "unsupported_response_type"),
        ("response_type", "", "invalid_request"),
        ("scope", "api write_repository", "invalid_scope"),
        ("scope", "magic", "invalid_scope"),
        ("code_challenge", "short", "invalid_request"),
        ("code_challenge_method", "S512", "invalid_request"),
    ] {
        let answer = scene.authorization_page(&[(name, value)]).await;
        let address = answer.header("location").unwrap_or_default().to_owned();
        let told = format!("error={}&", utf8_percent_encode(error, NON_ALPHANUMERIC));
        assert!(answer.status == 302 && address.contains(&told), "{name} {value}: {address}");
        assert!(address.starts_with(BACK) && address.ends_with("&state=a%26b"), "{address}");
    }
}

#[actix_web::test]
async fn a_code_that_comes_again_ends_what_came_of_it() {
    let scene = Scene::of(true);
    let code = scene.code(&[]).await;
    let pair = scene.change(&code, json!({})).await.ok();
    scene.bearing(&pair).get("/user").await.ok();

    scene.refused(&code, json!({})).await;

    assert_eq!(scene.bearing(&pair).get("/user").await.status, 401);
    let renew = json!({ "grant_type": "refresh_token", "refresh_token": pair["refresh_token"] });
    assert_eq!(scene.change("", renew).await.body["error"], "invalid_grant");
    let query = "/audit_events?entity_type=User";
    let names = scene.app.admin().get(query).await.each("event_name");
    assert!(names.contains(&json!("oauth_grant_reused")), "{names:?}");
    assert!(names.contains(&json!("user_authorized_oauth_application")), "{names:?}");
}

#[actix_web::test]
async fn of_two_who_bring_the_same_code_at_most_one_has_tokens() {
    let scene = Scene::of(true);
    let code = scene.code(&[]).await;

    let (one, other) =
        futures_util::join!(scene.change(&code, json!({})), scene.change(&code, json!({})));

    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400]);
}

#[actix_web::test]
async fn a_code_is_good_for_its_application_address_and_ten_minutes() {
    let scene = Scene::of(true);
    let (uid, secret) = register(&scene.app, "Other", true, false);
    let code = scene.code(&[]).await;

    scene.refused(&code, json!({ "client_id": uid, "client_secret": secret })).await;
    scene.refused(&code, json!({ "redirect_uri": "https://board.example.com/other" })).await;
    scene.refused(&code, json!({ "code_verifier": VERIFIER })).await;
    scene.refused("unknown", json!({})).await;
    for client in [
        json!({ "client_secret": secret }),
        json!({ "client_secret": null }),
        json!({ "client_id": null, "client_secret": null }),
    ] {
        let answer = scene.change(&code, client).await;
        assert_eq!((answer.status, &answer.body["error"]), (401, &json!("invalid_client")));
    }
    let late = scene.code(&[]).await;
    scene.change(&code, json!({})).await.ok();
    scene.app.clock.advance(time::Duration::minutes(10));
    scene.refused(&late, json!({})).await;
}

#[actix_web::test]
async fn a_challenge_cannot_be_left_out_later() {
    let scene = Scene::of(true);
    let challenge = challenge();
    let hashed = [("code_challenge", challenge.as_str()), ("code_challenge_method", "S256")];
    let code = scene.code(&hashed).await;

    scene.refused(&code, json!({})).await;
    scene.refused(&code, json!({ "code_verifier": "" })).await;
    scene.refused(&code, json!({ "code_verifier": challenge })).await;
    scene.refused(&code, json!({ "code_verifier": VERIFIER.to_lowercase() })).await;

    scene.change(&code, json!({ "code_verifier": VERIFIER })).await.ok();
}

#[actix_web::test]
async fn an_application_without_a_secret_needs_a_challenge() {
    let scene = Scene::of(false);
    let without = scene.authorization_page(&[]).await;
    let address = without.header("location").unwrap_or_default().to_owned();
    assert!(address.contains("error=invalid%5Frequest&"), "{address}");
    let challenge = challenge();
    let hashed = [("code_challenge", challenge.as_str()), ("code_challenge_method", "S256")];
    let code = scene.code(&hashed).await;

    let public = json!({ "client_secret": null, "code_verifier": VERIFIER });
    let wrong = json!({ "client_secret": "wrong", "code_verifier": VERIFIER });
    assert_eq!(scene.change(&code, wrong).await.status, 401, "a wrong secret is wrong");
    let pair = scene.change(&code, public).await.ok();

    let renew = |uid: Value| {
        json!({ "grant_type": "refresh_token", "client_id": uid, "client_secret": null,
                                     "refresh_token": pair["refresh_token"] })
    };
    assert_eq!(scene.change("", renew(Value::Null)).await.body["error"], "invalid_grant");
    scene.change("", renew(json!(scene.uid))).await.ok();
}

#[actix_web::test]
async fn a_token_is_renewed_by_its_application_alone() {
    let scene = Scene::of(true);
    let (uid, secret) = register(&scene.app, "Other", true, false);
    let code = scene.code(&[("scope", "read_user")]).await;
    let pair = scene.change(&code, json!({})).await.ok();
    let renew = json!({ "grant_type": "refresh_token", "refresh_token": pair["refresh_token"] });
    let with = |more: Value| {
        let mut fields = renew.clone();
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };

    scene.refused("", with(json!({ "client_id": uid, "client_secret": secret }))).await;
    scene.refused("", with(json!({ "client_id": null, "client_secret": null }))).await;
    let growth = scene.change("", with(json!({ "scope": "api" }))).await;
    assert_eq!(growth.body["error"], "invalid_scope", "not beyond what the person agreed to");

    assert_eq!(scene.change("", renew.clone()).await.ok()["scope"], "read_user");
}

#[actix_web::test]
async fn scopes_that_are_of_no_use_to_somebody_are_left_out() {
    let scene = Scene::of(true);
    let code = scene.code(&[("scope", "read_user sudo")]).await;
    assert_eq!(scene.change(&code, json!({})).await.ok()["scope"], "read_user");

    let answer = scene.answer(&[("scope", "sudo")]).await;

    assert!(answer.header("location").unwrap_or_default().contains("error=invalid%5Fscope&"));
}

#[actix_web::test]
async fn administrators_give_no_wide_scopes_where_settings_forbid_it() {
    let scene = Scene::of(true);
    let hash = password::hash("analytical engine").expect("a hash");
    let eve = NewUser { password_hash: Some(hash), admin: true, ..NewUser::named("eve") };
    scene.app.someone(&eve, &[]);
    let own = [("username", "eve"), ("password", "analytical engine")];
    scene.code(&own).await;
    let root = scene.app.admin();
    root.put("/application/settings", json!({ "disable_admin_oauth_scopes": true })).await.ok();

    let answer = scene.answer(&own).await;

    assert!(answer.header("location").unwrap_or_default().contains("error=access%5Fdenied&"));
    scene.code(&[own[0], own[1], ("scope", "read_user")]).await;
    scene.code(&[]).await;
    let (uid, _) = register(&scene.app, "Second site", true, true);
    scene.code(&[own[0], own[1], ("client_id", &uid)]).await;
}

#[actix_web::test]
async fn an_application_that_is_removed_takes_its_tokens_along() {
    let scene = Scene::of(true);
    let code = scene.code(&[]).await;
    let pair = scene.change(&code, json!({})).await.ok();
    scene.bearing(&pair).get("/user").await.ok();
    let unused = scene.code(&[]).await;
    let root = scene.app.admin();
    let id = root.get("/applications").await.each("id")[0].clone();

    assert_eq!(root.delete(&format!("/applications/{id}")).await.status, 204);

    assert_eq!(scene.bearing(&pair).get("/user").await.status, 401);
    assert_eq!(scene.change(&unused, json!({})).await.status, 401);
    let renew = json!({ "grant_type": "refresh_token", "refresh_token": pair["refresh_token"],
                        "client_id": null, "client_secret": null });
    scene.refused("", renew).await;
}

#[actix_web::test]
async fn who_has_a_token_is_told_of_it_and_nobody_else() {
    let scene = Scene::of(true);
    let (uid, secret) = register(&scene.app, "Other", true, false);
    let code = scene.code(&[]).await;
    let pair = scene.change(&code, json!({})).await.ok();
    let token = pair["access_token"].clone();
    let ask = async |uid: &str, secret: &str| {
        let basic = format!("Basic {}", STANDARD.encode(format!("{uid}:{secret}")));
        let client = scene.app.anonymous().sending("Authorization", &basic);
        client.post("//oauth/introspect", json!({ "token": token })).await
    };

    let told = ask(&scene.uid, &scene.secret).await.ok();
    assert_eq!((&told["active"], &told["client_id"]), (&json!(true), &json!(scene.uid)));
    assert_eq!((&told["scope"], &told["username"]), (&json!("api"), &json!("ada")));
    assert_eq!(ask(&uid, &secret).await.ok(), json!({ "active": false }));
    assert_eq!(ask(&scene.uid, &secret).await.status, 401);
    let nobody = scene.app.anonymous();
    let alone = nobody.post("//oauth/introspect", json!({ "token": token })).await;
    assert_eq!((alone.status, &alone.body["error"]), (401, &json!("invalid_client")));
    let own = scene.bearing(&pair).post("//oauth/introspect", json!({ "token": token })).await;
    assert_eq!(own.ok()["active"], true);
    scene.app.clock.advance(time::Duration::hours(2));
    assert_eq!(ask(&scene.uid, &scene.secret).await.ok(), json!({ "active": false }));
}

#[actix_web::test]
async fn an_application_without_a_secret_asks_about_its_token_with_that_token_alone() {
    let scene = Scene::of(false);
    let code = scene.code(&[("code_challenge", VERIFIER)]).await;
    let shown = json!({ "client_secret": null, "code_verifier": VERIFIER });
    let pair = scene.change(&code, shown).await.ok();
    let asked = json!({ "token": pair["access_token"], "client_id": scene.uid });
    let named = scene.app.anonymous().post("//oauth/introspect", asked).await;
    assert_eq!((named.status, &named.body["error"]), (401, &json!("invalid_client")));
    let own = json!({ "token": pair["access_token"] });
    let told = scene.bearing(&pair).post("//oauth/introspect", own).await.ok();
    assert_eq!(told["active"], true);
}

#[actix_web::test]
async fn a_token_is_ended_by_its_application_alone() {
    let scene = Scene::of(true);
    let (uid, secret) = register(&scene.app, "Other", true, false);
    let code = scene.code(&[]).await;
    let pair = scene.change(&code, json!({})).await.ok();
    let end = async |uid: Value, secret: Value| {
        let fields =
            json!({ "token": pair["refresh_token"], "client_id": uid, "client_secret": secret });
        scene.app.anonymous().post("//oauth/revoke", fields).await.ok()
    };

    assert_eq!(end(Value::Null, Value::Null).await, json!({}));
    assert_eq!(end(json!(uid), json!(secret)).await, json!({}));
    assert_eq!(end(json!(scene.uid), json!(secret)).await, json!({}));
    scene.bearing(&pair).get("/user").await.ok();

    assert_eq!(end(json!(scene.uid), json!(scene.secret)).await, json!({}));
    assert_eq!(scene.bearing(&pair).get("/user").await.status, 401);
}

#[actix_web::test]
async fn a_password_that_an_application_shows_is_good_for_its_scopes() {
    let scene = Scene::of(true);
    let fields = |more: Value| {
        let mut fields =
            json!({ "grant_type": "password", "username": "ada", "password": "difference engine" });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };

    let own = json!({ "scope": "read_user" });
    let pair = scene.change("", fields(own)).await.ok();
    let info = scene.bearing(&pair).get("//oauth/token/info").await.ok();
    assert_eq!(info["application"]["uid"], scene.uid);
    let wide = scene.change("", fields(json!({ "scope": "write_repository" }))).await;
    assert_eq!(wide.body["error"], "invalid_scope");
    let wrong = scene.change("", fields(json!({ "client_secret": "wrong" }))).await;
    assert_eq!((wrong.status, &wrong.body["error"]), (401, &json!("invalid_client")));
}

#[actix_web::test]
async fn a_token_that_an_application_has_for_itself_stands_for_nobody() {
    let scene = Scene::of(true);
    let own = scene.change("", json!({ "grant_type": "client_credentials" })).await.ok();
    assert_eq!((&own["scope"], own.get("refresh_token")), (&json!("api read_user sudo"), None));
    let bearer = scene.bearing(&own);

    bearer.get("/projects").await.ok();
    bearer.get("/user").await.refused(401, json!({ "message": "401 Unauthorized" }));
    let sudo = bearer.get("/projects?sudo=ada").await;
    assert_eq!(sudo.status, 401);
    let info = bearer.get("//oauth/token/info").await.ok();
    assert_eq!(
        (&info["resource_owner_id"], &info["application"]["uid"]),
        (&Value::Null, &json!(scene.uid))
    );
    scene.app.clock.advance(time::Duration::hours(2));
    assert_eq!(bearer.get("/projects").await.body["error"], "invalid_token");
}

#[actix_web::test]
async fn a_token_that_an_application_has_for_itself_has_its_scopes_and_is_its_own_to_end() {
    let scene = Scene::of(true);
    let grant = |scope: &str| json!({ "grant_type": "client_credentials", "scope": scope });
    assert_eq!(scene.change("", grant("read_api")).await.body["error"], "invalid_scope");
    let own = scene.change("", grant("read_user")).await.ok();
    assert_eq!(scene.bearing(&own).get("/projects").await.body["error"], "insufficient_scope");
    let client = json!({ "token": own["access_token"], "client_id": scene.uid, "client_secret": scene.secret });
    let nobody = scene.app.anonymous();

    let told = nobody.post("//oauth/introspect", client.clone()).await.ok();
    assert_eq!((&told["active"], &told["scope"]), (&json!(true), &json!("read_user")));
    assert!(told.get("username").is_none());
    nobody.post("//oauth/revoke", json!({ "token": own["access_token"] })).await.ok();
    assert_eq!(nobody.post("//oauth/introspect", client.clone()).await.ok()["active"], true);
    nobody.post("//oauth/revoke", client.clone()).await.ok();
    assert_eq!(nobody.post("//oauth/introspect", client).await.ok(), json!({ "active": false }));
    assert_eq!(scene.bearing(&own).get("/projects").await.status, 401);
}

#[actix_web::test]
async fn graphql_asks_for_the_scopes_of_a_token_that_an_application_has_for_itself() {
    let scene = Scene::of(true);
    let grant = |scope: &str| json!({ "grant_type": "client_credentials", "scope": scope });
    let query = json!({ "query": "{ echo(text: \"hi\") }" });
    let refusal = json!({ "errors": [{ "message": "Invalid token" }] });

    let narrow = scene.change("", grant("read_user")).await.ok();
    let refused = scene.bearing(&narrow).post("//api/graphql", query.clone()).await;
    refused.refused(401, refusal.clone());
    let token = narrow["access_token"].as_str().expect("a token");
    let nobody = scene.app.anonymous();
    let by_url = format!("//api/graphql?access_token={token}");
    nobody.post(&by_url, query.clone()).await.refused(401, refusal.clone());
    let in_body = json!({ "query": query["query"], "access_token": token });
    nobody.post("//api/graphql", in_body).await.refused(401, refusal);
    let wide = scene.change("", grant("api")).await.ok();
    let said = scene.bearing(&wide).post("//api/graphql", query).await.ok();
    assert_eq!(said, json!({ "data": { "echo": "nil says: hi" } }));
}

#[actix_web::test]
async fn an_application_that_keeps_no_secret_has_no_token_for_itself() {
    let scene = Scene::of(false);
    for secret in [json!(scene.secret), Value::Null] {
        let fields = json!({ "grant_type": "client_credentials", "client_secret": secret });
        let refused = scene.change("", fields).await;
        assert_eq!((refused.status, &refused.body["error"]), (401, &json!("invalid_client")));
    }
}
