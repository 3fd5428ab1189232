//! Alerts from monitors: `gateway/src/alert_intake.rs`, `crates/security/src/alert`.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility,
};
use serde_json::{Value, json};
use time::Duration;

use super::monitor::{Monitor, alerts, integrate, prometheus, set_up};
use crate::support::{Answer, TestApp};

/// A refusal without words.
#[track_caller]
fn bare(answer: &Answer, status: u16) {
    assert_eq!((answer.status, answer.bytes.len()), (status, 0), "{answer:?}");
}

#[actix_web::test]
async fn an_alert_is_stored_with_all_that_was_told() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let told = json!({
        "title": "Disk is full", "description": "99 %", "service": "db", "monitoring_tool": "nagios",
        "hosts": ["a", ["b"]], "severity": "High", "start_time": "2020-02-03T04:05:06Z",
        "gitlab_environment_name": "production", "nested": { "more": [1, 2] },
    });

    let answer = monitor.send(told.clone()).await.ok();

    assert_eq!(answer, json!([{ "iid": 1, "title": "Disk is full" }]));
    let [alert] = &alerts(&mia, project).await[..] else { panic!("one alert") };
    let expected = json!({
        "iid": 1, "project_id": project, "title": "Disk is full", "description": "99 %", "severity": "high",
        "status": "triggered", "service": "db", "monitoring_tool": "nagios", "hosts": ["a", "b"],
        "environment_name": "production", "environment_id": null, "runbook": null, "started_at": "2020-02-03T04:05:06.000Z", "ended_at": null,
        "event_count": 1, "issue_id": null, "details": told,
        "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z",
    });
    assert_eq!(alert, &expected);
}

#[actix_web::test]
async fn an_alert_names_an_environment_where_there_is_one() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let new = json!({ "name": "production" });
    let made = mia.post(&format!("/projects/{project}/environments"), new).await.created();

    for (title, name) in [("a", "production"), ("b", "staging")] {
        monitor.send(json!({ "title": title, "gitlab_environment_name": name })).await.ok();
    }

    let all = alerts(&mia, project).await;
    assert_eq!((&all[1]["environment_id"], &all[0]["environment_id"]), (&made["id"], &json!(null)));
    assert_eq!(all[0]["environment_name"], "staging");
}

#[actix_web::test]
async fn nothing_has_to_be_told() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;

    let first = monitor.send(json!({})).await.ok();
    let second = monitor.send_text("").await.ok();

    assert_eq!(first, json!([{ "iid": 1, "title": "New: Alert" }]));
    assert_eq!(
        second,
        json!([{ "iid": 2, "title": "New: Alert" }]),
        "nothing tells it from others"
    );
    let all = alerts(&mia, project).await;
    assert_eq!(all[0]["severity"], "critical");
    assert_eq!(all[0]["started_at"], "2026-01-01T00:00:00.000Z");
}

#[actix_web::test]
async fn the_same_again_is_one_more_event_until_it_is_over() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let told = |more: Value| {
        let mut told = json!({ "title": "down", "x": { "a": 1, "b": 2 } });
        for (name, value) in more.as_object().expect("fields") {
            told[name] = value.clone();
        }
        told
    };
    monitor.send(told(json!({ "start_time": "2020-01-01T00:00:00Z" }))).await.ok();
    app.clock.advance(Duration::hours(1));
    let again =
        monitor.send(told(json!({ "hosts": "h", "start_time": "2021-01-01T00:00:00Z" }))).await;
    assert_eq!(again.ok(), json!([{ "iid": 1, "title": "down" }]));
    let path = format!("/projects/{project}/alert_management_alerts/1");
    let alert = mia.get(&path).await.ok();
    assert_eq!(
        (&alert["event_count"], &alert["updated_at"]),
        (&json!(2), &json!("2026-01-01T00:00:00.000Z")),
        "nothing else is changed"
    );
    for status in ["acknowledged", "ignored"] {
        mia.put(&path, json!({ "status": status })).await.ok();
        monitor.send(told(json!({}))).await.ok();
    }
    assert_eq!(mia.get(&path).await.ok()["event_count"], 4);

    let over = monitor.send(told(json!({ "end_time": "2022-01-01T00:00:00Z" }))).await.ok();

    assert_eq!(over, json!([{ "iid": 1, "title": "down" }]));
    let alert = mia.get(&path).await.ok();
    assert_eq!(
        (&alert["status"], &alert["ended_at"]),
        (&json!("resolved"), &json!("2022-01-01T00:00:00.000Z"))
    );
    bare(&monitor.send(told(json!({ "end_time": 1_640_995_200_000_i64 }))).await, 400);
    assert_eq!(monitor.send(told(json!({}))).await.ok()[0]["iid"], 2);
    assert_eq!(alerts(&mia, project).await.len(), 2);
    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    let own = kinds.iter().filter(|kind| kind.starts_with("alert."));
    assert_eq!(own.collect::<Vec<_>>(), ["alert.triggered", "alert.resolved", "alert.triggered"]);
}

#[actix_web::test]
async fn refusals_come_in_their_order_and_without_words() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
    let large = json!({ "a": "x".repeat(1 << 20) }).to_string();
    let wrong = Monitor { key: "0".repeat(32), path: monitor.path.clone(), app: &app };
    let nowhere = monitor.path.replace("/one/", "/two/");
    wrong.send_to(&nowhere, large.as_bytes()).await.with(404);
    let unknown = "//olga/one/alerts/notify/x/0000000000000000.json";
    for odd in [deep.as_str(), large.as_str(), "{", "[]", "{\"a\":\"\\u0000\"}"] {
        bare(&wrong.send_to(unknown, odd.as_bytes()).await, 400);
    }
    bare(&wrong.send_to(&wrong.path, b"{\"a\":\"\xff\"}").await, 400);
    bare(&wrong.send_to(unknown, b"{}").await, 403);
    bare(&wrong.send(json!({})).await, 401);
    bare(&app.anonymous().post(&monitor.path, json!({})).await, 401);
    bare(&monitor.send_by_password("mia", json!({})).await, 401);
    let integration =
        mia.get(&format!("/projects/{project}/alert_management_integrations")).await.ok();
    let path =
        format!("/projects/{project}/alert_management_integrations/{}", integration[0]["id"]);
    mia.put(&path, json!({ "active": false })).await.ok();
    bare(&monitor.send(json!({})).await, 403);
    assert!(alerts(&mia, project).await.is_empty(), "nothing was kept");

    mia.put(&path, json!({ "active": true })).await.ok();
    monitor.send_by_password("", json!({})).await.ok();
    monitor.send_text(&format!("{{\"a\":{}{}}}", "[".repeat(99), "]".repeat(99))).await.ok();
    let many: Vec<String> = (0..10_000).map(|key| format!("\"k{key}\":{key}")).collect();
    monitor.send_text(&format!("{{{}}}", many.join(","))).await.ok();
    assert_eq!(alerts(&mia, project).await.len(), 3);
}

#[actix_web::test]
async fn every_address_leads_to_its_integration() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let second = Monitor::of(&app, &integrate(&mia, project, json!({ "name": "Second" })).await);
    assert!(monitor.path.starts_with("//olga/one/alerts/notify/my-monitor/"), "{}", monitor.path);
    let without = monitor.path.strip_suffix(".json").expect("a suffix");
    let renamed = monitor.path.replace("my-monitor", "whatever");
    let legacy = "//olga/one/alerts/notify/one/legacy.json";
    let first = ["//olga/one/alerts/notify.json", "//olga/one/alerts/notify"];
    for path in first.into_iter().chain([without, &renamed, legacy]) {
        monitor.send_to(path, b"{}").await.ok();
        bare(&second.send_to(path, b"{}").await, 401);
    }
    second.send(json!({})).await.ok();
    bare(&monitor.send_to("//olga/one/prometheus/alerts/notify.json", b"{}").await, 422);
    let call = prometheus(&[]).to_string();
    let none = monitor.send_to("//olga/one/prometheus/alerts/notify.json", call.as_bytes()).await;
    bare(&none, 401);
    assert_eq!(alerts(&mia, project).await.len(), 6);
}

#[actix_web::test]
async fn prometheus_sends_several_at_once() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "prometheus").await;
    let alert = |name: &str, status: &str| {
        json!({
            "status": status, "labels": { "alertname": name, "severity": "warning" }, "annotations": {},
            "startsAt": "2020-02-03T04:05:06Z", "endsAt": "2020-02-03T05:00:00Z", "generatorURL": "http://p.test/?g0.expr=up",
        })
    };
    let path = "//olga/one/prometheus/alerts/notify.json";
    let call =
        prometheus(&[alert("a", "firing"), json!({ "odd": 1 }), alert("b", "firing"), json!(7)]);

    bare(&monitor.send_to(path, call.to_string().as_bytes()).await, 201);
    bare(&monitor.send(prometheus(&[alert("a", "firing"), alert("b", "resolved")])).await, 201);

    let all = alerts(&mia, project).await;
    let seen: Vec<_> =
        all.iter().map(|one| (&one["title"], &one["status"], &one["event_count"])).collect();
    assert_eq!(
        seen,
        [
            (&json!("b"), &json!("resolved"), &json!(1)),
            (&json!("a"), &json!("triggered"), &json!(2))
        ]
    );
    assert_eq!(
        (&all[0]["severity"], &all[0]["monitoring_tool"]),
        (&json!("low"), &json!("Prometheus"))
    );
    assert_eq!(all[0]["ended_at"], "2020-02-03T05:00:00.000Z");
    bare(&monitor.send(prometheus(&[alert("b", "resolved")])).await, 201);
    let many: Vec<Value> = (0..150).map(|one| alert(&format!("n{one}"), "firing")).collect();
    bare(&monitor.send(prometheus(&many)).await, 201);
    assert_eq!(
        app.state
            .db
            .read(move |tx| {
                use security::alert::{AlertFilter, AlertStore as _};
                let page = kernel::page::PageRequest { page: 1, per_page: 1 };
                tx.alerts(project, &AlertFilter::default(), page)
            })
            .await
            .expect("alerts")
            .total,
        kernel::page::Total::Counted(102)
    );
    let wrong = Monitor { key: "0".repeat(32), path: monitor.path.clone(), app: &app };
    bare(&wrong.send(prometheus(&[])).await, 401);
    let unknown = "//olga/one/alerts/notify/x/0000000000000000.json";
    bare(&monitor.send_to(unknown, prometheus(&[]).to_string().as_bytes()).await, 401);
}

#[actix_web::test]
async fn fields_are_found_where_an_integration_says() {
    let app = TestApp::new();
    let (project, mia, _) = set_up(&app, "http").await;
    let mappings = json!([
        { "field_name": "title", "path": ["event", "names", "0"] },
        { "field_name": "severity", "path": ["event", "level"] },
        { "field_name": "end_time", "path": ["event", "over"] },
    ]);
    let integration =
        integrate(&mia, project, json!({ "payload_attribute_mappings": mappings })).await;
    let monitor = Monitor::of(&app, &integration);

    monitor
        .send(json!({ "event": { "names": ["odd"], "level": "low" }, "title": "plain" }))
        .await
        .ok();
    let over = json!({ "event": { "names": ["odd"], "level": "low", "over": "2026-01-01" }, "title": "plain" });
    monitor.send(over).await.ok();

    let [alert] = &alerts(&mia, project).await[..] else { panic!("one alert") };
    assert_eq!(
        (&alert["title"], &alert["severity"], &alert["status"]),
        (&json!("odd"), &json!("low"), &json!("resolved"))
    );
}

#[actix_web::test]
async fn alerts_are_read_and_moved_by_developers() {
    let app = TestApp::new();
    let (project, _, monitor) = set_up(&app, "http").await;
    let dev = app.member(project, "dev", Developer);
    monitor.send(json!({ "title": "a", "severity": "low" })).await.ok();
    monitor.send(json!({ "title": "b" })).await.ok();
    let path = format!("/projects/{project}/alert_management_alerts");
    let titles = async |query: &str| dev.get(&format!("{path}{query}")).await.each("title");
    assert_eq!(titles("").await, ["b", "a"]);
    assert_eq!(titles("?severity=low").await, ["a"]);
    assert_eq!(titles("?per_page=1&page=2").await, ["a"]);
    dev.put(&format!("{path}/1"), json!({ "status": "resolved" })).await.ok();
    assert_eq!(titles("?status=resolved").await, ["a"]);
    monitor.send(json!({ "title": "a", "severity": "low" })).await.ok();
    let reopened = dev.put(&format!("{path}/1"), json!({ "status": "triggered" })).await;
    let text = "An alert with the same fingerprint is already open. To change the status of this alert, resolve the linked alert.";
    reopened.refused(400, json!({ "message": text }));
    assert_eq!(
        dev.put(&format!("{path}/2"), json!({ "status": "triggered" })).await.ok()["status"],
        "triggered"
    );
    dev.get(&format!("{path}/99")).await.refused(404, json!({ "message": "404 Alert Not Found" }));
    dev.get(&format!("{path}?status=odd")).await.with(400);

    let (rob, eve) = (app.member(project, "rob", Reporter), app.person("eve"));
    rob.get(&path).await.with(403);
    rob.put(&format!("{path}/1"), json!({ "status": "ignored" })).await.with(403);
    eve.get(&path).await.with(404);
    app.anonymous().get(&path).await.with(401);
}

#[actix_web::test]
async fn a_project_takes_so_many_calls_a_minute() {
    let limits = gateway::app::Limits { alerts_per_minute: 2, ..Default::default() };
    let app = TestApp::with_limits(limits);
    let (_, _, monitor) = set_up(&app, "http").await;
    let wrong = Monitor { key: String::new(), path: monitor.path.clone(), app: &app };
    for _ in 0..3 {
        bare(&wrong.send(json!({})).await, 401);
    }
    monitor.send(json!({})).await.ok();
    monitor.send(json!({})).await.ok();

    monitor.send(json!({})).await.with(429);

    let other = app.project(&app.person("olga"), "two", Visibility::Private);
    let integration = integrate(&app.person("olga"), other, json!({})).await;
    Monitor::of(&app, &integration).send(json!({})).await.ok();
}

#[actix_web::test]
async fn a_flood_of_the_same_is_one_alert() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let told = json!({ "title": "down" });
    let flood = (0..40).map(|_| monitor.send(told.clone()));

    for answer in futures_util::future::join_all(flood).await {
        assert_eq!(answer.ok(), json!([{ "iid": 1, "title": "down" }]));
    }

    let [alert] = &alerts(&mia, project).await[..] else { panic!("one alert") };
    assert_eq!(alert["event_count"], 40);
}

#[actix_web::test]
async fn a_payload_of_a_megabyte_is_kept_whole_and_one_byte_more_is_not() {
    let app = TestApp::new();
    let (project, mia, monitor) = set_up(&app, "http").await;
    let keys: Vec<String> = (0..10_000).map(|key| format!("\"key-{key:05}\":{key}")).collect();
    let head = format!("{{\"title\":\"wide\",{},\"rest\":\"", keys.join(","));
    let fill = (1 << 20) - head.len() - 2;
    let text = |more: usize| format!("{head}{}\"}}", "x".repeat(fill + more));

    monitor.send_text(&text(0)).await.ok();
    bare(&monitor.send_text(&text(1)).await, 400);

    let [alert] = &alerts(&mia, project).await[..] else { panic!("one alert") };
    assert_eq!((&alert["details"]["key-09999"], &alert["event_count"]), (&json!(9_999), &json!(1)));
    assert_eq!(alert["details"].as_object().map(serde_json::Map::len), Some(10_002));
}

#[actix_web::test]
async fn the_document_describes_where_alerts_are_sent() {
    let document = gateway::openapi::document(&gateway::rest::described());
    for path in [
        "/{project_path}/alerts/notify.json",
        "/{project_path}/alerts/notify/{name}/{endpoint_id}.json",
        "/{project_path}/prometheus/alerts/notify.json",
    ] {
        let operation = &document["paths"][path]["post"];
        assert!(operation["responses"]["400"].is_object(), "{path}");
        let names = operation["parameters"].as_array().expect("a list").len();
        assert_eq!(names, path.matches('{').count(), "{path}");
    }
}
