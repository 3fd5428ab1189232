//! Tokens: listed, renewed, revoked.

use org::token::{Kind, Scope};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A token that an administrator makes for somebody: its record.
async fn made(app: &TestApp, username: &str, fields: Value) -> Value {
    let path = format!("/users/{}/personal_access_tokens", app.user(username).id);
    app.admin().post(&path, fields).await.created()
}

/// The same person with another token.
fn with<'a>(app: &'a TestApp, token: &Value) -> Person<'a> {
    app.anonymous().sending("PRIVATE-TOKEN", token["token"].as_str().expect("a secret"))
}

#[actix_web::test]
async fn a_token_is_made_and_works_until_its_day() {
    let app = TestApp::new();
    app.person("ada");
    let today = app.state.db.clock().now().date();
    let tomorrow = kernel::time::date_text(today.next_day().expect("a day"));

    let wanted = json!({ "name": "ci", "scopes": "read_user, read_api", "expires_at": tomorrow });
    let token = made(&app, "ada", wanted).await;
    let works = with(&app, &token).get("/user").await.status;
    app.clock.advance(time::Duration::days(1));
    let ended = with(&app, &token).get("/user").await;

    assert_eq!(token["scopes"], json!(["read_user", "read_api"]));
    assert_eq!((&token["active"], &token["expires_at"]), (&json!(true), &json!(tomorrow)));
    assert!(token["token"].as_str().is_some_and(|secret| secret.starts_with("glpat-")));
    assert_eq!((works, ended.status), (200, 401));
    assert_eq!(ended.body["error"], "invalid_token");
}

#[actix_web::test]
async fn a_token_needs_a_name_and_known_scopes() {
    let app = TestApp::new();
    app.person("ada");
    let root = app.admin();
    let path = format!("/users/{}/personal_access_tokens", app.user("ada").id);

    let unknown = json!({ "error": "scopes does not have a valid value" });
    root.post(&path, json!({ "name": "x", "scopes": ["all"] })).await.refused(400, unknown);
    let none = json!({ "message": "Scopes can't be blank" });
    root.post(&path, json!({ "name": "x", "scopes": [] })).await.refused(422, none);
    let missing = json!({ "error": "name is missing, scopes is missing" });
    root.post(&path, json!({})).await.refused(400, missing);
    let absent = json!({ "message": "404 User Not Found" });
    let fields = json!({ "name": "x", "scopes": ["api"] });
    root.post("/users/999/personal_access_tokens", fields.clone()).await.refused(404, absent);
    assert_eq!(app.person("ada").post(&path, fields).await.status, 403);
}

#[actix_web::test]
async fn people_list_their_own_tokens_and_administrators_all() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    app.person("bob");
    let id = app.user("ada").id;
    made(&app, "ada", json!({ "name": "Deploy", "scopes": ["api"] })).await;
    let imitate = format!("/users/{id}/impersonation_tokens");
    root.post(&imitate, json!({ "name": "as ada", "scopes": ["api"] })).await.created();

    assert_eq!(ada.get("/personal_access_tokens").await.each("name"), ["test", "Deploy"]);
    assert_eq!(ada.get("/personal_access_tokens?search=DEP").await.each("name"), ["Deploy"]);
    let all = root.get(&format!("/personal_access_tokens?user_id={id}")).await.each("name");
    assert_eq!(all, ["test", "Deploy", "as ada"]);
    assert_eq!(ada.get("/personal_access_tokens?user_id=999").await.status, 401);
    let nothing = json!({ "message": "404 Not Found" });
    root.get("/personal_access_tokens?user_id=999").await.refused(404, nothing.clone());
    root.get("/personal_access_tokens?user_id=").await.refused(404, nothing);
}

#[actix_web::test]
async fn a_list_knows_active_from_ended_tokens() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let old = json!({ "name": "old", "scopes": ["api"], "expires_at": "2020-01-01" });
    made(&app, "ada", old).await;
    let gone = made(&app, "ada", json!({ "name": "gone", "scopes": ["api"] })).await;
    ada.delete(&format!("/personal_access_tokens/{}", gone["id"])).await;

    let named =
        async |query: &str| ada.get(&format!("/personal_access_tokens?{query}")).await.each("name");
    assert_eq!(named("state=active").await, ["test"]);
    assert_eq!(named("state=inactive").await, ["old", "gone"]);
    assert_eq!(named("revoked=true").await, ["gone"]);
    assert_eq!(named("expires_before=2021-01-01").await, ["old"]);
    assert!(named("created_before=2020-01-01").await.is_empty());
    let wrong = json!({ "error": "state does not have a valid value" });
    ada.get("/personal_access_tokens?state=odd").await.refused(400, wrong);
}

#[actix_web::test]
async fn a_time_that_is_shown_bounds_a_list_as_it_stands() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.clock.advance(time::Duration::microseconds(1_500));
    made(&app, "ada", json!({ "name": "Deploy", "scopes": ["api"] })).await;

    let list = "/personal_access_tokens?search=deploy";
    assert_eq!(ada.counts_until(list, "created_before").await, [1, 0]);
}

#[actix_web::test]
async fn a_list_comes_in_the_order_that_is_asked_for() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for (name, day) in
        [("Beta", Some("2030-01-01")), ("alpha", Some("2029-01-01")), ("gamma", None)]
    {
        made(&app, "ada", json!({ "name": name, "scopes": ["api"], "expires_at": day })).await;
    }
    let bare = "/personal_access_tokens";
    let path = format!("{bare}?search=a");
    let by = async |sort: &str| ada.get(&format!("{path}&sort={sort}")).await.each("name");

    assert_eq!(ada.get(&path).await.each("name"), ["Beta", "alpha", "gamma"]);
    assert_eq!(by("created_asc").await, ["Beta", "alpha", "gamma"]);
    assert_eq!(by("created_desc").await, ["gamma", "alpha", "Beta"]);
    assert_eq!(by("name_asc").await, ["alpha", "Beta", "gamma"]);
    assert_eq!(by("name_desc").await, ["gamma", "Beta", "alpha"]);
    assert_eq!(by("expires_asc").await, ["alpha", "Beta", "gamma"]);
    assert_eq!(by("expires_desc").await, ["gamma", "Beta", "alpha"]);
    let used = ada.get(&format!("{bare}?sort=last_used_asc&per_page=1")).await.each("name");
    assert_eq!(used, ["test"], "what was never used comes last");
    let used = ada.get(&format!("{bare}?sort=last_used_desc")).await.each("name");
    assert_eq!(used, ["gamma", "alpha", "Beta", "test"]);
    let wrong = json!({ "error": "sort does not have a valid value" });
    ada.get(&format!("{bare}?sort=odd")).await.refused(400, wrong);
}

#[actix_web::test]
async fn foreign_tokens_are_out_of_reach() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    app.person("bob");
    let foreign = made(&app, "bob", json!({ "name": "his", "scopes": ["api"] })).await;
    let path = format!("/personal_access_tokens/{}", foreign["id"]);

    assert_eq!(ada.get(&path).await.status, 401);
    assert_eq!(ada.post(&format!("{path}/rotate"), json!({})).await.status, 401);
    let refusal = json!({ "message": "400 Bad request - Not permitted to revoke" });
    ada.delete(&path).await.refused(400, refusal);
    ada.delete("/personal_access_tokens/999")
        .await
        .refused(404, json!({ "message": "404 Not found" }));
    root.get("/personal_access_tokens/999")
        .await
        .refused(404, json!({ "message": "404 Not Found" }));
    assert_eq!(root.delete(&path).await.status, 204);
    assert_eq!(root.delete(&path).await.status, 204, "revoking again changes nothing");
}

#[actix_web::test]
async fn a_renewed_token_takes_the_place_of_the_old_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let old = made(&app, "ada", json!({ "name": "ci", "scopes": ["api"] })).await;

    let path = format!("/personal_access_tokens/{}/rotate", old["id"]);
    let new = ada.post(&path, json!({})).await.ok();

    assert_eq!((&new["name"], &new["revoked"]), (&old["name"], &json!(false)));
    assert_eq!(new["expires_at"], "2026-01-08");
    assert_eq!(with(&app, &old).get("/user").await.status, 401);
    assert_eq!(with(&app, &new).get("/user").await.status, 200);
    let again = json!({ "message": "400 Bad request - Token already revoked" });
    ada.post(&path, json!({})).await.refused(400, again);
}

#[actix_web::test]
async fn renewing_with_a_token_that_is_gone_ends_its_whole_family() {
    let app = TestApp::new();
    app.person("ada");
    let first = made(&app, "ada", json!({ "name": "ci", "scopes": ["api"] })).await;
    let path = "/personal_access_tokens/self/rotate";
    let wanted = json!({ "expires_at": "2026-02-01" });

    let second = with(&app, &first).post(path, wanted).await.ok();
    assert_eq!(second["expires_at"], "2026-02-01");
    assert_eq!(with(&app, &second).get("/user").await.status, 200);
    let stolen = with(&app, &first).post(path, json!({})).await;

    assert_eq!((stolen.status, &stolen.body["error"]), (401, &json!("invalid_token")));
    assert_eq!(with(&app, &second).get("/user").await.status, 401);
}

#[actix_web::test]
async fn any_token_may_look_at_itself_and_give_itself_up() {
    let app = TestApp::new();
    app.person("ada");
    let small = made(&app, "ada", json!({ "name": "git", "scopes": ["read_repository"] })).await;
    let own = with(&app, &small);

    assert_eq!(own.get("/personal_access_tokens/self").await.ok()["name"], "git");
    assert_eq!(own.get("/user").await.status, 403);
    let narrow = own.post("/personal_access_tokens/self/rotate", json!({})).await;
    assert_eq!((narrow.status, &narrow.body["error"]), (403, &json!("insufficient_scope")));
    assert_eq!(own.delete("/personal_access_tokens/self").await.status, 204);
    assert_eq!(own.get("/personal_access_tokens/self").await.status, 401);
}

#[actix_web::test]
async fn a_token_that_may_only_renew_itself_does_so() {
    let app = TestApp::new();
    app.person("ada");
    let old = made(&app, "ada", json!({ "name": "x", "scopes": ["self_rotate"] })).await;

    let new = with(&app, &old).post("/personal_access_tokens/self/rotate", json!({})).await.ok();

    assert_eq!(new["scopes"], json!([Scope::SelfRotate]));
    assert_eq!(
        app.state
            .db
            .read_blocking(|tx| {
                let id = kernel::ids::TokenId(new["id"].as_i64().expect("an id"));
                org::token::store::TokenStore::find_token_by_id(tx, id)
            })
            .expect("tokens can be read")
            .map(|token| token.kind),
        Some(Kind::Personal)
    );
}

#[actix_web::test]
async fn administrators_act_as_somebody() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let path = format!("/users/{}/impersonation_tokens", app.user("ada").id);

    let token = root.post(&path, json!({ "name": "help", "scopes": ["api"] })).await.created();

    assert_eq!(token["impersonation"], true);
    assert_eq!(with(&app, &token).get("/user").await.ok()["username"], "ada");
    let one = format!("{path}/{}", token["id"]);
    assert_eq!(root.get(&one).await.ok()["name"], "help");
    assert_eq!(root.delete(&one).await.status, 204);
    assert_eq!(root.get(&format!("{path}?state=inactive")).await.each("name"), ["help"]);
    assert_eq!(with(&app, &token).get("/user").await.status, 401);
    let blank = json!({ "message": { "scopes": ["can't be blank"] } });
    root.post(&path, json!({ "name": "x" })).await.refused(400, blank);
    let absent = json!({ "message": "404 Impersonation Token Not Found" });
    root.get(&format!("{path}/999")).await.refused(404, absent);
    assert_eq!(ada.get(&path).await.status, 403);
}

#[actix_web::test]
async fn what_only_administrators_may_do_is_in_no_token_of_others() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let of = |name: &str| format!("/users/{}/personal_access_tokens", app.user(name).id);
    let wanted = json!({ "name": "x", "scopes": ["api", "sudo"] });

    let told = json!({ "message": "Scopes can only contain available scopes" });
    root.post(&of("ada"), wanted.clone()).await.refused(422, told);
    root.post(&of("root"), wanted).await.created();
}

#[actix_web::test]
async fn somebody_makes_a_token_of_their_own_for_little() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let wanted = json!({ "name": "cluster", "scopes": "k8s_proxy", "expires_at": "2030-01-01" });

    let made = ada.post("/user/personal_access_tokens", wanted).await.created();

    assert_eq!(
        (&made["scopes"], &made["user_id"]),
        (&json!(["k8s_proxy"]), &json!(app.user("ada").id.0))
    );
    assert_eq!(made["expires_at"], "2030-01-01");
    assert!(made["token"].as_str().is_some_and(|token| token.starts_with("glpat-")));
    let told = json!({ "error": "scopes does not have a valid value" });
    let wanted = json!({ "name": "x", "scopes": ["api"] });
    ada.post("/user/personal_access_tokens", wanted).await.refused(400, told);
    let told = json!({ "message": "Scopes can't be blank" });
    let wanted = json!({ "name": "x", "scopes": [] });
    ada.post("/user/personal_access_tokens", wanted).await.refused(422, told);
}
