//! The rules of one merge request.

use kernel::AccessLevel::Reporter;
use serde_json::json;

use super::merge_request_approvals::{forge, stored, usernames};
use crate::support::TestApp;

#[actix_web::test]
async fn a_merge_request_may_have_rules_of_its_own() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let named = [app.user("ada").id.0];
    let source =
        forge.rule(json!({ "name": "Review", "approvals_required": 1, "user_ids": named })).await;
    let (own, state) =
        (format!("{}/approval_rules", forge.at), format!("{}/approval_state", forge.at));
    assert_eq!(forge.dev.get(&own).await.ok(), json!([]));

    let copy =
        json!({ "name": "x", "approvals_required": 2, "approval_project_rule_id": source["id"] });
    let made = forge.dev.post(&own, copy).await.created();

    assert_eq!((&made["name"], &made["approvals_required"]), (&json!("Review"), &json!(2)));
    assert_eq!(
        (&made["source_rule"], &made["overridden"]),
        (&json!({ "approvals_required": 1 }), &json!(true))
    );
    assert_eq!(usernames(&made["users"]), ["ada"]);
    let shown = forge.dev.get(&state).await.ok();
    assert_eq!(shown["approval_rules_overwritten"], true);
    assert_eq!(shown["rules"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&shown["rules"][0]["id"], &shown["rules"][0]["approved"]),
        (&made["id"], &json!(false))
    );
    let one = format!("{own}/{}", made["id"]);
    assert_eq!(
        forge.dev.put(&one, json!({ "approvals_required": 0 })).await.ok()["approvals_required"],
        0
    );
    assert_eq!(forge.approvals(&forge.ada).await["approved"], true);
    forge.dev.delete(&one).await.with(204);
    forge.dev.get(&one).await.refused(404, json!({ "message": "404 Not found" }));
    assert_eq!(forge.dev.get(&state).await.ok()["rules"][0]["id"], source["id"]);
}

#[actix_web::test]
async fn the_rules_of_a_project_may_be_the_only_ones() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let own = format!("{}/approval_rules", forge.at);
    let approvals = format!("{}/approvals", forge.at);
    let new = json!({ "name": "Mine", "approvals_required": 1 });
    forge.dev.post(&own, new.clone()).await.created();

    forge.configure(json!({ "disable_overriding_approvers_per_merge_request": true })).await;

    forge.dev.post(&own, new).await.refused(403, json!({ "message": "403 Forbidden" }));
    let told = json!({ "error": "Overriding approvals is disabled" });
    forge.dev.post(&approvals, json!({ "approvals_required": 1 })).await.refused(422, told);
    let state = forge.dev.get(&format!("{}/approval_state", forge.at)).await.ok();
    assert_eq!(
        (&state["approval_rules_overwritten"], &state["rules"]),
        (&json!(false), &json!([]))
    );
}

#[actix_web::test]
async fn the_installation_may_keep_merge_requests_to_the_rules_of_their_projects() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let own = format!("{}/approval_rules", forge.at);
    let named = [app.user("ada").id.0];
    let new = json!({ "name": "Mine", "approvals_required": 1, "user_ids": named });
    forge.dev.post(&own, new.clone()).await.created();
    assert_eq!(stored(&app), [false]);

    let lock = json!({ "disable_overriding_approvers_per_merge_request": true });
    app.admin().put("/application/settings", lock).await.ok();
    app.work().await;

    assert_eq!(stored(&app), [true], "no rule counts any more");
    forge.dev.post(&own, new).await.refused(403, json!({ "message": "403 Forbidden" }));
    let told = json!({ "error": "Overriding approvals is disabled" });
    let approvals = format!("{}/approvals", forge.at);
    forge.dev.post(&approvals, json!({ "approvals_required": 1 })).await.refused(422, told);
    forge.configure(json!({ "disable_overriding_approvers_per_merge_request": false })).await;
    let shown = forge.ada.get(&format!("/projects/{}/approvals", forge.project)).await.ok();
    assert_eq!(shown["disable_overriding_approvers_per_merge_request"], true);
}

#[actix_web::test]
async fn a_number_of_approvals_is_a_rule_of_the_merge_request() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let approvals = format!("{}/approvals", forge.at);

    let kept = forge.dev.post(&approvals, json!({ "approvals_required": 2 })).await.created();

    assert_eq!((&kept["approvals_required"], &kept["approved"]), (&json!(2), &json!(false)));
    let own = forge.dev.get(&format!("{}/approval_rules", forge.at)).await;
    assert_eq!(own.each("rule_type"), ["any_approver"]);
    let reporter = app.member(forge.project, "reporter", Reporter);
    let forbidden = json!({ "message": "403 Forbidden" });
    reporter.post(&approvals, json!({ "approvals_required": 0 })).await.refused(403, forbidden);
    let missing = json!({ "error": "approvals_required is missing" });
    forge.dev.post(&approvals, json!({})).await.refused(400, missing);
}
