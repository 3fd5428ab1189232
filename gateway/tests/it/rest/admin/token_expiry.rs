//! When webhooks are told of tokens that end soon.

use kernel::Visibility::Private;
use serde_json::json;
use time::Duration;

use super::receiver::{Receiver, deliver};
use crate::support::TestApp;

#[actix_web::test]
async fn a_token_is_told_of_a_week_before_its_end_and_on_its_last_day() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let hook = receiver.hook(&["resource_access_token_events"]);
    ada.post(&format!("/projects/{project}/hooks"), hook).await.created();
    let tokens = format!("/projects/{project}/access_tokens");
    for (name, end) in [("ci", "2026-01-09"), ("far", "2026-06-01"), ("gone", "2026-01-09")] {
        let new = json!({ "name": name, "scopes": ["api"], "expires_at": end });
        let made = ada.post(&tokens, new).await.created();
        if name == "gone" {
            ada.delete(&format!("{tokens}/{}", made["id"])).await.with(204);
        }
    }
    app.recurring().await;
    app.clock.advance(Duration::hours(1));
    let mut days = Vec::new();
    for day in 2..=10 {
        app.clock.advance(Duration::days(1));
        app.recurring().await;
        deliver(&app).await;
        let told = receiver.told();
        let names = told.iter().map(|one| one.body["object_attributes"]["name"].clone());
        days.extend(names.map(|name| (day, name)));
    }

    assert_eq!(days, [(2, json!("ci")), (8, json!("ci"))]);
}
