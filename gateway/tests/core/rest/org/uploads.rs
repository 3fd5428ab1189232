//! Files that people add to projects.

use actix_web::http::Method;
use kernel::{AccessLevel::Guest, Visibility::Private, ids::ProjectId};
use serde_json::json;

use crate::support::{
    TestApp,
    uploads::{PICTURE, send_file},
};

#[actix_web::test]
async fn an_upload_comes_back_to_those_who_see_the_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let bob = app.member(id, "bob", Guest);

    let path = format!("/projects/{id}/uploads");
    let kept =
        send_file(&bob, Method::POST, &path, "file", "../plan b.txt", "steam").await.created();

    let url = kept["url"].as_str().expect("an address").to_owned();
    assert_eq!(kept["alt"], "plan_b.txt");
    assert_eq!(kept["markdown"], json!(format!("[plan_b.txt]({url})")));
    let found = ada.get(&format!("/{url}")).await;
    assert_eq!((found.status, found.bytes.as_slice()), (200, &b"steam"[..]));
    assert!(found.header("content-disposition").is_some_and(|way| way.starts_with("attachment")));
    let full_path = kept["full_path"].as_str().expect("a path");
    assert_eq!(ada.get(&format!("/{full_path}")).await.status, 200);
    assert_eq!(app.anonymous().get(&format!("/{url}")).await.status, 404);
    assert_eq!(app.person("eve").get(&format!("/{url}")).await.status, 404);
    assert_eq!(
        send_file(&app.person("eve"), Method::POST, &path, "file", "x", "x").await.status,
        404
    );
}

#[actix_web::test]
async fn a_file_is_asked_for_before_the_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let missing = json!({ "error": "file is missing" });

    for path in [format!("/projects/{id}/uploads"), format!("/projects/{id}/wikis/attachments")] {
        for person in [&ada, &app.member(id, "bob", Guest), &app.person("eve")] {
            person.post(&path, json!({ "branch": "main" })).await.refused(400, missing.clone());
        }
        app.anonymous().post(&path, json!({})).await.with(401);
    }
    ada.post("/groups/none/wikis/attachments", json!({})).await.refused(400, missing);
}

#[actix_web::test]
async fn a_project_has_a_picture() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let path = format!("/projects/{id}");

    let changed = send_file(&ada, Method::PUT, &path, "avatar", "face.png", PICTURE).await.ok();

    let url = format!("http://forge.test/uploads/-/system/project/avatar/{id}/face.png");
    assert_eq!(changed["avatar_url"], url);
    let seen = ada.get(&format!("//uploads/-/system/project/avatar/{id}/face.png")).await;
    assert_eq!(
        (seen.header("content-type"), seen.bytes.as_slice()),
        (Some("image/png"), PICTURE.as_bytes())
    );
    for (name, content) in [("face.exe", PICTURE), ("face.png", "MZ"), ("face.svg", "<svg/>")] {
        let wrong = send_file(&ada, Method::PUT, &path, "avatar", name, content).await.with(400);
        let text = wrong["message"]["avatar"][0].as_str().unwrap_or_default();
        assert!(text.contains("not supported"), "{name} {text}");
    }
    let without = ada.put(&path, json!({ "avatar": "" })).await.ok();
    assert_eq!(without["avatar_url"], serde_json::Value::Null);
}

#[actix_web::test]
async fn a_new_project_and_its_picture_come_together_or_not_at_all() {
    let app = TestApp::new();
    let ada = app.person("ada");

    let made =
        send_file(&ada, Method::POST, "/projects?name=one", "avatar", "face.png", PICTURE).await;
    let made = made.created();
    let shown = made["avatar_url"].as_str().expect("an address");
    let path = shown.strip_prefix("http://forge.test").expect("an address of ours");
    assert_eq!(ada.get(&format!("/{path}")).await.bytes, PICTURE.as_bytes());

    let pictures = app.state.data().join("avatars/project");
    std::fs::remove_dir_all(&pictures).expect("the folder goes");
    std::fs::write(&pictures, "in the way").expect("a file");
    send_file(&ada, Method::POST, "/projects?name=two", "avatar", "face.png", PICTURE)
        .await
        .with(500);
    ada.get("/projects/ada%2Ftwo").await.with(404);
}

#[actix_web::test]
async fn uploads_count_for_the_size_of_their_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let sizes = async || {
        let record = ada.get(&format!("/projects/{id}?statistics=true")).await.ok();
        let size = |name: &str| record["statistics"][name].as_i64().expect("a size");
        (size("uploads_size"), size("storage_size"))
    };
    let (none, before) = sizes().await;

    let path = format!("/projects/{id}/uploads");
    for text in ["steam", "and smoke"] {
        send_file(&ada, Method::POST, &path, "file", "plan.txt", text).await.created();
    }

    assert_eq!((none, sizes().await), (0, (14, before + 14)));
}

#[actix_web::test]
async fn what_was_added_before_sizes_were_counted_is_counted_once() {
    const UPGRADE: &str =
        include_str!("../../../../../migrations/sqlite/20261123030000_count_old_uploads/up.sql");
    let app = TestApp::new();
    let ada = app.person("ada");
    let (id, other) = (app.project(&ada, "engine", Private), app.project(&ada, "boiler", Private));
    for (project, text) in [(id, "steam"), (id, "and smoke"), (other, "coal")] {
        let path = format!("/projects/{project}/uploads");
        send_file(&ada, Method::POST, &path, "file", "plan.txt", text).await.created();
    }
    app.work().await;
    app.write(move |tx| {
        use db::schema::project_statistics::dsl;
        use diesel::prelude::*;
        let old = diesel::update(dsl::project_statistics.find(id)).set(dsl::uploads_size.eq(0));
        db::each_backend!(tx, |conn| old.execute(conn).map_err(db::error("Project")))?;
        let upgrade = diesel::sql_query(UPGRADE);
        db::each_backend!(tx, |conn| upgrade.execute(conn).map_err(db::error("Work")))
    });
    let size = async |project: ProjectId| {
        let record = ada.get(&format!("/projects/{project}?statistics=true")).await.ok();
        record["statistics"]["uploads_size"].clone()
    };

    assert_eq!(app.work().await, 1);
    assert_eq!(size(id).await, 0, "what is so young may be noted in this moment");
    let files = age(&app.state.data().join("uploads"));
    app.clock.advance(time::Duration::minutes(2));
    app.work().await;

    assert_eq!((files, size(id).await, size(other).await), (3, json!(14), json!(4)));
}

/// Makes every file older than any that is being added; how many there are.
fn age(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let aged = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return age(&path);
        }
        let file = std::fs::File::options().write(true).open(path).expect("a file");
        let made = file.metadata().and_then(|about| about.modified()).expect("a time");
        file.set_modified(made - std::time::Duration::from_secs(3_600)).expect("it is ours");
        1
    });
    aged.sum()
}
