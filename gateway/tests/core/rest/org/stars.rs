//! Stars.

use kernel::Visibility::{Private, Public};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn a_star_counts_once() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Public);
    let bob = app.person("bob");

    let starred = bob.post(&format!("/projects/{id}/star"), json!({})).await.created();

    assert_eq!(starred["star_count"], 1);
    assert_eq!(bob.post(&format!("/projects/{id}/star"), json!({})).await.status, 304);
    let found = ada.get(&format!("/projects/{id}/starrers?search=bo")).await.ok();
    assert_eq!(found[0]["user"]["username"], "bob");
    assert_eq!(bob.get("/projects?starred=true").await.each("id"), [json!(id.0)]);
    assert_eq!(ada.get("/users/bob/starred_projects").await.each("id"), [json!(id.0)]);
    let unstarred = bob.post(&format!("/projects/{id}/unstar"), json!({})).await.created();
    assert_eq!(unstarred["star_count"], 0);
    assert_eq!(bob.post(&format!("/projects/{id}/unstar"), json!({})).await.status, 304);
}

#[actix_web::test]
async fn what_is_not_seen_is_not_starred() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);

    app.person("bob").post(&format!("/projects/{id}/star"), json!({})).await.with(404);
}

#[actix_web::test]
async fn who_keeps_their_profile_to_themselves_shows_no_stars() {
    let app = TestApp::new();
    let (ada, bob, root) = (app.person("ada"), app.person("bob"), app.admin());
    let id = app.project(&ada, "engine", Public);
    bob.post(&format!("/projects/{id}/star"), json!({})).await.created();
    app.hide_profile("bob");
    let stars = "/users/bob/starred_projects";

    assert_eq!(ada.get(stars).await.ok(), json!([]));
    assert_eq!(app.anonymous().get(stars).await.ok(), json!([]));
    assert_eq!(bob.get(stars).await.each("id"), [json!(id.0)]);
    assert_eq!(root.get(stars).await.each("id"), [json!(id.0)]);
    app.block("bob");
    assert_eq!(ada.get(stars).await.ok(), json!([]));
}
