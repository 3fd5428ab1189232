//! Things are found by parts of words, whatever the database's statistics say of these.

use db::{each_backend, error};
use diesel::{RunQueryDsl, sql_query};
use kernel::Visibility::Private;
use serde_json::json;

use crate::support::TestApp;

/// The database learns which texts there are, and what was known of them before becomes too old.
fn learn_texts(app: &TestApp) {
    app.write(|tx| {
        each_backend!(tx, |conn| sql_query("ANALYZE").execute(conn).map_err(error("Plan")))
    });
    app.clock.advance(time::Duration::minutes(20));
}

#[actix_web::test]
async fn words_with_several_parts_are_found_whole() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let issues = format!("/projects/{project}/issues");
    for title in ["about topic-4321", "about topic-77, again", "other topic-5", "4321 of topic"] {
        let issue = json!({ "title": title, "description": "What is said of Größe_10%" });
        ada.post(&issues, issue).await.created();
    }
    ada.put(&format!("{issues}/3"), json!({ "description": "see also TOPIC-4321" })).await.ok();
    learn_texts(&app);

    for (words, found) in [
        ("topic-4321", &["other topic-5", "about topic-4321"][..]),
        ("topic-4321&in=title", &["about topic-4321"]),
        ("Topic-77", &["about topic-77, again"]),
        ("opic-5", &["other topic-5"]),
        ("topic+4321", &["4321 of topic", "other topic-5", "about topic-4321"]),
        ("gr%C3%B6%C3%9Fe_10%25", &["4321 of topic", "about topic-77, again", "about topic-4321"]),
        ("topic-4322", &[]),
    ] {
        for list in [&issues, "/issues"] {
            let answer = ada.get(&format!("{list}?search={words}")).await;
            assert_eq!(answer.header("x-total"), Some(found.len().to_string().as_str()), "{words}");
            assert_eq!(answer.each("title"), found, "{words} in {list}");
        }
        let oldest = format!("{issues}?search={words}&order_by=title&sort=asc&per_page=1");
        assert_eq!(ada.get(&oldest).await.each("title").len(), found.len().min(1), "{words}");
    }
    let all = ada.get("/issues?search=topic&order_by=title&sort=asc").await.each("title");
    assert_eq!(all[0], "4321 of topic");
    assert_eq!(all[3], "other topic-5");
}

#[actix_web::test]
async fn people_groups_and_projects_are_found_by_words_with_several_parts() {
    let app = TestApp::new();
    let ada = app.person("ada-4321");
    for name in ["bob-77", "77-bob", "cyd-4321x"] {
        app.person(name);
        app.project(&ada, &format!("engine-{name}"), Private);
        let group = json!({ "name": format!("crew {name}"), "path": format!("crew-{name}") });
        ada.post("/groups", group).await.created();
    }
    learn_texts(&app);
    let found = async |list: &str, field: &str| {
        let mut found = ada.get(list).await.each(field);
        found.sort_by_key(ToString::to_string);
        found
    };

    assert_eq!(found("/users?search=bob-77", "username").await, ["bob-77"]);
    assert_eq!(found("/users?search=D-4321", "username").await, ["cyd-4321x"]);
    assert_eq!(found("/groups?search=crew-bob-77", "path").await, ["crew-bob-77"]);
    assert_eq!(found("/groups?search=d-4321", "path").await, ["crew-cyd-4321x"]);
    assert_eq!(found("/projects?search=engine-bob-77", "path").await, ["engine-bob-77"]);
    let both = ["engine-77-bob", "engine-bob-77"];
    assert_eq!(found("/projects?search=engine+bob", "path").await, both);
}
