//! Appearance and statistics of the installation.

use actix_web::http::Method;
use futures_util::future::join_all;
use serde_json::json;

use crate::support::{MailSink, TestApp};

const PATH: &str = "/application/appearance";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nxxxxxxxx";

#[actix_web::test]
async fn administrators_say_how_the_installation_looks() {
    let app = TestApp::new();
    let root = app.admin();
    let told = root.put(PATH, json!({ "title": "Works", "pwa_name": "W" })).await.ok();
    assert_eq!((&told["title"], &told["message_font_color"]), (&json!("Works"), &json!("#FFFFFF")));
    let odd = json!({ "message": { "message_font_color": ["must be a valid color code"] } });
    root.put(PATH, json!({ "message_font_color": "reddish" })).await.refused(400, odd);
    assert_eq!(root.get(PATH).await.ok(), told);
    assert_eq!(app.person("ada").get(PATH).await.status, 403);
}

#[actix_web::test]
async fn the_logo_is_shown_to_everybody() {
    let app = TestApp::new();
    let root = app.admin();
    let head = "--b\r\nContent-Disposition: form-data; name=\"logo\"; filename=\"l.png\"\r\n\r\n";
    let form = [head.as_bytes(), PNG, b"\r\n--b--\r\n"].concat();
    let kind = "multipart/form-data; boundary=b";
    let told = root.send_bytes(Method::PUT, PATH, kind, &form).await.ok();
    let path = told["logo"].as_str().expect("a path").to_owned();
    assert!(path.ends_with("/uploads/-/system/appearance/logo/1/l.png"), "{path}");
    let shown = app.anonymous().get(&format!("/{path}")).await;
    assert_eq!((shown.status, &*shown.bytes), (200, PNG));
    root.put(PATH, json!({ "logo": "" })).await.ok();
    assert_eq!(app.anonymous().get(&format!("/{path}")).await.status, 404);
}

#[actix_web::test]
async fn letters_say_what_the_installation_says() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let root = app.admin();
    root.put(PATH, json!({ "footer_message": "Foot", "email_header_and_footer_enabled": true }))
        .await
        .ok();
    let more =
        json!({ "email_additional_text": "No reply, please.", "after_sign_up_text": "Welcome." });
    root.put("/application/settings", more).await.ok();
    let new = json!({ "username": "eve", "name": "Eve", "email": "eve@else.test",
        "password": "correct horse battery", "skip_confirmation": true });
    root.post("/users", new).await.created();
    app.work().await;
    let text: String = sink.take().into_iter().map(|letter| letter.data).collect();
    for part in ["Welcome.", "Foot", "No reply, please."] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[actix_web::test]
async fn administrators_see_how_much_there_is() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", kernel::Visibility::Private);
    app.issue(project, &ada);
    let path = "/application/statistics";
    let told = app.admin().get(path).await.ok();
    assert_eq!(
        (&told["projects"], &told["issues"], &told["snippets"]),
        (&json!("1"), &json!("1"), &json!("0"))
    );
    assert_eq!(ada.get(path).await.status, 403);
}

#[actix_web::test]
async fn texts_that_change_at_the_same_moment_are_all_kept() {
    let app = TestApp::new();
    let root = app.admin();
    let changes = [
        json!({ "title": "Works" }),
        json!({ "description": "Of iron" }),
        json!({ "pwa_name": "W" }),
    ];
    for answer in join_all(changes.iter().map(|change| root.put(PATH, change.clone()))).await {
        answer.ok();
    }
    let kept = root.get(PATH).await.ok();
    assert_eq!(
        (&kept["title"], &kept["description"], &kept["pwa_name"]),
        (&json!("Works"), &json!("Of iron"), &json!("W"))
    );
}
