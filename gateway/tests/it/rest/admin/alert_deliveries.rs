//! New alerts in chat rooms: `crates/forge/src/webhook/announce/alert.rs`.

use serde_json::json;

use super::receiver::{Receiver, deliver};
use crate::{rest::security::monitor::set_up, support::TestApp};

#[actix_web::test]
async fn chat_rooms_hear_of_new_alerts_where_they_ask_for_these() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (project, mia, monitor) = set_up(&app, "http").await;
    let path = format!("/projects/{project}/integrations/pumble");
    let mut given = json!({ "webhook": receiver.url("room") });
    assert_eq!(mia.put(&path, given.clone()).await.ok()["alert_events"], false);
    monitor.send(json!({ "title": "Nobody asked" })).await.ok();
    given["alert_events"] = json!(true);
    assert_eq!(mia.put(&path, given).await.ok()["alert_events"], true);

    for _ in 0..2 {
        monitor.send(json!({ "title": "Disk is full", "severity": "high" })).await.ok();
    }
    deliver(&app).await;

    let told = receiver.told();
    let [told] = told.as_slice() else { panic!("{told:?}") };
    let alert = "[Disk is full](http://forge.test/olga/one/-/alert_management/2/details)";
    let line = format!("Alert {alert} of severity high was triggered");
    let text = told.body["text"].as_str().expect("a text");
    assert!(told.path == "/room" && text.ends_with(&line), "{text}");
}
