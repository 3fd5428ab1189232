//! Pictures that people add to alerts: `gateway/src/rest/security/metric_images.rs`.

use actix_web::http::Method;
use kernel::{
    AccessLevel::{Developer, Reporter},
    ids::ProjectId,
};
use org::project::statistics::StatisticsStore as _;
use serde_json::{Value, json};

use super::monitor::set_up;
use crate::support::{Answer, Person, TestApp};

pub(crate) const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest of a picture";

/// A project with one alert, its developer, and where pictures go.
async fn with_alert(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let (project, _, monitor) = set_up(app, "http").await;
    monitor.send(json!({ "title": "a" })).await.ok();
    let dev = app.member(project, "dev", Developer);
    (project, dev, format!("/projects/{project}/alert_management_alerts/1/metric_images"))
}

/// Sends a file with further fields.
pub(crate) async fn upload(
    person: &Person<'_>,
    path: &str,
    (name, content): (&str, &[u8]),
    fields: &[(&str, &str)],
) -> Answer {
    let mut body = Vec::new();
    for (field, value) in fields {
        let part = format!(
            "--edge\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(content);
    body.extend_from_slice(b"\r\n--edge--\r\n");
    person.send_bytes(Method::POST, path, "multipart/form-data; boundary=edge", &body).await
}

fn uploads(app: &TestApp) -> i64 {
    app.write(|tx| Ok(tx.upload_sizes()?.values().sum()))
}

#[actix_web::test]
async fn a_picture_is_added_shown_changed_and_taken_away() {
    let app = TestApp::new();
    let (_, dev, path) = with_alert(&app).await;
    let details = [("url", "https://grafana.test/d"), ("url_text", "Panel")];

    let made = upload(&dev, &path, ("cpu load.png", PNG), &details).await.created();

    let place =
        format!("/uploads/-/system/alert_management_metric_image/file/{}/cpu_load.png", made["id"]);
    let expected = json!({
        "id": made["id"], "created_at": "2026-01-01T00:00:00.000Z", "filename": "cpu_load.png",
        "file_path": format!("http://forge.test{place}"), "url": "https://grafana.test/d", "url_text": "Panel",
    });
    assert_eq!(made, expected);
    assert_eq!(dev.get(&path).await.ok(), json!([made]));
    let file = dev.get(&format!("/{place}")).await;
    assert_eq!((file.status, file.bytes.as_slice()), (200, PNG));
    assert_eq!(file.header("Content-Type"), Some("image/png"));
    assert_eq!(uploads(&app), i64::try_from(PNG.len()).expect("a small file"));

    let one = format!("{path}/{}", made["id"]);
    let changed = dev.put(&one, json!({ "url_text": "CPU" })).await.ok();
    assert_eq!((&changed["url"], &changed["url_text"]), (&made["url"], &json!("CPU")));
    dev.delete(&one).await.with(204);
    assert_eq!(dev.get(&path).await.ok(), json!([]));
    dev.get(&format!("/{place}")).await.with(404);
    assert_eq!(uploads(&app), 0);
    let gone = json!({ "message": "Metric image not found" });
    dev.put(&one, json!({ "url_text": "x" })).await.refused(404, gone.clone());
    dev.delete(&one).await.refused(404, gone);
}

#[actix_web::test]
async fn what_is_no_picture_of_a_megabyte_is_refused() {
    let app = TestApp::new();
    let (_, dev, path) = with_alert(&app).await;
    let mut large = PNG.to_vec();
    large.resize((1 << 20) + 1, 0);
    let text = "does not have a supported extension. Only png, jpg, jpeg, gif, bmp, tiff, ico, and webp are supported";
    let no_picture = json!({ "message": { "file": [text] } });

    let refused = upload(&dev, &path, ("a.png", &large), &[]).await;

    refused.refused(400, json!({ "message": "400 Bad request - File is too large" }));
    for odd in [("a.svg", PNG), ("a.png", b"<script>".as_slice())] {
        upload(&dev, &path, odd, &[]).await.refused(400, no_picture.clone());
    }
    let url = [("url", "javascript:alert(1)")];
    upload(&dev, &path, ("a.png", PNG), &url).await.with(400);
    let long = "x".repeat(129);
    let refusal = json!({ "message": { "url_text": ["is too long (maximum is 128 characters)"] } });
    upload(&dev, &path, ("a.png", PNG), &[("url_text", &long)]).await.refused(400, refusal);
    dev.post(&path, json!({})).await.refused(400, json!({ "error": "file is missing" }));
    assert_eq!((uploads(&app), dev.get(&path).await.ok()), (0, json!([])));

    let made = upload(&dev, &path, ("a.png", PNG), &[]).await.created();
    let refusal = json!({ "message": "Metric image could not be updated" });
    dev.put(&format!("{path}/{}", made["id"]), json!({ "url_text": long }))
        .await
        .refused(422, refusal);
}

#[actix_web::test]
async fn pictures_are_for_developers() {
    let app = TestApp::new();
    let (project, dev, path) = with_alert(&app).await;
    let made = upload(&dev, &path, ("a.png", PNG), &[]).await.created();
    let file = made["file_path"].as_str().expect("an address");
    let file = file.replace("http://forge.test", "/");
    let one = format!("{path}/{}", made["id"]);
    let (rob, eve) = (app.member(project, "rob", Reporter), app.person("eve"));

    app.anonymous().get(&path).await.with(401);
    rob.get(&path).await.refused(404, json!({ "message": "Alert not found" }));
    eve.get(&path).await.with(404);
    upload(&rob, &path, ("a.png", PNG), &[]).await.with(403);
    rob.put(&one, json!({ "url_text": "x" })).await.with(403);
    rob.delete(&one).await.with(403);
    for person in [&rob, &eve, &app.anonymous()] {
        person.get(&file).await.with(404);
    }
    dev.get(&file.replace("a.png", "b.png")).await.with(404);
    let nowhere = path.replace("_alerts/1/", "_alerts/9/");
    let none = json!({ "message": "Alert not found" });
    dev.get(&nowhere).await.refused(404, none.clone());
    upload(&dev, &nowhere, ("a.png", PNG), &[]).await.refused(404, none);
}

#[actix_web::test]
async fn who_may_add_a_picture_is_told_how_large_it_may_be() {
    let app = TestApp::new();
    let (project, dev, path) = with_alert(&app).await;

    let told = dev.post(&format!("{path}/authorize"), json!({})).await.ok();

    assert_eq!(told, json!({ "MaximumSize": 1 << 20 }));
    let rob = app.member(project, "rob", Reporter);
    rob.post(&format!("{path}/authorize"), json!({})).await.with(403);
    dev.post(&format!("{}/authorize", path.replace("_alerts/1/", "_alerts/9/")), json!({}))
        .await
        .with(404);
}

#[actix_web::test]
async fn pictures_come_in_pages() {
    let app = TestApp::new();
    let (_, dev, path) = with_alert(&app).await;
    for name in ["a.png", "b.png", "c.png"] {
        upload(&dev, &path, (name, PNG), &[]).await.created();
    }
    let names = async |query: &str| dev.get(&format!("{path}{query}")).await.each("filename");
    assert_eq!(names("").await, ["a.png", "b.png", "c.png"]);
    assert_eq!(names("?per_page=2&page=2").await, ["c.png"]);
    assert_eq!(names("?per_page=2&page=3").await, Vec::<Value>::new());
    dev.get(&format!("{path}?per_page=x")).await.with(400);
}
