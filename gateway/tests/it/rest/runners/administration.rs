//! Looking after runners: `gateway/src/rest/runners/{runners,project_runners,group_runners}.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// Makes a runner of a project.
async fn runner(person: &Person<'_>, project: ProjectId, fields: Value) -> Value {
    let mut new = json!({ "runner_type": "project_type", "project_id": project.0 });
    for (name, value) in fields.as_object().expect("fields") {
        new[name] = value.clone();
    }
    person.post("/user/runners", new).await.created()["id"].clone()
}

#[actix_web::test]
async fn lists_show_whom_one_looks_after_and_who_does_ones_jobs() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let one = app.project(&olga, "one", Visibility::Private);
    let other = app.project(&app.person("eve"), "other", Visibility::Public);
    let mine = runner(&olga, one, json!({ "tag_list": ["linux", "Docker"] })).await;
    let theirs = runner(&app.person("eve"), other, json!({})).await;
    let shared = app.admin().post("/user/runners", json!({ "runner_type": "instance_type" })).await;
    let shared = shared.created()["id"].clone();

    assert_eq!(olga.get("/runners").await.each("id"), std::slice::from_ref(&mine));
    assert_eq!(
        app.admin().get("/runners/all").await.each("id"),
        [shared.clone(), theirs, mine.clone()]
    );
    olga.get("/runners/all").await.with(403);
    let path = format!("/projects/{one}/runners");
    assert_eq!(olga.get(&path).await.each("id"), [shared.clone(), mine.clone()]);
    olga.put(&format!("/projects/{one}"), json!({ "shared_runners_enabled": false })).await.ok();
    assert_eq!(olga.get(&path).await.each("id"), std::slice::from_ref(&mine));
    for (query, found) in [
        ("?tag_list=Docker", 1),
        ("?tag_list=docker", 0),
        ("?tag_list=linux,Docker", 1),
        ("?tag_list=linux,arm", 0),
        ("?status=never_contacted", 1),
        ("?status=online", 0),
        ("?paused=true", 0),
        ("?type=group_type", 0),
        ("?scope=active", 1),
    ] {
        assert_eq!(olga.get(&format!("/runners{query}")).await.each("id").len(), found, "{query}");
    }
    let wrong = json!({ "message": "Scope contains invalid value" });
    olga.get("/runners?scope=specific").await.refused(400, wrong);
    let wrong = json!({ "error": "status does not have a valid value" });
    olga.get("/runners?status=x").await.refused(400, wrong);
}

#[actix_web::test]
async fn only_who_looks_after_a_runner_sees_and_changes_it() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let one = app.project(&olga, "one", Visibility::Private);
    let (mia, dan) = (app.member(one, "mia", Maintainer), app.member(one, "dan", Developer));
    let id = runner(&olga, one, json!({ "maintenance_note": "n" })).await;
    let path = format!("/runners/{id}");
    let refusal = json!({ "message": "403 Forbidden - No access granted" });

    let shown = mia.get(&path).await.ok();
    assert_eq!(
        (&shown["maintenance_note"], &shown["projects"][0]["id"]),
        (&json!("n"), &json!(one.0))
    );
    dan.get(&path).await.refused(403, refusal.clone());
    dan.put(&path, json!({ "paused": true })).await.refused(403, refusal.clone());
    dan.delete(&path).await.refused(403, refusal);
    let changed = mia.put(&path, json!({ "paused": true, "tag_list": ["b", "a"] })).await.ok();
    assert_eq!((&changed["active"], &changed["tag_list"]), (&json!(false), &json!(["a", "b"])));
    let both = json!({ "error": "active, paused are mutually exclusive" });
    mia.put(&path, json!({ "active": true, "paused": true })).await.refused(400, both);
    mia.put(&path, json!({})).await.with(400);
    let missing = json!({ "message": "404 Runner Not Found" });
    mia.get("/runners/9999").await.refused(404, missing);
    mia.sending("If-Unmodified-Since", "Wed, 31 Dec 2025 00:00:00 GMT")
        .delete(&path)
        .await
        .with(412);
    mia.delete(&path).await.with(204);

    let shared = app.admin().post("/user/runners", json!({ "runner_type": "instance_type" })).await;
    let shared = format!("/runners/{}", shared.created()["id"]);
    let note = json!({ "maintenance_note": "secret" });
    app.admin().put(&shared, note).await.ok();
    assert!(dan.get(&shared).await.ok()["maintenance_note"].is_null());
    dan.put(&shared, json!({ "paused": true })).await.with(403);
}

#[actix_web::test]
async fn who_looks_after_a_project_gets_no_token_of_a_runner_that_is_not_its_own() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let group = olga.group("team", None).await;
    let new = json!({ "name": "one", "namespace_id": group });
    let one = olga.post("/projects", new).await.created()["id"].as_i64().expect("an id");
    let mia = app.member(ProjectId(one), "mia", Maintainer);
    let new = json!({ "runner_type": "group_type", "group_id": group });
    let of_group = olga.post("/user/runners", new).await.created()["id"].clone();
    let other = app.project(&olga, "other", Visibility::Private);
    let lent = runner(&olga, other, json!({})).await;
    olga.post(&format!("/projects/{one}/runners"), json!({ "runner_id": lent })).await.created();

    assert_eq!(mia.get(&format!("/projects/{one}/runners")).await.each("id").len(), 2);
    for id in [&of_group, &lent] {
        let path = format!("/runners/{id}");
        mia.post(&format!("{path}/reset_authentication_token"), json!({})).await.with(403);
        mia.put(&path, json!({ "paused": true })).await.with(403);
        mia.delete(&path).await.with(403);
        let shown = mia.get(&path).await;
        assert!(!String::from_utf8_lossy(&shown.bytes).contains("glrt-"), "{}", shown.body);
    }
}

#[actix_web::test]
async fn a_runner_of_one_project_may_do_the_jobs_of_another() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let [one, two] = ["one", "two"].map(|name| app.project(&olga, name, Visibility::Private));
    let id = runner(&olga, one, json!({})).await;
    let body = json!({ "runner_id": id });
    let path = format!("/projects/{two}/runners");
    let mia = app.member(two, "mia", Maintainer);
    let refused = |text: &str| json!({ "message": format!("403 Forbidden - {text}") });

    mia.post(&path, body.clone()).await.refused(403, refused("No access granted"));
    assert_eq!(olga.post(&path, body.clone()).await.created()["id"], id);
    olga.post(&path, body.clone()).await.with(400);
    assert_eq!(mia.get(&path).await.each("id"), std::slice::from_ref(&id));
    let text = "Runner associated with more than one project";
    olga.delete(&format!("/runners/{id}")).await.refused(403, refused(text));
    let last = "Only one project associated with the runner. Please remove the runner instead";
    olga.delete(&format!("{path}/{id}")).await.with(204);
    olga.delete(&format!("{path}/{id}"))
        .await
        .refused(404, json!({ "message": "404 Runner Not Found" }));
    olga.delete(&format!("/projects/{one}/runners/{id}")).await.refused(403, refused(last));
    olga.put(&format!("/runners/{id}"), json!({ "locked": true })).await.ok();
    olga.post(&path, body).await.refused(403, refused("Runner is locked"));
}

#[actix_web::test]
async fn the_projects_of_a_runner_come_by_id_whatever_changed_last() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let all = ["one", "two", "three"].map(|name| app.project(&olga, name, Visibility::Private));
    let [one, two, three] = all;
    let id = runner(&olga, three, json!({})).await;
    for project in [one, two] {
        let path = format!("/projects/{project}/runners");
        olga.post(&path, json!({ "runner_id": id })).await.created();
    }
    // PostgreSQL puts a row that changed behind the others.
    olga.put(&format!("/projects/{one}"), json!({ "description": "new" })).await.ok();

    let shown = olga.get(&format!("/runners/{id}")).await.ok();
    let listed = shown["projects"].as_array().expect("projects").iter();
    let ids: Vec<Value> = listed.map(|project| project["id"].clone()).collect();
    assert_eq!(ids, [one.0, two.0, three.0].map(Value::from));
}

#[actix_web::test]
async fn who_sees_a_runner_is_asked_at_once_for_all_of_its_projects() {
    let app = TestApp::new();
    let olga = app.person("olga");
    let first = app.project(&olga, "first", Visibility::Private);
    let id = runner(&olga, first, json!({})).await;
    let last = app.project(&olga, "last", Visibility::Private);
    let assign = async |project: ProjectId| {
        let path = format!("/projects/{project}/runners");
        olga.post(&path, json!({ "runner_id": id })).await.created();
    };
    assign(last).await;
    let mia = app.member(last, "mia", Maintainer);
    let dan = app.member(last, "dan", Developer);
    let path = format!("/runners/{id}");
    let cost = async || app.cost(async || drop(mia.get(&path).await.ok())).await;
    let few = cost().await;

    for number in 0..5 {
        assign(app.project(&olga, &format!("more-{number}"), Visibility::Private)).await;
    }
    assert!(cost().await <= few, "as many as for one project");
    dan.get(&path).await.refused(403, json!({ "message": "403 Forbidden - No access granted" }));
}
