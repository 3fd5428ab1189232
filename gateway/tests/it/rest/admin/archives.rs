//! Archives of projects: who may have them, how long they last, and that whoever means harm gets nothing.

use std::io::Write as _;

use actix_web::http::Method;
use flate2::{Compression, write::GzEncoder};
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};
use tar::{Builder, EntryType, Header};
use time::Duration;

use super::imports::work;
use crate::{
    rest::runners::job_artifacts::age,
    support::{Answer, Person, TestApp, uploads::send_file},
};

/// Sends an archive in a form, with further fields.
pub(super) async fn send_archive(
    person: &Person<'_>,
    path: &str,
    archive: &[u8],
    fields: &[(&str, &str)],
) -> Answer {
    let mut body = Vec::new();
    for (name, value) in fields {
        let part =
            format!("--edge\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(part.as_bytes());
    }
    body.extend_from_slice(
        b"--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.tar.gz\"\r\n\r\n",
    );
    body.extend_from_slice(archive);
    body.extend_from_slice(b"\r\n--edge--\r\n");
    person.send_bytes(Method::POST, path, "multipart/form-data; boundary=edge", &body).await
}

/// Lets everybody call as often as they like.
pub(super) async fn count_nothing(app: &TestApp) {
    let limits = json!({
        "project_import_limit": 0, "project_export_limit": 0, "project_download_export_limit": 0,
        "group_import_limit": 0, "group_export_limit": 0, "group_download_export_limit": 0,
    });
    app.admin().put("/application/settings", limits).await.ok();
}

/// Has an archive written, and fetches it.
pub(super) async fn exported(person: &Person<'_>, project: &Value) -> Vec<u8> {
    let path = format!("/projects/{project}/export");
    let asked = person.post(&path, json!({})).await;
    assert_eq!(asked.status, 202, "{}", asked.body);
    assert_eq!(asked.body, json!({ "message": "202 Accepted" }));
    work(person.app).await;
    let shown = person.get(&path).await.ok();
    assert_eq!(shown["export_status"], "finished", "{shown}");
    let file = person.get(&format!("{path}/download")).await;
    assert_eq!(file.status, 200, "{}", file.body);
    file.bytes
}

pub(super) async fn imported(person: &Person<'_>, archive: &[u8], path: &str) -> Value {
    let made = send_archive(person, "/projects/import", archive, &[("path", path)]).await;
    let made = made.created();
    assert_eq!(made["import_status"], "scheduled", "{made}");
    work(person.app).await;
    person.get(&format!("/projects/{}/import", made["id"])).await.ok()
}

/// An archive of files and of entries of other kinds.
fn packed(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (path, kind, content) in entries {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len().try_into().expect("a length"));
        header.set_cksum();
        tar.append(&header, *content).expect("an entry");
    }
    let mut encoder = tar.into_inner().expect("an end");
    encoder.flush().expect("a stream");
    encoder.finish().expect("an archive")
}

#[actix_web::test]
async fn an_archive_that_cannot_be_kept_leaves_no_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    let archive = exported(&ada, &project).await;
    let folder = app.state.exports.folder().expect("a folder").join("archives/incoming");
    std::fs::write(&folder, "in the way").expect("it is written");

    send_archive(&ada, "/projects/import", &archive, &[("path", "copy")]).await.with(500);

    ada.get("/projects/ada%2Fcopy").await.with(404);
    std::fs::remove_file(&folder).expect("it is removed");
    assert_eq!(imported(&ada, &archive, "copy").await["import_status"], "finished");
}

#[actix_web::test]
async fn files_of_imports_that_were_never_written_down_go_after_a_day() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    let archive = exported(&ada, &project).await;
    send_archive(&ada, "/projects/import", &archive, &[("path", "copy")]).await.created();
    let folder = app.state.exports.folder().expect("a folder").join("archives/incoming");
    let (left, young) = (folder.join("left.tar.gz"), folder.join("young.tar.gz"));
    std::fs::write(&left, "half").expect("it is written");
    std::fs::write(&young, "half").expect("it is written");
    age(&folder, &young);

    forge::archive::export::remove_old(&app.state).await.expect("they are removed");

    assert!(!left.exists() && young.exists());
    work(&app).await;
    assert_eq!(ada.get("/projects/ada%2Fcopy/import").await.ok()["import_status"], "finished");
}

#[actix_web::test]
async fn files_of_texts_come_along_under_other_names() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    let path = format!("/projects/{project}/uploads");
    let kept = send_file(&ada, Method::POST, &path, "file", "plan.txt", "steam").await.created();
    let text = json!({ "title": "See", "description": kept["markdown"] });
    ada.post(&format!("/projects/{project}/issues"), text).await.created();

    let done = imported(&ada, &exported(&ada, &project).await, "copy").await;

    let copy = format!("/projects/{}", done["id"]);
    let issue = ada.get(&format!("{copy}/issues/1")).await.ok();
    let text = issue["description"].as_str().unwrap();
    assert_ne!(text, kept["markdown"]);
    let place = text.split(['(', ')']).nth(1).unwrap();
    let found = ada.get(&format!("{copy}{place}")).await;
    assert_eq!((found.status, found.bytes.as_slice()), (200, &b"steam"[..]), "{place}");
}

#[actix_web::test]
async fn nobody_speaks_in_the_name_of_others() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let bob = app.member(project, "bob", Developer);
    bob.post(
        &format!("/projects/{project}/issues"),
        json!({ "title": "Mine", "description": "Hm" }),
    )
    .await
    .created();
    let archive = exported(&ada, &json!(project)).await;

    let eve = app.person("eve");
    let done = imported(&eve, &archive, "copy").await;

    let issue = eve.get(&format!("/projects/{}/issues/1", done["id"])).await.ok();
    assert_eq!(issue["author"]["username"], "eve");
    let text = issue["description"].as_str().unwrap();
    assert!(text.starts_with("*By ") && text.ends_with("*\n\nHm"), "{text}");
    let members = eve.get(&format!("/projects/{}/members", done["id"])).await.ok();
    assert_eq!(members.as_array().map(Vec::len), Some(1), "{members}");
}

#[actix_web::test]
async fn archives_are_for_maintainers_and_only_while_they_last() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}/export");
    let gone = json!({ "message": "404 Not found or has expired" });
    let (dev, keeper) =
        (app.member(project, "dev", Developer), app.member(project, "mo", Maintainer));

    assert_eq!(keeper.get(&path).await.ok()["export_status"], "none");
    keeper.get(&format!("{path}/download")).await.refused(404, gone.clone());
    for way in [path.clone(), format!("{path}/download")] {
        dev.get(&way).await.with(403);
        app.person("eve").get(&way).await.with(404);
    }
    dev.post(&path, json!({})).await.with(403);
    exported(&keeper, &json!(project)).await;
    app.clock.advance(Duration::hours(25));
    work(&app).await;
    keeper.get(&format!("{path}/download")).await.refused(404, gone);
    app.admin().put("/application/settings", json!({ "project_export_enabled": false })).await.ok();
    keeper.post(&path, json!({})).await.with(404);
}

#[actix_web::test]
async fn hostile_archives_get_an_error_and_leave_nothing() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let file = EntryType::Regular;
    let version: (&str, EntryType, &[u8]) = ("VERSION", file, b"0.2.4");
    let zeros = vec![0; 80 << 20];
    for (name, entries, told) in [
        ("out", vec![("../../x", file, &b"x"[..])], "leads out of it"),
        ("root", vec![("/etc/x", file, &b"x"[..])], "leads out of it"),
        ("link", vec![("VERSION", EntryType::Symlink, &b""[..])], "a link"),
        ("pipe", vec![("VERSION", EntryType::Fifo, &b""[..])], "a kind that is not allowed"),
        ("bomb", vec![("project.bundle", file, &zeros[..])], "over the limit"),
        ("twice", vec![version, version], "a file twice"),
        ("old", vec![("VERSION", file, &b"0.1"[..])], "Import version mismatch"),
        ("none", vec![version], "not one of a project"),
        (
            "json",
            vec![version, ("tree/project.json", file, &b"[[["[..])],
            "where another type of value belongs",
        ),
    ] {
        let done = imported(&ada, &packed(&entries), name).await;
        assert_eq!(done["import_status"], "failed", "{name}: {done}");
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told) && !error.contains(" column "), "{name}: {error}");
        let copy = format!("/projects/{}", done["id"]);
        assert_eq!(ada.get(&format!("{copy}/issues")).await.ok(), json!([]), "{name}");
    }
    let done = imported(&ada, b"no archive", "damaged").await;
    assert_eq!(done["import_status"], "failed", "{done}");
}

#[actix_web::test]
async fn a_broken_archive_of_a_group_is_refused_and_its_path_stays_free() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let file = EntryType::Regular;
    let version: (&str, EntryType, &[u8]) = ("VERSION", file, b"0.2.4");
    let whole = packed(&[version, ("tree/groups.ndjson", file, b"{}")]);
    for (archive, told) in [
        (&b""[..], ""),
        (&b"no archive"[..], ""),
        (&whole[..whole.len() / 2], ""),
        (&packed(&[version])[..], "not one of a group"),
        (&whole[..], "tree/groups.ndjson cannot be read: field `"),
    ] {
        let fields = [("name", "Tea"), ("path", "tea")];
        let refused = send_archive(&ada, "/groups/import", archive, &fields).await.with(400);
        assert!(refused.to_string().contains(told), "{refused}");
    }
    work(&app).await;
    ada.get("/groups/tea").await.with(404);
    ada.post("/groups", json!({ "name": "Tea", "path": "tea" })).await.created();
}

#[actix_web::test]
async fn an_archive_takes_the_place_of_a_project_only_where_that_is_asked_for() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project: ProjectId = app.project(&ada, "engine", Private);
    let archive = exported(&ada, &json!(project)).await;
    send_archive(&ada, "/projects/import", &archive, &[("path", "engine")]).await.with(400);
    let replace = [("path", "engine"), ("overwrite", "true")];
    send_archive(&ada, "/projects/import", b"broken", &replace).await.with(400);
    ada.get(&format!("/projects/{project}")).await.ok();

    let about = [replace[0], replace[1], ("override_params[description]", "Brews")];
    let made = send_archive(&ada, "/projects/import", &archive, &about).await.created();
    work(&app).await;

    ada.get(&format!("/projects/{project}")).await.with(404);
    let now = ada.get(&format!("/projects/{}", made["id"])).await.ok();
    assert_eq!((&now["path"], &now["description"]), (&json!("engine"), &json!("Brews")));
}

#[actix_web::test]
async fn what_the_installation_allows_bounds_archives() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}/export");
    let limits =
        json!({ "project_export_limit": 1, "project_import_limit": 1, "max_import_size": 1 });
    app.admin().put("/application/settings", limits).await.ok();
    ada.post(&path, json!({})).await.with(202);
    ada.post(&path, json!({})).await.with(429);
    let large = vec![0; (1 << 20) + 1];
    let sent = send_archive(&ada, "/projects/import", &large, &[("path", "copy")]).await;
    assert_eq!(sent.status, 413, "{}", sent.body);
    send_archive(&ada, "/projects/import", b"x", &[("path", "copy")]).await.with(429);
    app.admin().put("/application/settings", json!({ "import_sources": ["github"] })).await.ok();
    let eve = app.person("eve");
    send_archive(&eve, "/projects/import", b"x", &[("path", "copy")]).await.with(403);
}

#[actix_web::test]
async fn archives_are_sent_to_no_inner_address() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let path = format!("/projects/{project}/export");
    for url in
        ["http://127.0.0.1/x", "http://[::1]/", "ftp://example.com/x", "http://169.254.169.254/"]
    {
        let answer = ada.post(&path, json!({ "upload": { "url": url } })).await;
        assert_eq!(answer.status, 400, "{url}: {}", answer.body);
    }
    let odd = json!({ "upload": { "url": "https://a.example/x", "http_method": "DELETE" } });
    ada.post(&path, odd).await.with(400);
    assert_eq!(ada.get(&path).await.ok()["export_status"], "none");
}

#[actix_web::test]
async fn an_archive_that_would_be_too_large_is_given_up() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let noise: String =
        (0..60_000_u64).map(|n| format!("{:x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    for title in ["one", "two", "three"] {
        let issue = json!({ "title": title, "description": noise });
        ada.post(&format!("/projects/{project}/issues"), issue).await.created();
    }
    app.admin().put("/application/settings", json!({ "max_export_size": 1 })).await.ok();
    let path = format!("/projects/{project}/export");
    ada.post(&path, json!({})).await.with(202);
    work(&app).await;
    assert_eq!(ada.get(&path).await.ok()["export_status"], "none");
    ada.get(&format!("{path}/download")).await.with(404);
}

#[actix_web::test]
async fn downloads_are_counted() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    exported(&ada, &project).await;
    ada.get(&format!("/projects/{project}/export/download")).await.with(429);
    let more = json!({ "project_download_export_limit": 0 });
    app.admin().put("/application/settings", more).await.ok();
    assert_eq!(ada.get(&format!("/projects/{project}/export/download")).await.status, 200);
}

#[actix_web::test]
async fn who_has_a_project_exported_and_fetches_it_is_audited() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let made = ada.post("/projects", json!({ "name": "engine" })).await.created();
    let path = format!("/projects/{}", made["id"]);
    ada.post(&format!("{path}/export"), json!({})).await.with(202);

    exported(&ada, &made["id"]).await;

    let events = app.admin().get(&format!("{path}/audit_events")).await.ok();
    let names: Vec<&str> = events
        .as_array()
        .expect("a list")
        .iter()
        .filter(|event| event["author_id"] == json!(app.id_of("ada")))
        .filter_map(|event| event["event_name"].as_str())
        .filter(|name| name.contains("export"))
        .collect();
    // One that is on its way is not asked for twice.
    assert_eq!(names, ["project_export_file_download_started", "project_export_created"]);
}

#[actix_web::test]
async fn who_asks_only_for_the_headers_of_an_export_has_not_fetched_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let path = format!("/projects/{}", app.project(&ada, "engine", Private));
    let (list, file) = (format!("{path}/audit_events"), format!("{path}/export/download"));
    ada.post(&format!("{path}/export"), json!({})).await.with(202);
    work(&app).await;
    let root = app.admin();
    let before = root.get(&list).await.each("id");

    for _ in 0..2 {
        let answer = ada.send(Method::HEAD, &file, None).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/gzip")));
    }

    assert_eq!(root.get(&list).await.each("id"), before);
    assert_eq!(ada.get(&file).await.status, 200);
    assert_eq!(root.get(&list).await.each("id").len(), before.len() + 1);
}
