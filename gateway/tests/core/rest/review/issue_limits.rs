//! How many issues somebody may write in a minute.

use kernel::Visibility::Public;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn whoever_writes_issues_too_often_has_to_wait() {
    let limits = gateway::app::Limits { issues_per_minute: 2, ..Default::default() };
    let app = TestApp::with_limits(limits);
    let ada = app.person("ada");
    let issues = format!("/projects/{}/issues", app.project(&ada, "forge", Public));
    for _ in 0..2 {
        ada.post(&issues, json!({ "title": "again" })).await.created();
    }

    let refused = ada.post(&issues, json!({ "title": "one more" })).await;

    assert!(refused.header("retry-after").is_some());
    let text = "This endpoint has been requested too many times. Try again later.";
    refused.refused(429, json!({ "message": { "error": text } }));
    app.person("bob").post(&issues, json!({ "title": "another" })).await.created();
}
