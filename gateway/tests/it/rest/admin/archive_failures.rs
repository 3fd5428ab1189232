//! Imports of archives that fail, that end in the middle, and that are under way.

use std::io::{Read as _, Write as _};

use actix_web::http::Method;
use db::Conn;
use diesel::{RunQueryDsl as _, sql_query};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};
use tar::{Archive, Builder, Header};
use time::Duration;

use super::{
    archives::{exported, imported, send_archive},
    group_archives::{exported as exported_group, full_group},
    imports::work,
};
use crate::support::{
    TestApp,
    ci::{commit, pipelines},
    uploads::send_file,
};

/// The same archive with each line of some lists twice, the second time with another id.
fn with_twins(archive: &[u8], list: &str) -> Vec<u8> {
    with_lines(archive, list, |row| {
        let mut twin = row.clone();
        twin["id"] = json!(row["id"].as_i64().expect("an id") + 1_000_000);
        format!("{row}\n{twin}")
    })
}

/// The same archive with other values in all rows of some lists.
pub(super) fn with_fields(archive: &[u8], list: &str, fields: &Value) -> Vec<u8> {
    with_lines(archive, list, |mut row| {
        for (name, value) in fields.as_object().expect("fields") {
            row[name] = value.clone();
        }
        row.to_string()
    })
}

/// The same archive with other lines in some lists: what takes the place of each row is told by `change`.
pub(super) fn with_lines(archive: &[u8], list: &str, change: impl Fn(Value) -> String) -> Vec<u8> {
    rewritten(archive, |path, content| {
        if !path.ends_with(list) {
            return (path, content);
        }
        let text = String::from_utf8(content).expect("lines");
        let rows = text.lines().map(|line| serde_json::from_str(line).expect("a row"));
        let lines = rows.map(|row: Value| format!("{}\n", change(row)));
        (path, lines.collect::<String>().into_bytes())
    })
}

/// The same archive with other entries: what `change` makes of the path and content of each.
pub(super) fn rewritten(
    archive: &[u8],
    change: impl Fn(String, Vec<u8>) -> (String, Vec<u8>),
) -> Vec<u8> {
    repacked(archive, |path, content| vec![change(path, content)])
}

/// The same archive with one more entry.
pub(super) fn with_entry(archive: &[u8], path: &str, content: &str) -> Vec<u8> {
    repacked(archive, |old, bytes| {
        let is_first = old == "VERSION";
        let new = is_first.then(|| (path.to_owned(), content.as_bytes().to_vec()));
        [(old, bytes)].into_iter().chain(new).collect()
    })
}

/// The same archive with these entries in the place of each.
fn repacked(archive: &[u8], change: impl Fn(String, Vec<u8>) -> Vec<(String, Vec<u8>)>) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    let mut old = Archive::new(GzDecoder::new(archive));
    for entry in old.entries().expect("entries") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").to_string_lossy().into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("a content");
        for (path, content) in change(path, content) {
            let mut header = Header::new_ustar();
            header.set_size(content.len().try_into().expect("a length"));
            header.set_mode(0o600);
            tar.append_data(&mut header, path, content.as_slice()).expect("an entry");
        }
    }
    let mut encoder = tar.into_inner().expect("an end");
    encoder.flush().expect("a stream");
    encoder.finish().expect("an archive")
}

/// Whether rows can be written into a table.
pub(super) fn set_writable(app: &TestApp, table: &'static str, writable: bool) {
    let run = move |tx: &mut db::Tx<'_>| {
        let statements = match (&tx.conn, writable) {
            (Conn::Sqlite(_), false) => vec![format!(
                "CREATE TRIGGER full_disk BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'disk'); END"
            )],
            (Conn::Sqlite(_), true) => vec!["DROP TRIGGER full_disk".to_owned()],
            (Conn::Postgres(_), false) => vec![
                "CREATE OR REPLACE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION 'disk'; END $$"
                    .to_owned(),
                format!(
                    "CREATE TRIGGER full_disk BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION full_disk()"
                ),
            ],
            (Conn::Postgres(_), true) => vec![format!("DROP TRIGGER full_disk ON {table}")],
        };
        for text in statements {
            db::each_backend!(tx, |conn| sql_query(&text)
                .execute(conn)
                .map_err(db::error("Table")))?;
        }
        Ok(())
    };
    app.write(run);
}

#[actix_web::test]
async fn a_project_whose_import_fails_late_is_empty() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    let label = json!({ "name": "bug", "color": "#ff0000" });
    root.post(&format!("{base}/labels"), label).await.created();
    send_file(&root, Method::POST, &format!("{base}/uploads"), "file", "plan.txt", "x")
        .await
        .created();
    let page = json!({ "title": "home", "content": "Tea" });
    root.post(&format!("{base}/wikis"), page).await.created();
    let flawed = with_twins(&exported(&root, &project).await, "project/labels.ndjson");

    let done = imported(&root, &flawed, "copy").await;

    assert_eq!(done["import_status"], "failed", "{done}");
    assert!(
        done["import_error"].as_str().expect("a text").contains("contradicts itself"),
        "{done}"
    );
    let copy = format!("/projects/{}", done["id"]);
    for list in
        ["labels", "repository/branches", "wikis", "protected_branches", "events?action=pushed"]
    {
        assert_eq!(root.get(&format!("{copy}/{list}")).await.ok(), json!([]), "{list}");
    }
    let shown = root.get(&format!("{copy}?statistics=true")).await.ok();
    assert_eq!((&shown["visibility"], &shown["empty_repo"]), (&json!("private"), &json!(true)));
    assert_eq!(shown["statistics"]["storage_size"], 0, "{shown}");
    let id = ProjectId(done["id"].as_i64().expect("an id"));
    let packs = app.state.storage.repository(id).as_path().join("objects/pack");
    assert_eq!(std::fs::read_dir(packs).map_or(0, Iterator::count), 0);
    root.commit(&done["id"], "main", "new.txt").await;
    assert_eq!(root.get(&copy).await.ok()["default_branch"], "main");
}

#[actix_web::test]
async fn a_project_stays_where_the_archive_for_its_place_fails() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    let label = json!({ "name": "bug", "color": "#ff0000" });
    root.post(&format!("/projects/{project}/labels"), label).await.created();
    let flawed = with_twins(&exported(&root, &project).await, "project/labels.ndjson");
    let before = root.get(&format!("/projects/{project}")).await.ok();

    let asked = [("path", "engine"), ("overwrite", "true")];
    let made = send_archive(&root, "/projects/import", &flawed, &asked).await.created();
    work(&app).await;

    let failed = root.get(&format!("/projects/{}/import", made["id"])).await.ok();
    assert_eq!(failed["import_status"], "failed", "{failed}");
    let after = root.get(&format!("/projects/{project}")).await.ok();
    assert_eq!(after["path_with_namespace"], before["path_with_namespace"]);
    assert_ne!(failed["path_with_namespace"], before["path_with_namespace"]);
}

#[actix_web::test]
async fn a_group_whose_import_fails_is_empty() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    let flawed = with_twins(&exported_group(&ada, &group).await, "milestones.ndjson");

    let fields = [("name", "Copy"), ("path", "copy")];
    send_archive(&ada, "/groups/import", &flawed, &fields).await.with(202);
    work(&app).await;

    for list in ["labels", "milestones", "epics", "subgroups"] {
        assert_eq!(ada.get(&format!("/groups/copy/{list}")).await.ok(), json!([]), "{list}");
    }
    ada.get("/groups/copy%2Fsmall").await.with(404);
}

#[actix_web::test]
async fn a_project_is_hidden_until_it_is_whole_and_goes_on_where_it_was() {
    let app = TestApp::new();
    let root = app.admin();
    let project = root.filled_project("Engine", "public").await;
    let base = format!("/projects/{project}");
    for number in 0..3 {
        let issue = json!({ "title": format!("Leak {number}"), "labels": "bug" });
        root.post(&format!("{base}/issues"), issue).await.created();
    }
    root.post(&format!("{base}/boards"), json!({ "name": "Next" })).await.created();
    let archive = exported(&root, &project).await;

    set_writable(&app, "boards", false);
    let half = imported(&root, &archive, "copy").await;

    assert_eq!(half["import_status"], "started", "{half}");
    let copy = format!("/projects/{}", half["id"]);
    app.person("eve").get(&copy).await.with(404);
    set_writable(&app, "boards", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;
    assert_eq!(root.get(&format!("{copy}/import")).await.ok()["import_status"], "finished");
    let issues = app.anonymous().get(&format!("{copy}/issues")).await.ok();
    assert_eq!(issues.as_array().map(Vec::len), Some(3), "once each");
    assert_eq!(issues[0]["labels"], json!(["bug"]));
    assert_eq!(root.get(&format!("{copy}/boards")).await.ok()[0]["name"], "Next");
}

#[actix_web::test]
async fn groups_are_hidden_until_they_are_whole_and_go_on_where_they_were() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = full_group(&ada).await;
    ada.put(&format!("/groups/{group}"), json!({ "visibility": "public" })).await.ok();
    ada.put("/groups/tools%2Fsmall", json!({ "visibility": "public" })).await.ok();
    let archive = exported_group(&ada, &group).await;

    set_writable(&app, "milestones", false);
    let fields = [("name", "Copy"), ("path", "copy")];
    send_archive(&ada, "/groups/import", &archive, &fields).await.with(202);
    work(&app).await;

    for path in ["/groups/copy", "/groups/copy%2Fsmall"] {
        app.anonymous().get(path).await.with(404);
    }
    set_writable(&app, "milestones", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;
    for path in ["/groups/copy", "/groups/copy%2Fsmall"] {
        app.anonymous().get(path).await.ok();
    }
    assert_eq!(ada.get("/groups/copy/labels").await.ok().as_array().map(Vec::len), Some(1));
    assert_eq!(ada.get("/groups/copy/epics").await.ok()[0]["title"], "Brew");
    assert_eq!(ada.get("/groups/copy%2Fsmall/milestones").await.ok()[0]["title"], "1.0");
}

#[actix_web::test]
async fn what_people_make_while_an_archive_is_read_gets_later_numbers() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let text = "make: {script: x, environment: production, resource_group: prod}\n";
    commit(&ada, project, "main", "first", text).await;
    let issue = json!({ "title": "It leaks", "labels": "bug" });
    ada.post(&format!("/projects/{project}/issues"), issue).await.created();
    let archive = exported(&ada, &json!(project)).await;

    set_writable(&app, "labels", false);
    let half = imported(&ada, &archive, "copy").await;
    assert_eq!(half["import_status"], "started", "{half}");
    let copy = ProjectId(half["id"].as_i64().expect("an id"));
    let base = format!("/projects/{copy}");
    ada.post(&format!("{base}/issues"), json!({ "title": "Meanwhile" })).await.created();
    commit(&ada, copy, "main", "second", &format!("{text}# more\n")).await;
    set_writable(&app, "labels", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;

    let done = ada.get(&format!("{base}/import")).await.ok();
    assert_eq!((&done["import_status"], &done["import_error"]), (&json!("finished"), &Value::Null));
    for list in ["issues", "pipelines", "deployments"] {
        let mut iids = ada.get(&format!("{base}/{list}")).await.each("iid");
        iids.sort_by_key(Value::as_i64);
        assert_eq!(json!(iids), json!([1, 2]), "{list}");
    }
    let first = ada.get(&format!("{base}/issues/1")).await.ok();
    assert_eq!((&first["title"], &first["labels"]), (&json!("It leaks"), &json!(["bug"])));
    let next = ada.post(&format!("{base}/issues"), json!({ "title": "Next" })).await.created();
    assert_eq!(next["iid"], 3);
}

#[actix_web::test]
async fn schedules_of_a_copy_run_once_it_is_whole() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", "make: {script: x}\n").await;
    let nightly = json!({ "description": "nightly", "ref": "main", "cron": "0 4 * * *" });
    ada.post(&format!("/projects/{project}/pipeline_schedules"), nightly).await.created();
    ada.post(&format!("/projects/{project}/environments"), json!({ "name": "r" })).await.created();
    let archive = exported(&ada, &json!(project)).await;
    let past = json!({ "next_run_at": "2026-01-01T00:00:00.000000Z" });
    let archive = with_fields(&archive, "project/pipeline_schedules.ndjson", &past);

    set_writable(&app, "environments", false);
    let half = imported(&ada, &archive, "copy").await;
    assert_eq!(half["import_status"], "started", "{half}");
    let copy = ProjectId(half["id"].as_i64().expect("an id"));
    let schedules = format!("/projects/{copy}/pipeline_schedules");
    let nothing: [Value; 0] = [];
    app.clock.advance(Duration::days(2));
    app.recurring().await;
    work(&app).await;
    assert_eq!(ada.get(&schedules).await.each("next_run_at"), [Value::Null]);
    assert_eq!(pipelines(&ada, copy, "?source=schedule").await, nothing);
    set_writable(&app, "environments", true);
    app.clock.advance(Duration::minutes(1));
    work(&app).await;
    let next = ada.get(&schedules).await.each("next_run_at");
    assert_eq!(next, [json!("2026-01-03T04:00:00.000Z")]);
    assert_eq!(pipelines(&ada, copy, "?source=schedule").await, nothing);
    app.clock.advance(Duration::days(1));
    app.recurring().await;
    assert_eq!(pipelines(&ada, copy, "?source=schedule").await[0]["iid"], 2);
}
