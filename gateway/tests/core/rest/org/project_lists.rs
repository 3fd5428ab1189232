//! Lists of projects: who sees what, filters, orders and pages.

use kernel::{
    AccessLevel::{Guest, Maintainer},
    Visibility::{Internal, Private, Public},
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// The paths in a list, in its order.
async fn paths(person: &Person<'_>, query: &str) -> Vec<String> {
    let found = person.get(query).await.each("path");
    found.into_iter().map(|path| path.as_str().unwrap_or_default().to_owned()).collect()
}

async fn make(person: &Person<'_>, wanted: Value) -> Value {
    person.post("/projects", wanted).await.created()["id"].clone()
}

#[actix_web::test]
async fn everybody_sees_what_they_may() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let hidden = app.project(&ada, "hidden", Private);
    app.project(&ada, "inside", Internal);
    app.project(&ada, "open", Public);
    let bob = app.member(hidden, "bob", Guest);

    assert_eq!(paths(&app.anonymous(), "/projects").await, ["open"]);
    assert_eq!(paths(&app.person("eve"), "/projects").await, ["open", "inside"]);
    assert_eq!(paths(&bob, "/projects").await, ["open", "inside", "hidden"]);
    assert_eq!(paths(&bob, "/projects?membership=true").await, ["hidden"]);
    assert_eq!(paths(&bob, "/projects?owned=1").await, Vec::<String>::new());
    assert_eq!(paths(&ada, "/projects?owned=1&visibility=public").await, ["open"]);
    assert_eq!(paths(&bob, "/projects?min_access_level=30").await, Vec::<String>::new());
    assert_eq!(paths(&app.admin(), "/projects").await, ["open", "inside", "hidden"]);
}

#[actix_web::test]
async fn strangers_get_the_basic_form() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "open", Public);

    let basic = app.anonymous().get("/projects").await.ok();
    let simple = ada.get("/projects?simple=true").await.ok();
    let full = ada.get("/projects?statistics=true").await.ok();

    assert_eq!(basic, simple);
    assert_eq!(basic[0].get("visibility"), None);
    assert_eq!(full[0]["statistics"]["commit_count"], 0);
    assert_eq!(full[0]["permissions"]["project_access"]["access_level"], 50);
}

#[actix_web::test]
async fn a_search_wants_all_long_words_in_one_column() {
    let app = TestApp::new();
    let ada = app.person("ada");
    make(&ada, json!({ "name": "Steam Engine", "path": "one", "description": "of iron" })).await;
    make(
        &ada,
        json!({ "name": "Engine", "path": "two", "description": "steam and engines, 100%" }),
    )
    .await;
    make(&ada, json!({ "name": "Go", "path": "go", "description": "ÄÖÜ" })).await;
    make(&ada, json!({ "name": "Éclair", "path": "cake" })).await;

    for (search, found) in [
        ("engine", &["two", "one"][..]),
        ("STEAM ENGINE", &["two", "one"]),
        ("iron engine", &[]),
        ("eng of", &["two", "one"]),
        ("go", &["go"]),
        ("g", &[]),
        ("äöü", &["go"]),
        ("éclair", &["cake"]),
        ("100%", &["two"]),
        ("e_g", &[]),
        ("\"steam and\"", &["two"]),
        ("ada", &[]),
    ] {
        let query =
            percent_encoding::utf8_percent_encode(search, percent_encoding::NON_ALPHANUMERIC);
        assert_eq!(paths(&ada, &format!("/projects?search={query}")).await, found, "{search}");
    }
    assert_eq!(paths(&ada, "/projects?search=ada&search_namespaces=true").await.len(), 4);
    let alike = "/projects?search=engine&order_by=similarity";
    assert_eq!(paths(&ada, alike).await, ["two", "one"]);
}

#[actix_web::test]
async fn a_search_follows_changes() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = make(&ada, json!({ "name": "Engine" })).await;

    ada.put(&format!("/projects/{id}"), json!({ "name": "Difference" })).await.ok();

    assert_eq!(paths(&ada, "/projects?search=difference").await, ["engine"]);
    ada.put(&format!("/projects/{id}"), json!({ "path": "machine" })).await.ok();
    assert_eq!(paths(&ada, "/projects?search=engine").await, Vec::<String>::new());
    ada.delete(&format!("/projects/{id}")).await.with(202);
    assert_eq!(paths(&ada, "/projects?search=machine").await, Vec::<String>::new());
}

#[actix_web::test]
async fn filters_narrow_a_list() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let old =
        make(&ada, json!({ "name": "old", "topics": "rust,web", "issues_enabled": false })).await;
    make(&ada, json!({ "name": "young", "topics": "rust" })).await;
    ada.post(&format!("/projects/{old}/archive"), json!({})).await.created();

    for (query, found) in [
        ("archived=true", &["old"][..]),
        ("archived=false", &["young"]),
        ("topic=rust", &["young", "old"]),
        ("topic=rust,web", &["old"]),
        ("topic[0]=rust&topic[1]=web", &["old"]),
        ("with_issues_enabled=true", &["young"]),
        ("with_merge_requests_enabled=true", &["young", "old"]),
        ("with_programming_language=Rust", &[]),
        ("imported=true", &[]),
        (&format!("id_after={old}"), &["young"]),
        (&format!("id_before={old}"), &[]),
        ("last_activity_after=2030-01-01", &[]),
        ("last_activity_after=2020-W01-1", &["young", "old"]),
        ("last_activity_after=20300101T000000Z", &[]),
        ("updated_before=2030-01-01&order_by=updated_at", &["young", "old"]),
        ("order_by=name&sort=asc", &["old", "young"]),
        ("order_by=path&sort=desc", &["young", "old"]),
    ] {
        assert_eq!(paths(&ada, &format!("/projects?{query}")).await, found, "{query}");
    }
    let unpaired = ada.get("/projects?updated_after=2020-01-01").await;
    let text = "400 Bad request - updated_at filter and updated_at sorting must be paired";
    unpaired.refused(400, json!({ "message": text }));
    ada.get("/projects?order_by=beauty")
        .await
        .refused(400, json!({ "error": "order_by does not have a valid value" }));
}

#[actix_web::test]
async fn pages_are_counted_and_do_not_reach_for_ever() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for number in 0..5 {
        app.project(&ada, &format!("p{number}"), Public);
    }

    let answer = ada.get("/projects?per_page=2&page=2").await;

    assert_eq!(answer.header("x-total"), Some("5"));
    assert_eq!(answer.header("x-total-pages"), Some("3"));
    assert_eq!(answer.each("path"), ["p2", "p1"]);
    assert_eq!(ada.get("/projects?per_page=2&page=9").await.header("x-total"), Some("5"));
    let text = ada.get("/projects?per_page=100&page=501").await.with(405)["error"].clone();
    assert!(text.as_str().is_some_and(|text| text.starts_with("Offset pagination has a maximum")));
}

#[actix_web::test]
async fn keyset_pages_end_with_an_empty_one() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for number in 0..3 {
        app.project(&ada, &format!("p{number}"), Public);
    }
    let mut next = "/projects?pagination=keyset&order_by=id&sort=asc&per_page=2".to_owned();
    let mut found = Vec::new();

    loop {
        let answer = ada.get(&next).await;
        assert_eq!(answer.header("x-total"), None);
        let link = answer.header("link").map(str::to_owned);
        found.extend(answer.each("path"));
        let Some(link) = link else { break };
        let url = link.trim_start_matches('<').split('>').next().unwrap_or_default();
        next = url.split_once("/api/v4").expect("an address of the API").1.to_owned();
    }

    assert_eq!(found, ["p0", "p1", "p2"]);
    let text = "Keyset pagination is not yet available for this type of request";
    let by_name = ada.get("/projects?pagination=keyset&order_by=name").await;
    by_name.refused(405, json!({ "error": text }));
}

#[actix_web::test]
async fn somebodys_projects_are_listed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    app.project(&ada, "open", Public);
    let hidden = app.project(&ada, "hidden", Private);
    let bob = app.member(hidden, "bob", Maintainer);
    app.project(&bob, "mine", Public);

    assert_eq!(paths(&app.anonymous(), "/users/ada/projects").await, ["open"]);
    assert_eq!(paths(&bob, "/users/ada/projects").await, ["hidden", "open"]);
    let nobody = bob.get("/users/nobody/projects").await;
    nobody.refused(404, json!({ "message": "404 User Not Found" }));
}
