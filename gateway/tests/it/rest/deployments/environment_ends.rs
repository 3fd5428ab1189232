//! Environments that stop with the branch or merge request for which they are there:
//! `crates/forge/src/deployment/ref_stops.rs`.

use ci::job::End;
use kernel::{AccessLevel::Developer, Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, finish, job, run},
};

const OF_BRANCH: &str = "deploy: {script: x, environment: {name: review/$CI_COMMIT_REF_SLUG, on_stop: stop}}\n\
                         stop: {script: x, when: manual, allow_failure: true, environment: {name: review/$CI_COMMIT_REF_SLUG, action: stop}}\n";
const PLAIN: &str = "deploy: {script: x, environment: staging}\n";
const OF_REQUEST: &str = "deploy: {script: x, rules: [{if: $CI_MERGE_REQUEST_IID}], environment: review/topic}\n\
                          shared: {script: x, rules: [{if: $CI_MERGE_REQUEST_IID}], environment: development}\n";

struct Set<'a> {
    app: &'a TestApp,
    ada: Person<'a>,
    project: ProjectId,
}

impl<'a> Set<'a> {
    /// A project with a branch `topic` that has this configuration.
    async fn of(app: &'a TestApp, text: &str) -> Self {
        let ada = app.person("ada");
        let project = app.project(&ada, "engine", Private);
        commit(&ada, project, "main", "first [skip ci]", text).await;
        let branch = json!({ "branch": "topic", "ref": "main" });
        ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
        commit(&ada, project, "topic", "more", &format!("{text}# more\n")).await;
        Self { app, ada, project }
    }

    async fn deploy(&self, name: &str) {
        run(self.app, &self.ada, self.project, name).await;
        finish(self.app, &self.ada, self.project, name, End::Success).await;
    }

    async fn remove_branch(&self, person: &Person<'_>) {
        let path = format!("/projects/{}/repository/branches/topic", self.project);
        person.delete(&path).await.with(204);
        self.app.work().await;
    }

    async fn state(&self, name: &str) -> Value {
        let path = format!("/projects/{}/environments?name={name}", self.project);
        self.ada.get(&path).await.ok()[0]["state"].clone()
    }

    async fn propose(&self) -> String {
        let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "t" });
        let requests = format!("/projects/{}/merge_requests", self.project);
        self.ada.post(&requests, new).await.created();
        format!("{requests}/1")
    }
}

#[actix_web::test]
async fn the_job_of_an_environment_runs_when_its_branch_is_removed() {
    let app = TestApp::new();
    let set = Set::of(&app, OF_BRANCH).await;
    set.deploy("deploy").await;

    set.remove_branch(&set.ada).await;

    assert_eq!(set.state("review/topic").await, "stopping");
    assert_eq!(job(&set.ada, set.project, "stop").await["status"], "pending");
    set.deploy("stop").await;
    assert_eq!(set.state("review/topic").await, "stopped");
}

#[actix_web::test]
async fn without_a_job_an_environment_just_stops_with_its_branch() {
    let app = TestApp::new();
    let set = Set::of(&app, PLAIN).await;
    set.deploy("deploy").await;

    set.remove_branch(&set.ada).await;

    assert_eq!(set.state("staging").await, "stopped");
}

#[actix_web::test]
async fn what_another_branch_was_brought_to_goes_on() {
    let app = TestApp::new();
    let set = Set::of(&app, PLAIN).await;
    set.deploy("deploy").await;
    app.clock.advance(time::Duration::minutes(1));
    commit(&set.ada, set.project, "main", "second", &format!("{PLAIN}# 2\n")).await;
    set.deploy("deploy").await;

    set.remove_branch(&set.ada).await;

    assert_eq!(set.state("staging").await, "available");
}

#[actix_web::test]
async fn who_may_not_deploy_somewhere_stops_nothing_there() {
    let app = TestApp::new();
    let set = Set::of(&app, PLAIN).await;
    set.deploy("deploy").await;
    let body = json!({ "name": "staging", "deploy_access_levels": [{ "access_level": 40 }] });
    let path = format!("/projects/{}/protected_environments", set.project);
    set.ada.post(&path, body).await.created();
    let dan = app.member(set.project, "dan", Developer);

    set.remove_branch(&dan).await;

    assert_eq!(set.state("staging").await, "available");
}

#[actix_web::test]
async fn what_came_into_being_for_a_merge_request_stops_when_that_is_closed() {
    let app = TestApp::new();
    let set = Set::of(&app, OF_REQUEST).await;
    let path = format!("/projects/{}/environments", set.project);
    let development = json!({ "name": "development" });
    set.ada.post(&path, development).await.created();
    let sha = json!({ "environment": "development", "sha": "main", "ref": "main", "tag": false, "status": "success" });
    let deployments = format!("/projects/{}/deployments", set.project);
    set.ada.post(&deployments, sha).await.created();
    let own = set.propose().await;
    set.deploy("deploy").await;
    set.deploy("shared").await;

    set.ada.put(&own, json!({ "state_event": "close" })).await.ok();
    app.work().await;

    assert_eq!(set.state("review/topic").await, "stopped");
    assert_eq!(set.state("development").await, "available");
}

#[actix_web::test]
async fn what_came_into_being_for_a_merge_request_stops_when_that_is_merged() {
    let app = TestApp::new();
    let set = Set::of(&app, OF_REQUEST).await;
    let own = set.propose().await;
    set.deploy("deploy").await;

    set.ada.put(&format!("{own}/merge"), json!({})).await.ok();
    app.work().await;

    assert_eq!(set.state("review/topic").await, "stopped");
}
