//! Pipelines of merge requests.

use ci::job::End;
use forge::{
    merge_request::merge::wait_for_pipeline,
    pipeline::{MakeForMergeRequest, make_for_merge_request},
};
use futures_util::future::join;
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Visibility::Private,
    ids::ProjectId,
};
use review::merge_request::merge::AutoMerge;
use serde_json::{Value, json};

use crate::support::{
    Person, TestApp,
    ci::{commit, finish, pipelines, run},
};

const TEXT: &str = "unit:\n  script: x\n  rules: [{if: $CI_MERGE_REQUEST_IID}]\n";

#[actix_web::test]
async fn a_merge_request_has_a_pipeline_where_something_is_to_run_for_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first", TEXT).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let sha = commit(&ada, project, "topic", "more", &format!("{TEXT}# more\n")).await;
    assert_eq!(pipelines(&ada, project, "").await, Vec::<Value>::new());

    let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "t" });
    ada.post(&format!("/projects/{project}/merge_requests"), new).await.created();

    let made = pipelines(&ada, project, "?source=merge_request_event").await;
    assert_eq!((made.len(), &made[0]["sha"]), (1, &json!(sha)));
    assert_eq!(made[0]["ref"], "refs/merge-requests/1/head");
    let own = format!("/projects/{project}/merge_requests/1");
    assert_eq!(ada.get(&format!("{own}/pipelines")).await.each("id"), [made[0]["id"].clone()]);
    assert_eq!(ada.get(&own).await.ok()["head_pipeline"]["id"], made[0]["id"]);
    let asked = ada.post(&format!("{own}/pipelines"), json!({})).await.ok();
    assert_eq!(asked["source"], "merge_request_event");
    commit(&ada, project, "topic", "again", &format!("{TEXT}# again\n")).await;
    assert_eq!(pipelines(&ada, project, "?source=merge_request_event").await.len(), 3);
}

#[actix_web::test]
async fn what_waits_for_its_pipeline_is_merged_when_that_succeeds() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", TEXT).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let head = commit(&ada, project, "topic", "more", &format!("{TEXT}# more\n")).await;
    let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "t" });
    ada.post(&format!("/projects/{project}/merge_requests"), new).await.created();
    let own = format!("/projects/{project}/merge_requests/1");

    let body = json!({ "merge_when_pipeline_succeeds": true, "sha": head });
    let waiting = ada.put(&format!("{own}/merge"), body).await.ok();
    assert_eq!(waiting["merge_when_pipeline_succeeds"], true);
    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::Success).await;
    app.work().await;

    assert_eq!(ada.get(&own).await.ok()["state"], "merged");
}

/// Somebody proposes the branch `topic`, whose one commit has this message; tells the commit.
async fn propose(person: &Person<'_>, project: ProjectId, message: &str) -> String {
    commit(person, project, "main", "first [skip ci]", TEXT).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    person.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let head = commit(person, project, "topic", message, &format!("{TEXT}# more\n")).await;
    let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "t" });
    person.post(&format!("/projects/{project}/merge_requests"), new).await.created();
    head
}

const OF_MERGE_REQUESTS: &str = "?source=merge_request_event";

#[actix_web::test]
async fn whoever_pushed_runs_it_with_their_own_rights() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (project, hidden) =
        (app.project(&ada, "engine", Private), app.project(&ada, "hidden", Private));
    commit(&ada, hidden, "main", "first [skip ci]", "x: {script: x}").await;
    propose(&ada, project, "more").await;
    let dan = app.member(project, "dan", Developer);

    commit(&dan, project, "topic", "again", &format!("{TEXT}# dan\n")).await;
    let made = pipelines(&ada, project, OF_MERGE_REQUESTS).await;
    let whole = ada.get(&format!("/projects/{project}/pipelines/{}", made[0]["id"])).await.ok();
    assert_eq!((made.len(), &whole["user"]["username"]), (2, &json!("dan")));

    let include = format!("include: [{{project: ada/hidden, file: .gitlab-ci.yml}}]\n{TEXT}");
    commit(&dan, project, "topic", "steal", &include).await;
    app.work().await;
    assert_eq!(pipelines(&ada, project, OF_MERGE_REQUESTS).await.len(), 2, "dan cannot read it");
    commit(&ada, project, "topic", "include", &format!("{include}# ada\n")).await;
    assert_eq!(pipelines(&ada, project, OF_MERGE_REQUESTS).await.len(), 3);
}

#[actix_web::test]
async fn one_commit_has_one_pipeline_however_often_it_is_asked_for() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let head = propose(&ada, project, "more").await;
    let made = pipelines(&ada, project, OF_MERGE_REQUESTS).await;
    ada.delete(&format!("/projects/{project}/pipelines/{}", made[0]["id"])).await.with(204);
    let id = app.kept_merge_request(project, 1).id;

    let job = MakeForMergeRequest::opened(id, &head, app.user("ada").id);
    let make = || make_for_merge_request(app.state.forge.clone(), job.clone());
    let (first, second) = join(make(), make()).await;

    first.and(second).expect("neither fails");
    assert_eq!(pipelines(&ada, project, OF_MERGE_REQUESTS).await.len(), 1);
}

#[actix_web::test]
async fn a_message_may_skip_those_of_merge_requests() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);

    propose(&ada, project, "more [skip ci]").await;

    assert_eq!(pipelines(&ada, project, OF_MERGE_REQUESTS).await, Vec::<Value>::new());
    let address = format!("/projects/{project}/merge_requests/1/pipelines");
    assert_eq!(ada.post(&address, json!({})).await.ok()["source"], "merge_request_event");
}

#[actix_web::test]
async fn a_merge_request_without_commits_has_no_pipeline() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    commit(&ada, project, "main", "first [skip ci]", TEXT).await;
    let branch = json!({ "branch": "topic", "ref": "main" });
    ada.post(&format!("/projects/{project}/repository/branches"), branch).await.created();
    let new = json!({ "source_branch": "topic", "target_branch": "main", "title": "t" });
    ada.post(&format!("/projects/{project}/merge_requests"), new).await.created();

    let address = format!("/projects/{project}/merge_requests/1/pipelines");
    let refusal = json!({ "message": "405 Method Not Allowed" });
    ada.post(&address, json!({})).await.refused(405, refusal);
}

#[actix_web::test]
async fn a_blocked_person_merges_nothing_any_more() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let head = propose(&ada, project, "more").await;
    let mia = app.member(project, "mia", Maintainer);
    let own = format!("/projects/{project}/merge_requests/1");
    let body = json!({ "merge_when_pipeline_succeeds": true, "sha": head });
    mia.put(&format!("{own}/merge"), body).await.ok();

    app.block("mia");
    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::Success).await;
    app.work().await;

    assert_eq!(ada.get(&own).await.ok()["state"], "opened");
}

#[actix_web::test]
async fn a_success_while_the_waiting_is_set_is_not_missed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    let head = propose(&ada, project, "more").await;
    let (id, by) = (app.kept_merge_request(project, 1).id, app.user("ada").id);
    run(&app, &ada, project, "unit").await;
    finish(&app, &ada, project, "unit", End::Success).await;
    app.work().await;

    // As by a caller who saw the pipeline run a moment before.
    let how = AutoMerge { sha: Some(head), ..AutoMerge::default() };
    app.write(move |tx| wait_for_pipeline(tx, id, by, &how));
    app.work().await;

    let own = format!("/projects/{project}/merge_requests/1");
    assert_eq!(ada.get(&own).await.ok()["state"], "merged");
}
