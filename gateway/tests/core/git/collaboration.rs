//! Pushes of git clients to branches that are lent to them.

use kernel::AccessLevel::{Developer, Maintainer};
use serde_json::json;

use super::{Client, forge::secret};
use crate::{
    rest::repo::collaboration::Fork,
    support::{Person, Server, TestApp},
};

const NO_PUSH: &str = "GitLab: You are not allowed to push code to this project.";

/// A clone of `bob`'s fork by somebody else, with one commit more than his branch.
async fn clone(server: &Server, person: &Person<'_>) -> Client {
    let (client, name) = (Client::new(), &person.username);
    let url = format!("http://{name}:{}@{}/bob/engine.git", secret(person), server.address);
    client.git(&["clone", "-q", "-b", "fix", &url, "."]).await.ok();
    client.commit("help").await;
    client
}

#[actix_web::test]
async fn the_branch_that_is_lent_is_pushed_to_and_no_other() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let (server, ada) = (app.serve(), app.person("ada"));
    let client = clone(&server, &ada).await;

    client.run("push -q origin fix").await.ok();
    client.run("commit -q --amend -m helped").await.ok();
    client.run("push -q --force origin fix").await.ok();

    for wrong in ["fix:other", "fix:main", "fix:new", ":fix", "fix:refs/tags/v1"] {
        client.run(&format!("push --force origin {wrong}")).await.told(NO_PUSH);
    }
    client.run("push --atomic origin fix fix:other").await.refused();
    let shown = ada.get(&format!("/projects/{}/merge_requests/1", fork.project)).await.ok();
    assert_eq!(shown["sha"].as_str(), Some(&*client.run("rev-parse fix").await.ok()));
}

#[actix_web::test]
async fn nothing_is_lent_to_those_who_may_not_merge() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let server = app.serve();
    let dora = fork.member(&app, "dora", Developer);

    let said = clone(&server, &dora).await.run("push origin fix").await.refused();

    assert!(said.contains("403"), "{said}");
}

#[actix_web::test]
async fn nothing_is_lent_once_it_is_closed() {
    let app = TestApp::new();
    let fork = Fork::new(&app).await;
    let (server, mia) = (app.serve(), fork.member(&app, "mia", Maintainer));
    let client = clone(&server, &mia).await;
    let path = format!("/projects/{}/merge_requests/1", fork.project);

    mia.put(&path, json!({ "state_event": "close" })).await.ok();
    assert!(client.run("push origin fix").await.refused().contains("403"));
    mia.put(&path, json!({ "state_event": "reopen" })).await.ok();
    client.run("push -q origin fix").await.ok();
}
