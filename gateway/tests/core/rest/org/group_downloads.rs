//! Groups that let one person download only so many projects in a while.

use actix_web::http::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

/// Ada's private group `top`, which lets one person have one project in an hour, with two projects and bob as a developer.
async fn limited(ada: &Person<'_>, auto_ban: bool) -> [Value; 2] {
    let top = ada.group("top", None).await;
    ada.adds("bob", 30, "/groups/top").await;
    let mut projects = [Value::Null, Value::Null];
    for (project, path) in projects.iter_mut().zip(["one", "two"]) {
        let new = json!({ "path": path, "namespace_id": top, "initialize_with_readme": true });
        *project = ada.post("/projects", new).await.created()["id"].clone();
    }
    let limit = json!({
        "unique_project_download_limit": 1, "unique_project_download_limit_interval_in_seconds": 3600,
        "auto_ban_user_on_excessive_projects_download": auto_ban,
    });
    ada.put("/groups/top", limit).await.ok();
    projects
}

async fn download(person: &Person<'_>, project: &Value) -> Answer {
    person.get(&format!("/projects/{project}/repository/archive")).await
}

#[actix_web::test]
async fn who_takes_one_too_many_is_locked_out_until_they_are_pardoned() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let [one, two] = limited(&ada, true).await;

    for _ in 0..2 {
        assert_eq!(download(&bob, &one).await.status, 200, "the same again is no other");
    }
    let gone = json!({ "message": "404 Project Not Found" });
    download(&bob, &two).await.refused(404, gone);
    for path in ["/groups/top".to_owned(), format!("/projects/{one}")] {
        assert_eq!(bob.get(&path).await.status, 404, "{path}");
        assert_eq!(ada.get(&path).await.status, 200, "{path}");
    }
    assert!(bob.get("/projects?membership=true").await.each("id").is_empty());
    assert!(bob.get("/groups").await.each("id").is_empty());
    assert_eq!(app.letters().iter().filter(|text| text.contains("They are locked out")).count(), 1);

    let pardon = json!({ "unique_project_download_limit_allowlist": ["Bob"] });
    ada.put("/groups/top", pardon).await.ok();
    for project in [&one, &two] {
        assert_eq!(download(&bob, project).await.status, 200);
    }
}

#[actix_web::test]
async fn what_git_takes_counts_too() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob").by_password());
    limited(&ada, true).await;
    let fetch = async |path: &str| {
        let kind = "application/x-git-upload-pack-request";
        let url = format!("//top/{path}.git/git-upload-pack");
        bob.send_bytes(Method::POST, &url, kind, b"0000").await.status
    };

    assert_ne!(fetch("one").await, 404);
    assert_eq!(fetch("two").await, 404);
    assert_eq!(fetch("one").await, 404);
}

#[actix_web::test]
async fn without_a_ban_those_who_look_after_the_group_are_told_once() {
    let app = TestApp::new();
    let (ada, bob, eve) = (app.person("ada"), app.person("bob"), app.person("eve"));
    let [one, two] = limited(&ada, false).await;
    let told = json!({ "unique_project_download_limit_alertlist": [app.user("eve").id] });
    let shown = ada.put("/groups/top", told.clone()).await.ok();
    let field = "unique_project_download_limit_alertlist";
    assert_eq!(shown[field], told[field]);
    assert_eq!(eve.get("/groups/top").await.status, 404);

    for project in [&one, &two, &two, &one] {
        assert_eq!(download(&bob, project).await.status, 200);
    }
    let letters = app.letters();
    let told: Vec<_> = letters.iter().filter(|text| text.contains("were downloaded")).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("eve@example.com"), "{}", told[0]);
    let many = json!({ field: (1..=101).collect::<Vec<_>>() });
    let text = json!({ "message": { field: ["exceeds maximum length (100 user ids)"] } });
    ada.put("/groups/top", many).await.refused(400, text);
}

#[actix_web::test]
async fn owners_are_free_and_others_after_the_interval() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let [one, two] = limited(&ada, true).await;

    for project in [&one, &two] {
        assert_eq!(download(&ada, project).await.status, 200);
    }
    assert_eq!(download(&bob, &one).await.status, 200);
    app.clock.advance(time::Duration::hours(1));
    assert_eq!(download(&bob, &two).await.status, 200);
}

#[actix_web::test]
async fn only_groups_at_the_top_say_how_much() {
    let app = TestApp::new();
    let ada = app.person("ada");
    limited(&ada, true).await;
    let roof = ada.group("roof", None).await;
    let apart = json!({ "prevent_sharing_groups_outside_hierarchy": true });
    ada.put("/groups/top", apart).await.ok();

    ada.post("/groups/top/transfer", json!({ "group_id": roof })).await.created();
    let moved = ada.put("/groups/roof%2Ftop", json!({ "description": "moved" })).await.ok();
    assert_eq!(moved["unique_project_download_limit"], 0);
    let text = json!({ "message": {
        "unique_project_download_limit": ["only available on top-level groups."],
    } });
    let limit = json!({ "unique_project_download_limit": 1 });
    ada.put("/groups/roof%2Ftop", limit).await.refused(400, text);
}

#[actix_web::test]
async fn owners_see_whom_they_locked_out_and_let_them_in() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let [one, two] = limited(&ada, true).await;
    let bans = "/groups/top/namespace_bans";
    assert_eq!(ada.get(bans).await.ok(), json!([]));
    for project in [&one, &two] {
        download(&bob, project).await;
    }

    let banned = ada.get(bans).await;
    assert_eq!(banned.header("x-total"), Some("1"));
    let banned = banned.ok();
    let today = app.clock.now().date().to_string();
    assert_eq!((&banned[0]["username"], &banned[0]["state"]), (&json!("bob"), &json!("active")));
    assert!(banned[0]["banned_at"].as_str().is_some_and(|told| told.starts_with(&today)));
    let path = format!("{bans}/{}", app.user("bob").id);
    ada.delete(&path).await.with(204);

    assert_eq!(ada.get(bans).await.ok(), json!([]));
    assert_eq!(download(&bob, &two).await.status, 200, "what was taken before does not count");
    let nobody = json!({ "message": "404 User Not Found" });
    ada.delete(&path).await.refused(404, nobody);
}

#[actix_web::test]
async fn nobody_but_owners_knows_who_is_locked_out() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let [one, two] = limited(&ada, true).await;
    let (mia, eve) = (app.person("mia"), app.person("eve"));
    ada.adds("mia", 40, "/groups/top").await;
    for project in [&one, &two] {
        download(&bob, project).await;
    }
    let path = format!("/groups/top/namespace_bans/{}", app.user("bob").id);

    mia.delete(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
    mia.get("/groups/top/namespace_bans").await.refused(403, json!({ "message": "403 Forbidden" }));
    let hidden = json!({ "message": "404 Group Not Found" });
    eve.get("/groups/top/namespace_bans").await.refused(404, hidden.clone());
    bob.delete(&path).await.refused(404, hidden);
    let below =
        ada.group("below", Some(ada.get("/groups/top").await.ok()["id"].as_i64().unwrap())).await;
    let nested =
        json!({ "message": "400 Bad request - Invalid group provided, must be top-level" });
    ada.get(&format!("/groups/{below}/namespace_bans")).await.refused(400, nested);
    assert_eq!(ada.get("/groups/top/namespace_bans").await.each("username"), ["bob"]);
}
