//! How a project wants its merge requests approved.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer},
    Visibility::{Private, Public},
};
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn a_new_project_resets_approvals_and_asks_for_none() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);

    let config = ada.get(&format!("/projects/{project}/approvals")).await.ok();

    assert_eq!(
        config,
        json!({
            "approvers": [],
            "approver_groups": [],
            "approvals_before_merge": 0,
            "reset_approvals_on_push": true,
            "selective_code_owner_removals": false,
            "disable_overriding_approvers_per_merge_request": false,
            "merge_requests_author_approval": false,
            "merge_requests_disable_committers_approval": false,
            "require_password_to_approve": false,
        })
    );
}

#[actix_web::test]
async fn what_is_changed_is_kept_and_the_rest_stays() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let approvals = format!("/projects/{project}/approvals");

    let change =
        json!({ "merge_requests_author_approval": "yes", "require_password_to_approve": true });
    ada.post(&approvals, change).await.created();
    let change = json!({ "reset_approvals_on_push": false, "selective_code_owner_removals": true });
    let changed = ada.post(&approvals, change).await.created();

    for on in [
        "merge_requests_author_approval",
        "require_password_to_approve",
        "selective_code_owner_removals",
    ] {
        assert_eq!(changed[on], true, "{on}");
    }
    assert_eq!(changed["reset_approvals_on_push"], false);
    assert_eq!(ada.get(&approvals).await.ok(), changed);
    assert_eq!(ada.post(&approvals, json!({})).await.created(), changed);
}

#[actix_web::test]
async fn a_push_takes_back_all_approvals_or_some_but_not_both() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let approvals = format!("/projects/{project}/approvals");
    let told = "selective_code_owner_removals can only be enabled when reset_approvals_on_push is disabled";

    let both = json!({ "selective_code_owner_removals": true });
    let refusal = json!({ "message": { "base": [told] } });
    ada.post(&approvals, both).await.refused(400, refusal);
    let invalid = json!({ "error": "require_password_to_approve is invalid" });
    ada.post(&approvals, json!({ "require_password_to_approve": "perhaps" }))
        .await
        .refused(400, invalid);
    assert_eq!(ada.get(&approvals).await.ok()["selective_code_owner_removals"], false);
}

#[actix_web::test]
async fn a_number_of_approvals_is_a_rule_for_everybody() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let rules = format!("/projects/{project}/approval_rules");
    let approvals = format!("/projects/{project}/approvals");

    let changed = ada.post(&approvals, json!({ "approvals_before_merge": 2 })).await.created();

    assert_eq!(changed["approvals_before_merge"], 2);
    let rule = ada.get(&rules).await.ok()[0].clone();
    assert_eq!(
        (&rule["rule_type"], &rule["name"]),
        (&json!("any_approver"), &json!("All Members"))
    );
    assert_eq!(rule["approvals_required"], 2);
    ada.put(&format!("/projects/{project}"), json!({ "approvals_before_merge": 3 })).await.ok();
    assert_eq!(ada.get(&rules).await.each("approvals_required"), [3]);
    let negative =
        json!({ "message": { "approvals_before_merge": ["must be greater than or equal to 0"] } });
    ada.post(&approvals, json!({ "approvals_before_merge": -1 })).await.refused(400, negative);
}

#[actix_web::test]
async fn members_see_what_maintainers_change() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let approvals = format!("/projects/{project}/approvals");
    let forbidden = json!({ "message": "403 Forbidden" });

    app.person("stranger").get(&approvals).await.refused(403, forbidden.clone());
    app.member(project, "guest", Guest).get(&approvals).await.ok();
    let dev = app.member(project, "dev", Developer);
    dev.get(&approvals).await.ok();
    dev.post(&approvals, json!({})).await.refused(403, forbidden);
    app.member(project, "keeper", Maintainer).post(&approvals, json!({})).await.created();
}
