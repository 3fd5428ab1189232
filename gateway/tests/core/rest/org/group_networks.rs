//! Groups that are reached from some networks only.

use kernel::AccessLevel::Developer;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

const INSIDE: &str = "10.1.2.3";
const OUTSIDE: &str = "192.0.2.1";

/// Ada's group `top`, with `inner` below it and a project there, all public, kept to `10.0.0.0/8`.
async fn kept_to_a_network(ada: &Person<'_>) -> (i64, Value) {
    let open = json!({ "visibility": "public" });
    let top = ada.group_with("top", open.clone()).await;
    let inner = json!({ "visibility": "public", "parent_id": top });
    let inner = ada.group_with("inner", inner).await;
    let project = json!({ "path": "engine", "namespace_id": inner, "visibility": "public" });
    let project = ada.post("/projects", project).await.created()["id"].clone();
    ada.put("/groups/top", json!({ "ip_restriction_ranges": "10.0.0.0/8" })).await.ok();
    (inner, project)
}

#[actix_web::test]
async fn nothing_below_is_there_for_who_asks_from_elsewhere() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (inner, project) = kept_to_a_network(&ada).await;
    ada.adds("bob", 40, "/groups/top").await;

    for path in [format!("/groups/{inner}"), format!("/projects/{project}")] {
        for person in [&bob, &app.anonymous()] {
            assert_eq!(person.from(INSIDE).get(&path).await.status, 200, "{path}");
            assert_eq!(person.from(OUTSIDE).get(&path).await.status, 404, "{path}");
        }
        assert_eq!(app.admin().from(OUTSIDE).get(&path).await.status, 200, "{path}");
    }
    let outside = bob.from(OUTSIDE);
    assert!(outside.get("/projects").await.each("id").is_empty());
    assert!(outside.get("/groups").await.each("id").is_empty());
    assert!(outside.get("/groups?all_available=true").await.each("id").is_empty());
    assert_eq!(outside.get("/namespaces").await.each("path"), ["bob"]);
    assert_eq!(outside.get("/namespaces/top").await.status, 404);
    assert_eq!(bob.from(INSIDE).get("/namespaces/top").await.status, 200);
    assert_eq!(bob.from(INSIDE).get("/projects").await.each("id"), [project]);
    assert_eq!(bob.from(INSIDE).get("/groups").await.each("path"), ["inner", "top"]);
}

#[actix_web::test]
async fn owners_reach_the_group_but_not_its_projects() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (inner, project) = kept_to_a_network(&ada).await;
    let outside = ada.from(OUTSIDE);

    assert_eq!(outside.get(&format!("/groups/{inner}")).await.ok()["projects"], json!([]));
    assert_eq!(outside.get(&format!("/projects/{project}")).await.status, 404);
    assert_eq!(outside.get("/groups").await.each("path"), ["inner", "top"]);
    outside.put("/groups/top", json!({ "ip_restriction_ranges": "" })).await.ok();
    assert_eq!(outside.get(&format!("/projects/{project}")).await.status, 200);
}

#[actix_web::test]
async fn git_is_no_way_around() {
    let app = TestApp::new();
    let ada = app.person("ada");
    kept_to_a_network(&ada).await;
    let refs = "//top/inner/engine.git/info/refs?service=git-upload-pack";
    let wiki = "//top.wiki.git/info/refs?service=git-upload-pack";
    ada.adds("bob", 30, "/groups/top").await;
    let bob = app.person("bob").by_password();

    for path in [refs, wiki] {
        assert_eq!(bob.from(INSIDE).get(path).await.status, 200, "{path}");
        assert_eq!(bob.from(OUTSIDE).get(path).await.status, 404, "{path}");
        assert_eq!(app.anonymous().from(OUTSIDE).get(path).await.status, 401, "{path}");
    }
}

#[actix_web::test]
async fn a_group_that_moves_is_reached_as_its_new_place_is() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (inner, project) = kept_to_a_network(&ada).await;
    let outside = ada.from(OUTSIDE);
    let path = format!("/projects/{project}");

    ada.post(&format!("/groups/{inner}/transfer"), json!({})).await.created();
    assert_eq!(outside.get(&path).await.status, 200);
    let range = json!({ "ip_restriction_ranges": "172.16.0.0/12" });
    ada.put("/groups/inner", range).await.ok();
    let top = ada.get("/groups/top").await.ok()["id"].clone();
    ada.post(&format!("/groups/{inner}/transfer"), json!({ "group_id": top })).await.created();

    assert_eq!(ada.from("172.16.0.1").get(&path).await.status, 404);
    assert_eq!(ada.from(INSIDE).get(&path).await.status, 200);
    let moved = ada.put(&format!("/groups/{inner}"), json!({ "description": "moved" })).await.ok();
    assert_eq!(moved["ip_restriction_ranges"], json!(null), "the top says it now");
    ada.group("young", Some(inner)).await;
    let member = app.person("bob");
    ada.adds("bob", Developer.number().into(), "/groups/top").await;
    assert_eq!(member.from(OUTSIDE).get("/groups/top%2Finner%2Fyoung").await.status, 404);
}

#[actix_web::test]
async fn behind_a_proxy_the_address_counts_that_it_tells() {
    let app = TestApp::behind("127.0.0.1");
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    kept_to_a_network(&ada.from(INSIDE)).await;
    ada.from(INSIDE).adds("bob", 30, "/groups/top").await;
    let proxied = |told: &str| bob.from("127.0.0.1").sending("X-Forwarded-For", told);

    assert_eq!(proxied(INSIDE).get("/groups/top").await.status, 200);
    assert_eq!(proxied(OUTSIDE).get("/groups/top").await.status, 404);
    let forged = format!("{INSIDE}, {OUTSIDE}");
    assert_eq!(proxied(&forged).get("/groups/top").await.status, 404);
    let lying = bob.from(OUTSIDE).sending("X-Forwarded-For", INSIDE);
    assert_eq!(lying.get("/groups/top").await.status, 404);
    let refs = "//top/inner/engine.git/info/refs?service=git-upload-pack";
    assert_eq!(proxied(INSIDE).by_password().get(refs).await.status, 200);
    assert_eq!(proxied(OUTSIDE).by_password().get(refs).await.status, 404);
}

#[actix_web::test]
async fn an_epic_of_a_group_that_is_not_reached_is_nothing() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (_, project) = kept_to_a_network(&ada).await;
    let yard = ada.group_with("yard", json!({ "visibility": "public" })).await;
    let inside = ada.from(INSIDE);
    let issues = format!("/projects/{project}/issues");
    let issue = inside.post(&issues, json!({ "title": "one" })).await.created();
    let epic = inside.post("/groups/top/epics", json!({ "title": "hidden plan" })).await.created();
    let join = format!("/groups/top/epics/{}/issues/{}", epic["iid"], issue["id"]);
    inside.post(&join, json!({})).await.created();
    app.admin().post(&format!("/groups/{yard}/projects/{project}"), json!({})).await.created();
    let path = format!("/projects/{project}/issues/{}", issue["iid"]);
    let having = format!("/projects/{project}/issues?epic_id={}", epic["id"]);

    for (person, reaches) in
        [(bob.from(INSIDE), true), (bob.from(OUTSIDE), false), (ada.from(OUTSIDE), true)]
    {
        let answer = person.get(&path).await;
        assert_eq!(answer.body["epic"].is_object(), reaches);
        assert_eq!(answer.body.to_string().contains("hidden plan"), reaches);
        assert_eq!(person.get(&having).await.each("id").len(), usize::from(reaches));
    }
}

#[actix_web::test]
async fn a_rule_does_not_name_a_group_that_is_not_reached() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    kept_to_a_network(&ada).await;
    let top = ada.from(INSIDE).get("/groups/top").await.ok()["id"].clone();
    let project = ada.post("/projects", json!({ "name": "site" })).await.created()["id"].clone();
    ada.adds("bob", 40, &format!("/projects/{project}")).await;
    let rule = json!({ "name": "Careful", "approvals_required": 1, "group_ids": [top] });
    let rules = format!("/projects/{project}/approval_rules");
    ada.from(INSIDE).post(&rules, rule).await.created();

    let named = async |person: Person<'_>| person.get(&rules).await.ok()[0]["groups"].clone();
    assert_eq!(named(bob.from(INSIDE)).await[0]["path"], "top");
    assert_eq!(named(bob.from(OUTSIDE)).await, json!([]));
    assert_eq!(named(ada.from(OUTSIDE)).await[0]["path"], "top", "owners reach it");
}

#[actix_web::test]
async fn nothing_of_what_is_inside_is_told_elsewhere() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (_, project) = kept_to_a_network(&ada).await;
    ada.adds("bob", 30, "/groups/top").await;
    let text = json!({ "title": "leak", "assignee_ids": [app.user("bob").id] });
    ada.from(INSIDE).post(&format!("/projects/{project}/issues"), text).await.created();

    for path in ["/issues?scope=all", "/issues?scope=assigned_to_me", "/todos", "/projects"] {
        assert_eq!(bob.from(INSIDE).get(path).await.each("id").len(), 1, "{path}");
        assert!(bob.from(OUTSIDE).get(path).await.each("id").is_empty(), "{path}");
    }
}

#[actix_web::test]
async fn a_group_that_is_not_reached_from_here_is_not_named_where_it_was_invited() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let far = ada.group_with("far", json!({ "visibility": "public" })).await;
    let near = ada.group_with("near", json!({ "visibility": "public" })).await;
    let tool = json!({ "name": "tool", "visibility": "public", "namespace_id": near });
    let tool = ada.post("/projects", tool).await.created()["id"].clone();
    for place in [format!("/groups/{near}"), format!("/projects/{tool}")] {
        let share = json!({ "group_id": far, "group_access": 30 });
        ada.post(&format!("{place}/share"), share).await.created();
    }
    ada.put("/groups/far", json!({ "ip_restriction_ranges": "10.0.0.0/8" })).await.ok();

    for path in ["/groups/near", "/projects/near%2Ftool", "/projects"] {
        for (address, named) in [(INSIDE, 1), (OUTSIDE, 0)] {
            let told = eve.from(address).get(path).await.ok();
            let told = if told.is_array() { &told[0] } else { &told };
            let groups = told["shared_with_groups"].as_array().map(Vec::len);
            assert_eq!(groups, Some(named), "{path} from {address}");
        }
    }
}
