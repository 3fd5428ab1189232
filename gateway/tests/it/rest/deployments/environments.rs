//! Environments: `gateway/src/rest/deployments/environments.rs`.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

fn set_up(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let project = app.project(&app.person("olga"), "engine", Private);
    (project, app.member(project, "dan", Developer), format!("/projects/{project}/environments"))
}

async fn made(person: &Person<'_>, path: &str, name: &str) -> Value {
    person.post(path, json!({ "name": name })).await.created()
}

#[actix_web::test]
async fn an_environment_is_made_with_a_slug_and_the_tier_of_its_name() {
    let app = TestApp::new();
    let (project, dan, path) = set_up(&app);
    let body = json!({ "name": "review/Feature 1", "external_url": "https://f1.example.com" });

    let made = dan.post(&path, body).await.created();

    assert_eq!(made["name"], "review/Feature 1");
    let slug = made["slug"].as_str().unwrap();
    assert!(slug.starts_with("review-feature-1-") && slug.len() == 23, "{slug}");
    assert_eq!((&made["tier"], &made["state"]), (&json!("development"), &json!("available")));
    assert_eq!(made["external_url"], "https://f1.example.com");
    assert_eq!(made["project"]["id"], project.0);
    let one = dan.get(&format!("{path}/{}", made["id"])).await.ok();
    assert_eq!((&one["last_deployment"], one.get("project")), (&Value::Null, None));
    assert_eq!(app.announced().last().map(|(kind, _)| kind.as_str()), Some("environment.changed"));
}

#[actix_web::test]
async fn what_cannot_be_an_environment_is_refused_by_field() {
    let app = TestApp::new();
    let (_, dan, path) = set_up(&app);
    made(&dan, &path, "production").await;

    for (body, told) in [
        (json!({ "name": "production" }), json!({ "name": ["has already been taken"] })),
        (
            json!({ "name": "a:b" }),
            json!({ "name": ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"] }),
        ),
        (
            json!({ "name": "x", "external_url": "javascript:alert(1)" }),
            json!({ "external_url": ["javascript URI scheme is not allowed"] }),
        ),
    ] {
        dan.post(&path, body).await.refused(400, json!({ "message": told }));
    }
    dan.post(&path, json!({})).await.refused(400, json!({ "error": "name is missing" }));
    let slug = json!({ "error": "slug is automatically generated and cannot be changed" });
    dan.post(&path, json!({ "name": "x", "slug": "y" })).await.refused(400, slug);
    let tier = json!({ "error": "tier does not have a valid value" });
    dan.post(&path, json!({ "name": "x", "tier": "first" })).await.refused(400, tier);
}

#[actix_web::test]
async fn environments_are_found_by_name_part_and_state() {
    let app = TestApp::new();
    let (_, dan, path) = set_up(&app);
    for name in ["production", "Preproduction", "review/a"] {
        made(&dan, &path, name).await;
    }
    let names = async |query: &str| dan.get(&format!("{path}{query}")).await.each("name");

    assert_eq!(names("").await, ["production", "Preproduction", "review/a"]);
    assert_eq!(names("?name=production").await, ["production"]);
    assert_eq!(names("?search=PROD").await, ["production", "Preproduction"]);
    assert_eq!(names("?states=stopped").await, Vec::<Value>::new());
    assert_eq!(names("?per_page=1&page=2").await, ["Preproduction"]);
    let first = dan.get(&format!("{path}?per_page=1")).await;
    assert_eq!((first.header("X-Total"), first.header("X-Next-Page")), (Some("3"), Some("2")));
    let both = json!({ "error": "name, search cannot be used together" });
    dan.get(&format!("{path}?name=a&search=abc")).await.refused(400, both);
    let short = json!({ "message": "400 Bad request - Search query is less than 3 characters" });
    dan.get(&format!("{path}?search=ab")).await.refused(400, short);
    let state = json!({ "error": "states does not have a valid value" });
    dan.get(&format!("{path}?states=gone")).await.refused(400, state);
}

#[actix_web::test]
async fn an_environment_is_changed_and_keeps_its_slug() {
    let app = TestApp::new();
    let (_, dan, path) = set_up(&app);
    let first = made(&dan, &path, "staging").await;
    made(&dan, &path, "other").await;
    let one = format!("{path}/{}", first["id"]);
    let change =
        json!({ "name": "live", "external_url": "https://a.example.com", "tier": "production" });

    let after = dan.put(&one, change).await.ok();

    assert_eq!((&after["name"], &after["slug"]), (&json!("live"), &json!("staging")));
    assert_eq!(
        (&after["tier"], &after["external_url"]),
        (&json!("production"), &json!("https://a.example.com"))
    );
    let taken = json!({ "message": { "name": ["has already been taken"] } });
    dan.put(&one, json!({ "name": "other" })).await.refused(400, taken);
    for blank in [json!(""), Value::Null] {
        dan.put(&one, json!({ "external_url": "https://b.example.com" })).await.ok();
        let after = dan.put(&one, json!({ "external_url": blank, "tier": null })).await.ok();
        assert_eq!((&after["external_url"], &after["tier"]), (&Value::Null, &json!("production")));
    }
    dan.put(&format!("{path}/99"), json!({}))
        .await
        .refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn an_environment_is_stopped_and_then_removed() {
    let app = TestApp::new();
    let (_, dan, path) = set_up(&app);
    let one = format!("{path}/{}", made(&dan, &path, "production").await["id"]);
    dan.delete(&one).await.refused(403, json!({ "message": "403 Forbidden" }));

    assert_eq!(dan.post(&format!("{one}/stop"), json!({})).await.ok()["state"], "stopped");
    assert_eq!(
        dan.post(&format!("{one}/stop"), json!({ "force": true })).await.ok()["state"],
        "stopped"
    );

    assert_eq!(dan.get(&format!("{path}?states=stopped")).await.each("name"), ["production"]);
    dan.delete(&one).await.with(204);
    dan.get(&one).await.with(404);
}

#[actix_web::test]
async fn reporters_read_and_developers_change() {
    let app = TestApp::new();
    let (project, dan, path) = set_up(&app);
    let one = format!("{path}/{}", made(&dan, &path, "production").await["id"]);
    let (rob, gus) = (app.member(project, "rob", Reporter), app.member(project, "gus", Guest));

    rob.get(&one).await.ok();
    rob.post(&path, json!({ "name": "x" })).await.with(403);
    rob.post(&format!("{one}/stop"), json!({})).await.with(403);
    gus.get(&path).await.with(403);
    app.person("stranger").get(&one).await.with(404);
    let open = app.project(&app.person("olga"), "open", Public);
    app.person("pat").get(&format!("/projects/{open}/environments")).await.ok();
    app.anonymous().get(&format!("/projects/{open}/environments")).await.with(401);
    let mia = app.member(project, "mia", Maintainer);
    let elsewhere = format!("/projects/{open}/environments/{}", one.rsplit('/').next().unwrap());
    mia.get(&elsewhere).await.refused(404, json!({ "message": "404 Not found" }));
}
