//! How long issues take.

use kernel::{AccessLevel::Guest, Visibility::Private};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

fn stats(
    estimate: i64,
    spent: i64,
    human_estimate: Option<&str>,
    human_spent: Option<&str>,
) -> Value {
    json!({ "time_estimate": estimate, "total_time_spent": spent,
            "human_time_estimate": human_estimate, "human_total_time_spent": human_spent })
}

/// The path of a new issue of `ada`'s.
async fn issue(app: &TestApp) -> (Person<'_>, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let issues = format!("/projects/{project}/issues");
    let made = ada.post(&issues, json!({ "title": "One" })).await.created();
    (ada, format!("{issues}/{}", made["iid"]))
}

#[actix_web::test]
async fn an_estimate_is_set_and_taken_back() {
    let app = TestApp::new();
    let (ada, issue) = issue(&app).await;
    let estimate = format!("{issue}/time_estimate");

    let set = ada.post(&estimate, json!({ "duration": "3h 30m" })).await.ok();
    assert_eq!(set, stats(12_600, 0, Some("3h 30m"), None));
    assert_eq!(ada.get(&format!("{issue}/time_stats")).await.ok(), set);
    assert_eq!(ada.get(&issue).await.ok()["time_stats"], set);
    let reset = ada.post(&format!("{issue}/reset_time_estimate"), json!({})).await.ok();
    assert_eq!(reset, stats(0, 0, None, None));
    ada.post(&estimate, json!({ "duration": "0" })).await.ok();
    assert_eq!(app.system_notes(), ["changed time estimate to 3h 30m", "removed time estimate"]);
    let refusal = "must have a valid format and be greater than or equal to zero.";
    for wrong in ["soon", "-1h", ""] {
        let told = json!({ "message": { "time_estimate": [refusal] } });
        ada.post(&estimate, json!({ "duration": wrong })).await.refused(400, told);
    }
    ada.post(&estimate, json!({})).await.refused(400, json!({ "error": "duration is missing" }));
}

#[actix_web::test]
async fn time_is_spent_and_taken_back() {
    let app = TestApp::new();
    let (ada, issue) = issue(&app).await;
    let spend = format!("{issue}/add_spent_time");

    let spent = ada.post(&spend, json!({ "duration": "1d", "summary": "dug" })).await.created();
    assert_eq!(spent, stats(0, 28_800, None, Some("1d")));
    let less = ada.post(&spend, json!({ "duration": "-2h" })).await.created();
    assert_eq!(less, stats(0, 21_600, None, Some("6h")));
    let too_much =
        json!({ "message": { "base": ["Time to subtract exceeds the total time spent"] } });
    ada.post(&spend, json!({ "duration": "-1w" })).await.refused(400, too_much);
    let blank = json!({ "message": { "timelogs.time_spent": ["can't be blank"] } });
    for wrong in ["0", "soon"] {
        ada.post(&spend, json!({ "duration": wrong })).await.refused(400, blank.clone());
    }
    let long = json!({ "duration": "1h", "summary": "x".repeat(256) });
    let told =
        json!({ "message": { "timelogs.summary": ["is too long (maximum is 255 characters)"] } });
    ada.post(&spend, long).await.refused(400, told);
    let reset = ada.post(&format!("{issue}/reset_spent_time"), json!({})).await.ok();
    assert_eq!(reset, stats(0, 0, None, None));
    assert_eq!(
        app.system_notes(),
        ["added 1d of time spent", "subtracted 2h of time spent", "removed time spent"]
    );
}

#[actix_web::test]
async fn guests_read_how_long_it_takes_and_say_nothing_of_it() {
    let app = TestApp::new();
    let (ada, issue) = issue(&app).await;
    let project = issue.split('/').nth(2).unwrap().parse().map(kernel::ids::ProjectId).unwrap();
    let guest = app.member(project, "gus", Guest);

    guest.get(&format!("{issue}/time_stats")).await.ok();
    let refused = guest.post(&format!("{issue}/time_estimate"), json!({ "duration": "1h" })).await;
    refused.refused(403, json!({ "message": "403 Forbidden" }));
    let none = ada.get(&format!("/projects/{project}/issues/9/time_stats")).await;
    none.refused(404, json!({ "message": "404 Not found" }));
}
