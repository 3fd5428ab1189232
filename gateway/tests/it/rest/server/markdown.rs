//! What a text in Markdown looks like.

use kernel::Visibility::{Private, Public};
use org::{token::Scope, user::actions::NewUser};
use serde_json::json;

use crate::support::{Person, TestApp};

#[actix_web::test]
async fn a_text_becomes_html_that_is_safe() {
    let app = TestApp::new();
    let reader = app.someone(&NewUser::named("ada"), &[Scope::ReadApi]);

    let text = json!({ "text": "**big** <script>alert(1)</script>" });
    let html = reader.post("/markdown", text).await.created()["html"].clone();
    let html = html.as_str().expect("HTML");
    assert!(html.contains("<strong>big</strong>") && !html.contains("<script"), "{html}");
    let missing = json!({ "error": "text is missing" });
    reader.post("/markdown", json!({})).await.refused(400, missing);
    app.anonymous().post("/markdown", json!({ "text": "x" })).await.with(401);
}

#[actix_web::test]
async fn files_of_a_project_are_found_from_its_texts() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Private);
    let text = "![a](/uploads/00/a.png)";
    let body = |gfm: bool| json!({ "text": text, "gfm": gfm, "project": "ada/engine" });

    let plain = ada.post("/markdown", body(false)).await.created();
    assert!(plain["html"].as_str().expect("HTML").contains("src=\"/uploads/00/a.png\""));
    let known = ada.post("/markdown", body(true)).await.created();
    let src = format!("src=\"http://forge.test/-/project/{id}/uploads/00/a.png\"");
    assert!(known["html"].as_str().expect("HTML").contains(&src), "{known}");
    let hidden = json!({ "message": "404 Project Not Found" });
    app.person("eve").post("/markdown", body(true)).await.refused(404, hidden);
}

/// What a text looks like in ada's project.
async fn shown(person: &Person<'_>, text: &str) -> String {
    let body = json!({ "text": text, "gfm": true, "project": "ada/engine" });
    let html = person.post("/markdown", body).await.created()["html"].clone();
    html.as_str().expect("HTML").to_owned()
}

#[actix_web::test]
async fn what_a_text_names_becomes_a_link() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = app.project(&ada, "engine", Public);
    let issue = json!({ "title": "Wheels <turn>" });
    ada.post(&format!("/projects/{id}/issues"), issue).await.created();
    let label = json!({ "name": "two words", "color": "#ff0000", "description": "of it" });
    ada.post(&format!("/projects/{id}/labels"), label).await.created();
    ada.post(&format!("/projects/{id}/milestones"), json!({ "title": "1.0" })).await.created();
    ada.group_with("team", json!({ "visibility": "public" })).await;

    let html = shown(&ada, "#1 ada/engine#1 @ADA @team ~\"two words\" %1.0 #2 `#1`").await;
    let link = "<a href=\"http://forge.test/ada/engine/-/issues/1\" title=\"Wheels &lt;turn&gt;\" class=\"gfm gfm-issue\">";
    assert!(html.contains(&format!("{link}#1</a> {link}ada/engine#1</a>")), "{html}");
    assert!(html.contains("<a href=\"http://forge.test/ada\""), "{html}");
    assert!(html.contains(">@ada</a>"), "{html}");
    assert!(html.contains("href=\"http://forge.test/groups/team\""), "{html}");
    assert!(html.contains("/-/issues?label_name[]=two%20words\" title=\"of it\""), "{html}");
    assert!(html.contains("/ada/engine/-/milestones/1\""), "{html}");
    assert!(html.contains(" #2 <code>#1</code>"), "{html}");
    let plain = json!({ "text": "#1 @ada", "project": "ada/engine" });
    assert_eq!(ada.post("/markdown", plain).await.created()["html"], "<p>#1 @ada</p>\n");
}

#[actix_web::test]
async fn what_a_reader_may_not_know_of_stays_as_it_was_written() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let open = app.project(&ada, "engine", Public);
    let secret = app.project(&ada, "secret", Private);
    let hidden = json!({ "title": "leak", "confidential": true });
    ada.post(&format!("/projects/{open}/issues"), hidden.clone()).await.created();
    ada.post(&format!("/projects/{secret}/issues"), hidden).await.created();
    ada.group("cabal", None).await;

    let text = "#1 secret#1 ada/secret#1 @cabal ada/nothing#1";
    assert_eq!(shown(&eve, text).await, format!("<p>{text}</p>\n"));
    assert_eq!(shown(&ada, text).await.matches("<a ").count(), 4);
}
