//! How somebody stands in a place is read together with their token. It is what it would be by itself.

use kernel::{
    AccessLevel::{Guest, Maintainer},
    Visibility::Private,
};
use serde_json::json;
use time::Duration;

use crate::support::TestApp;

#[actix_web::test]
async fn of_a_role_that_ended_a_moment_ago_the_lesser_one_is_left() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group_with("orchid", json!({})).await;
    let new = json!({ "name": "site", "namespace_id": group });
    let project = ada.post("/projects", new).await.created()["id"].clone();
    ada.adds("eve", 10, &format!("/groups/{group}")).await;
    let (eve, bob) = (app.person("eve"), app.person("bob"));
    for person in ["eve", "bob"] {
        let user = app.user(person).id;
        let until = json!({ "user_id": user, "access_level": 40, "expires_at": "2026-01-02" });
        ada.post(&format!("/projects/{project}/members"), until).await.created();
    }
    let page = format!("/projects/{project}");
    eve.put(&page, json!({ "description": "Hers" })).await.ok();
    bob.get(&page).await.ok();

    // Nobody has cleared the rows away that have ended.
    app.clock.advance(Duration::days(1));

    eve.get(&page).await.ok();
    assert_eq!(eve.put(&page, json!({ "description": "Mine" })).await.status, 403);
    assert_eq!(bob.get(&page).await.status, 404);
}

#[actix_web::test]
async fn who_acts_for_somebody_stands_where_they_stand() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Private);
    let group = app.person("ada").group_with("orchid", json!({})).await;
    app.person("eve");
    let root = app.admin();
    for page in [format!("/projects/{project}"), format!("/groups/{group}")] {
        root.get(&page).await.ok();
        assert_eq!(root.get(&format!("{page}?sudo=eve")).await.status, 404, "{page}");
        root.get(&format!("{page}?sudo=ada")).await.ok();
    }
}

#[actix_web::test]
async fn of_two_tokens_the_one_that_counts_decides() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Private);
    let (bob, eve) = (app.member(project, "bob", Guest), app.person("eve"));
    let page = format!("/projects/{project}");
    let shown = bob.token.as_ref().map(|token| format!("Bearer {}", token.reveal()));
    // Only an application's token counts before the other one.
    let both = eve.sending("Authorization", &shown.unwrap_or_default());
    assert_eq!(both.get(&page).await.status, 404);
    bob.get(&page).await.ok();
}

#[actix_web::test]
async fn a_place_is_found_by_any_name_that_it_has_or_had() {
    let app = TestApp::new();
    let project = app.project(&app.person("ada"), "forge", Private);
    let bob = app.member(project, "bob", Maintainer);
    for page in ["/projects/ada%2Fforge", "/projects/ADA%2FForge"] {
        assert_eq!(bob.get(page).await.ok()["id"], project.0, "{page}");
    }

    bob.put(&format!("/projects/{project}"), json!({ "path": "smithy" })).await.ok();

    for page in ["/projects/ada%2Fforge", "/projects/ada%2Fsmithy"] {
        assert_eq!(bob.get(page).await.ok()["path"], "smithy", "{page}");
        assert_eq!(app.person("eve").get(page).await.status, 404, "{page}");
    }
}
