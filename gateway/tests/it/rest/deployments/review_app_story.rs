//! The life of a review app, from its merge request to the end.

use kernel::{AccessLevel::Developer, ids::ProjectId};
use serde_json::{Value, json};

use crate::{
    rest::runners::program::{Runner, Work, set_up},
    support::{Person, TestApp, ci::commit},
};

const TEXT: &str = "stages: [build, deploy]\n\
build:\n  stage: build\n  script: make\n  rules: [{if: $CI_MERGE_REQUEST_IID}]\n\
review:\n  stage: deploy\n  script: make up\n  rules: [{if: $CI_MERGE_REQUEST_IID}]\n\
\x20 environment:\n    name: review/$CI_COMMIT_REF_SLUG\n    url: https://$CI_ENVIRONMENT_SLUG.example.com\n    on_stop: stop_review\n\
stop_review:\n  stage: deploy\n  script: make down\n  rules: [{if: $CI_MERGE_REQUEST_IID, when: manual, allow_failure: true}]\n\
\x20 environment: {name: review/$CI_COMMIT_REF_SLUG, action: stop}\n";

struct Story<'a> {
    app: &'a TestApp,
    project: ProjectId,
    mia: Person<'a>,
    dan: Person<'a>,
    runner: Runner<'a>,
}

impl<'a> Story<'a> {
    /// A project whose environment of the branch `topic` needs an approval; dan proposes the branch.
    async fn begin(app: &'a TestApp) -> Self {
        let (project, mia, runner) = set_up(app, TEXT).await;
        let dan = app.member(project, "dan", Developer);
        let body = json!({
            "name": "review/topic",
            "deploy_access_levels": [{ "access_level": 30 }],
            "required_approval_count": 1,
        });
        mia.post(&format!("/projects/{project}/protected_environments"), body).await.created();
        let branch = json!({ "branch": "topic", "ref": "main" });
        dan.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
        commit(&dan, project, "topic", "more", &format!("{TEXT}# more\n")).await;
        let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "Topic" });
        dan.post(&format!("/projects/{project}/merge_requests"), new).await.created();
        Self { app, project, mia, dan, runner }
    }

    /// The runner does the next job, which has this name.
    async fn job_is_done(&self, name: &str) {
        let payload = self.runner.take().await;
        assert_eq!(payload["job_info"]["name"], name);
        let work = Work::new(self.app, &payload);
        work.report(json!({ "state": "success" })).await.with(200);
    }

    async fn read(&self, path: &str) -> Value {
        self.mia.get(&format!("/projects/{}/{path}", self.project)).await.ok()
    }

    async fn state(&self) -> Value {
        self.read("environments?name=review/topic").await[0]["state"].clone()
    }

    async fn deployment(&self) -> Value {
        self.read("deployments").await[0].clone()
    }
}

#[actix_web::test]
async fn a_review_app_begins_with_its_merge_request_and_stops_with_it() {
    let app = TestApp::new();
    let story = Story::begin(&app).await;
    assert_eq!(story.deployment().await["status"], "created");
    story.job_is_done("build").await;

    // It waits for somebody else to approve it.
    let waiting = story.deployment().await;
    assert_eq!(waiting["status"], "blocked");
    assert_eq!(story.runner.ask(json!({})).await.status, 204);
    let path = format!("/projects/{}/deployments/{}/approval", story.project, waiting["id"]);
    let approve = json!({ "status": "approved" });
    story.dan.post(&path, approve.clone()).await.with(400);
    story.mia.post(&path, approve).await.created();

    story.job_is_done("review").await;
    assert_eq!(story.deployment().await["status"], "success");
    let there = story.read("environments?name=review/topic").await[0].clone();
    let url = format!("https://{}.example.com", there["slug"].as_str().unwrap());
    assert_eq!((&there["state"], &there["external_url"]), (&json!("available"), &json!(url)));
    let one = story.read(&format!("environments/{}", there["id"])).await;
    assert_eq!(one["last_deployment"]["deployable"]["name"], "review");

    let merge = format!("/projects/{}/merge_requests/1/merge", story.project);
    story.mia.put(&merge, json!({ "should_remove_source_branch": true })).await.ok();
    app.work().await;

    assert_eq!(story.state().await, "stopping");
    story.job_is_done("stop_review").await;
    assert_eq!(story.state().await, "stopped");
}
