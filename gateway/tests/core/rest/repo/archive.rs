//! Archives: `gateway/src/rest/repo/archive.rs`, held against git.

use gateway::app::Limits;
use repo::testing::Fixture;
use serde_json::json;

use crate::support::TestApp;

fn forge() -> (TestApp, Fixture, String) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    (app, fixture, format!("/projects/{project}/repository/archive"))
}

#[actix_web::test]
async fn every_ending_gives_a_file_of_its_kind() {
    let (app, _, archive) = forge();
    let nobody = app.anonymous();
    for (endings, extension, magic) in [
        (&["zip"][..], "zip", &b"PK\x03\x04"[..]),
        (&["tar"], "tar", b"forge-main-"),
        (&["", "tar.gz", "tgz", "gz"], "tar.gz", b"\x1f\x8b"),
        (&["tar.bz2", "tbz", "tbz2", "tb2", "bz2"], "tar.bz2", b"BZh"),
    ] {
        for ending in endings {
            let dot = if ending.is_empty() { "" } else { "." };
            let answer = nobody.get(&format!("{archive}{dot}{ending}?sha=main")).await;
            let name = answer.header("content-disposition").unwrap_or_default().to_owned();
            assert!(name.ends_with(&format!(".{extension}")), "{ending} {name}");
            assert_eq!(answer.header("content-type"), Some("application/octet-stream"));
            // A tar begins with the global header that names the commit; its first entry follows.
            let at = if *ending == "tar" { 1024 } else { 0 };
            assert!(answer.bytes[at..].starts_with(magic), "{ending}");
            let by_parameter = nobody.get(&format!("{archive}?sha=main&format={extension}")).await;
            assert!(by_parameter.bytes == answer.bytes, "{ending}");
        }
    }
}

#[actix_web::test]
async fn the_archive_is_that_of_git() {
    let (app, fixture, archive) = forge();
    for (query, name, paths) in [
        ("", "main", &[][..]),
        ("sha=release%2F1.x", "release/1.x", &[]),
        ("sha=topic&path=docs", "topic", &["docs"]),
    ] {
        let id = fixture.id(name).to_string();
        let suffix = if paths.is_empty() { "" } else { "-docs" };
        let top = format!("forge-{}-{id}{suffix}", name.replace('/', "-"));
        let prefix = format!("--prefix={top}/");
        let told = [&["archive", "--format=tar", &prefix, &id], paths].concat();

        let answer = app.anonymous().get(&format!("{archive}.tar?{query}")).await;

        let disposition = format!("attachment; filename=\"{top}.tar\"; filename*=UTF-8''{top}.tar");
        assert_eq!(answer.header("content-disposition"), Some(disposition.as_str()));
        assert!(answer.bytes == fixture.git(&told), "{query}");
    }
}

#[actix_web::test]
async fn what_cannot_be_packed_is_told() {
    let (app, _, archive) = forge();
    let nobody = app.anonymous();
    let lost = json!({ "message": "404 File Not Found" });

    for query in ["sha=lost", "sha=--exec%3Dx", "path=lost", "path=..%2F.."] {
        nobody.get(&format!("{archive}.zip?{query}")).await.refused(404, lost.clone());
    }
    let text = json!({ "error": "format does not have a valid value" });
    nobody.get(&format!("{archive}?format=rar")).await.refused(400, text);
    assert_eq!(nobody.get(&format!("{archive}.rar")).await.status, 404);
    let embedded = nobody.sending("Accept", "image/webp,*/*");
    let text = json!({ "message": "406 Not Acceptable" });
    embedded.get(&format!("{archive}.zip")).await.refused(406, text);
    assert_eq!(nobody.head(&format!("{archive}.zip")).await.status, 200);
}

#[actix_web::test]
async fn archives_are_limited_where_that_is_set() {
    let app = TestApp::with_limits(Limits { archives_per_minute: 2, ..Limits::default() });
    let archive = format!("/projects/{}/repository/archive", app.project_from(&Fixture::new()));
    let (ada, eve) = (app.person("ada"), app.person("eve"));

    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(ada.get(&archive).await.status);
    }
    assert_eq!(told, [200, 200, 429]);
    let told = ada.get(&archive).await;
    assert_eq!(told.header("retry-after"), Some("60"), "the whole interval");
    assert_eq!(eve.get(&archive).await.status, 200);
}

#[actix_web::test]
async fn names_that_lead_out_of_their_tree_are_refused() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let blob = fixture.lines(&["rev-parse", "main:README.md"]).remove(0);
    let bytes = [b"100644 ../../../evil\0".to_vec(), hex::decode(blob).unwrap()].concat();
    let write = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
    let tree = String::from_utf8(fixture.git_with(&write, &bytes)).unwrap();
    let environment = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
    let words = [&environment[..], &["commit-tree", "-m", "bad", tree.trim()]].concat();
    let commit = fixture.lines(&words).remove(0);
    fixture.git(&["update-ref", "refs/heads/bad", &commit]);
    let repository = format!("/projects/{}/repository", app.project_from(&fixture));

    for path in ["archive.zip?sha=bad", "archive.tar?sha=bad", "tree?ref=bad"] {
        let answer = app.anonymous().get(&format!("{repository}/{path}")).await;
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.body.to_string().contains("invalid path"), "{path}: {}", answer.body);
    }
}
