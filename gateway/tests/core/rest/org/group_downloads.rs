//! Groups and installations that let one person download only so many projects in a while.

use actix_web::http::Method;
use kernel::ids::ProjectId;
use org::{
    namespace::downloads::{self, Verdict},
    user::State,
};
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

/// Public projects of ada and of eve, of which the installation lets one person have one in an hour.
async fn limited_everywhere(app: &TestApp) -> [Value; 2] {
    let limit = json!({ "max_number_of_repository_downloads": 1,
        "max_number_of_repository_downloads_within_time_period": 3600 });
    app.admin().put("/application/settings", limit).await.ok();
    let mut projects = [Value::Null, Value::Null];
    for (project, owner) in projects.iter_mut().zip(["ada", "eve"]) {
        let new = json!({ "path": "one", "visibility": "public", "initialize_with_readme": true });
        *project = app.person(owner).post("/projects", new).await.created()["id"].clone();
    }
    projects
}

#[actix_web::test]
async fn who_takes_one_too_many_of_the_installation_is_banned_where_it_wants_that() {
    let app = TestApp::new();
    let (root, bob) = (app.admin(), app.person("bob"));
    let [one, two] = limited_everywhere(&app).await;
    for project in [&one, &two, &one] {
        assert_eq!(download(&bob, project).await.status, 200);
    }
    let letters = app.letters();
    let told: Vec<_> = letters.iter().filter(|text| text.contains("were downloaded")).collect();
    assert!(told.len() == 1 && told[0].contains("root@example.com"), "{told:?}");
    let auto_ban = json!({ "auto_ban_user_on_excessive_projects_download": true });
    root.put("/application/settings", auto_ban).await.ok();

    let blocked = json!({ "message": "403 Forbidden - Your account has been blocked." });
    download(&bob, &two).await.refused(403, blocked);
    assert_eq!(app.user("bob").state, State::Banned);
    let unban = format!("/users/{}/unban", app.user("bob").id);
    assert_eq!(root.post(&unban, json!({})).await.created(), true);
    assert_eq!(download(&bob, &one).await.status, 200, "what was taken before does not count");
    let pardon = json!({ "git_rate_limit_users_allowlist": ["Bob"] });
    root.put("/application/settings", pardon).await.ok();
    assert_eq!(download(&bob, &two).await.status, 200);
}

/// The author of the event that tells of a ban.
async fn banned_by(app: &TestApp) -> Value {
    let events = app.admin().get("/audit_events?entity_type=User").await.ok();
    let mut events = events.as_array().expect("a list").iter();
    let ban = events.find(|event| event["event_name"] == "user_banned").expect("it is told");
    json!([ban["author_id"], ban["details"]["author_name"]])
}

#[actix_web::test]
async fn what_was_let_in_before_a_ban_does_not_count_after_it() {
    let app = TestApp::new();
    let (root, bob) = (app.admin(), app.person("bob"));
    let [one, two] = limited_everywhere(&app).await;
    let auto_ban = json!({ "auto_ban_user_on_excessive_projects_download": true });
    root.put("/application/settings", auto_ban).await.ok();
    assert_eq!(download(&bob, &one).await.status, 200);
    assert_eq!(download(&bob, &two).await.status, 403);
    assert_eq!(banned_by(&app).await, json!([-1, "(System)"]));

    app.clock.advance(time::Duration::hours(1));
    let (actor, late) = (app.user("bob").actor(), ProjectId(two.as_i64().unwrap()));
    let verdict = app.write(move |tx| downloads::note(tx, actor, late, "eve/one"));
    assert_eq!(verdict, Verdict::LockedOut);
    let unban = format!("/users/{}/unban", app.user("bob").id);
    assert_eq!(root.post(&unban, json!({})).await.created(), true);
    assert_eq!(download(&bob, &one).await.status, 200);
    assert_eq!(app.user("bob").state, State::Active);
}

#[actix_web::test]
async fn what_git_takes_of_the_installation_counts_for_its_interval() {
    let app = TestApp::new();
    let bob = app.person("bob").by_password();
    limited_everywhere(&app).await;
    let auto_ban = json!({ "auto_ban_user_on_excessive_projects_download": true });
    app.admin().put("/application/settings", auto_ban).await.ok();
    let fetch = async |owner: &str| {
        let kind = "application/x-git-upload-pack-request";
        let url = format!("//{owner}/one.git/git-upload-pack");
        bob.send_bytes(Method::POST, &url, kind, b"0000").await.status
    };

    assert_ne!(fetch("ada").await, 403);
    app.clock.advance(time::Duration::hours(1));
    assert_ne!(fetch("eve").await, 403);
    assert_eq!(app.user("bob").state, State::Active);
    assert_eq!(fetch("ada").await, 403);
    assert_eq!(app.user("bob").state, State::Banned);
    assert_eq!(banned_by(&app).await, json!([-1, "(System)"]));
}
