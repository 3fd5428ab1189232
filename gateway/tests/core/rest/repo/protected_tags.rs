//! Protected tags: `gateway/src/rest/repo/protected_tags.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
    ids::ProjectId,
};
use serde_json::json;

use crate::support::{Person, TestApp};

fn set_up(app: &TestApp) -> (ProjectId, Person<'_>) {
    let owner = app.person("olga");
    let project = app.project(&owner, "one", Visibility::Private);
    (project, app.member(project, "mia", Maintainer))
}

#[actix_web::test]
async fn a_protected_tag_lets_maintainers_in_unless_told_otherwise() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let path = format!("/projects/{project}/protected_tags");

    let body = mia.post(&path, json!({ "name": "v*" })).await.created();

    let record = json!({ "id": 1, "access_level": 40, "access_level_description": "Maintainers",
                         "user_id": null, "group_id": null });
    assert_eq!(body, json!({ "name": "v*", "create_access_levels": [record] }));
    assert_eq!(mia.get(&format!("{path}/v*")).await.ok(), body);
    let dan = app.member(project, "dan", Developer);
    let user = app.user(&dan.username).id;
    let both = json!({ "name": "x", "create_access_level": 0, "allowed_to_create": [{ "user_id": user }] });
    let both = mia.post(&path, both).await.created();
    assert_eq!(both["create_access_levels"][0]["access_level_description"], "No one");
    assert_eq!(both["create_access_levels"][1]["user_id"], user.0);
}

#[actix_web::test]
async fn records_go_with_the_membership_or_the_share() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let at = format!("/projects/{project}");
    let dan = app.member(project, "dan", Developer);
    let (user, crew) = (app.user(&dan.username).id.0, mia.group("crew", None).await);
    let share = json!({ "group_id": crew, "group_access": 30 });
    mia.post(&format!("{at}/share"), share.clone()).await.created();
    let named = json!([{ "user_id": user }, { "group_id": crew }]);
    let tag = json!({ "name": "v*", "create_access_level": 40, "allowed_to_create": named });
    mia.post(&format!("{at}/protected_tags"), tag).await.created();
    let branch = json!({ "name": "main", "push_access_level": 40, "allowed_to_push": named });
    mia.post(&format!("{at}/protected_branches"), branch).await.created();
    let left = async || {
        let tag = mia.get(&format!("{at}/protected_tags/v*")).await.ok();
        let branch = mia.get(&format!("{at}/protected_branches/main")).await.ok();
        [&tag["create_access_levels"], &branch["push_access_levels"]]
            .map(|records| records.as_array().map_or(0, Vec::len))
    };
    assert_eq!(left().await, [3, 3]);

    mia.delete(&format!("{at}/members/{user}")).await.with(204);
    assert_eq!(left().await, [2, 2]);
    mia.delete(&format!("{at}/share/{crew}")).await.with(204);
    assert_eq!(left().await, [1, 1]);
    app.member(project, "dan", Developer);
    mia.post(&format!("{at}/share"), share).await.created();
    assert_eq!(left().await, [1, 1]);
}

#[actix_web::test]
async fn what_cannot_be_protected_is_told() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let path = format!("/projects/{project}/protected_tags");
    mia.post(&path, json!({ "name": "v1" })).await.created();

    for (body, status, expected) in [
        (json!({}), 400, json!({ "error": "name is missing" })),
        (
            json!({ "name": "x", "create_access_level": 60 }),
            400,
            json!({ "error": "create_access_level does not have a valid value" }),
        ),
        (json!({ "name": "v1" }), 422, json!({ "message": ["Name has already been taken"] })),
        (
            json!({ "name": "x", "allowed_to_create": [{ "user_id": 999 }] }),
            422,
            json!({ "message": ["Create access levels user is not a member of the project"] }),
        ),
    ] {
        mia.post(&path, body).await.refused(status, expected);
    }
    assert_eq!(mia.get(&path).await.each("name"), ["v1"]);
}

#[actix_web::test]
async fn the_list_is_paged() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let path = format!("/projects/{project}/protected_tags");
    for name in ["c", "a", "b"] {
        mia.post(&path, json!({ "name": name })).await.created();
    }

    let page = mia.get(&format!("{path}?per_page=2")).await;

    assert_eq!(page.header("x-total"), Some("3"));
    assert_eq!(page.each("name"), ["c", "a"]);
    mia.get(&format!("{path}?page=x")).await.refused(400, json!({ "error": "page is invalid" }));
}

#[actix_web::test]
async fn a_rule_is_taken_away_unless_it_changed() {
    let app = TestApp::new();
    let (project, mia) = set_up(&app);
    let path = format!("/projects/{project}/protected_tags");
    mia.post(&path, json!({ "name": "v/*" })).await.created();
    let one = format!("{path}/v%2F*");

    let early = mia.sending("If-Unmodified-Since", "Wed, 31 Dec 2025 00:00:00 GMT");
    assert_eq!(early.delete(&one).await.status, 412);
    assert_eq!(mia.delete(&one).await.status, 204);
    mia.delete(&one).await.refused(404, json!({ "message": "404 Not found" }));
}
