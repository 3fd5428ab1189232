//! Where people belong, and when they were last here.

use kernel::{AccessLevel, Visibility};
use repo::testing::Fixture;
use serde_json::{Value, json};
use time::Duration;

use crate::support::TestApp;

#[actix_web::test]
async fn an_administrator_sees_where_somebody_belongs() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    let group = ada.post("/groups", json!({ "name": "Crew", "path": "crew" })).await.created();
    let project = app.project(&app.person("bob"), "site", Visibility::Private);
    app.member(project, "ada", AccessLevel::Developer);
    let path = format!("/users/{}/memberships", app.user("ada").id);

    let all = root.get(&path).await.ok();

    assert_eq!(
        all,
        json!([
            { "source_id": group["id"], "source_name": "Crew", "source_type": "Namespace", "access_level": 50 },
            { "source_id": project.0, "source_name": "site", "source_type": "Project", "access_level": 30 },
        ])
    );
    assert_eq!(root.get(&format!("{path}?type=Project")).await.each("source_name"), ["site"]);
    assert_eq!(root.get(&format!("{path}?type=Namespace")).await.each("source_name"), ["Crew"]);
    let page = root.get(&format!("{path}?per_page=1&page=2")).await;
    assert_eq!((page.header("x-total"), &page.body[0]["source_name"]), (Some("2"), &json!("site")));
    let told = json!({ "error": "type does not have a valid value" });
    root.get(&format!("{path}?type=Group")).await.refused(400, told);
    ada.get(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
    let nobody = json!({ "message": "404 User Not Found" });
    root.get("/users/999/memberships").await.refused(404, nobody);
}

#[actix_web::test]
async fn what_somebody_has_is_counted_for_them_alone() {
    let app = TestApp::new();
    let (root, ada) = (app.admin(), app.person("ada"));
    ada.post("/groups", json!({ "name": "Crew", "path": "crew" })).await.created();
    let project = app.project(&app.person("bob"), "site", Visibility::Private);
    app.member(project, "ada", AccessLevel::Developer);
    let path = format!("/users/{}/associations_count", app.user("ada").id);

    let counted = ada.get(&path).await.ok();

    assert_eq!(
        counted,
        json!({ "groups_count": 1, "projects_count": 1, "issues_count": 0, "merge_requests_count": 0 })
    );
    assert_eq!(root.get(&path).await.ok(), counted);
    app.person("bob").get(&path).await.refused(403, json!({ "message": "403 Forbidden" }));
    let nobody = json!({ "message": "404 User Not Found" });
    ada.get("/users/999/associations_count").await.refused(404, nobody);
}

#[actix_web::test]
async fn what_somebody_wrote_is_counted_wherever_it_is() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project_from(&Fixture::new());
    app.member(project, "ada", AccessLevel::Developer);
    let issues = format!("/projects/{project}/issues");
    for title in ["one", "two"] {
        ada.post(&issues, json!({ "title": title })).await.created();
    }
    app.member(project, "bob", AccessLevel::Developer);
    bob.post(&issues, json!({ "title": "of somebody else" })).await.created();
    let branch = json!({ "branch": "of-ada", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let change = json!({ "source_branch": "of-ada", "target_branch": "main", "title": "Change" });
    ada.post(&format!("/projects/{project}/merge_requests"), change).await.created();

    let counted = ada.get(&format!("/users/{}/associations_count", app.user("ada").id)).await.ok();

    assert_eq!(
        (&counted["issues_count"], &counted["merge_requests_count"]),
        (&json!(2), &json!(1))
    );
}

#[actix_web::test]
async fn an_administrator_sees_who_was_here() {
    let app = TestApp::new();
    let root = app.admin();
    for (name, days) in [("ada", 0), ("bob", 100), ("cara", 50)] {
        app.clock.advance(Duration::days(days));
        app.person(name);
        app.record_sign_in(name);
    }

    // The administrator's own requests are activity, too, noted a moment later.
    let others = |seen: Vec<Value>| -> Vec<Value> {
        seen.into_iter().filter(|name| name != "root").collect()
    };
    let first = root.get("/user/activities?per_page=1").await.ok();
    assert_eq!(
        first,
        json!([{ "username": "ada", "last_activity_on": "2026-01-01", "last_activity_at": "2026-01-01" }])
    );
    let seen = root.get("/user/activities").await.each("username");
    assert_eq!(others(seen), ["ada", "bob", "cara"]);
    let seen = root.get("/user/activities?from=2026-04-11").await.each("username");
    assert_eq!(others(seen), ["bob", "cara"]);
    assert_eq!(root.get("/user/activities?per_page=1&page=2").await.each("username"), ["bob"]);
    app.clock.advance(Duration::days(60));
    let seen = root.get("/user/activities").await.each("username");
    assert_eq!(others(seen), ["bob", "cara"]);
    let told = json!({ "error": "from is invalid" });
    root.get("/user/activities?from=then").await.refused(400, told);
    app.person("ada")
        .get("/user/activities")
        .await
        .refused(403, json!({ "message": "403 Forbidden" }));
}
