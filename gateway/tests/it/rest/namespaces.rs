//! Everywhere a project can live.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn people_see_their_own_place_and_their_groups() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    ada.post("/groups", json!({ "name": "Analysts", "path": "analysts" })).await.created();

    assert_eq!(ada.get("/namespaces").await.each("full_path"), ["ada", "analysts"]);
    assert_eq!(ada.get("/namespaces?search=analy").await.each("kind"), ["group"]);
    assert_eq!(bob.get("/namespaces").await.each("path"), ["bob"]);
    assert_eq!(app.admin().get("/namespaces").await.each("path").len(), 4);
    assert_eq!(ada.get("/namespaces/ada").await.ok()["web_url"], "http://forge.test/ada");
    let hidden = json!({ "message": "404 Namespace Not Found" });
    bob.get("/namespaces/analysts").await.refused(404, hidden);
}

#[actix_web::test]
async fn a_taken_path_comes_with_a_free_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.person("ada1");

    let taken = ada.get("/namespaces/ADA/exists").await.ok();
    let free = ada.get("/namespaces/zoe/exists").await.ok();

    assert_eq!(taken, json!({ "exists": true, "suggests": ["ADA2"] }));
    assert_eq!(free, json!({ "exists": false, "suggests": [] }));
    assert_eq!(app.anonymous().get("/namespaces/ada/exists").await.status, 401);
}
