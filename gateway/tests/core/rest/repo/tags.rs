//! Tags: `gateway/src/rest/repo/tags.rs`, held against git.

use kernel::{AccessLevel::Developer, ids::ProjectId};
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::TestApp;

fn forge() -> (TestApp, Fixture, ProjectId, String) {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let project = app.project_from(&fixture);
    (app, fixture, project, format!("/projects/{project}/repository/tags"))
}

fn rejected(text: &str) -> Value {
    json!({ "message": text })
}

#[actix_web::test]
async fn a_record_says_what_the_tag_says() {
    let (app, fixture, _, tags) = forge();

    let annotated = app.anonymous().get(&format!("{tags}/v1.0")).await.ok();
    let light = app.anonymous().get(&format!("{tags}/v0.1")).await.ok();

    assert_eq!(annotated["message"], "Version 1.0\n\nWith notes.");
    assert_eq!(annotated["target"], fixture.lines(&["rev-parse", "v1.0"])[0]);
    assert_eq!(annotated["commit"]["id"], fixture.id("v1.0").to_string());
    assert_eq!(annotated["created_at"], "2020-09-14T17:13:20.000+01:00");
    assert_eq!((&annotated["release"], &annotated["protected"]), (&Value::Null, &json!(false)));
    assert_eq!((&light["message"], &light["created_at"]), (&Value::Null, &Value::Null));
    assert_eq!(light["target"], fixture.id("v0.1").to_string());
}

#[actix_web::test]
async fn the_list_is_sorted_searched_and_paged() {
    let (app, _, project, tags) = forge();
    let ada = app.person("ada");
    for name in ["v1.10", "v1.9", "v1.9-rc1"] {
        ada.post(&tags, json!({ "tag_name": name, "ref": "main~1" })).await.created();
    }
    let list = |query: &str| format!("/projects/{project}/repository/tags?{query}");

    for (query, names) in [
        ("order_by=name&sort=asc", vec!["v0.1", "v1.0", "v1.10", "v1.9", "v1.9-rc1", "v2.0"]),
        ("order_by=version", vec!["v2.0", "v1.10", "v1.9-rc1", "v1.9", "v1.0", "v0.1"]),
        ("sort=asc&search=%5Ev0", vec!["v0.1"]),
        ("search=.0%24", vec!["v2.0", "v1.0"]),
        ("order_by=name&sort=asc&per_page=2&page=2", vec!["v1.10", "v1.9"]),
    ] {
        assert_eq!(ada.get(&list(query)).await.each("name"), names, "{query}");
    }
    let updated = ada.get(&list("")).await.each("name");
    assert_eq!(updated.last(), Some(&json!("v0.1")));
    for (query, text) in [
        ("sort=up", "sort does not have a valid value"),
        ("order_by=size", "order_by does not have a valid value"),
        ("per_page=0", "per_page has a value not allowed"),
    ] {
        ada.get(&list(query)).await.refused(400, json!({ "error": text }));
    }
    let next = ada.get(&list("order_by=name&sort=asc&page_token=v1.10&per_page=1")).await;
    assert!(next.header("link").is_some_and(|link| link.contains("page_token=v1.9&")));
    assert_eq!(next.each("name"), ["v1.9"]);
    let counted = ada.get(&list("page_token=")).await;
    assert!(counted.header("x-total").is_some(), "a blank token is none");
    ada.get(&list("page_token=lost")).await.refused(422, rejected("Invalid page token"));
}

#[actix_web::test]
async fn a_message_makes_an_annotated_tag() {
    let (app, fixture, project, tags) = forge();
    let dan = app.member(project, "dan", Developer);

    let new = json!({ "tag_name": "v3", "ref": "topic", "message": "  Three\n\nlines \n" });
    let annotated = dan.post(&tags, new).await.created();
    let light = dan.post(&tags, json!({ "tag_name": "a/v4", "ref": "v1.0", "message": " " })).await;

    assert_eq!(annotated["message"], "Three\n\nlines");
    assert_eq!(annotated["commit"]["id"], fixture.id("topic").to_string());
    assert_ne!(annotated["target"], annotated["commit"]["id"]);
    assert_eq!(annotated["created_at"], "2026-01-01T00:00:00.000+00:00");
    let light = light.created();
    assert_eq!((&light["message"], &light["target"]), (&Value::Null, &light["commit"]["id"]));
    assert_eq!(dan.get(&format!("{tags}/a%2Fv4")).await.ok(), light);
}

#[actix_web::test]
async fn what_cannot_be_made_is_told() {
    let (app, _, project, tags) = forge();
    let dan = app.member(project, "dan", Developer);
    let rule = json!({ "name": "release-*" });
    app.person("ada").post(&format!("/projects/{project}/protected_tags"), rule).await.created();

    for (body, error) in [
        (json!({ "ref": "main" }), json!({ "error": "tag_name is missing" })),
        (json!({ "tag_name": "v1.0" }), json!({ "error": "ref is missing" })),
        (json!({ "tag_name": "a b", "ref": " " }), rejected("Target is empty")),
        (json!({ "tag_name": "a b", "ref": "main" }), rejected("Tag name invalid")),
        (json!({ "tag_name": "-d", "ref": "main" }), rejected("Tag name invalid")),
        (json!({ "tag_name": "v1.0", "ref": "lost" }), rejected("Tag v1.0 already exists")),
        (json!({ "tag_name": "v9", "ref": "lost" }), rejected("Target lost is invalid")),
        (
            json!({ "tag_name": "release-1", "ref": "main" }),
            rejected("You are not allowed to create this tag as it is protected."),
        ),
    ] {
        dan.post(&tags, body).await.refused(400, error);
    }
}

#[actix_web::test]
async fn a_tag_goes_unless_something_keeps_it() {
    let (app, _, project, tags) = forge();
    let dan = app.member(project, "dan", Developer);
    let ada = app.person("ada");
    ada.post(&format!("/projects/{project}/protected_tags"), json!({ "name": "v1*" }))
        .await
        .created();

    dan.delete(&format!("{tags}/lost")).await.refused(404, rejected("404 Tag Not Found"));
    dan.delete(&format!("{tags}/v1.0")).await.refused(400, rejected("You are not allowed to delete protected tags from this project. Only a project maintainer or owner can delete a protected tag."));
    let early = dan.sending("If-Unmodified-Since", "Sun, 13 Sep 2020 12:00:00 GMT");
    early.delete(&format!("{tags}/v2.0")).await.refused(412, rejected("412 Precondition Failed"));
    assert_eq!(dan.delete(&format!("{tags}/v2.0")).await.status, 204);
    assert_eq!(ada.delete(&format!("{tags}/v1.0")).await.status, 204);
    assert_eq!(dan.get(&tags).await.each("name"), ["v0.1"]);
}

#[actix_web::test]
async fn a_signature_is_shown_where_there_is_one() {
    let (app, fixture) = (TestApp::new(), Fixture::new());
    let signed = format!(
        "object {}\ntype commit\ntag signed\ntagger A <a@b> 1600000000 +0000\n\nSigned\n-----BEGIN SSH SIGNATURE-----\nU1NI\n-----END SSH SIGNATURE-----\n",
        fixture.id("main")
    );
    let id = fixture.git_with(&["hash-object", "-t", "tag", "-w", "--stdin"], signed.as_bytes());
    let id = String::from_utf8_lossy(&id).trim().to_owned();
    fixture.git(&["update-ref", "refs/tags/signed", &id]);
    let tags = format!("/projects/{}/repository/tags", app.project_from(&fixture));
    let nobody = app.anonymous();

    let shown = nobody.get(&format!("{tags}/signed/signature")).await.ok();
    assert_eq!(shown["signature_type"], "SSH");
    let message = nobody.get(&format!("{tags}/signed")).await.ok()["message"].clone();
    assert_eq!(message, "Signed\n-----BEGIN SSH SIGNATURE-----\nU1NI\n-----END SSH SIGNATURE-----");
    for name in ["v0.1", "v1.0"] {
        let path = format!("{tags}/{name}/signature");
        nobody.get(&path).await.refused(404, rejected("404 Signature Not Found"));
    }
    nobody.get(&format!("{tags}/lost/signature")).await.refused(404, rejected("404 Tag Not Found"));
}
