//! Applications that sign people in with OpenID Connect.

use actix_web::http::Method;
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode, decode_header};
use org::{
    application::actions::{self, NewApplication},
    user::{actions::NewUser, password},
};
use serde_json::{Value, json};

use crate::support::{Answer, TestApp};

const BACK: &str = "https://board.example.com/back";

/// Ada has a password, and there is an application that may ask who she is.
struct Scene {
    app: TestApp,
    uid: String,
    secret: String,
}

impl Scene {
    fn new() -> Self {
        let app = TestApp::new();
        let hash = password::hash("difference engine").expect("a hash");
        app.someone(&NewUser { password_hash: Some(hash), ..NewUser::named("ada") }, &[]);
        let new = NewApplication {
            name: "Board".to_owned(),
            redirect_uri: BACK.to_owned(),
            scopes: "openid profile email read_user".to_owned(),
            trusted: true,
            confidential: true,
        };
        let (made, secret) = app.write(move |tx| actions::register(tx, None, &new));
        Self { app, uid: made.uid, secret: secret.reveal().to_owned() }
    }

    async fn allow(&self, scope: &str, nonce: &str) -> Answer {
        let fields = format!(
            "client_id={}&redirect_uri={BACK}&response_type=code&scope={scope}&nonce={nonce}&username=ada&\
             password=difference+engine&decision=allow",
            self.uid
        );
        let kind = "application/x-www-form-urlencoded";
        let nobody = self.app.anonymous();
        nobody.send_bytes(Method::POST, "//oauth/authorize", kind, fields.as_bytes()).await
    }

    async fn tokens(&self, scope: &str, nonce: &str) -> Value {
        let answer = self.allow(scope, nonce).await;
        let address = answer.header("location").expect("an address").to_owned();
        let (_, code) = address.split_once("?code=").expect("a code");
        self.ask(json!({ "grant_type": "authorization_code", "code": code })).await
    }

    async fn ask(&self, mut fields: Value) -> Value {
        fields["redirect_uri"] = json!(BACK);
        fields["client_id"] = json!(self.uid);
        fields["client_secret"] = json!(self.secret);
        self.app.anonymous().post("//oauth/token", fields).await.ok()
    }

    async fn user_info(&self, pair: &Value) -> Answer {
        let token = pair["access_token"].as_str().expect("a token");
        let bearer = self.app.anonymous().sending("Authorization", &format!("Bearer {token}"));
        bearer.get("//oauth/userinfo").await
    }

    /// The claims of an ID token, as an application reads them.
    async fn claims(&self, pair: &Value) -> Value {
        let token = pair["id_token"].as_str().expect("an ID token");
        let keys = self.app.anonymous().get("//oauth/discovery/keys").await.ok();
        let kid = decode_header(token).expect("a header").kid;
        let all = keys["keys"].as_array().expect("keys");
        let key = all.iter().find(|key| key["kid"].as_str() == kid.as_deref()).expect("the key");
        assert_eq!(
            (&key["kty"], &key["alg"], key.get("d")),
            (&json!("RSA"), &json!("RS256"), None)
        );
        let (n, e) = (key["n"].as_str().expect("n"), key["e"].as_str().expect("e"));
        let check = DecodingKey::from_rsa_components(n, e).expect("a key");
        let mut rules = Validation::new(Algorithm::RS256);
        rules.set_audience(&[&self.uid]);
        rules.set_issuer(&["http://forge.test"]);
        // The clock of the test is not that of the machine.
        rules.validate_exp = false;
        decode::<Value>(token, &check, &rules).expect("a token that is right").claims
    }
}

#[actix_web::test]
async fn an_application_learns_from_a_signed_token_who_signed_in() {
    let scene = Scene::new();
    let pair = scene.tokens("openid+email", "n-0S6").await;

    let claims = scene.claims(&pair).await;

    let id = scene.app.id_of("ada");
    assert_eq!((&claims["sub"], &claims["nonce"]), (&json!(id.to_string()), &json!("n-0S6")));
    assert_eq!((&claims["nickname"], &claims["email"]), (&json!("ada"), &json!("ada@example.com")));
    let now = scene.app.clock.now().unix();
    assert_eq!((&claims["iat"], &claims["exp"]), (&json!(now), &json!(now + 120)));
    assert_eq!(claims["auth_time"], json!(now));
    assert_eq!(claims["profile"], "http://forge.test/ada");
    let renew = json!({ "grant_type": "refresh_token", "refresh_token": pair["refresh_token"] });
    let later = scene.claims(&scene.ask(renew).await).await;
    assert_eq!((&later["sub"], later.get("nonce")), (&claims["sub"], None));
}

#[actix_web::test]
async fn what_is_told_of_somebody_follows_the_scopes() {
    let scene = Scene::new();
    let (open, other) = (scene.tokens("openid", "").await, scene.tokens("read_user", "").await);

    let known = scene.user_info(&open).await.ok();

    assert_eq!(
        (&known["name"], known.get("email")),
        (&json!("ada"), None),
        "no address was asked for"
    );
    assert_eq!(known["groups"], json!([]));
    assert!(other.get("id_token").is_none());
    let refused = scene.user_info(&other).await;
    assert_eq!((refused.status, &refused.body["error"]), (403, &json!("insufficient_scope")));
    scene.app.anonymous().get("//oauth/userinfo").await.with(401);
    let full = scene.tokens("openid+email", "").await;
    assert_eq!(scene.user_info(&full).await.ok()["email"], "ada@example.com");
}

#[actix_web::test]
async fn groups_of_somebody_are_told_by_their_paths() {
    let scene = Scene::new();
    let root = scene.app.admin();
    let group = root.group_with("tools", json!({ "visibility": "private" })).await;
    root.adds("ada", 30, &format!("/groups/{group}")).await;
    let pair = scene.tokens("openid", "").await;

    assert_eq!(scene.claims(&pair).await["groups_direct"], json!(["tools"]));

    assert_eq!(scene.user_info(&pair).await.ok()["groups"], json!(["tools"]));
}

#[actix_web::test]
async fn an_application_finds_out_where_to_ask() {
    let app = TestApp::new();

    let all = app.anonymous().get("//.well-known/openid-configuration").await.ok();

    assert_eq!(all["issuer"], "http://forge.test");
    assert_eq!(all["authorization_endpoint"], "http://forge.test/oauth/authorize");
    assert_eq!(all["jwks_uri"], "http://forge.test/oauth/discovery/keys");
    assert_eq!(all["id_token_signing_alg_values_supported"], json!(["RS256"]));
    let none = app.anonymous().get("//oauth/discovery/keys").await.ok();
    assert_eq!(none, json!({ "keys": [] }), "nobody has asked yet");
}

#[actix_web::test]
async fn a_value_that_is_too_long_to_be_signed_is_refused() {
    let scene = Scene::new();
    let answer = scene.allow("openid", &"n".repeat(2_049)).await;
    assert_eq!((answer.status, answer.header("location")), (400, None));
}
