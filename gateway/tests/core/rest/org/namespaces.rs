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

#[actix_web::test]
async fn what_is_inside_of_something_hidden_is_not_asked_for() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let top = ada.group("cabal", None).await;
    ada.group("plot", Some(top)).await;

    let free = json!({ "exists": false, "suggests": [] });
    for path in ["cabal%2Fplot/exists".to_owned(), format!("plot/exists?parent_id={top}")] {
        assert_eq!(eve.get(&format!("/namespaces/{path}")).await.ok(), free, "{path}");
    }
    assert_eq!(
        ada.get(&format!("/namespaces/plot/exists?parent_id={top}")).await.ok()["exists"],
        true
    );
}

#[actix_web::test]
async fn those_who_look_after_a_namespace_are_told_how_many_it_holds() {
    let app = TestApp::new();
    let (ada, bob, cleo) = (app.person("ada"), app.person("bob"), app.person("cleo"));
    let top = ada.post("/groups", json!({ "name": "Top", "path": "top" })).await.created();
    let inner = json!({ "name": "In", "path": "in", "parent_id": top["id"] });
    let inner = ada.post("/groups", inner).await.created();
    let member = json!({ "user_id": app.user("bob").id, "access_level": 40 });
    ada.post(&format!("/groups/{}/members", top["id"]), member).await.created();
    let member = json!({ "user_id": app.user("cleo").id, "access_level": 30 });
    ada.post(&format!("/groups/{}/members", inner["id"]), member).await.created();

    let hers = ada.get("/namespaces/top").await.ok();
    let his = bob.get("/namespaces/top").await.ok();
    let all = app.admin().get("/namespaces/top").await.ok();

    assert_eq!(hers["members_count_with_descendants"], 3);
    assert_eq!((&hers["billable_members_count"], &hers["plan"]), (&json!(3), &json!("default")));
    assert_eq!((&hers["trial"], &hers["trial_ends_on"]), (&json!(false), &json!(null)));
    assert_eq!(hers.get("shared_runners_minutes_limit"), None);
    assert_eq!(his.get("members_count_with_descendants"), None);
    assert_eq!((&his["billable_members_count"], his.get("plan")), (&json!(null), None));
    assert_eq!(all["members_count_with_descendants"], 3);
    assert_eq!(all.get("shared_runners_minutes_limit"), Some(&json!(null)));
    let home = cleo.get("/namespaces/cleo").await.ok();
    assert_eq!((&home["billable_members_count"], &home["plan"]), (&json!(1), &json!("default")));
    assert_eq!(home.get("members_count_with_descendants"), None);
    let counts = ada.get("/namespaces").await.each("billable_members_count");
    assert_eq!(counts, [json!(1), json!(3), json!(2)]);
}

#[actix_web::test]
async fn a_list_of_namespaces_is_narrowed() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let top = ada.post("/groups", json!({ "name": "Analysts", "path": "count" })).await.created();
    let member = json!({ "user_id": app.user("bob").id, "access_level": 30 });
    ada.post(&format!("/groups/{}/members", top["id"]), member).await.created();

    assert_eq!(bob.get("/namespaces").await.each("path"), ["bob", "count"]);
    assert_eq!(bob.get("/namespaces?owned_only=true").await.each("path"), ["bob"]);
    assert_eq!(bob.get("/namespaces?search=ANALY").await.each("path"), ["count"]);
    assert_eq!(bob.get("/namespaces?search=bob").await.each("path"), ["bob"]);
    assert_eq!(
        bob.get("/namespaces?search=bo").await.each("path").len(),
        0,
        "short terms are the whole"
    );
    let page = bob.get("/namespaces?per_page=1&page=2").await;
    assert_eq!((page.header("x-total"), &page.body[0]["path"]), (Some("2"), &json!("count")));
    assert_eq!(app.anonymous().get("/namespaces").await.status, 401);
}

#[actix_web::test]
async fn what_a_group_holds_is_told_to_those_who_see_it() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let top = ada.post("/groups", json!({ "name": "Top", "path": "top" })).await.created();
    let inner = json!({ "name": "Plan", "path": "plan", "parent_id": top["id"] });
    ada.post("/groups", inner).await.created();
    let url = format!("/namespaces/plan/exists?parent_id={}", top["id"]);

    assert_eq!(ada.get(&url).await.ok(), json!({ "exists": true, "suggests": ["plan1"] }));
    let free = json!({ "exists": false, "suggests": [] });
    assert_eq!(eve.get(&url).await.ok(), free);
    assert_eq!(ada.get("/namespaces/top/exists?parent_id=999").await.ok(), free);
}

#[actix_web::test]
async fn nobody_tries_out_paths_by_the_hundred() {
    let limits = gateway::app::Limits { namespaces_per_minute: 2, ..Default::default() };
    let app = TestApp::with_limits(limits);
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    for _ in 0..2 {
        ada.get("/namespaces/zoe/exists").await.ok();
    }

    let refused = json!({ "message": { "error": "This endpoint has been requested too many times. Try again later." } });
    ada.get("/namespaces/zoe/exists").await.refused(429, refused);
    bob.get("/namespaces/zoe/exists").await.ok();
    ada.get("/namespaces").await.ok();
}
