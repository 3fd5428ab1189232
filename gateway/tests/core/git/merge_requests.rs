//! What pushes of git clients do to merge requests.

use kernel::Visibility;
use serde_json::{Value, json};

use super::{Client, Forge};

/// A merge request of a branch that a client has pushed.
async fn proposed() -> (Forge, Client) {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("checkout -q -b topic").await.ok();
    client.commit("second").await;
    client.run("push -q origin topic").await.ok();
    let body = json!({ "source_branch": "topic", "target_branch": "main", "title": "Add it" });
    let path = format!("/projects/{}/merge_requests", forge.project);
    forge.app.person("alice").post(&path, body).await.created();
    (forge, client)
}

async fn shown(forge: &Forge) -> Value {
    let path = format!("/projects/{}/merge_requests/1", forge.project);
    forge.app.person("alice").get(&path).await.ok()
}

#[actix_web::test]
async fn a_push_is_seen_when_git_returns() {
    let (forge, client) = proposed().await;

    let tip = client.commit("third").await;
    client.run("push -q origin topic").await.ok();

    let record = shown(&forge).await;
    assert_eq!((&record["sha"], &record["merge_status"]), (&json!(tip), &json!("can_be_merged")));
    assert_eq!(record["diff_refs"]["head_sha"], tip);
}

#[actix_web::test]
async fn what_is_pushed_to_the_target_is_merged() {
    let (forge, client) = proposed().await;
    client.run("checkout -q main").await.ok();
    client.commit_file("aside.txt", b"aside", "aside").await;
    client.run("merge -q --no-ff -m Merged topic").await.ok();
    let merge = client.run("rev-parse main").await.ok();
    client.commit_file("aside.txt", b"more", "afterwards").await;

    client.run("push -q origin main").await.ok();

    let record = shown(&forge).await;
    assert_eq!((&record["state"], &record["merge_commit_sha"]), (&json!("merged"), &json!(merge)));
    assert_eq!(record["merge_user"]["username"], "alice");
}

#[actix_web::test]
async fn a_branch_that_goes_closes_what_it_proposed() {
    let (forge, client) = proposed().await;

    client.run("push -q origin :topic").await.ok();

    assert_eq!(shown(&forge).await["state"], "closed");
}
