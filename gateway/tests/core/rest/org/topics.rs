//! Topics: `gateway/src/rest/org/topics.rs`.

use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn administrators_describe_the_topics_of_projects() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let wanted = json!({ "name": "rust", "title": "Rust", "description": "A language" });
    let made = root.post("/topics", wanted.clone()).await.created();
    assert_eq!((&made["title"], &made["total_projects_count"]), (&json!("Rust"), &json!(0)));
    ada.post("/projects", json!({ "name": "a", "topics": ["rust", "go"] })).await.created();

    let one = format!("/topics/{}", made["id"]);
    assert_eq!(app.anonymous().get(&one).await.ok()["total_projects_count"], 1);
    assert_eq!(ada.get("/topics?search=ru").await.each("name"), [json!("rust")]);
    assert!(ada.get("/topics?without_projects=true").await.each("name").is_empty());
    let taken = json!({ "message": { "name": ["has already been taken"] } });
    root.post("/topics", wanted).await.refused(400, taken.clone());
    root.put(&one, json!({ "name": "go" })).await.refused(400, taken);
    assert_eq!(root.put(&one, json!({ "title": "Rust!" })).await.ok()["title"], "Rust!");
    assert_eq!(ada.delete(&one).await.status, 403);
    assert_eq!(root.delete(&one).await.status, 204);
    assert_eq!(root.get(&one).await.status, 404);
}

#[actix_web::test]
async fn a_topic_of_more_projects_comes_first() {
    let app = TestApp::new();
    let ada = app.person("ada");
    for (name, topics) in [("a", json!(["few", "many"])), ("b", json!(["many"]))] {
        ada.post("/projects", json!({ "name": name, "topics": topics })).await.created();
    }
    assert_eq!(ada.get("/topics").await.each("name"), [json!("many"), json!("few")]);
    assert_eq!(ada.get("/topics?per_page=1&page=2").await.each("name"), [json!("few")]);
    let odd = json!({ "error": "without_projects is invalid" });
    ada.get("/topics?without_projects=perhaps").await.refused(400, odd);
}

#[actix_web::test]
async fn topics_are_found_whatever_their_letter_case_and_come_by_their_bytes() {
    let app = TestApp::new();
    let root = app.admin();
    for name in ["rust_lang", "Rust", "ÉCLAIR", "go", "rustic"] {
        let topic = json!({ "name": name, "title": name });
        root.post("/topics", topic).await.created();
    }
    let found = root.get("/topics?search=RUST").await.each("name");
    assert_eq!(found, [json!("Rust"), json!("rust_lang"), json!("rustic")]);
    assert_eq!(root.get("/topics?search=%C3%A9clair").await.each("name"), [json!("ÉCLAIR")]);
    assert_eq!(root.get("/topics?search=t_l").await.each("name"), [json!("rust_lang")]);
}

#[actix_web::test]
async fn topics_that_are_set_several_times_in_one_moment_are_set() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = format!("/projects/{}", app.project(&ada, "forge", kernel::Visibility::Private));
    for name in ["go", "rust"] {
        app.admin().post("/topics", json!({ "name": name, "title": name })).await.created();
    }

    let topics = json!({ "topics": ["rust", "go"] });
    let all = (0..3).map(|_| ada.put(&project, topics.clone())).collect();
    let answers = app.at_once("SELECT id FROM topics ORDER BY id FOR UPDATE", all).await;

    for answer in answers {
        assert_eq!(answer.ok()["topics"], json!(["go", "rust"]));
    }
    assert_eq!(app.deadlocks(), 0);
}
