//! Push rules: `gateway/src/rest/repo/{group,project,instance}_push_rule.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

const ONE: &str = "/groups/one/push_rule";

async fn group(owner: &Person<'_>, path: &str, parent: Option<i64>) -> i64 {
    let fields = json!({ "name": path, "path": path, "parent_id": parent });
    owner.post("/groups", fields).await.created()["id"].as_i64().expect("an id")
}

fn project(app: &TestApp) -> (ProjectId, Person<'_>, String) {
    let owner = app.person("olga");
    let project = app.project(&owner, "one", Visibility::Private);
    (project, app.member(project, "mia", Maintainer), format!("/projects/{project}/push_rule"))
}

#[actix_web::test]
async fn a_groups_rule_says_what_was_asked_for_and_nothing_else() {
    let app = TestApp::new();
    let ada = app.person("ada");
    group(&ada, "one", None).await;

    let made = ada.post(ONE, json!({ "branch_name_regex": "^f-", "max_file_size": 5 })).await;

    let text = String::from_utf8(made.bytes.clone()).unwrap();
    let body = made.created();
    let at = body["created_at"].as_str().unwrap();
    let expected = format!(
        r#"{{"id":1,"created_at":"{at}","commit_message_regex":null,"commit_message_negative_regex":null,"branch_name_regex":"^f-","author_email_regex":null,"file_name_regex":null,"deny_delete_tag":false,"member_check":false,"prevent_secrets":false,"max_file_size":5,"commit_committer_check":false,"commit_committer_name_check":false,"reject_unsigned_commits":false,"reject_non_dco_commits":false}}"#
    );
    assert_eq!(text, expected);
    assert_eq!(ada.get(ONE).await.ok(), body);
    let again = "Group push rule exists, try updating";
    let taken = json!({ "message": again, "error": again });
    ada.post(ONE, json!({ "member_check": true })).await.refused(422, taken);
}

#[actix_web::test]
async fn a_projects_rule_has_an_order_of_its_own() {
    let app = TestApp::new();
    let (project, mia, path) = project(&app);

    let made = mia.post(&path, json!({ "deny_delete_tag": "true" })).await;

    let text = String::from_utf8(made.bytes.clone()).unwrap();
    let body = made.created();
    let at = body["created_at"].as_str().unwrap();
    let expected = format!(
        r#"{{"id":1,"project_id":{project},"created_at":"{at}","commit_message_regex":null,"commit_message_negative_regex":null,"branch_name_regex":null,"deny_delete_tag":true,"member_check":false,"prevent_secrets":false,"author_email_regex":null,"file_name_regex":null,"max_file_size":0,"commit_committer_check":false,"commit_committer_name_check":false,"reject_unsigned_commits":false,"reject_non_dco_commits":false}}"#
    );
    assert_eq!(text, expected);
    assert_eq!(mia.get(&path).await.ok(), body);
    let taken =
        json!({ "message": "Project push rule exists", "error": "Project push rule exists" });
    mia.post(&path, json!({ "member_check": true })).await.refused(422, taken);
}

#[actix_web::test]
async fn every_attribute_is_kept_changed_and_put_back() {
    let app = TestApp::new();
    let (_, mia, path) = project(&app);
    let all = json!({
        "commit_message_regex": "a", "commit_message_negative_regex": "b",
        "branch_name_regex": "c", "author_email_regex": "d", "file_name_regex": "e",
        "deny_delete_tag": true, "member_check": true, "prevent_secrets": true,
        "max_file_size": 7, "commit_committer_check": true, "commit_committer_name_check": true,
        "reject_unsigned_commits": true, "reject_non_dco_commits": true,
    });
    let made = mia.post(&path, all.clone()).await.created();

    for (name, value) in all.as_object().unwrap() {
        assert_eq!(made[name], *value, "{name}");
        let nothing = match value {
            Value::Bool(_) => json!(false),
            Value::Number(_) => json!(0),
            _ => Value::Null,
        };
        let changed = mia.put(&path, json!({ name: null })).await.ok();
        assert_eq!(changed[name], nothing, "{name}");
        let changed = mia.put(&path, json!({ name: value })).await.ok();
        assert_eq!(changed, made, "{name} is back, and nothing else has changed");
    }
    let blank = mia.put(&path, json!({ "branch_name_regex": "" })).await.ok();
    assert_eq!(blank["branch_name_regex"], "");
}

#[actix_web::test]
async fn what_cannot_be_demanded_is_told_and_changes_nothing() {
    let app = TestApp::new();
    let (_, mia, path) = project(&app);
    let made = mia.post(&path, json!({ "max_file_size": 1 })).await.created();
    let long = "is too long (maximum is 511 characters)";
    let longer = "is too long (maximum is 2047 characters)";

    for (field, value, text) in [
        ("max_file_size", json!(-1), "must be greater than or equal to 0"),
        ("max_file_size", json!(2_147_483_648_i64), "must be less than or equal to 2147483647"),
        ("commit_message_regex", json!("a".repeat(512)), long),
        ("branch_name_regex", json!("ü".repeat(512)), long),
        ("author_email_regex", json!("a".repeat(512)), long),
        ("file_name_regex", json!("a".repeat(512)), long),
        ("commit_message_negative_regex", json!("a".repeat(2048)), longer),
        ("branch_name_regex", json!("("), "not valid RE2 syntax: missing ): ("),
        ("file_name_regex", json!(r"(a)\1"), r"not valid RE2 syntax: invalid escape sequence: \1"),
        (
            "commit_message_regex",
            json!("^(?!WIP)"),
            "not valid RE2 syntax: invalid perl operator: (?!",
        ),
    ] {
        let body = json!({ "message": { field: [text] } });
        mia.put(&path, json!({ field: value })).await.refused(400, body);
    }
    mia.put(&path, json!({ "max_file_size": "much" }))
        .await
        .refused(400, json!({ "error": "max_file_size is invalid" }));
    let none = mia.put(&path, json!({})).await;
    assert_eq!(none.status, 400);
    let told = none.body["error"].as_str().unwrap();
    assert!(told.ends_with("are missing, at least one parameter must be provided"), "{told}");
    assert_eq!(mia.get(&path).await.ok(), made);
    mia.put(&path, json!({ "branch_name_regex": "ü".repeat(511) })).await.ok();
}

#[actix_web::test]
async fn where_there_is_no_rule_each_call_says_so_in_its_own_words() {
    let app = TestApp::new();
    let (_, mia, path) = project(&app);
    let ada = app.person("ada");
    group(&ada, "one", None).await;
    let change = json!({ "member_check": true });
    let told = |text: &str| json!({ "message": text });

    ada.get(ONE).await.refused(404, told("404 Not Found"));
    ada.put(ONE, change.clone()).await.refused(404, told("404 Push Rule Not Found"));
    ada.delete(ONE).await.refused(404, told("404 Not Found"));
    let nothing = mia.get(&path).await;
    assert_eq!((nothing.status, nothing.bytes.as_slice()), (200, &b"null"[..]));
    mia.put(&path, change).await.refused(404, told("404 Push Rule Not Found"));
    mia.delete(&path).await.refused(404, told("404 Push rule Not Found"));
}

#[actix_web::test]
async fn a_groups_rule_is_removed_unless_it_changed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    group(&ada, "one", None).await;
    ada.post(ONE, json!({ "member_check": true })).await.created();

    let early = ada.sending("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT");
    early.delete(ONE).await.refused(412, json!({ "message": "412 Precondition Failed" }));
    let later = ada.sending("If-Unmodified-Since", "Sat, 01 Jan 2050 00:00:00 GMT");
    assert_eq!(later.delete(ONE).await.status, 204);

    assert_eq!(ada.get(ONE).await.status, 404);
}

#[actix_web::test]
async fn a_projects_rule_is_removed_whenever_it_changed() {
    let app = TestApp::new();
    let (_, mia, path) = project(&app);
    mia.post(&path, json!({ "member_check": true })).await.created();

    let early = mia.sending("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT");
    assert_eq!(early.delete(&path).await.status, 204);

    assert_eq!(mia.get(&path).await.bytes, b"null");
}

#[actix_web::test]
async fn owners_write_a_groups_rule_maintainers_read_it_and_others_learn_nothing() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = group(&ada, "one", None).await;
    ada.post(ONE, json!({ "member_check": true })).await.created();
    let member = async |name: &str, level: i32| {
        let person = app.person(name);
        let user = app.user(name).id;
        let fields = json!({ "user_id": user, "access_level": level });
        ada.post(&format!("/groups/{id}/members"), fields).await.created();
        person
    };
    let (max, dan) = (member("max", 40).await, member("dan", 30).await);
    let nothing = json!({ "message": "404 Not Found" });
    let change = json!({ "member_check": false });

    assert_eq!(max.get(ONE).await.ok()["member_check"], true);
    for person in [&max, &dan] {
        person.post(ONE, change.clone()).await.refused(404, nothing.clone());
        person.put(ONE, change.clone()).await.refused(404, nothing.clone());
        person.delete(ONE).await.refused(404, nothing.clone());
    }
    dan.get(ONE).await.refused(404, nothing);
    app.anonymous().get(ONE).await.refused(401, json!({ "message": "401 Unauthorized" }));
    assert_eq!(app.admin().put(ONE, change).await.ok()["member_check"], false);
}

#[actix_web::test]
async fn a_projects_rule_is_for_its_maintainers() {
    let app = TestApp::new();
    let (project, mia, path) = project(&app);
    let dan = app.member(project, "dan", Developer);
    mia.post(&path, json!({ "member_check": true })).await.created();
    let forbidden = json!({ "message": "403 Forbidden" });

    dan.get(&path).await.refused(403, forbidden.clone());
    dan.put(&path, json!({ "member_check": false })).await.refused(403, forbidden.clone());
    dan.delete(&path).await.refused(403, forbidden);
    let hidden = json!({ "message": "404 Project Not Found" });
    app.person("zoe").get(&path).await.refused(404, hidden);
    assert_eq!(mia.get(&path).await.ok()["member_check"], true);
}

#[actix_web::test]
async fn a_new_project_begins_with_the_rule_of_the_nearest_group() {
    let app = TestApp::new();
    let (ada, root) = (app.person("ada"), app.admin());
    let top = group(&ada, "one", None).await;
    let middle = group(&ada, "middle", Some(top)).await;
    let low = group(&ada, "low", Some(middle)).await;
    root.post("/push_rule", json!({ "branch_name_regex": "everywhere" })).await.created();
    let made = async |namespace: Option<i64>, name: &str| {
        let fields = json!({ "name": name, "namespace_id": namespace });
        let id = ada.post("/projects", fields).await.created()["id"].clone();
        let rule = ada.get(&format!("/projects/{id}/push_rule")).await.ok();
        (id, rule)
    };

    assert_eq!(made(Some(low), "a").await.1["branch_name_regex"], "everywhere");
    ada.post(ONE, json!({ "branch_name_regex": "top" })).await.created();
    let (_, copied) = made(Some(low), "b").await;
    assert_eq!(copied["branch_name_regex"], "top");
    let rule = format!("/groups/{middle}/push_rule");
    ada.post(&rule, json!({ "branch_name_regex": "middle" })).await.created();
    let (id, nearest) = made(Some(low), "c").await;
    assert_eq!((&nearest["branch_name_regex"], &nearest["project_id"]), (&json!("middle"), &id));
    assert_eq!(made(None, "own").await.1["branch_name_regex"], "everywhere");

    ada.put(&rule, json!({ "branch_name_regex": "later" })).await.ok();
    assert_eq!(ada.get(&format!("/projects/{id}/push_rule")).await.ok(), nearest);
    assert_eq!(ada.get(&format!("/groups/{low}/push_rule")).await.status, 404);
    ada.delete(&format!("/projects/{id}/push_rule")).await;
    assert_eq!(ada.get(&format!("/projects/{id}/push_rule")).await.bytes, b"null");
}

#[actix_web::test]
async fn a_fork_begins_with_the_rule_of_its_new_home() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let source = app.project(&ada, "source", Visibility::Private);
    let id = group(&ada, "one", None).await;
    ada.post(ONE, json!({ "member_check": true })).await.created();

    let fork = ada.post(&format!("/projects/{source}/fork"), json!({ "namespace_id": id })).await;

    let fork = fork.created()["id"].clone();
    let rule = ada.get(&format!("/projects/{fork}/push_rule")).await.ok();
    assert_eq!(rule["member_check"], true);
}

#[actix_web::test]
async fn what_a_project_leaves_open_is_as_the_installation_has_it() {
    let app = TestApp::new();
    let (_, mia, path) = project(&app);
    let root = app.admin();
    let made = mia.post(&path, json!({ "reject_unsigned_commits": false })).await.created();
    assert_eq!(made["reject_unsigned_commits"], false);

    let installation = json!({ "reject_unsigned_commits": true, "commit_committer_check": true });
    root.post("/push_rule", installation).await.created();
    // A "no" that was said while everybody said so is none.
    assert_eq!(mia.get(&path).await.ok()["reject_unsigned_commits"], true);

    let no = mia.put(&path, json!({ "reject_unsigned_commits": false })).await.ok();
    assert_eq!(no["reject_unsigned_commits"], false);
    assert_eq!(no["commit_committer_check"], true);
    assert_eq!(root.delete("/push_rule").await.status, 204);
    assert_eq!(mia.get(&path).await.ok()["commit_committer_check"], false);
}

#[actix_web::test]
async fn the_rule_of_the_installation_is_for_administrators() {
    let app = TestApp::new();
    let root = app.admin();

    root.get("/push_rule").await.refused(404, json!({ "message": "404 Not Found" }));
    let made = root.post("/push_rule", json!({ "deny_delete_tag": true })).await.created();
    assert_eq!(root.get("/push_rule").await.ok(), made);
    assert_eq!(root.post("/push_rule", json!({ "deny_delete_tag": true })).await.status, 422);
    assert_eq!(root.put("/push_rule", json!({ "deny_delete_tag": false })).await.status, 200);
    app.person("ada").get("/push_rule").await.refused(403, json!({ "message": "403 Forbidden" }));
}

#[actix_web::test]
async fn the_rule_of_a_group_is_not_that_of_anybody_else() {
    let app = TestApp::new();
    let (project, ..) = project(&app);
    let (ada, olga) = (app.person("ada"), app.person("olga"));
    group(&ada, "one", None).await;
    ada.post(ONE, json!({ "member_check": true })).await.created();

    let path = format!("/projects/{project}/push_rule");
    assert_eq!(olga.get(&path).await.bytes, b"null");
    assert_eq!(olga.get(ONE).await.status, 404);
}
