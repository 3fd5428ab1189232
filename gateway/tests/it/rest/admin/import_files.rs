//! Large files of imported repositories, and gists.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{imports::work, source::ImportSource};
use crate::support::TestApp;

/// Where the source tells of its large files.
const BATCH: &str = "/mia/tea.git/info/lfs/objects/batch";

/// What the source answers for the large file, and a pointer to it.
fn large_file() -> (Value, String, String) {
    let content = json!("leaves of a large file");
    let id = hex::encode(Sha256::digest(content.to_string()));
    let pointer = pointer(&id, content.to_string().len());
    (content, id, pointer)
}

fn pointer(id: &str, size: usize) -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize {size}\n")
}

#[actix_web::test]
async fn large_files_come_along_from_the_place_that_the_source_names() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let (content, id, pointer) = large_file();
    source.adds("leaves.bin", &pointer);
    source.has("/files/1", content.clone());
    let download = json!({ "href": source.url("/files/1"), "header": { "Authorization": "once" } });
    let offer = json!({ "oid": id, "size": 24, "actions": { "download": download } });
    source.has(BATCH, json!({ "objects": [offer] }));

    let made = ada.post("/import/github", source.wanted("ada")).await.created();
    work(&app).await;

    let project = format!("/projects/{}", made["id"]);
    let stats = ada.get(&format!("{project}/import")).await.ok()["stats"].clone();
    assert_eq!(
        (&stats["fetched"]["lfs_object"], &stats["imported"]["lfs_object"]),
        (&json!(1), &json!(1))
    );
    let file = format!("{project}/repository/files/leaves.bin/raw?ref=trunk&lfs=true");
    assert_eq!(ada.get(&file).await.bytes, content.to_string().as_bytes());
    assert!(source.credentials().contains(&"once".to_owned()), "as the offer says");
}

#[actix_web::test]
async fn large_files_come_along_from_where_redirects_lead_which_get_no_credentials() {
    let app = TestApp::reaching("127.0.0.1");
    let (source, other) = (ImportSource::hosted(), ImportSource::hosted());
    let ada = app.person("ada");
    let (content, id, pointer) = large_file();
    source.adds("leaves.bin", &pointer);
    let secrets = json!({ "Authorization": "once", "Private-Token": "twice" });
    let download = json!({ "href": source.url("/files/1"), "header": secrets });
    let offer = json!({ "oid": id, "size": 24, "actions": { "download": download } });
    other.has(BATCH, json!({ "objects": [offer] }));
    other.has("/files/3", content.clone());
    source.moves(BATCH, other.url(BATCH));
    source.moves("/files/1", source.url("/files/2"));
    source.moves("/files/2", other.url("/files/3"));

    let made = ada.post("/import/github", source.wanted("ada")).await.created();
    work(&app).await;

    let project = format!("/projects/{}", made["id"]);
    let file = format!("{project}/repository/files/leaves.bin/raw?ref=trunk&lfs=true");
    assert_eq!(ada.get(&file).await.bytes, content.to_string().as_bytes());
    assert_eq!(other.credentials(), Vec::<String>::new());
    let shown = source.credentials();
    for secret in ["once", "twice"] {
        assert_eq!(shown.iter().filter(|one| *one == secret).count(), 2, "{secret}");
    }
}

#[actix_web::test]
async fn large_files_whose_addresses_lead_inside_stay_behind() {
    for path in [BATCH, "/files/1"] {
        let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
        let ada = app.person("ada");
        let (content, id, pointer) = large_file();
        source.adds("leaves.bin", &pointer);
        let download = json!({ "href": source.url("/files/1") });
        let offer = json!({ "oid": id, "size": 24, "actions": { "download": download } });
        source.has(BATCH, json!({ "objects": [offer] }));
        source.has("/files/1", content);
        source.moves(path, "http://127.0.0.2:8080/x".to_owned());

        let made = ada.post("/import/github", source.wanted("ada")).await.created();
        work(&app).await;

        let import = ada.get(&format!("/projects/{}/import", made["id"])).await.ok();
        assert_eq!(import["import_status"], "finished", "{path}");
        let failed = import["failed_relations"].as_array().expect("a list");
        assert_eq!(failed.len(), 1, "{path}: {failed:?}");
    }
}

#[actix_web::test]
async fn large_files_that_do_not_come_are_told_one_by_one() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let (_, id, pointer_of_one) = large_file();
    let missing = "0".repeat(64);
    source.adds("leaves.bin", &pointer_of_one);
    source.adds("missing.bin", &pointer(&missing, 5));
    source.has("/files/1", json!("something else of the length"));
    let offer = json!({ "oid": id, "actions": { "download": { "href": source.url("/files/1") } } });
    source.has(BATCH, json!({ "objects": [offer] }));

    let made = ada.post("/import/github", source.wanted("ada")).await.created();
    work(&app).await;

    let import = ada.get(&format!("/projects/{}/import", made["id"])).await.ok();
    assert_eq!(import["import_status"], "finished", "the rest is there");
    let failed = import["failed_relations"].as_array().expect("a list");
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(import["stats"]["imported"].get("lfs_object").is_none());
}

#[actix_web::test]
async fn gists_stay_where_they_are_and_their_owner_is_told() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let asked = json!({ "personal_access_token": "t0p", "github_hostname": source.url("") });
    let path = "/import/github/gists";
    let unknown = ada.post(path, asked.clone()).await;
    assert_eq!((unknown.status, unknown.body["errors"].is_string()), (422, true));
    source.has_gists(json!([]));

    let none = ada.post(path, asked.clone()).await;

    assert_eq!((none.status, none.bytes.len()), (202, 0), "there is nothing to be imported");
    source.has_gists(json!([{ "id": "1" }]));
    let told = ada.post(path, asked.clone()).await;
    assert_eq!(told.status, 422);
    assert!(told.body["errors"].as_str().expect("a text").contains("no snippets"));
    assert!(source.credentials().contains(&"token t0p".to_owned()));
    let missing = json!({ "error": "personal_access_token is missing" });
    ada.post(path, json!({})).await.refused(400, missing);
    app.anonymous().post(path, asked.clone()).await.with(401);
    for _ in 0..6 {
        ada.post(path, asked.clone()).await;
    }
    assert_eq!(ada.post(path, asked).await.status, 429);
}
