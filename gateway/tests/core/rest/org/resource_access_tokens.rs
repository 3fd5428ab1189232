//! Tokens of projects and groups, and their bots.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
};
use org::{token::Scope, user::actions::NewUser};
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
    assert_eq!(owner.get(&path).await.each("id"), [old["id"].clone(), new["id"].clone()]);
    let active = owner.get(&format!("{path}?state=active")).await;
    assert_eq!(active.each("id"), [new["id"].clone()]);
    let bot = format!("/projects/{project}/members/{}", new["user_id"]);
    assert_eq!(owner.delete(&bot).await.status, 403);
    assert_eq!(owner.delete(&format!("{path}/{}", new["id"])).await.status, 204);

    assert_eq!(owner.get(&bot).await.status, 404);
    assert!(owner.get(&path).await.each("id").is_empty());
    let text =
        format!("404 Could not find project access token with token_id: {} Not Found", new["id"]);
    let gone = owner.get(&format!("{path}/{}", new["id"])).await;
    gone.refused(404, json!({ "message": text }));
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

#[actix_web::test]
async fn nobody_rotates_a_token_above_themselves() {
    let app = TestApp::new();
    let owner = app.person("ada");
    let project = app.project(&owner, "tool", Visibility::Private);
    let maintainer = app.member(project, "main", Maintainer);
    let path = format!("/projects/{project}/access_tokens");
    let wanted = |level: i64| json!({ "name": "ci", "scopes": ["api"], "access_level": level });
    let (high, low) = (
        owner.post(&path, wanted(50)).await.created(),
        owner.post(&path, wanted(40)).await.created(),
    );
    let bearing = |token: &serde_json::Value| {
        app.anonymous().sending("PRIVATE-TOKEN", token["token"].as_str().expect("a secret"))
    };
    let text = "Not eligible to rotate token with access level higher than the user";
    let rotate = format!("{path}/{}/rotate", high["id"]);

    for caller in [&maintainer, &bearing(&low)] {
        caller.post(&rotate, json!({})).await.refused(400, json!({ "message": text }));
    }
    assert_eq!(bearing(&high).get("/user").await.status, 200, "it still works");
    let new = bearing(&low).post(&format!("{path}/{}/rotate", low["id"]), json!({})).await.ok();
    assert_eq!(new["access_level"], 40, "one's own level may be renewed");
    let own = bearing(&high).post("/personal_access_tokens/self/rotate", json!({})).await.ok();
    assert_eq!(own["user_id"], high["user_id"]);
    assert_eq!(maintainer.delete(&format!("{path}/{}", own["id"])).await.status, 204);
}

#[actix_web::test]
async fn nobody_sees_more_through_a_bot() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "tool", Visibility::Private);
    let inside = app.project(&bob, "inside", Visibility::Internal);
    let external = NewUser { external: true, ..NewUser::named("out") };
    let out = app.someone(&external, &[Scope::Api]);
    ada.adds("out", 40, &format!("/projects/{project}")).await;
    let path = format!("/projects/{project}/access_tokens");
    let wanted = json!({ "name": "ci", "scopes": ["api"], "access_level": 30 });

    let own = out.post(&path, wanted.clone()).await.created();
    let theirs = ada.post(&path, wanted).await.created();

    let bot = app.anonymous().sending("PRIVATE-TOKEN", own["token"].as_str().expect("a secret"));
    assert_eq!(bot.get(&format!("/projects/{inside}")).await.status, 404);
    let rotate = |token: &serde_json::Value| format!("{path}/{}/rotate", token["id"]);
    assert_eq!(out.post(&rotate(&theirs), json!({})).await.status, 400);
    assert_eq!(out.post(&rotate(&own), json!({})).await.status, 200);
}

#[actix_web::test]
async fn bots_make_groups_only_inside_of_their_own() {
    let app = TestApp::new();
    let owner = app.person("ada");
    let group = owner.group("g1", None).await;
    let wanted = json!({ "name": "ci", "scopes": ["api"], "access_level": 50 });
    let token = owner.post(&format!("/groups/{group}/access_tokens"), wanted).await.created();
    let bot = app.anonymous().sending("PRIVATE-TOKEN", token["token"].as_str().expect("a secret"));

    let top = bot.post("/groups", json!({ "name": "top", "path": "top" })).await;
    top.refused(403, json!({ "message": "403 Forbidden" }));
    let inner = json!({ "name": "inner", "path": "inner", "parent_id": group });
    let inner = bot.post("/groups", inner).await.created();
    assert_eq!(inner["full_path"], "g1/inner");
    let moved = bot.post(&format!("/groups/{}/transfer", inner["id"]), json!({})).await;
    assert_eq!(moved.status, 400, "nor does it move one there");
}

#[actix_web::test]
async fn a_group_token_acts_as_a_member_of_the_group_and_below() {
    let app = TestApp::new();
    let (owner, maintainer) = (app.person("ada"), app.person("main"));
    let group = owner.group("g1", None).await;
    let inner = owner.group("inner", Some(group)).await;
    owner.adds("main", 40, &format!("/groups/{group}")).await;
    let path = format!("/groups/{group}/access_tokens");
    let wanted = json!({ "name": "ci", "scopes": ["api"], "access_level": 30 });

    assert_eq!(maintainer.get(&path).await.status, 401);
    let text = "400 Bad request - User does not have permission to create group access token";
    maintainer.post(&path, wanted.clone()).await.refused(400, json!({ "message": text }));
    let token = owner.post(&path, wanted).await.created();
    assert_eq!((&token["resource_type"], &token["resource_id"]), (&json!("group"), &json!(group)));
    let bot = app.anonymous().sending("PRIVATE-TOKEN", token["token"].as_str().expect("a secret"));
    let name = bot.get("/user").await.ok()["username"].as_str().map(str::to_owned);
    assert!(name.is_some_and(|name| name.starts_with(&format!("group_{group}_bot_"))));
    assert_eq!(bot.get(&format!("/groups/{inner}")).await.status, 200);
    let one = format!("{path}/{}", token["id"]);
    assert_eq!(owner.get(&one).await.ok()["access_level"], 30);
    let text = "400 Bad request - main cannot delete ci";
    maintainer.delete(&one).await.refused(400, json!({ "message": text }));
    assert_eq!(owner.delete(&one).await.status, 204);
    assert_eq!(bot.get(&format!("/groups/{inner}")).await.status, 401);
    let member = format!("/groups/{group}/members/{}", token["user_id"]);
    assert_eq!(owner.get(&member).await.status, 404, "the bot is no member any more");
}

#[actix_web::test]
async fn tokens_of_projects_and_groups_come_in_the_order_that_is_asked_for() {
    let app = TestApp::new();
    let owner = app.person("ada");
    let project = app.project(&owner, "tool", Visibility::Private);
    let group = owner.group("top", None).await;
    for place in [format!("/projects/{project}"), format!("/groups/{group}")] {
        let path = format!("{place}/access_tokens");
        for name in ["b", "a"] {
            owner.post(&path, json!({ "name": name, "scopes": ["api"] })).await.created();
        }

        assert_eq!(owner.get(&path).await.each("name"), ["b", "a"]);
        assert_eq!(owner.get(&format!("{path}?sort=name_asc")).await.each("name"), ["a", "b"]);
        assert_eq!(owner.get(&format!("{path}?sort=created_desc")).await.each("name"), ["a", "b"]);
        let wrong = json!({ "error": "sort does not have a valid value" });
        owner.get(&format!("{path}?sort=odd")).await.refused(400, wrong);
    }
}
