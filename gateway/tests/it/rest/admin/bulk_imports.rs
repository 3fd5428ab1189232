//! Groups and projects that are fetched from another installation, which is a second application that listens.

use std::net::TcpListener;

use kernel::AccessLevel::Maintainer;
use serde_json::{Value, json};
use time::Duration;

use super::{archives::count_nothing, imports::work};
use crate::support::{Person, Server, TestApp};

/// Another installation with a group `tools` of ada's: a label, a subgroup, and a project with an issue in the latter.
async fn elsewhere() -> (TestApp, Server) {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let made = ada.post("/groups", json!({ "name": "Tools", "path": "tools" })).await.created();
    let group = made["id"].clone();
    let label = json!({ "name": "bug", "color": "#ff0000" });
    ada.post(&format!("/groups/{group}/labels"), label).await.created();
    let below = json!({ "name": "Small", "path": "small", "parent_id": group });
    let small = ada.post("/groups", below).await.created();
    let project =
        json!({ "name": "Pot", "namespace_id": small["id"], "initialize_with_readme": true });
    let project = ada.post("/projects", project).await.created();
    let issue = json!({ "title": "It leaks" });
    ada.post(&format!("/projects/{}/issues", project["id"]), issue).await.created();
    let server = app.serve();
    (app, server)
}

fn token(person: &Person<'_>) -> String {
    person.token.as_ref().expect("a token").reveal().to_owned()
}

fn wanted(url: &str, token: &str, source: (&str, &str), destination: (&str, &str)) -> Value {
    let entity = json!({ "source_type": source.0, "source_full_path": source.1,
        "destination_namespace": destination.0, "destination_slug": destination.1 });
    json!({ "configuration": { "url": url, "access_token": token }, "entities": [entity] })
}

/// An installation that may go to this machine, with bulk imports on.
async fn here() -> TestApp {
    let app = TestApp::reaching("127.0.0.1");
    app.admin().put("/application/settings", json!({ "bulk_import_enabled": true })).await.ok();
    app
}

/// Lets both work until the import has ended.
async fn fetch(app: &TestApp, source: &TestApp, import: &Value) -> Value {
    let person = app.admin();
    for _ in 0..30 {
        work(app).await;
        work(source).await;
        app.clock.advance(Duration::seconds(10));
        let entities = person.get(&format!("/bulk_imports/{}/entities", import["id"])).await;
        if entities.status == 200 && all_ended(&entities.body) {
            return entities.body;
        }
    }
    panic!("the import does not end");
}

fn all_ended(entities: &Value) -> bool {
    let mut all = entities.as_array().expect("a list").iter();
    all.all(|one| one["status"] != "created" && one["status"] != "started")
}

#[actix_web::test]
async fn a_group_is_fetched_with_what_lies_in_it() {
    let ((source, server), app) = (elsewhere().await, here().await);
    let (owner, root) = (source.person("ada"), app.admin());
    let url = format!("http://{}/", server.address);
    let asked = wanted(&url, &token(&owner), ("group_entity", "tools"), ("", "copy"));

    let made = root.post("/bulk_imports", asked).await.created();
    let entities = fetch(&app, &source, &made).await;

    let told: Vec<_> = entities.as_array().expect("a list").iter().collect();
    assert!(told.iter().all(|one| one["status"] == "finished"), "{entities}");
    let kinds: Vec<_> = told.iter().map(|one| &one["entity_type"]).collect();
    assert!(kinds.contains(&&json!("group")) && kinds.contains(&&json!("project")), "{kinds:?}");
    assert_eq!(root.get("/groups/copy/labels").await.ok()[0]["name"], "bug");
    let issues = root.get("/projects/copy%2Fsmall%2Fpot/issues").await.ok();
    assert_eq!(issues[0]["title"], "It leaks");
    let import = root.get(&format!("/bulk_imports/{}", made["id"])).await.ok();
    assert_eq!((&import["status"], &import["has_failures"]), (&json!("finished"), &json!(false)));
}

#[actix_web::test]
async fn a_project_is_fetched_into_a_group_and_a_wrong_token_is_told_of() {
    let ((source, server), app) = (elsewhere().await, here().await);
    let (owner, root) = (source.person("ada"), app.admin());
    root.post("/groups", json!({ "name": "Home", "path": "home" })).await.created();
    let url = format!("http://{}", server.address);
    let from = ("project_entity", "tools/small/pot");

    let asked = wanted(&url, &token(&owner), from, ("home", "kettle"));
    let made = root.post("/bulk_imports", asked).await.created();
    let entities = fetch(&app, &source, &made).await;
    assert_eq!(entities[0]["status"], "finished", "{entities}");
    let file = "/projects/home%2Fkettle/repository/files/README.md?ref=main";
    assert_eq!(root.get(file).await.status, 200);

    app.clock.advance(Duration::hours(1));
    let asked = wanted(&url, "not-a-token", from, ("home", "cup"));
    let made = root.post("/bulk_imports", asked).await.created();
    let entities = fetch(&app, &source, &made).await;
    assert_eq!(entities[0]["status"], "failed", "{entities}");
    let listed = &entities[0]["failures"][0];
    assert_eq!(
        (&listed["relation"], &entities[0]["has_failures"]),
        (&json!("project"), &json!(true))
    );
    let path = format!("/bulk_imports/{}/entities/{}/failures", made["id"], entities[0]["id"]);
    assert_eq!(root.get(&path).await.ok()[0], *listed);
    let told = root.get(&path).await.ok()[0]["exception_message"].clone();
    let refused = "the source refused the credentials (HTTP 401): ";
    assert!(told.as_str().is_some_and(|text| text.starts_with(refused)), "{told}");
    root.get("/projects/home%2Fcup").await.with(404);
}

#[actix_web::test]
async fn an_address_without_an_installation_is_given_up_soon_and_the_reason_is_told() {
    let app = here().await;
    let root = app.admin();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let mut asked = wanted(&url, "t0p", ("group_entity", "tools"), ("", "copy"));
    let other = json!({ "source_type": "group_entity", "source_full_path": "pots",
        "destination_namespace": "", "destination_slug": "pots" });
    asked["entities"].as_array_mut().expect("a list").push(other);
    let made = root.post("/bulk_imports", asked).await.created();
    let path = format!("/bulk_imports/{}", made["id"]);

    for _ in 0..12 {
        work(&app).await;
        app.clock.advance(Duration::seconds(10));
    }

    let entities = root.get(&format!("{path}/entities")).await.ok();
    assert!(all_ended(&entities), "{entities}");
    let told = "the source cannot be reached, or broke its answer off";
    assert_eq!(entities[0]["failures"][0]["exception_message"], told);
    let import = root.get(&path).await.ok();
    assert_eq!((&import["status"], &import["has_failures"]), (&json!("failed"), &json!(true)));
}

#[actix_web::test]
async fn a_bulk_import_that_is_canceled_tells_whether_something_failed() {
    let ((source, server), app) = (elsewhere().await, here().await);
    let (owner, root) = (source.person("ada"), app.admin());
    root.post("/groups", json!({ "name": "Home", "path": "home" })).await.created();
    let url = format!("http://{}", server.address);
    let from = ("project_entity", "tools/small/pot");
    let mut asked = wanted(&url, &token(&owner), from, ("home", "pot"));
    let missing = json!({ "source_type": "project_entity", "source_full_path": "tools/none",
        "destination_namespace": "home", "destination_slug": "none" });
    asked["entities"].as_array_mut().expect("a list").push(missing);
    let made = root.post("/bulk_imports", asked).await.created();
    let path = format!("/bulk_imports/{}", made["id"]);
    work(&app).await;
    let entities = root.get(&format!("{path}/entities")).await.each("status");
    assert_eq!(entities, [json!("started"), json!("failed")]);

    let ended = root.post(&format!("{path}/cancel"), json!({})).await.body;

    assert_eq!((&ended["status"], &ended["has_failures"]), (&json!("canceled"), &json!(true)));
}

#[actix_web::test]
async fn paths_that_are_none_are_refused_with_the_place_of_each() {
    let app = here().await;
    let ada = app.person("ada");
    let asked =
        |source, slug| wanted("https://source.example", "t", ("group_entity", source), ("", slug));
    for (body, told) in [
        (
            asked("https://source.example/tools", "b"),
            "entities[0][source_full_path] must be a relative path",
        ),
        (asked("/tools", "b"), "entities[0][source_full_path] must be a relative path"),
        (asked("tools", "b/c"), "entities[0][destination_slug] cannot start with a dash"),
        (asked("tools", "?x"), "entities[0][destination_slug] cannot start with a dash"),
    ] {
        let refused = ada.post("/bulk_imports", body).await.with(400);
        assert!(refused["error"].as_str().is_some_and(|text| text.starts_with(told)), "{refused}");
    }
    for place in ["a/", "http://a", "-a"] {
        let body = wanted("https://s.example", "t", ("group_entity", "a"), (place, "b"));
        let refused = ada.post("/bulk_imports", body).await.with(400);
        let told = "entities[0][destination_namespace] cannot start with a dash";
        assert!(refused["error"].as_str().is_some_and(|text| text.starts_with(told)), "{refused}");
    }
    assert_eq!(ada.get("/bulk_imports").await.ok(), json!([]));
}

#[actix_web::test]
async fn a_server_that_begins_anew_makes_nothing_twice() {
    let ((source, server), app) = (elsewhere().await, here().await);
    let (owner, root) = (source.person("ada"), app.admin());
    root.post("/groups", json!({ "name": "Home", "path": "home" })).await.created();
    let url = format!("http://{}", server.address);
    let from = ("project_entity", "tools/small/pot");
    let asked = wanted(&url, &token(&owner), from, ("home", "pot"));
    let made = root.post("/bulk_imports", asked).await.created();
    // As far as the project, which is not filled yet.
    while root.get("/projects/home%2Fpot").await.status == 404 {
        work(&source).await;
        app.clock.advance(Duration::seconds(10));
        app.work().await;
        app.state.imports.finish().await;
    }
    let path = format!("/bulk_imports/{}/entities", made["id"]);
    let entity = root.get(&path).await.ok()[0].clone();
    assert!(entity["project_id"].is_i64() && entity["status"] == "started", "{entity}");

    forge::archive::resume(&app.state).await.expect("it is written");
    let entities = fetch(&app, &source, &made).await;

    assert_eq!(entities[0]["status"], "finished", "{entities}");
    assert_eq!(root.get("/projects/home%2Fpot/issues").await.ok()[0]["title"], "It leaks");
    assert_eq!(root.get("/groups/home/projects").await.ok().as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn an_entity_that_is_canceled_while_it_is_fetched_has_no_failure() {
    let ((source, server), app) = (elsewhere().await, here().await);
    let (owner, root) = (source.person("ada"), app.admin());
    root.post("/groups", json!({ "name": "Home", "path": "home" })).await.created();
    let url = format!("http://{}", server.address);
    let from = ("project_entity", "tools/small/pot");
    let asked = wanted(&url, &token(&owner), from, ("home", "pot"));
    let made = root.post("/bulk_imports", asked).await.created();
    let path = format!("/bulk_imports/{}", made["id"]);
    app.work().await;
    app.state.imports.finish().await;
    work(&source).await;
    app.clock.advance(Duration::seconds(10));
    // The step runs beside the queue, and is not waited for.
    app.work().await;

    root.post(&format!("{path}/cancel"), json!({})).await;
    app.state.imports.finish().await;
    work(&app).await;

    let entities = root.get(&format!("{path}/entities")).await.ok();
    assert_eq!(entities[0]["status"], "canceled", "{entities}");
    let failures = format!("{path}/entities/{}/failures", entities[0]["id"]);
    assert_eq!(root.get(&failures).await.ok(), json!([]));
}

#[actix_web::test]
async fn nobody_fills_a_group_that_is_not_theirs() {
    let app = here().await;
    let ada = app.person("ada");
    let home = ada.post("/groups", json!({ "name": "Home", "path": "home" })).await.created();
    let mo = app.person("mo");
    let member = json!({ "user_id": app.user("mo").id, "access_level": Maintainer });
    ada.post(&format!("/groups/{}/members", home["id"]), member).await.created();
    let asked = |place| wanted("https://source.example", "t", ("group_entity", "a"), (place, "b"));
    mo.post("/bulk_imports", asked("nowhere")).await.with(422);
    let public = json!({ "name": "Open", "path": "open", "visibility": "public" });
    ada.post("/groups", public).await.created();
    let told = "Import failed. Destination 'open' is invalid, or you don't have permission.";
    mo.post("/bulk_imports", asked("open")).await.refused(422, json!({ "message": told }));
    app.person("eve").post("/bulk_imports", asked("ada")).await.with(422);
}

#[actix_web::test]
async fn bulk_imports_are_off_until_an_administrator_switches_them_on() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let wanted = |url: &str| {
        let entity = json!({ "source_type": "group_entity", "source_full_path": "tools",
            "destination_namespace": "", "destination_slug": "copy" });
        json!({ "configuration": { "url": url, "access_token": "t0p" }, "entities": [entity] })
    };
    ada.post("/bulk_imports", wanted("https://source.example")).await.with(404);
    app.admin().put("/application/settings", json!({ "bulk_import_enabled": true })).await.ok();
    ada.post("/bulk_imports", wanted("http://127.0.0.1")).await.with(422);

    let made = ada.post("/bulk_imports", wanted("https://source.example/")).await.created();

    assert_eq!(
        (&made["status"], &made["source_url"]),
        (&json!("created"), &json!("https://source.example"))
    );
    let path = format!("/bulk_imports/{}", made["id"]);
    let entities = ada.get(&format!("{path}/entities")).await.ok();
    assert_eq!(entities[0]["destination_full_path"], "copy");
    app.person("eve").get(&path).await.with(404);
    let ended = ada.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!(ended.body["status"], "canceled", "{}", ended.body);
    ada.post(&format!("{path}/cancel"), json!({})).await.with(422);
    work(&app).await;
    app.clock.advance(Duration::hours(3));
    work(&app).await;
    let entity = format!("{path}/entities/{}", entities[0]["id"]);
    assert_eq!(ada.get(&entity).await.ok()["status"], "canceled");
    assert_eq!(ada.get(&format!("{entity}/failures")).await.ok(), json!([]));
}
