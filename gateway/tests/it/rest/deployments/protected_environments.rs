//! Protected environments: `gateway/src/rest/deployments/protected_environments.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, job},
};

fn set_up(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let project = app.project(&app.person("olga"), "engine", Private);
    let mia = app.member(project, "mia", Maintainer);
    (project, mia, format!("/projects/{project}/protected_environments"))
}

#[actix_web::test]
async fn an_environment_is_protected_changed_and_freed() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    let dan = app.member(project, "dan", Developer);
    let user = app.user("dan").id.0;
    let body = json!({
        "name": "production",
        "deploy_access_levels": [{ "access_level": 40 }],
        "approval_rules": [{ "user_id": user, "required_approvals": 2 }],
    });

    let made = mia.post(&path, body.clone()).await.created();

    let level = &made["deploy_access_levels"][0];
    assert_eq!(
        (&level["access_level"], &level["access_level_description"]),
        (&json!(40), &json!("Maintainers"))
    );
    let rule = &made["approval_rules"][0];
    assert_eq!((&rule["user_id"], &rule["required_approvals"]), (&json!(user), &json!(2)));
    let one = format!("{path}/production");
    assert_eq!(mia.get(&one).await.ok(), made);
    assert_eq!(mia.get(&path).await.ok(), json!([made]));
    let taken = json!({ "message": "Protected environment 'production' already exists" });
    mia.post(&path, body.clone()).await.refused(409, taken);
    let change = json!({
        "deploy_access_levels": [
            { "user_id": user },
            { "id": level["id"], "_destroy": true },
            { "access_level": 30, "_destroy": true },
        ],
        "required_approval_count": 1,
        "approval_rules": [{ "id": rule["id"], "_destroy": true }],
    });
    let after = mia.put(&one, change).await.ok();
    assert_eq!(after["deploy_access_levels"][0]["user_id"], user);
    assert_eq!(after["deploy_access_levels"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&after["approval_rules"], &after["required_approval_count"]),
        (&json!([]), &json!(1))
    );
    dan.post(&path, body).await.with(403);
    mia.delete(&one).await.with(204);
    mia.get(&one).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn what_cannot_protect_is_refused() {
    let app = TestApp::new();
    let (_, mia, path) = set_up(&app);
    let stranger = {
        app.person("stranger");
        app.user("stranger").id.0
    };
    let with = |levels: Value| json!({ "name": "production", "deploy_access_levels": levels });

    let missing = json!({ "error": "deploy_access_levels is missing" });
    mia.post(&path, json!({ "name": "production" })).await.refused(400, missing);
    mia.post(&path, with(json!([]))).await.with(400);
    mia.post(&path, with(json!([{}]))).await.with(400);
    mia.post(&path, with(json!([{ "access_level": 20 }]))).await.with(400);
    let outsider = json!({ "message": { "user": ["is not a member of the project or group"] } });
    mia.post(&path, with(json!([{ "user_id": stranger }]))).await.refused(400, outsider);
    assert_eq!(mia.get(&path).await.ok(), json!([]));
}

#[actix_web::test]
async fn only_deployers_change_what_is_in_a_protected_environment() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    let dan = app.member(project, "dan", Developer);
    let text = "deploy: {script: x, environment: production}\nother: {script: x}\n";
    let sha = commit(&mia, project, "main", "first", "other: {script: x}").await;
    let body = json!({ "name": "production", "deploy_access_levels": [{ "access_level": 40 }] });
    mia.post(&path, body).await.created();
    let environments = format!("/projects/{project}/environments");
    let id = mia.post(&environments, json!({ "name": "production" })).await.created()["id"].clone();
    let one = format!("{environments}/{id}");
    let deploy = json!({ "environment": "production", "sha": sha, "ref": "main", "tag": false, "status": "success" });

    dan.get(&one).await.ok();
    dan.put(&one, json!({ "tier": "other" })).await.with(403);
    dan.post(&format!("{one}/stop"), json!({})).await.with(403);
    dan.post(&format!("/projects/{project}/deployments"), deploy.clone()).await.with(403);
    let feature = json!({ "branch": "feature", "ref": "main" });
    dan.post(&format!("/projects/{project}/repository/branches"), feature).await.created();
    commit(&dan, project, "feature", "second", text).await;
    let failed = job(&dan, project, "deploy").await;
    assert_eq!(failed["failure_reason"], "protected_environment_failure");
    let again =
        dan.post(&format!("/projects/{project}/jobs/{}/retry", failed["id"]), json!({})).await;
    assert_eq!(again.status, 403);

    mia.post(&format!("/projects/{project}/deployments"), deploy).await.created();
    mia.post(&format!("/projects/{project}/jobs/{}/retry", failed["id"]), json!({}))
        .await
        .created();
    assert_eq!(job(&mia, project, "deploy").await["status"], "pending");
}

#[actix_web::test]
async fn a_group_protects_a_tier_of_all_its_projects() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let group =
        olga.post("/groups", json!({ "name": "team", "path": "team" })).await.created()["id"]
            .clone();
    let new = json!({ "name": "p", "namespace_id": group, "initialize_with_readme": true });
    let project = olga.post("/projects", new).await.created()["id"].as_i64().unwrap();
    let dan = app.member(ProjectId(project), "dan", Developer);
    let path = format!("/groups/{group}/protected_environments");
    let body = json!({ "name": "production", "deploy_access_levels": [{ "access_level": 40 }] });

    olga.post(&path, body).await.created();

    let environments = format!("/projects/{project}/environments");
    for (name, status) in [("live", 403), ("staging", 200)] {
        let id = olga.post(&environments, json!({ "name": name })).await.created()["id"].clone();
        assert_eq!(
            dan.post(&format!("{environments}/{id}/stop"), json!({})).await.status,
            status,
            "{name}"
        );
    }
    let tier = json!({ "name": "first", "deploy_access_levels": [{ "access_level": 40 }] });
    olga.post(&path, tier).await.with(400);
    dan.get(&path).await.with(403);
}

#[actix_web::test]
async fn records_of_environments_go_with_the_membership_or_the_share() {
    let app = TestApp::new();
    let (project, mia, path) = set_up(&app);
    let at = format!("/projects/{project}");
    let dan = app.member(project, "dan", Developer);
    let (user, crew) = (app.user(&dan.username).id.0, mia.group("crew", None).await);
    let share = json!({ "group_id": crew, "group_access": 30 });
    mia.post(&format!("{at}/share"), share.clone()).await.created();
    let named = json!([{ "access_level": 40 }, { "user_id": user }, { "group_id": crew }]);
    let body =
        json!({ "name": "production", "deploy_access_levels": named, "approval_rules": named });
    mia.post(&path, body).await.created();
    let left = async || {
        let found = mia.get(&format!("{path}/production")).await.ok();
        [&found["deploy_access_levels"], &found["approval_rules"]]
            .map(|records| records.as_array().map_or(0, Vec::len))
    };
    assert_eq!(left().await, [3, 3]);

    mia.delete(&format!("{at}/members/{user}")).await.with(204);
    assert_eq!(left().await, [2, 2]);
    mia.delete(&format!("{at}/share/{crew}")).await.with(204);
    assert_eq!(left().await, [1, 1]);
    app.member(project, "dan", Developer);
    mia.post(&format!("{at}/share"), share).await.created();
    assert_eq!(left().await, [1, 1]);
}

#[actix_web::test]
async fn whoever_leaves_a_group_deploys_nothing_there_when_they_come_back() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let top = olga.group("top", None).await;
    let (dan, path) = (app.person("dan"), format!("/groups/{top}/protected_environments"));
    let user = olga.adds(&dan.username, 30, &format!("/groups/{top}")).await;
    let named = json!([{ "access_level": 40 }, { "user_id": user }]);
    let body = json!({ "name": "production", "deploy_access_levels": named });
    olga.post(&path, body).await.created();

    olga.delete(&format!("/groups/{top}/members/{user}")).await.with(204);
    olga.adds(&dan.username, 30, &format!("/groups/{top}")).await;

    let found = olga.get(&format!("{path}/production")).await.ok();
    assert_eq!(found["deploy_access_levels"].as_array().map(Vec::len), Some(1), "{found}");
}
