//! Tokens of a project and their bots.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn a_project_token_acts_as_a_member_of_the_project() {
    let app = TestApp::new();
    let owner = app.person("ada");
    let project = app.project(&owner, "tool", Visibility::Private);
    let path = format!("/projects/{project}/access_tokens");
    let wanted = json!({ "name": "ci", "scopes": ["api"], "access_level": 30 });

    let token = owner.post(&path, wanted).await.created();

    let bot = app.anonymous().sending("PRIVATE-TOKEN", token["token"].as_str().expect("a secret"));
    assert_eq!((&token["access_level"], &token["resource_id"]), (&json!(30), &json!(project.0)));
    assert_eq!(bot.get("/user").await.ok()["bot"], true);
    assert_eq!(bot.get(&format!("/projects/{project}/members")).await.status, 200);
    assert_eq!(owner.get(&path).await.each("name"), ["ci"]);
    let told = bot.post(&path, json!({ "name": "x", "scopes": ["api"] })).await;
    assert_eq!(told.status, 400, "bots make no tokens");
}

#[actix_web::test]
async fn a_revoked_project_token_takes_its_bot_along() {
    let app = TestApp::new();
    let owner = app.person("ada");
    let project = app.project(&owner, "tool", Visibility::Private);
    let path = format!("/projects/{project}/access_tokens");
    let old = owner.post(&path, json!({ "name": "ci", "scopes": ["api"] })).await.created();

    let rotate = format!("{path}/{}/rotate", old["id"]);
    let new = owner.post(&rotate, json!({})).await.ok();
    assert_eq!((&new["user_id"], &new["access_level"]), (&old["user_id"], &json!(40)));
    assert_eq!(owner.get(&path).await.each("id"), [new["id"].clone()]);
    let bot = format!("/projects/{project}/members/{}", new["user_id"]);
    assert_eq!(owner.delete(&bot).await.status, 403);
    assert_eq!(owner.delete(&format!("{path}/{}", new["id"])).await.status, 204);

    assert_eq!(owner.get(&bot).await.status, 404);
    assert!(owner.get(&path).await.each("id").is_empty());
    assert_eq!(owner.get(&format!("{path}/{}", new["id"])).await.status, 404);
}

#[actix_web::test]
async fn only_maintainers_handle_project_tokens_and_none_above_themselves() {
    let app = TestApp::new();
    let owner = app.person("ada");
    let project = app.project(&owner, "tool", Visibility::Private);
    let developer = app.member(project, "dev", Developer);
    let maintainer = app.member(project, "main", Maintainer);
    let path = format!("/projects/{project}/access_tokens");
    let wanted = json!({ "name": "ci", "scopes": ["api"], "access_level": 50 });

    assert_eq!(developer.get(&path).await.status, 401);
    let text = "400 Bad request - User does not have permission to create project access token";
    developer.post(&path, wanted.clone()).await.refused(400, json!({ "message": text }));
    let text = "400 Bad request - Access level of the token contains permissions not held by the creating user";
    maintainer.post(&path, wanted.clone()).await.refused(400, json!({ "message": text }));
    let token = owner.post(&path, wanted).await.created();
    let refused = developer.delete(&format!("{path}/{}", token["id"])).await;
    refused.refused(400, json!({ "message": "400 Bad request - dev cannot delete ci" }));
}
