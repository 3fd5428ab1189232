//! What `git push -o` says.

use kernel::Visibility;
use serde_json::{Value, json};

use super::{Client, Forge};

async fn with_topic() -> (Forge, Client) {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.run("checkout -q -b add-tea").await.ok();
    client.commit_file("tea", b"green", "Add tea").await;
    (forge, client)
}

async fn open(forge: &Forge) -> Vec<Value> {
    let path = format!("/projects/{}/merge_requests?state=opened", forge.project);
    let shown = forge.app.person("alice").get(&path).await.ok();
    shown.as_array().cloned().unwrap_or_default()
}

#[actix_web::test]
async fn options_that_nobody_knows_are_passed_over() {
    let (forge, client) = with_topic().await;
    let options =
        ["ci.skip", "ci.variable=A=b", "secret_push_protection.skip_all", "unheard.of=\u{e9}"];

    for option in options {
        client.git(&["push", "-o", option, "origin", "add-tea"]).await.ok();
        client.commit(&format!("after {option}")).await;
    }

    assert_eq!(forge.events().len(), 5);
    assert!(open(&forge).await.is_empty());
}

#[actix_web::test]
async fn a_push_creates_a_merge_request_and_tells_its_address() {
    let (forge, client) = with_topic().await;
    let alice = forge.app.person("alice");
    let milestones = format!("/projects/{}/milestones", forge.project);
    alice.post(&milestones, json!({ "title": "1.0" })).await.created();

    let words = [
        "push",
        "-o",
        "merge_request.create",
        "-o",
        "merge_request.label=a b",
        "-o",
        "merge_request.description=One\\nTwo",
        "-o",
        "merge_request.milestone=1.0",
        "-o",
        "merge_request.assign=alice",
        "-o",
        "merge_request.draft",
        "-o",
        "merge_request.squash",
        "-o",
        "merge_request.remove_source_branch",
        "origin",
        "add-tea",
    ];
    let said = client.git(&words).await;

    assert!(said.went_well(), "{}", said.complaint());
    assert!(said.complaint().contains("/alice/work/-/merge_requests/1"), "{}", said.complaint());
    let made = &open(&forge).await[0];
    assert_eq!(made["title"], "Draft: Add tea");
    assert_eq!(made["description"], "One\nTwo");
    assert_eq!(made["target_branch"], "main");
    assert_eq!(made["labels"], json!(["a b"]));
    assert_eq!(made["milestone"]["title"], "1.0");
    assert_eq!(made["assignees"][0]["username"], "alice");
    assert_eq!(made["squash"], true);
    assert_eq!(made["force_remove_source_branch"], true);
}

#[actix_web::test]
async fn the_open_merge_request_of_a_branch_is_changed() {
    let (forge, client) = with_topic().await;
    client
        .run("push -q -o merge_request.create -o merge_request.label=old origin add-tea")
        .await
        .ok();
    client.commit("more").await;

    let options =
        "-o merge_request.title=New -o merge_request.label=new -o merge_request.unlabel=old";
    client.run(&format!("push -q {options} origin add-tea")).await.ok();

    let all = open(&forge).await;
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["title"], &all[0]["labels"]), (&json!("New"), &json!(["new"])));
}

#[actix_web::test]
async fn what_cannot_be_proposed_is_pushed_all_the_same() {
    let (forge, client) = with_topic().await;

    let said = client
        .run("push -o merge_request.create -o merge_request.target=add-tea origin add-tea")
        .await;

    assert!(said.went_well(), "{}", said.complaint());
    assert!(said.complaint().contains("No merge request for add-tea:"), "{}", said.complaint());
    assert!(open(&forge).await.is_empty());
    assert_eq!(forge.events().len(), 2);
}
