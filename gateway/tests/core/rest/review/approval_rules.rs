//! The rules by which a project's merge requests are approved.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility::Private,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

fn forge(app: &TestApp) -> (Person<'_>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    (ada, project, format!("/projects/{project}/approval_rules"))
}

fn usernames(people: &Value) -> Vec<&str> {
    people.as_array().into_iter().flatten().filter_map(|one| one["username"].as_str()).collect()
}

#[actix_web::test]
async fn a_rule_names_members_and_groups_that_are_known() {
    let app = TestApp::new();
    let (ada, project, rules) = forge(&app);
    app.member(project, "dev", Developer);
    let eve = app.person("eve");
    let group = ada.post("/groups", json!({ "name": "Owls", "path": "owls" })).await.created();
    let hidden = json!({ "name": "Bats", "path": "bats", "visibility": "private" });
    let hidden = eve.post("/groups", hidden).await.created();
    assert_eq!(ada.get(&rules).await.ok(), json!([]));

    let users = [app.user("dev").id.0, app.user("eve").id.0, 999];
    let groups = [group["id"].clone(), hidden["id"].clone()];
    let new = json!({ "name": " Review ", "approvals_required": 1, "user_ids": users, "group_ids": groups });
    let made = ada.post(&rules, new).await.created();

    assert_eq!((&made["name"], &made["rule_type"]), (&json!("Review"), &json!("regular")));
    assert_eq!(usernames(&made["users"]), ["dev"]);
    assert_eq!(usernames(&made["eligible_approvers"]), ["ada", "dev"]);
    assert_eq!(made["groups"][0]["full_path"], "owls");
    assert_eq!(made["groups"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&made["contains_hidden_groups"], &made["protected_branches"]),
        (&json!(false), &json!([]))
    );
    assert_eq!(made.get("report_type"), None);
    assert_eq!(ada.get(&rules).await.ok(), json!([made]));
    assert_eq!(ada.get(&format!("{rules}/{}", made["id"])).await.ok(), made);
}

#[actix_web::test]
async fn a_rule_is_changed_where_parameters_say_so_and_removed() {
    let app = TestApp::new();
    let (ada, project, rules) = forge(&app);
    app.member(project, "dev", Developer);
    let (ada_id, dev_id) = (app.user("ada").id.0, app.user("dev").id.0);
    let new =
        json!({ "name": "Review", "approvals_required": 1, "users": format!("{ada_id},{dev_id}") });
    let made = ada.post(&rules, new).await.created();
    let one = format!("{rules}/{}", made["id"]);

    let renamed = ada.put(&one, json!({ "name": "Look", "approvals_required": 2 })).await.ok();
    assert_eq!((&renamed["name"], &renamed["approvals_required"]), (&json!("Look"), &json!(2)));
    assert_eq!(usernames(&renamed["users"]), ["ada", "dev"]);
    let fewer = ada.put(&one, json!({ "usernames": ["DEV"] })).await.ok();
    assert_eq!(usernames(&fewer["users"]), ["dev"]);
    // Some clients send the record back with another number in it.
    let mut sent = fewer.clone();
    sent["approvals_required"] = json!(0);
    let kept = ada.put(&one, sent).await.ok();
    assert_eq!((usernames(&kept["users"]), &kept["approvals_required"]), (vec!["dev"], &json!(0)));
    assert_eq!(
        usernames(&ada.put(&one, json!({ "user_ids": [] })).await.ok()["users"]),
        Vec::<&str>::new()
    );

    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Not found" }));
    ada.delete(&one).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn a_rule_that_cannot_be_is_refused() {
    let app = TestApp::new();
    let (ada, _, rules) = forge(&app);
    ada.post(&rules, json!({ "name": "Review", "approvals_required": 1 })).await.created();
    ada.post(&rules, json!({ "name": "", "approvals_required": 1 })).await.created();

    for (sent, message) in [
        (
            json!({ "name": "Review", "approvals_required": 1 }),
            json!({ "name": ["has already been taken"] }),
        ),
        (
            json!({ "name": "Many", "approvals_required": 101 }),
            json!({ "approvals_required": ["must be less than or equal to 100"] }),
        ),
        (
            json!({ "name": "Few", "approvals_required": -1 }),
            json!({ "approvals_required": ["must be greater than or equal to 0"] }),
        ),
        (
            json!({ "name": "Report", "approvals_required": 1, "rule_type": "report_approver" }),
            json!({ "report_type": ["can't be blank"] }),
        ),
    ] {
        ada.post(&rules, sent).await.refused(400, json!({ "message": message }));
    }
    let second = json!({ "name": "x", "approvals_required": 1, "rule_type": "any_approver" });
    let exists = json!({ "rule_type": ["any-approver for the project already exists"] });
    ada.post(&rules, second).await.refused(400, json!({ "message": exists }));
    let missing = json!({ "error": "approvals_required is missing, name is missing" });
    ada.post(&rules, json!({})).await.refused(400, missing);
    let odd = json!({ "name": "x", "approvals_required": 1, "rule_type": "code_owner" });
    let invalid = json!({ "error": "rule_type does not have a valid value" });
    ada.post(&rules, odd).await.refused(400, invalid);
    assert_eq!(ada.get(&rules).await.each("name"), ["Review", "All Members"]);
}

#[actix_web::test]
async fn a_rule_may_be_for_protected_branches_alone() {
    let app = TestApp::new();
    let (ada, project, rules) = forge(&app);
    let branches = format!("/projects/{project}/protected_branches");
    let main = ada.post(&branches, json!({ "name": "main" })).await.created();
    let other = ada.post(&branches, json!({ "name": "v*" })).await.created();

    let some = json!({ "name": "Some", "approvals_required": 1, "protected_branch_ids": [main["id"], 999] });
    let some = ada.post(&rules, some).await.created();
    assert_eq!(some["protected_branches"], json!([main]));
    let all = json!({
        "name": "All", "approvals_required": 1,
        "applies_to_all_protected_branches": true, "protected_branch_ids": [main["id"]],
    });
    let all = ada.post(&rules, all).await.created();
    assert_eq!(all["protected_branches"], json!([main, other]));
    let one = format!("{rules}/{}", all["id"]);
    let fewer = json!({ "applies_to_all_protected_branches": false, "protected_branch_ids": [other["id"]] });
    assert_eq!(ada.put(&one, fewer).await.ok()["protected_branches"], json!([other]));
}

#[actix_web::test]
async fn report_rules_say_which_report() {
    let app = TestApp::new();
    let (ada, _, rules) = forge(&app);

    let new = json!({
        "name": "Coverage", "approvals_required": 1,
        "rule_type": "report_approver", "report_type": "code_coverage",
    });
    let made = ada.post(&rules, new).await.created();

    assert_eq!(
        (&made["rule_type"], &made["report_type"]),
        (&json!("report_approver"), &json!("code_coverage"))
    );
    assert_eq!(ada.get(&rules).await.ok(), json!([made]));
}

#[actix_web::test]
async fn groups_that_somebody_may_not_see_stay_unless_they_are_to_go() {
    let app = TestApp::new();
    let (ada, project, rules) = forge(&app);
    let grace = app.member(project, "grace", kernel::AccessLevel::Maintainer);
    let hidden = json!({ "name": "Bats", "path": "bats", "visibility": "private" });
    let hidden = grace.post("/groups", hidden).await.created();
    let new = json!({ "name": "Night", "approvals_required": 1, "group_ids": [hidden["id"]] });
    let made = grace.post(&rules, new).await.created();
    let one = format!("{rules}/{}", made["id"]);

    let seen = ada.get(&one).await.ok();
    assert_eq!((&seen["groups"], &seen["contains_hidden_groups"]), (&json!([]), &json!(true)));
    ada.put(&one, json!({ "group_ids": [] })).await.ok();
    assert_eq!(grace.get(&one).await.ok()["groups"][0]["id"], hidden["id"]);
    ada.put(&one, json!({ "remove_hidden_groups": true })).await.ok();
    assert_eq!(grace.get(&one).await.ok()["groups"], json!([]));
}

#[actix_web::test]
async fn rules_are_paged_and_made_by_maintainers() {
    let app = TestApp::new();
    let (ada, project, rules) = forge(&app);
    for name in ["One", "Two", "Three"] {
        ada.post(&rules, json!({ "name": name, "approvals_required": 0 })).await.created();
    }

    let page = ada.get(&format!("{rules}?per_page=2&page=2")).await;
    assert_eq!(page.header("x-total"), Some("3"));
    assert_eq!(page.each("name"), ["Three"]);
    let dev = app.member(project, "dev", Developer);
    assert_eq!(dev.get(&rules).await.each("name").len(), 3);
    let forbidden = json!({ "message": "403 Forbidden" });
    dev.post(&rules, json!({ "name": "x", "approvals_required": 0 })).await.refused(403, forbidden);
    app.member(project, "reporter", Reporter).get(&rules).await.ok();
    let other = app.project(&ada, "other", Private);
    let elsewhere = format!("/projects/{other}/approval_rules/1");
    ada.get(&elsewhere).await.refused(404, json!({ "message": "404 Not found" }));
}
