//! Files beside the pages of wikis.

use actix_web::http::Method;
use serde_json::json;

use super::wikis::project;
use crate::support::{TestApp, uploads::send_file};

#[actix_web::test]
async fn attachments_are_kept_beside_the_pages() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let path = format!("{wiki}/attachments");
    let kept = send_file(&ada, Method::POST, &path, "file", "my plan.png", "II*").await.created();

    let place = kept["file_path"].as_str().expect("a path").to_owned();
    let parts: Vec<&str> = place.split('/').collect();
    assert_eq!((parts[0], parts[1].len(), parts[2]), ("uploads", 32, "my_plan.png"));
    assert_eq!((&kept["file_name"], &kept["branch"]), (&json!("my_plan.png"), &json!("main")));
    assert_eq!(kept["link"], json!({ "url": place, "markdown": format!("![my_plan]({place})") }));
    assert_eq!(ada.get(&wiki).await.ok(), json!([]), "it is no page");
    ada.post(&path, json!({})).await.refused(400, json!({ "error": "file is missing" }));
    let wrong = ada.post(&path, json!({ "file": "text" })).await;
    wrong.refused(400, json!({ "error": "file is invalid" }));
    let odd = send_file(&ada, Method::POST, &path, "file", "..", "x").await;
    assert_eq!(odd.status, 400);
}

#[actix_web::test]
async fn a_rendered_page_leads_to_its_files() {
    let app = TestApp::new();
    let (ada, project) = project(&app);
    let group = format!("/groups/{}/wikis", ada.group("works", None).await);
    for wiki in [project, group] {
        let path = format!("{wiki}/attachments");
        let png = "\u{1}PNG";
        let added = send_file(&ada, Method::POST, &path, "file", "plan.png", png).await.created();
        let text = added["link"]["markdown"].clone();
        ada.post(&wiki, json!({ "title": "docs/a", "content": text })).await.created();

        let shown = ada.get(&format!("{wiki}/docs%2Fa?render_html=true")).await.ok();
        let html = shown["content"].as_str().expect("HTML");
        let at = html.find("http://forge.test/").expect("an address");
        let url: String = html[at..].chars().take_while(|letter| *letter != '"').collect();
        let url = url.replace("http://forge.test/", "//");
        let found = ada.get(&url).await;

        assert_eq!((found.status, found.bytes.as_slice()), (200, png.as_bytes()), "{url}");
        assert_eq!(found.header("content-security-policy"), Some("sandbox; default-src 'none'"));
        assert_eq!(app.anonymous().get(&url).await.status, 404);
        assert_eq!(app.person("eve").get(&url).await.status, 404);
        assert_eq!(ada.get(&format!("{url}x")).await.status, 404);
        assert_eq!(ada.get(&url.replace("/plan.png", "")).await.status, 404, "a folder is no file");
    }
}

#[actix_web::test]
async fn no_browser_runs_a_file_of_a_wiki() {
    let app = TestApp::new();
    let (ada, wiki) = project(&app);
    let path = format!("{wiki}/attachments");
    for name in ["page.html", "drawing.svg"] {
        let content = "<script>alert(1)</script>";
        let added = send_file(&ada, Method::POST, &path, "file", name, content).await.created();
        let url = format!("//ada/engine/-/wikis/{}", added["file_path"].as_str().expect("a path"));
        let found = ada.get(&url).await;
        assert_eq!((found.status, found.header("content-type")), (200, Some("text/plain")));
    }
}
