//! Approvals count while those who gave them have a role.

use kernel::AccessLevel::Developer;
use serde_json::json;

use super::merge_request_approvals::{forge, stored};
use crate::support::{Person, TestApp};

#[actix_web::test]
async fn whoever_joins_a_group_brings_their_approval_with_them() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let owls = forge.ada.post("/groups", json!({ "name": "Owls", "path": "owls" })).await.created();
    let grace = app.member(forge.project, "grace", Developer);
    let rule = json!({ "name": "Night", "approvals_required": 1, "group_ids": [owls["id"]] });
    forge.rule(rule).await;
    forge.approve(&grace).await;
    assert_eq!(stored(&app), [false]);

    let member = json!({ "user_id": app.user("grace").id.0, "access_level": 30 });
    forge.ada.post(&format!("/groups/{}/members", owls["id"]), member).await.created();

    assert_eq!(stored(&app), [true], "the answer waits for it");
}

#[actix_web::test]
async fn whoever_leaves_or_is_locked_out_has_not_approved() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let (grace, rob) = (
        app.member(forge.project, "grace", Developer),
        app.member(forge.project, "rob", Developer),
    );
    let id = |person: &Person<'_>| app.user(&person.username).id.0;
    let named = json!([id(&grace), id(&rob)]);
    forge.rule(json!({ "name": "Two", "approvals_required": 1, "user_ids": named })).await;
    forge.approve(&grace).await;
    let users = format!("/users/{}", id(&grace));

    for (step, approved) in [("block", false), ("unblock", true), ("ban", false)] {
        assert_eq!(stored(&app), [!approved], "before {step}");
        app.admin().post(&format!("{users}/{step}"), json!({})).await.with(201);
        assert_eq!(stored(&app), [approved], "after {step}");
    }
    app.admin().post(&format!("{users}/unban"), json!({})).await.with(201);
    let member = format!("/projects/{}/members/{}", forge.project, id(&grace));
    forge.ada.delete(&member).await.with(204);
    assert_eq!(stored(&app), [false]);
}

#[actix_web::test]
async fn whom_a_share_let_in_is_named_while_it_lasts() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let owls = forge.ada.group("owls", None).await;
    let grace = app.person("grace");
    forge.ada.adds("grace", 30, &format!("/groups/{owls}")).await;
    let share = json!({ "group_id": owls, "group_access": 30 });
    let shares = format!("/projects/{}/share", forge.project);
    forge.ada.post(&shares, share.clone()).await.created();
    let rule = json!({ "name": "Night", "approvals_required": 1, "group_ids": [owls] });
    forge.rule(rule).await;
    forge.approve(&grace).await;
    assert_eq!(stored(&app), [true]);

    forge.ada.delete(&format!("{shares}/{owls}")).await.with(204);
    let rules = format!("/projects/{}/approval_rules", forge.project);
    let named = forge.ada.get(&rules).await.ok();
    assert!(
        named.as_array().expect("rules").iter().all(|rule| rule["groups"] == json!([])),
        "{named}"
    );
    forge.ada.post(&shares, share).await.created();
    app.work().await;
    assert_eq!(forge.ada.get(&rules).await.ok(), named, "nobody is named again by itself");
}

#[actix_web::test]
async fn rules_for_other_branches_name_no_approvers() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let (grace, rob) = (app.member(forge.project, "grace", Developer), app.person("rob"));
    app.member(forge.project, "rob", Developer);
    let branches = format!("/projects/{}/protected_branches", forge.project);
    let releases = forge.ada.post(&branches, json!({ "name": "release/*" })).await.created();
    let id = |person: &Person<'_>| app.user(&person.username).id.0;
    forge.rule(json!({ "name": "All", "approvals_required": 1, "user_ids": [id(&grace)] })).await;
    forge
        .rule(json!({
            "name": "Releases", "approvals_required": 1, "user_ids": [id(&rob)],
            "protected_branch_ids": [releases["id"]],
        }))
        .await;
    let list = format!("/projects/{}/merge_requests", forge.project);
    let found =
        async |query: &str| forge.ada.get(&format!("{list}?{query}")).await.each("iid").len();

    assert_eq!(found(&format!("approver_ids[]={}", id(&grace))).await, 1);
    assert_eq!(found(&format!("approver_ids[]={}", id(&rob))).await, 0);
    let branch = json!({ "branch": "release/1", "ref": "main" });
    forge
        .ada
        .post(&format!("/projects/{}/repository/branches", forge.project), branch)
        .await
        .created();
    forge.ada.put(&forge.at, json!({ "target_branch": "release/1" })).await.ok();

    assert_eq!(found(&format!("approver_ids[]={}", id(&rob))).await, 1);
    assert_eq!(found("approver_ids=None").await, 0);
}
