//! Links of releases: `gateway/src/rest/repo/release_links.rs`.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp, ci::commit};

const BINARY: &str = "https://files.test/linux-amd64";

/// A public project with the release `v1`, and the path of its links.
async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Public);
    commit(&ada, project, "main", "one", "build: {script: x}\n").await;
    let path = format!("/projects/{project}/releases");
    ada.post(&path, json!({ "tag_name": "v1", "ref": "main" })).await.created();
    (ada, project, format!("{path}/v1/assets/links"))
}

fn binary() -> Value {
    json!({ "name": "linux", "url": BINARY, "direct_asset_path": "/bin/linux-amd64",
            "link_type": "package" })
}

#[actix_web::test]
async fn a_link_is_made_listed_changed_and_removed() {
    let app = TestApp::new();
    let (ada, project, links) = set_up(&app).await;

    let made = ada.post(&links, binary()).await.created();

    let direct = "http://forge.test/ada/engine/-/releases/v1/downloads/bin/linux-amd64";
    let expected = json!({ "id": made["id"], "name": "linux", "url": BINARY, "external": true,
                           "direct_asset_url": direct, "link_type": "package" });
    assert_eq!(made, expected);
    let own = json!({ "name": "log", "url": "http://forge.test/ada/engine/-/jobs/1" });
    let own = ada.post(&links, own).await.created();
    let said = (&own["external"], &own["link_type"], &own["direct_asset_url"]);
    assert_eq!(said, (&json!(false), &json!("other"), &own["url"]));
    assert_eq!(ada.get(&links).await.each("name"), ["log", "linux"]);
    assert_eq!(ada.get(&format!("{links}?per_page=1&page=2")).await.each("name"), ["linux"]);
    let one = format!("{links}/{}", made["id"]);
    assert_eq!(ada.get(&one).await.ok(), made);
    let shown = ada.get(&format!("/projects/{project}/releases/v1")).await.ok();
    assert_eq!((&shown["assets"]["links"][1], &shown["assets"]["count"]), (&made, &json!(6)));
    let change = json!({ "name": "Linux", "filepath": "/bin/x1", "link_type": "image" });
    let changed = ada.put(&one, change).await.ok();
    assert_eq!((&changed["name"], &changed["link_type"]), (&json!("Linux"), &json!("image")));
    assert_eq!(changed["url"], BINARY);
    assert_eq!(ada.delete(&one).await.ok(), changed);
    ada.get(&one).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn what_cannot_be_a_link_is_refused() {
    let app = TestApp::new();
    let (ada, _, links) = set_up(&app).await;
    ada.post(&links, binary()).await.created();
    let taken = "has already been taken";
    let refusals = [
        (binary(), json!({ "name": [taken], "url": [taken], "filepath": [taken] })),
        (
            json!({ "name": "x", "url": "javascript:alert(1)" }),
            json!({ "url": ["is blocked: Only allowed schemes are http, https, ftp"] }),
        ),
        (
            json!({ "name": "x", "url": "ftp://files.test/x", "filepath": "bin x" }),
            json!({ "filepath": ["is in an invalid format"] }),
        ),
        (json!({ "name": "", "url": "https://a.test" }), json!({ "name": ["can't be blank"] })),
    ];
    for (new, message) in refusals {
        ada.post(&links, new).await.refused(400, json!({ "message": message }));
    }
    let kind = json!({ "name": "x", "url": "https://a.test", "link_type": "toy" });
    let error = json!({ "error": "link_type does not have a valid value" });
    ada.post(&links, kind).await.refused(400, error);
    ada.post(&links, json!({ "name": "x" }))
        .await
        .refused(400, json!({ "error": "url is missing" }));
    let id = ada.get(&links).await.each("id")[0].clone();
    let text = "name, url are missing, at least one parameter must be provided";
    let alone = json!({ "link_type": "other" });
    ada.put(&format!("{links}/{id}"), alone).await.refused(400, json!({ "error": text }));
    assert_eq!(ada.get(&links).await.each("name"), ["linux"]);
}

#[actix_web::test]
async fn a_release_brings_its_links_or_nothing_at_all() {
    let app = TestApp::new();
    let (ada, project, _) = set_up(&app).await;
    let path = format!("/projects/{project}/releases");
    let new =
        |links: Value| json!({ "tag_name": "v2", "ref": "main", "assets": { "links": links } });
    let twice = ada.post(&path, new(json!([binary(), binary()]))).await.with(400);
    assert_eq!(twice["message"]["links.name"], json!(["has already been taken"]));
    ada.get(&format!("/projects/{project}/repository/tags/v2")).await.with(404);
    let other = json!({ "name": "mac", "url": "https://files.test/mac" });

    let made = ada.post(&path, new(json!([binary(), other]))).await.created();

    let names = made["assets"]["links"].as_array().expect("links").iter();
    assert_eq!(names.map(|link| &link["name"]).collect::<Vec<_>>(), ["linux", "mac"]);
    let removed = ada.delete(&format!("{path}/v2")).await.ok();
    assert_eq!(removed["assets"]["count"], 6, "the answer says what there was");
}

#[actix_web::test]
async fn links_are_read_by_all_who_see_releases_and_made_by_developers() {
    let app = TestApp::new();
    let (ada, project, links) = set_up(&app).await;
    ada.post(&links, binary()).await.created();
    assert_eq!(app.anonymous().get(&links).await.each("name"), ["linux"]);
    app.anonymous().post(&links, binary()).await.with(401);
    let reporter = app.member(project, "rea", Reporter);
    let more = json!({ "name": "mac", "url": "https://files.test/mac" });
    reporter.post(&links, more).await.refused(403, json!({ "message": "403 Forbidden" }));
    let other = app.project(&ada, "other", Private);
    let id = ada.get(&links).await.each("id")[0].clone();
    let foreign = format!("/projects/{other}/releases/v1/assets/links/{id}");
    ada.get(&foreign).await.with(404);
    let change = json!({ "releases_access_level": "private" });
    ada.put(&format!("/projects/{project}"), change).await.ok();
    app.anonymous().get(&links).await.with(403);
    assert_eq!(app.member(project, "gus", Guest).get(&links).await.each("name"), ["linux"]);
}

#[actix_web::test]
async fn the_address_of_a_link_leads_to_its_file() {
    let app = TestApp::new();
    let (ada, project, links) = set_up(&app).await;
    ada.post(&links, binary()).await.created();
    for address in [
        "//ada/engine/-/releases/v1/downloads/bin/linux-amd64".to_owned(),
        "//ada/engine/-/releases/permalink/latest/downloads/bin/linux-amd64".to_owned(),
        format!("/projects/{project}/releases/v1/downloads/bin/linux-amd64"),
    ] {
        let found = ada.get(&address).await;
        assert_eq!((found.status, found.header("location")), (302, Some(BINARY)), "{address}");
    }
    ada.get("//ada/engine/-/releases/v1/downloads/bin/none").await.with(404);
    let latest = ada.get(&format!("/projects/{project}/releases/permalink/latest")).await.ok();
    assert_eq!((&latest["tag_name"], &latest["assets"]["count"]), (&json!("v1"), &json!(5)));
}
