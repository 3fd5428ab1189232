//! Approvals when the source branch comes, goes, and comes anew.

use kernel::{AccessLevel::Developer, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// `ada`'s project, where she has to approve `dev`'s merge request.
struct Forge<'a> {
    ada: Person<'a>,
    dev: Person<'a>,
    project: ProjectId,
}

async fn forge(app: &TestApp) -> Forge<'_> {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", kernel::Visibility::Private);
    let dev = app.member(project, "dev", Developer);
    ada.commit_text(&json!(project.0), "main", "README.md", "hello").await;
    let named = [app.user("ada").id.0];
    let rule = json!({ "name": "Review", "approvals_required": 1, "user_ids": named });
    ada.post(&format!("/projects/{project}/approval_rules"), rule).await.created();
    Forge { ada, dev, project }
}

impl Forge<'_> {
    async fn push(&self, path: &str) {
        self.dev.commit(&json!(self.project.0), "feature", path).await;
    }

    async fn delete_branch(&self) {
        let branch = format!("/projects/{}/repository/branches/feature", self.project);
        assert_eq!(self.dev.delete(&branch).await.status, 204);
    }

    async fn propose(&self) -> String {
        let made = self.dev.propose(&json!(self.project.0), "feature", "A feature").await;
        format!("/projects/{}/merge_requests/{}", self.project, made["iid"])
    }

    async fn approve(&self, request: &str) -> u16 {
        self.ada.post(&format!("{request}/approve"), json!({})).await.status
    }

    async fn approved_by(&self, request: &str) -> Value {
        self.ada.get(&format!("{request}/approvals")).await.ok()["approved_by"].clone()
    }
}

#[actix_web::test]
async fn a_branch_that_is_made_anew_is_approved_anew() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.push("good.txt").await;
    let request = forge.propose().await;
    assert_eq!(forge.approve(&request).await, 201);

    forge.delete_branch().await;
    forge.push("evil.txt").await;
    let reopened = forge.dev.put(&request, json!({ "state_event": "reopen" })).await.ok();

    assert_eq!(reopened["state"], "opened");
    assert_eq!(forge.approved_by(&request).await, json!([]));
    let refusal = json!({ "message": "405 Method Not Allowed" });
    forge.ada.put(&format!("{request}/merge"), json!({})).await.refused(405, refusal);
}

#[actix_web::test]
async fn what_nobody_has_pushed_yet_is_not_approved() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    let request = forge.propose().await;

    let nobody = json!({ "message": "401 Unauthorized" });
    forge.ada.post(&format!("{request}/approve"), json!({})).await.refused(401, nobody);
    let shown = forge.ada.get(&format!("{request}/approvals")).await.ok();
    assert_eq!((&shown["user_can_approve"], &shown["approved"]), (&json!(false), &json!(false)));
    forge.push("new.txt").await;
    assert_eq!(forge.approved_by(&request).await, json!([]));
    assert_eq!(forge.approve(&request).await, 201);
}

#[actix_web::test]
async fn a_branch_that_is_gone_is_not_approved() {
    let app = TestApp::new();
    let forge = forge(&app).await;
    forge.push("new.txt").await;
    let request = forge.propose().await;
    forge.delete_branch().await;

    assert_eq!(forge.approve(&request).await, 401);
    let said = json!({ "body": "/approve" });
    forge.ada.post(&format!("{request}/notes"), said).await;
    assert_eq!(forge.approved_by(&request).await, json!([]));
}
