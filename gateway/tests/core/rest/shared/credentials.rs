//! What a credential is worth, and what is said of one that is not good.

use actix_web::http::Method;
use kernel::Visibility;
use org::{token::Scope, user::actions::NewUser};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

fn secret(person: &Person<'_>) -> String {
    person.token.as_ref().expect("a token").reveal().to_owned()
}

#[actix_web::test]
async fn two_bearers_are_one_too_many() {
    let app = TestApp::new();
    let token = secret(&app.person("ada"));
    let bearer = app.anonymous().sending("Authorization", &format!("Bearer {token}"));

    let told = json!({ "error": "invalid_request",
        "error_description": "Both Authorization header and payload includes access token." });
    bearer.get(&format!("/version?access_token={token}")).await.refused(400, told.clone());
    bearer.post("/projects", json!({ "access_token": token })).await.refused(400, told);
}

#[actix_web::test]
async fn a_token_comes_in_a_body_of_any_kind() {
    let app = TestApp::new();
    let token = secret(&app.person("ada"));
    let nobody = app.anonymous();

    nobody.post("/projects", json!({ "private_token": token, "name": "one" })).await.created();
    let form = format!("bearer_token={token}&name=two");
    let kind = "application/x-www-form-urlencoded";
    nobody.send_bytes(Method::POST, "/projects", kind, form.as_bytes()).await.created();
}

#[actix_web::test]
async fn a_token_that_is_spent_says_why() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let today = app.state.db.clock().now().date();
    let tomorrow = kernel::time::date_text(today.next_day().expect("a day"));
    let path = format!("/users/{}/personal_access_tokens", app.user("ada").id);
    let fields = json!({ "name": "short", "scopes": ["api"], "expires_at": tomorrow });
    let short = app.admin().post(&path, fields).await.created();
    let short = app.anonymous().sending("PRIVATE-TOKEN", short["token"].as_str().expect("a token"));
    let told = |text: &str| json!({ "error": "invalid_token", "error_description": text });
    let revoked = "Token was revoked. You have to re-authorize from the user.";
    let expired = "Token is expired. You can either do re-authorization or token refresh.";

    ada.delete("/personal_access_tokens/self").await.with(204);
    let answer = ada.get("/version").await;
    let challenge = format!(
        "Bearer realm=\"The API\", error=\"invalid_token\", error_description=\"{revoked}\""
    );
    assert_eq!(answer.header("www-authenticate"), Some(challenge.as_str()));
    answer.refused(401, told(revoked));
    short.delete("/personal_access_tokens/self").await.with(204);
    short.get("/version").await.refused(401, told(revoked));
    app.clock.advance(time::Duration::days(1));
    short.get("/version").await.refused(401, told(expired));
}

#[actix_web::test]
async fn an_unknown_token_is_refused_where_none_is_needed() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "open", Visibility::Public);
    let project = format!("/projects/{project}");

    let wrong = app.anonymous().sending("PRIVATE-TOKEN", "nonsense").get(&project).await;
    assert_eq!(wrong.header("www-authenticate"), None);
    wrong.refused(401, json!({ "message": "401 Unauthorized" }));
    // What a runner shows there is none of ours.
    app.anonymous().sending("PRIVATE-TOKEN", "glcbt-64_x").get(&project).await.ok();
    let long = "a".repeat(8_193);
    assert_eq!(app.anonymous().sending("PRIVATE-TOKEN", &long).get(&project).await.status, 401);
}

#[actix_web::test]
async fn a_token_whose_scopes_do_not_reach_is_told_which_would() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "own", Visibility::Private);
    let ada = |scope| app.someone(&NewUser::named("ada"), &[scope]);
    let told = |scopes: &str| {
        json!({ "error": "insufficient_scope", "scope": scopes,
            "error_description": "The request requires higher privileges than provided by the access token." })
    };

    let file = format!("/projects/{project}/repository/files/a?ref=main");
    for (scope, path, scopes) in [
        (Scope::ReadUser, "/projects", "api read_api"),
        (Scope::ReadRepository, "/user", "read_user api read_api"),
        (Scope::ReadRepository, "/version", "read_user api read_api"),
        (Scope::WriteRepository, &file, "read_repository api read_api"),
    ] {
        let answer = ada(scope).get(path).await;
        assert_eq!(answer.header("www-authenticate"), None);
        answer.refused(403, told(scopes));
    }
    let reader = ada(Scope::ReadApi);
    reader.post("/projects", json!({ "name": "x" })).await.refused(403, told("api read_api"));
    app.block("ada");
    let blocked = json!({ "message": "403 Forbidden - Your account has been blocked." });
    ada(Scope::ReadUser).get("/projects").await.refused(403, blocked);
}

#[actix_web::test]
async fn administrators_ask_for_others_by_id_or_name() {
    let app = TestApp::new();
    let root = app.admin();
    app.person("ada");
    let id = app.user("ada").id.to_string();

    for who in ["ada", "ADA", id.as_str()] {
        let by_header = root.sending("Sudo", who).get("/user").await.ok();
        let by_parameter = root.get(&format!("/user?sudo={who}")).await.ok();
        assert_eq!(
            (&by_header["username"], &by_parameter["username"]),
            (&json!("ada"), &json!("ada"))
        );
    }
    let made = root.post("/projects", json!({ "name": "theirs", "sudo": "ada" })).await.created();
    assert_eq!(made["path_with_namespace"], "ada/theirs");
}

#[actix_web::test]
async fn nobody_else_asks_for_others() {
    let app = TestApp::new();
    let root = NewUser { admin: true, ..NewUser::named("root") };
    let narrow = app.someone(&root, &[Scope::Api]);
    let message = |text: &str| json!({ "message": text });
    let asked =
        async |person: Person<'_>, who: &str| person.sending("Sudo", who).get("/user").await;

    asked(app.anonymous(), "ada").await.refused(401, message("401 Unauthorized"));
    let told = message("403 Forbidden - Must be admin to use sudo");
    asked(app.person("ada"), "root").await.refused(403, told);
    let answer = asked(narrow, "ada").await;
    assert_eq!((answer.status, &answer.body["scope"]), (403, &json!("sudo")));
    let told = message("404 User with ID or username 'nobody' Not Found");
    asked(app.admin(), "nobody").await.refused(404, told);
    app.block("ada");
    let told = message("403 Forbidden - Your account has been blocked.");
    asked(app.admin(), "ada").await.refused(403, told);
}

#[actix_web::test]
async fn a_token_with_sudo_alone_acts_for_others_and_not_for_itself() {
    let app = TestApp::new();
    let root = NewUser { admin: true, ..NewUser::named("root") };
    let narrow = app.someone(&root, &[Scope::Sudo]);
    app.person("ada");

    assert_eq!(narrow.sending("Sudo", "ada").get("/user").await.ok()["username"], "ada");
    let refused: Value = narrow.get("/user").await.body;
    assert_eq!(refused["error"], "insufficient_scope");
}
