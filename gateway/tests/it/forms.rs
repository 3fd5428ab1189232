//! Forms of several parts: what they may bring, and which files are kept.

use actix_web::http::Method;
use gateway::app::Limits;
use kernel::Visibility::Private;
use serde_json::json;

use crate::support::{Answer, Person, TestApp};

/// One part: a text, or a file where it has a name of its own.
fn part(field: &str, file_name: Option<&str>, content: &str) -> String {
    let file = file_name.map(|name| format!("; filename=\"{name}\"")).unwrap_or_default();
    format!("--edge\r\nContent-Disposition: form-data; name=\"{field}\"{file}\r\n\r\n{content}\r\n")
}

async fn send(person: &Person<'_>, path: &str, parts: &[String]) -> Answer {
    let body = format!("{}--edge--\r\n", parts.concat());
    let kind = "multipart/form-data; boundary=edge";
    person.send_bytes(Method::POST, path, kind, body.as_bytes()).await
}

fn app() -> TestApp {
    TestApp::with_limits(Limits { body: 1_000, upload: 2_000, ..Limits::default() })
}

#[actix_web::test]
async fn all_parts_of_a_form_together_have_a_size() {
    let (app, big) = (app(), "x".repeat(400));
    let ada = app.person("ada");
    let [name, text] = [part("name", None, "Engine"), part("description", None, &big)];
    let odd = part("odd", Some("a"), &big);

    for person in [&ada, &app.anonymous()] {
        for parts in [vec![odd.clone(); 3], vec![text.clone(), odd.clone(), text.clone()]] {
            let refused = send(person, "/projects", &parts).await;
            let told = if person.token.is_some() { 413 } else { 401 };
            assert_eq!(refused.status, told);
        }
    }
    let made = send(&ada, "/projects", &[name, text, odd]).await.created();
    assert_eq!((&made["name"], &made["description"]), (&json!("Engine"), &json!(big)));
}

#[actix_web::test]
async fn a_declared_file_has_a_size_of_its_own() {
    let app = app();
    let ada = app.person("ada");
    let path = format!("/projects/{}/uploads", app.project(&ada, "engine", Private));
    let file = |size: usize| part("file", Some("a.txt"), &"x".repeat(size));

    send(&ada, &path, &[file(1_500)]).await.created();
    assert_eq!(send(&ada, &path, &[file(2_001)]).await.status, 413);
    assert_eq!(send(&ada, &path, &[file(1_500), file(1_500)]).await.status, 413, "together");
    let listed = part("file[]", Some("a.txt"), "x");
    assert_eq!(send(&ada, &path, &[listed]).await.status, 400);
}

#[actix_web::test]
async fn a_form_has_so_many_parts_and_no_more() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let many = vec![part("odd", Some("a"), ""); 4_096];

    send(&ada, "/markdown", &[&many[1..], &[part("text", None, "x")]].concat()).await.created();
    let too_many = [&many[..], &[part("text", None, "x")]].concat();

    let told = json!({ "message": "413 Request Entity Too Large" });
    send(&ada, "/markdown", &too_many).await.refused(413, told);
}
