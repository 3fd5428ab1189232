//! What a text in Markdown looks like.

use kernel::Visibility::Private;
use org::{token::Scope, user::actions::NewUser};
use serde_json::json;

use crate::support::TestApp;

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
