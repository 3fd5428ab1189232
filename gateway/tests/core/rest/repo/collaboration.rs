//! Source branches of forks that those who may merge them may push to.

use kernel::{
    AccessLevel::{self, Developer, Maintainer},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

const NOT_YOURS: &str = "You are not allowed to push into this branch";

/// A public project of `ada`'s with an open merge request from `bob`'s fork.
pub(crate) struct Fork {
    pub(crate) project: Value,
    pub(crate) fork: Value,
}

impl Fork {
    pub(crate) async fn new(app: &TestApp) -> Self {
        let (ada, bob) = (app.person("ada"), app.person("bob"));
        let project = ada.filled_project("Engine", "public").await;
        let fork = bob.post(&format!("/projects/{project}/fork"), json!({})).await.created();
        let fork = fork["id"].clone();
        bob.commit(&fork, "fix", "fix.txt").await;
        bob.commit(&fork, "other", "other.txt").await;
        let new = json!({ "title": "Fix", "source_branch": "fix", "target_branch": "main",
            "target_project_id": project, "allow_collaboration": true });
        let made = bob.post(&format!("/projects/{fork}/merge_requests"), new).await.created();
        assert_eq!(made["allow_collaboration"], true);
        Self { project, fork }
    }

    fn path(&self) -> String {
        format!("/projects/{}/merge_requests/1", self.project)
    }

    pub(crate) fn member<'a>(
        &self,
        app: &'a TestApp,
        name: &str,
        level: AccessLevel,
    ) -> Person<'a> {
        let project = self.project.as_i64().expect("an id");
        app.member(ProjectId(project), name, level)
    }

    async fn commit(&self, person: &Person<'_>, branch: &str) -> Answer {
        let actions = json!([{ "action": "create", "content": "x",
            "file_path": format!("{}.txt", person.username) }]);
        let commit = json!({ "branch": branch, "commit_message": "Help", "actions": actions });
        person.post(&format!("/projects/{}/repository/commits", self.fork), commit).await
    }

    async fn refused(&self, person: &Person<'_>, branch: &str) {
        let told = json!({ "message": format!("403 Forbidden - {NOT_YOURS}") });
        self.commit(person, branch).await.refused(403, told);
    }
}

#[actix_web::test]
async fn who_may_merge_commits_to_the_branch_that_is_lent() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let ada = app.person("ada");

    let made = fork.commit(&ada, "fix").await.created();

    let shown = ada.get(&fork.path()).await.ok();
    assert_eq!(shown["sha"], made["id"]);
    assert_eq!(shown["allow_maintainer_to_push"], true);
    let branches = format!("/projects/{}/repository/branches", fork.fork);
    assert_eq!(ada.get(&format!("{branches}/fix")).await.ok()["can_push"], true);
    assert_eq!(ada.get(&format!("{branches}/other")).await.ok()["can_push"], false);
}

#[actix_web::test]
async fn other_branches_and_calls_stay_closed() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let ada = app.person("ada");

    for branch in ["other", "main", "new", "@{"] {
        fork.refused(&ada, branch).await;
    }
    let home = format!("/projects/{}/repository", fork.fork);
    ada.delete(&format!("{home}/branches/fix")).await.with(403);
    ada.post(&format!("{home}/branches?branch=mine&ref=main"), json!({})).await.with(403);
    ada.post(&format!("{home}/tags?tag_name=fix&ref=main"), json!({})).await.with(403);
}

#[actix_web::test]
async fn only_those_who_may_merge_are_lent_anything() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let developer = fork.member(&app, "dora", Developer);
    let maintainer = fork.member(&app, "mia", Maintainer);

    // The target is protected: developers neither push nor merge there.
    fork.refused(&developer, "fix").await;
    fork.refused(&app.person("eve"), "fix").await;
    fork.commit(&app.anonymous(), "fix").await.with(401);
    fork.commit(&maintainer, "fix").await.created();
    let rules = format!("/projects/{}/protected_branches", fork.project);
    app.person("ada").delete(&format!("{rules}/main")).await.with(204);
    fork.commit(&developer, "fix").await.created();
}

#[actix_web::test]
async fn a_closed_merge_request_lends_nothing() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let (ada, bob) = (app.person("ada"), app.person("bob"));

    bob.put(&fork.path(), json!({ "state_event": "close" })).await.ok();
    fork.refused(&ada, "fix").await;
    bob.put(&fork.path(), json!({ "state_event": "reopen" })).await.ok();
    bob.put(&fork.path(), json!({ "allow_maintainer_to_push": false })).await.ok();
    fork.refused(&ada, "fix").await;
    bob.put(&fork.path(), json!({ "allow_maintainer_to_push": true })).await.ok();
    fork.commit(&ada, "fix").await.created();
}

#[actix_web::test]
async fn only_who_may_push_to_the_source_lends_it() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    bob.put(&fork.path(), json!({ "allow_collaboration": false })).await.ok();

    let asked = json!({ "allow_collaboration": true, "title": "Fixed" });
    let shown = ada.put(&fork.path(), asked).await.ok();

    assert_eq!((&shown["title"], &shown["allow_collaboration"]), (&json!("Fixed"), &json!(false)));
    fork.refused(&ada, "fix").await;
}

#[actix_web::test]
async fn protected_branches_and_private_projects_are_never_lent() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let shown = async || ada.get(&fork.path()).await.ok()["allow_collaboration"].clone();

    let rules = format!("/projects/{}/protected_branches", fork.fork);
    bob.post(&rules, json!({ "name": "fi*", "push_access_level": 30 })).await.created();
    fork.refused(&ada, "fix").await;
    assert_eq!(shown().await, false);
    bob.delete(&format!("{rules}/fi*")).await.with(204);
    assert_eq!(shown().await, true);
    let private = json!({ "visibility": "private" });
    bob.put(&format!("/projects/{}", fork.fork), private).await.ok();
    fork.commit(&ada, "fix").await.with(404);
    assert_eq!(shown().await, false);
}

#[actix_web::test]
async fn nobody_lends_what_is_not_theirs_any_more() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;

    app.block("bob");

    fork.refused(&app.person("ada"), "fix").await;
}

#[actix_web::test]
async fn who_is_lent_a_branch_rebases_it() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let (ada, eve) = (app.person("ada"), fork.member(&app, "eve", Developer));
    ada.commit(&fork.project, "main", "more.txt").await;

    let told = json!({ "message": "403 Forbidden - Cannot push to source branch" });
    eve.put(&format!("{}/rebase", fork.path()), json!({})).await.refused(403, told);
    ada.put(&format!("{}/rebase", fork.path()), json!({})).await.with(202);

    let shown = ada.get(&format!("{}?include_diverged_commits_count=true", fork.path())).await.ok();
    assert_eq!(shown["diverged_commits_count"], 0);
}
