//! Removing groups, at once or later, and what is left of them.

use std::path::PathBuf;

use db::schema::{members, namespace_access, namespaces, projects, redirects};
use diesel::prelude::*;
use kernel::ids::ProjectId;
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    uploads::{PICTURE, send_file},
};

async fn group(owner: &Person<'_>, path: &str, more: Value) -> i64 {
    let mut fields = json!({ "name": path, "path": path });
    for (name, value) in more.as_object().expect("fields") {
        fields[name] = value.clone();
    }
    owner.post("/groups", fields).await.created()["id"].as_i64().expect("an id")
}

async fn project(owner: &Person<'_>, group: i64, path: &str) -> i64 {
    let fields = json!({ "path": path, "namespace_id": group, "initialize_with_readme": true });
    owner.post("/projects", fields).await.created()["id"].as_i64().expect("an id")
}

/// Rows of groups, projects, members, roles in groups, and signs at old addresses.
fn rows(app: &TestApp) -> [i64; 5] {
    app.write(|tx| {
        macro_rules! count {
            ($query:expr) => {{
                let query = $query;
                db::each_backend!(tx, |conn| query
                    .count()
                    .get_result(conn)
                    .map_err(db::error("Row")))?
            }};
        }
        Ok([
            count!(namespaces::table.filter(namespaces::kind.eq("group"))),
            count!(projects::table),
            count!(members::table),
            count!(namespace_access::table.filter(namespace_access::access_level.gt(0))),
            count!(redirects::table),
        ])
    })
}

fn repository(app: &TestApp, project: i64) -> PathBuf {
    app.state.storage.repository(ProjectId(project)).as_path().to_owned()
}

#[actix_web::test]
async fn what_was_removed_leaves_no_row_and_no_file() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let before = rows(&app);
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let engine = project(&ada, inner, "engine").await;
    let path = format!("/projects/{engine}/uploads");
    let kept = send_file(&ada, actix_web::http::Method::POST, &path, "file", "a.txt", "x").await;
    let url = kept.created()["url"].as_str().expect("an address").to_owned();
    ada.put(&format!("/projects/{engine}"), json!({ "path": "motor" })).await.ok();
    assert!(repository(&app, engine).exists());

    ada.delete("/groups/top").await.with(202);
    assert_eq!(ada.get(&format!("/projects/{engine}")).await.status, 404);
    assert_eq!(ada.get("/projects/top%2Finner%2Fengine").await.status, 404);
    app.work().await;

    assert_eq!(rows(&app), before);
    assert!(!repository(&app, engine).exists());
    assert_eq!(app.anonymous().get(&format!("/{url}")).await.status, 404);
    app.work().await;
}

#[actix_web::test]
async fn a_purge_that_was_cut_off_is_finished_by_the_next() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let (one, two) = (project(&ada, top, "one").await, project(&ada, top, "two").await);
    ada.delete("/groups/top").await.with(202);
    // The files of one are gone, its row is not; of the other neither.
    std::fs::remove_dir_all(repository(&app, one)).expect("the repository goes");

    app.work().await;

    assert!(!repository(&app, two).exists());
    let left = app.write(|tx| org::project::actions::deleted(tx, 10));
    assert!(left.is_empty(), "{left:?}");
}

#[actix_web::test]
async fn a_removed_project_leaves_no_row() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let engine = project(&ada, top, "engine").await;

    ada.delete(&format!("/projects/{engine}")).await.with(202);
    app.work().await;

    let left = app.write(|tx| org::project::actions::deleted(tx, 10));
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(ada.get("/groups/top").await.status, 200);
}

#[actix_web::test]
async fn a_group_that_is_shared_elsewhere_takes_its_roles_along() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let (team, top) = (group(&ada, "team", json!({})).await, group(&ada, "top", json!({})).await);
    let engine = project(&ada, top, "engine").await;
    let new = json!({ "user_id": app.user("bob").id, "access_level": 30 });
    ada.post(&format!("/groups/{team}/members"), new).await.created();
    let share = json!({ "group_id": team, "group_access": 30 });
    ada.post(&format!("/groups/{top}/share"), share.clone()).await.created();
    ada.post(&format!("/projects/{engine}/share"), share).await.created();
    assert_eq!(bob.get("/groups/top").await.status, 200);

    ada.delete("/groups/team").await.with(202);

    assert_eq!(bob.get("/groups/top").await.status, 404);
    assert_eq!(bob.get(&format!("/projects/{engine}")).await.status, 404);
}

/// Groups stay for some days more.
async fn delay(app: &TestApp) {
    let settings = json!({ "delayed_group_deletion": true, "deletion_adjourned_period": 3 });
    app.admin().put("/application/settings", settings).await.ok();
}

#[actix_web::test]
async fn a_marked_group_can_be_restored_until_its_last_day() {
    let app = TestApp::new();
    let ada = app.person("ada");
    delay(&app).await;
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;

    ada.delete("/groups/top").await.with(202);
    ada.delete(&format!("/groups/{inner}")).await.with(202);
    assert_eq!(ada.get("/groups/top").await.ok()["marked_for_deletion_on"], "2026-01-01");
    let below = ada.get(&format!("/groups/{inner}")).await.ok();
    assert_eq!(below["marked_for_deletion_on"], Value::Null, "the group above is marked already");
    app.person("bob").post("/groups/top/restore", json!({})).await.with(404);
    let restored = ada.post("/groups/top/restore", json!({})).await.created();
    assert_eq!(restored["marked_for_deletion_on"], Value::Null);
    let why = json!({ "message": "Group has not been marked for deletion" });
    ada.post("/groups/top/restore", json!({})).await.refused(400, why);

    ada.delete("/groups/top").await.with(202);
    app.clock.advance(time::Duration::days(2));
    app.write(org::namespace::removal::remove_overdue);
    assert_eq!(ada.get("/groups/top").await.status, 200);
    app.clock.advance(time::Duration::days(1));
    app.write(org::namespace::removal::remove_overdue);
    assert_eq!(ada.get("/groups/top").await.status, 404);
}

#[actix_web::test]
async fn a_marked_subgroup_goes_at_once_when_its_path_is_told() {
    let app = TestApp::new();
    let ada = app.person("ada");
    delay(&app).await;
    let top = group(&ada, "top", json!({})).await;
    let inner = group(&ada, "inner", json!({ "parent_id": top })).await;
    let told = async |path: String| ada.delete(&path).await.with(400)["message"].clone();
    let now = "permanently_remove=true";

    assert_eq!(
        told(format!("/groups/{top}?{now}")).await,
        "`permanently_remove` option is only available for subgroups."
    );
    assert_eq!(
        told(format!("/groups/{inner}?{now}&full_path=top/inner")).await,
        "Group must be marked for deletion first."
    );
    ada.delete(&format!("/groups/{inner}")).await.with(202);
    assert_eq!(
        told(format!("/groups/{inner}?{now}&full_path=inner")).await,
        "`full_path` is incorrect. You must enter the complete path for the subgroup."
    );
    ada.delete(&format!("/groups/{inner}?{now}&full_path=top/inner")).await.with(202);
    assert_eq!(ada.get(&format!("/groups/{inner}")).await.status, 404);
    assert_eq!(ada.get("/groups/top").await.status, 200);
}

#[actix_web::test]
async fn a_group_has_a_picture() {
    use actix_web::http::Method;
    let app = TestApp::new();
    let ada = app.person("ada");
    let top = group(&ada, "top", json!({})).await;
    let path = format!("/groups/{top}");
    let put = async |name: &str, content: &str| {
        send_file(&ada, Method::PUT, &path, "avatar", name, content).await
    };

    let url = format!("//uploads/-/system/group/avatar/{top}/face.tiff");
    let changed = put("face.tiff", PICTURE).await.ok();
    assert_eq!(changed["avatar_url"], format!("http://forge.test{}", &url[1..]));
    for place in [url.clone(), format!("/groups/{top}/avatar")] {
        assert_eq!(ada.get(&place).await.bytes, PICTURE.as_bytes());
        assert_eq!(app.anonymous().get(&place).await.status, 404);
    }
    let large = format!("{PICTURE}{}", "x".repeat(10 << 20));
    let text = json!({ "message": { "avatar": ["is too big (should be at most 200 KiB)"] } });
    put("face.tiff", &large).await.refused(400, text);
    for (name, content) in [("face.png", "no picture"), ("face.svg", PICTURE), ("face", PICTURE)] {
        let refused = put(name, content).await.with(400);
        let text = refused["message"]["avatar"][0].as_str().unwrap_or_default();
        assert!(text.ends_with("formats: png, jpg, jpeg, gif, bmp, tiff, ico, webp"), "{text}");
    }
    assert_eq!(ada.get(&path).await.ok()["avatar_url"], changed["avatar_url"]);
    put("other.tiff", PICTURE).await.ok();
    assert_eq!(ada.get(&url).await.status, 404, "the old one is gone");
    let without = ada.put(&path, json!({ "avatar": "" })).await.ok();
    assert_eq!(without["avatar_url"], Value::Null);
    let none = json!({ "message": "404 Avatar Not Found" });
    ada.get(&format!("/groups/{top}/avatar")).await.refused(404, none);
}
