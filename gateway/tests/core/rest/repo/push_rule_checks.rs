//! Push rules as callers of the API meet them: the same sentences, without git's prefix.

use kernel::Visibility;
use repo::testing::Fixture;
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

struct TestProject {
    app: TestApp,
    path: String,
}

impl TestProject {
    /// A project with history, whose owner `ada` has made this rule.
    async fn new(rule: Value) -> Self {
        let app = TestApp::new();
        let project = app.project_from(&Fixture::new());
        let path = format!("/projects/{project}");
        app.person("ada").post(&format!("{path}/push_rule"), rule).await.created();
        Self { app, path }
    }

    fn ada(&self) -> Person<'_> {
        self.app.person("ada")
    }

    fn at(&self, rest: &str) -> String {
        format!("{}/repository/{rest}", self.path)
    }

    async fn commit(&self, message: &str, file: &str, content: &str) -> (u16, Value) {
        let action = json!({ "action": "create", "file_path": file, "content": content });
        let body = json!({ "branch": "main", "commit_message": message, "actions": [action] });
        let answer = self.ada().post(&self.at("commits"), body).await;
        (answer.status, answer.body)
    }

    async fn head(&self) -> Value {
        self.ada().get(&self.at("commits/main")).await.ok()["id"].clone()
    }
}

fn told(text: &str) -> (u16, Value) {
    (400, json!({ "message": text }))
}

#[actix_web::test]
async fn commits_follow_each_rule() {
    for (rule, message, file, text) in [
        (
            json!({ "commit_message_regex": "JIRA" }),
            "x",
            "new",
            "Commit message does not follow the pattern 'JIRA'",
        ),
        (
            json!({ "commit_message_negative_regex": "^WIP" }),
            "x\n\nWIP y",
            "new",
            "Commit message contains the forbidden pattern '^WIP'",
        ),
        (
            json!({ "author_email_regex": "@corp$" }),
            "x",
            "new",
            "Committer's email 'ada@example.com' does not follow the pattern '@corp$'",
        ),
        (
            json!({ "file_name_regex": "new" }),
            "x",
            "a/new",
            "File name a/new was prohibited by the pattern \"new\".",
        ),
        (
            json!({ "prevent_secrets": true }),
            "x",
            "id_rsa",
            "File name id_rsa was prohibited by the pattern \"id_rsa$\".",
        ),
        (
            json!({ "reject_non_dco_commits": true }),
            "x",
            "new",
            "Commit message must contain a DCO signoff",
        ),
    ] {
        let place = TestProject::new(rule).await;
        let before = place.head().await;
        assert_eq!(place.commit(message, file, "x").await, told(text));
        assert_eq!(place.head().await, before, "nothing has moved");
    }
}

#[actix_web::test]
async fn what_the_server_commits_needs_no_signature_and_is_the_callers_own() {
    let place = TestProject::new(json!({
        "reject_unsigned_commits": true, "commit_committer_check": true,
        "commit_committer_name_check": true, "member_check": true,
    }))
    .await;
    assert_eq!(place.commit("x", "new", "x").await.0, 201);
}

#[actix_web::test]
async fn an_author_from_elsewhere_is_nobody_here() {
    let place = TestProject::new(json!({ "member_check": true })).await;
    let action = json!({ "action": "create", "file_path": "new", "content": "x" });
    let body = json!({ "branch": "main", "commit_message": "x", "actions": [action],
                       "author_email": "who@else", "author_name": "Who" });

    let text = "Author 'who@else' is not a member of team";
    place.ada().post(&place.at("commits"), body).await.refused(400, json!({ "message": text }));
}

#[actix_web::test]
async fn large_files_are_refused() {
    let place = TestProject::new(json!({ "max_file_size": 1 })).await;

    assert_eq!(place.commit("x", "small", &"x".repeat(1 << 20)).await.0, 201);
    let large = place.commit("x", "large", &"y".repeat((1 << 20) + 1)).await;
    let text =
        "File \"large\" is larger than the allowed size of 1 MB. Use Git LFS to manage this file.";
    assert_eq!(large, told(text));
}

#[actix_web::test]
async fn the_files_endpoints_refuse_in_the_same_words() {
    let place = TestProject::new(json!({ "commit_message_regex": "JIRA" })).await;
    let body = json!({ "branch": "main", "commit_message": "x", "content": "x" });
    let text = json!({ "message": "Commit message does not follow the pattern 'JIRA'" });

    place.ada().post(&place.at("files/new"), body.clone()).await.refused(400, text);
    let good = json!({ "branch": "main", "commit_message": "JIRA-1", "content": "x" });
    place.ada().post(&place.at("files/new"), good).await.created();
}

#[actix_web::test]
async fn picks_and_reverts_follow_the_rules() {
    let place = TestProject::new(json!({ "commit_message_negative_regex": "revert|picked" })).await;
    assert_eq!(place.commit("good", "new", "x").await.0, 201);
    let head = place.head().await;
    let id = head.as_str().unwrap();
    let ada = place.ada();

    let text =
        json!({ "message": "Commit message contains the forbidden pattern 'revert|picked'" });
    let body = json!({ "branch": "main" });
    ada.post(&place.at(&format!("commits/{id}/revert")), body.clone())
        .await
        .refused(400, text.clone());
    ada.post(&place.at("branches"), json!({ "branch": "old", "ref": "main~1" })).await.created();
    let body = json!({ "branch": "old" });
    ada.post(&place.at(&format!("commits/{id}/cherry_pick")), body).await.refused(400, text);
    assert_eq!(place.head().await, head);
}

#[actix_web::test]
async fn a_branch_that_is_made_here_is_looked_at_beforehand() {
    let place = TestProject::new(json!({ "branch_name_regex": "^f/" })).await;
    let ada = place.ada();
    let make = async |name: &str| {
        ada.post(&place.at("branches"), json!({ "branch": name, "ref": "main" })).await
    };

    let text = "Cannot create branch. The branch name must match this regular expression: ^f/";
    make("new").await.refused(400, json!({ "message": text }));
    make("f/x").await.created();
    // What is wrong with the name itself, or with where it is to begin, is told first.
    for (name, from, text) in [
        ("a b", "main", "Branch name is invalid"),
        ("main", "main", "Branch already exists"),
        ("new", "lost", "Failed to create branch 'new': invalid reference name 'lost'"),
    ] {
        let body = json!({ "branch": name, "ref": from });
        ada.post(&place.at("branches"), body).await.refused(400, json!({ "message": text }));
    }
    let action = json!({ "action": "create", "file_path": "new", "content": "x" });
    let body = json!({ "branch": "extra", "start_branch": "main", "commit_message": "x",
                       "actions": [action] });
    let text = "Branch name 'extra' does not follow the pattern '^f/'";
    ada.post(&place.at("commits"), body).await.refused(400, json!({ "message": text }));
    assert_eq!(ada.get(&place.at("branches/extra")).await.status, 404);
}

#[actix_web::test]
async fn a_name_that_is_refused_makes_nothing_in_an_empty_repository() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "new", Visibility::Private);
    let path = format!("/projects/{project}");
    ada.post(&format!("{path}/push_rule"), json!({ "branch_name_regex": "^f/" })).await.created();
    let branches = format!("{path}/repository/branches");
    let make = |name: &str| ada.post(&branches, json!({ "branch": name, "ref": "main" }));

    let text = "Cannot create branch. The branch name must match this regular expression: ^f/";
    make("a b").await.refused(400, json!({ "message": "Branch name is invalid" }));
    make("topic").await.refused(400, json!({ "message": text }));
    assert_eq!(ada.get(&branches).await.ok(), json!([]));
    make("f/x").await.created();
    assert_eq!(ada.get(&branches).await.each("name"), ["f/x", "main"]);
}

#[actix_web::test]
async fn tags_can_be_deleted_here_whatever_git_may() {
    let place = TestProject::new(json!({ "deny_delete_tag": true })).await;
    let ada = place.ada();
    ada.post(&place.at("tags"), json!({ "tag_name": "gone", "ref": "main" })).await.created();

    assert_eq!(ada.delete(&place.at("tags/gone")).await.status, 204);
}

#[actix_web::test]
async fn a_new_projects_readme_is_the_servers_own_doing() {
    let app = TestApp::new();
    app.admin().post("/push_rule", json!({ "commit_message_regex": "JIRA" })).await.created();
    let ada = app.person("ada");

    let made =
        ada.post("/projects", json!({ "name": "one", "initialize_with_readme": true })).await;

    assert_eq!(made.created()["default_branch"], "main");
}

#[actix_web::test]
async fn a_pattern_that_is_long_and_nested_stays_quick() {
    let rule = json!({ "commit_message_negative_regex": "(x+x+)+y".repeat(200) });
    let place = TestProject::new(rule).await;

    assert_eq!(place.commit(&"x".repeat(1 << 20), "new", "x").await.0, 201);
}

#[actix_web::test]
async fn every_door_of_the_api_asks_the_same_rule() {
    let place = TestProject::new(json!({ "commit_message_regex": "JIRA" })).await;
    assert_eq!(place.commit("JIRA-0", "kept", "x").await.0, 201);
    let (ada, before, file) = (place.ada(), place.head().await, place.at("files/kept"));
    let told = json!({ "message": "Commit message does not follow the pattern 'JIRA'" });
    let change =
        |message: &str| json!({ "branch": "main", "commit_message": message, "content": "y" });

    ada.put(&file, change("x")).await.refused(400, told.clone());
    let gone = format!("{file}?branch=main&commit_message=x");
    ada.delete(&gone).await.refused(400, told.clone());
    let action = json!({ "action": "create", "file_path": "new", "content": "x" });
    let apart = json!({ "branch": "apart", "start_branch": "main", "commit_message": "x",
        "actions": [action] });
    ada.post(&place.at("commits"), apart).await.refused(400, told);
    assert_eq!(place.head().await, before, "nothing has moved");
    assert_eq!(ada.get(&place.at("branches/apart")).await.status, 404);
    ada.put(&file, change("JIRA-1")).await.ok();
    ada.delete(&gone.replace("=x", "=JIRA-2")).await.with(204);
}
