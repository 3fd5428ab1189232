//! Archives of groups.

use kernel::AccessLevel::Maintainer;
use serde_json::{Value, json};

use super::{
    archives::{count_nothing, send_archive},
    imports::work,
};
use crate::support::{Person, TestApp};

pub(super) async fn exported(person: &Person<'_>, group: &Value) -> Vec<u8> {
    person.post(&format!("/groups/{group}/export"), json!({})).await.with(202);
    work(person.app).await;
    let file = person.get(&format!("/groups/{group}/export/download")).await;
    assert_eq!(file.status, 200, "{}", file.body);
    file.bytes
}

pub(super) async fn full_group(ada: &Person<'_>) -> Value {
    let made = ada.post("/groups", json!({ "name": "Tools", "path": "tools" })).await.created();
    let group = made["id"].clone();
    let below = json!({ "name": "Small", "path": "small", "parent_id": group });
    let small = ada.post("/groups", below).await.created();
    let label = json!({ "name": "bug", "color": "#ff0000" });
    ada.post(&format!("/groups/{group}/labels"), label).await.created();
    let milestone = json!({ "title": "1.0" });
    ada.post(&format!("/groups/{}/milestones", small["id"]), milestone).await.created();
    ada.post(&format!("/groups/{group}/epics"), json!({ "title": "Brew" })).await.created();
    group
}

#[actix_web::test]
async fn a_group_comes_back_with_those_below_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;

    let fields = [("name", "Copy"), ("path", "copy")];
    let asked = send_archive(&ada, "/groups/import", &archive, &fields).await;
    assert_eq!((asked.status, asked.body), (202, json!({ "message": "202 Accepted" })));
    work(&app).await;

    assert_eq!(ada.get("/groups/copy/labels").await.ok()[0]["name"], "bug");
    assert_eq!(ada.get("/groups/copy/epics").await.ok()[0]["title"], "Brew");
    assert_eq!(ada.get("/groups/copy%2Fsmall/milestones").await.ok()[0]["title"], "1.0");
    assert_eq!(ada.get("/groups/copy%2Fsmall").await.ok()["name"], "Small");
    let next = ada.post("/groups/copy/epics", json!({ "title": "More" })).await.created();
    assert_eq!(next["iid"], 2, "numbers go on");
}

#[actix_web::test]
async fn an_archive_whose_groups_would_lie_too_deep_is_refused_at_once() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    let mut above = [Value::Null, group];
    for number in 2..=19 {
        let new = json!({ "name": "Deep", "path": format!("g{number}"), "parent_id": above[1] });
        let made = ada.post("/groups", new).await.created()["id"].clone();
        above = [above[1].clone(), made];
    }
    let [second_last, last] = above;

    let import = async |parent: &Value| {
        let parent = parent.to_string();
        let fields = [("name", "Copy"), ("path", "copy"), ("parent_id", parent.as_str())];
        send_archive(&ada, "/groups/import", &archive, &fields).await
    };
    let text = r#"Failed to save group {:parent_id=>["has too deep level of nesting"]}"#;
    import(&last).await.refused(400, json!({ "message": text }));
    let below = |group: &Value| format!("/groups/{group}/descendant_groups");
    assert_eq!(ada.get(&below(&last)).await.ok(), json!([]));

    import(&second_last).await.with(202);
    work(&app).await;
    let names = ada.get(&below(&second_last)).await.each("path");
    assert!(names.contains(&json!("copy")) && names.contains(&json!("small")), "{names:?}");
}

#[actix_web::test]
async fn archives_of_groups_are_for_owners() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let path = format!("/groups/{group}/export");
    let mo = app.person("mo");
    let member = json!({ "user_id": app.user("mo").id, "access_level": Maintainer });
    ada.post(&format!("/groups/{group}/members"), member).await.created();

    mo.post(&path, json!({})).await.with(403);
    mo.get(&format!("{path}/download")).await.with(403);
    ada.get(&format!("{path}/download")).await.with(404);
    ada.post(&path, json!({})).await.with(202);
    let early = json!({ "message": "The project export file is not available yet" });
    ada.get(&format!("{path}/download")).await.refused(404, early);
}

#[actix_web::test]
async fn groups_are_counted_too() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let limits = json!({ "group_export_limit": 1, "group_import_limit": 1, "group_download_export_limit": 2 });
    app.admin().put("/application/settings", limits).await.ok();
    let group = full_group(&ada).await;
    let archive = exported(&ada, &group).await;
    assert_eq!(ada.get(&format!("/groups/{group}/export/download")).await.status, 200);
    ada.get(&format!("/groups/{group}/export/download")).await.with(429);
    ada.post(&format!("/groups/{group}/export"), json!({})).await.with(429);
    let fields = [("name", "Copy"), ("path", "copy")];
    send_archive(&ada, "/groups/import", &archive, &fields).await.with(202);
    send_archive(&ada, "/groups/import", &archive, &fields).await.with(429);
}
