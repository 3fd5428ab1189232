//! Jobs fetch what they run for: with their own token, and as long as they run.

use kernel::Visibility;
use serde_json::json;

use super::{Client, Forge};

const JOBS: &[u8] = b"job: {script: x}\n";

#[actix_web::test]
async fn a_job_fetches_the_commit_of_its_pipeline_as_long_as_it_runs() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let tip = client.commit_file(".gitlab-ci.yml", JOBS, "jobs").await;
    client.run("push -q origin main").await.ok();
    let alice = forge.app.person("alice");
    let new = json!({ "runner_type": "project_type", "project_id": forge.project.0 });
    let runner = alice.post("/user/runners", new).await.created();
    let ask = json!({ "token": runner["token"] });
    let payload = forge.app.anonymous().post("/jobs/request", ask).await.created();
    let token = payload["token"].as_str().expect("a token").to_owned();
    let credentials = format!("gitlab-ci-token:{token}@");
    forge.app.project(&alice, "other", Visibility::Private);
    let (own, other) = (forge.url_with(&credentials), forge.at(&credentials, "alice/other.git"));

    let copy = Client::new();
    copy.run("init -q .").await.ok();
    let refspec = payload["git_info"]["refspecs"][0].as_str().expect("a refspec").to_owned();
    copy.git(&["fetch", "-q", "--depth=20", &own, &refspec]).await.ok();
    assert_eq!(copy.run("rev-parse FETCH_HEAD").await.ok(), tip);
    copy.git(&["fetch", "-q", &other, "main"]).await.refused();
    client.git(&["push", "-q", &own, "HEAD:refs/heads/new"]).await.refused();

    let done = forge.app.anonymous().sending("JOB-TOKEN", &token);
    let path = format!("/jobs/{}", payload["id"]);
    done.put(&path, json!({ "state": "success" })).await.with(200);
    copy.git(&["fetch", "-q", &own, "main"]).await.refused();
}

#[actix_web::test]
async fn a_job_clones_another_project_that_lists_its_own() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.commit_file(".gitlab-ci.yml", JOBS, "jobs").await;
    client.run("push -q origin main").await.ok();
    let alice = forge.app.person("alice");
    let new = json!({ "runner_type": "project_type", "project_id": forge.project.0 });
    let runner = alice.post("/user/runners", new).await.created();
    let ask = json!({ "token": runner["token"] });
    let payload = forge.app.anonymous().post("/jobs/request", ask).await.created();
    let token = payload["token"].as_str().expect("a token");
    let credentials = format!("gitlab-ci-token:{token}@");
    let other = forge.app.project(&alice, "other", Visibility::Private);
    crate::support::ci::commit(&alice, other, "main", "first", "a: {script: x}\n").await;
    let url = forge.at(&credentials, "alice/other.git");

    let copy = Client::new();
    copy.run("init -q .").await.ok();
    copy.git(&["fetch", "-q", &url, "main"]).await.refused();
    let list = format!("/projects/{other}/job_token_scope/allowlist");
    alice.post(&list, json!({ "target_project_id": forge.project.0 })).await.created();
    copy.git(&["fetch", "-q", &url, "main"]).await.ok();
    copy.git(&["push", "-q", &url, "FETCH_HEAD:refs/heads/new"]).await.refused();
    forge.app.block("alice");
    copy.git(&["fetch", "-q", &url, "main"]).await.refused();
}
