//! What `git push -o` says.

use kernel::{AccessLevel, Visibility, head::Growth};
use repo::{Event, event::MovedRef, push::journal::PushAction};
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

#[actix_web::test]
async fn what_was_given_is_kept_with_the_push() {
    let (forge, client) = with_topic().await;

    client.run("push -q -o ci.skip -o ci.variable=A=b origin add-tea").await.ok();

    let announced = forge.app.announced();
    let (_, told) = announced.iter().rfind(|(kind, _)| kind == "refs.moved").unwrap();
    let told: Value = serde_json::from_str(told).unwrap();
    // Variables may be secrets: they are sealed with the work that the push leaves.
    assert_eq!(told["options"], json!(["ci.skip"]));
}

/// Their sources and variables.
async fn pipelines(forge: &Forge) -> Vec<Value> {
    let alice = forge.app.person("alice");
    let listed = alice.get(&format!("/projects/{}/pipelines", forge.project)).await.ok();
    listed.as_array().cloned().unwrap_or_default()
}

#[actix_web::test]
async fn a_push_is_answered_when_its_pipelines_can_be_read() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    client.commit_file(".gitlab-ci.yml", b"a: {script: x}\n", "Add jobs").await;

    client.run("push -q origin HEAD:one HEAD:refs/tags/v1").await.ok();

    let made = pipelines(&forge).await;
    let statuses: Vec<&Value> = made.iter().map(|one| &one["status"]).collect();
    assert_eq!(statuses, ["pending", "pending"]);
    let alice = forge.app.person("alice");
    let jobs = alice.get(&format!("/projects/{}/jobs", forge.project)).await.each("status");
    assert_eq!(jobs, ["pending", "pending"]);
}

#[actix_web::test]
async fn variables_that_a_pusher_may_not_set_make_no_pipeline_and_are_told() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let alice = forge.app.person("alice");
    let path = format!("/projects/{}", forge.project);
    client.commit_file(".gitlab-ci.yml", b"a: {script: x}\n", "Add jobs").await;
    let long = format!("ci.variable={}=x", "A".repeat(256));

    let said = client.git(&["push", "-o", &long, "origin", "HEAD:one"]).await;
    let told = "remote: No pipeline: variables.key is too long (maximum is 255 characters)";
    assert!(said.went_well() && said.complaint().contains(told), "{}", said.complaint());
    assert!(pipelines(&forge).await.is_empty());

    alice.put(&path, json!({ "restrict_user_defined_variables": true })).await.ok();
    let said = client.git(&["push", "-o", "ci.variable=A=b", "origin", "HEAD:two"]).await;
    assert!(!said.complaint().contains("No pipeline"), "the owner may: {}", said.complaint());
    assert_eq!(pipelines(&forge).await.len(), 1);

    let url = forge.url_of_member(AccessLevel::Developer);
    let said = client.git(&["push", "-o", "ci.variable=A=b", &url, "HEAD:three"]).await;
    let told = "remote: No pipeline: Insufficient permissions to set pipeline variables";
    assert!(said.went_well() && said.complaint().contains(told), "{}", said.complaint());
    forge.app.clock.advance(time::Duration::minutes(5));
    forge.app.work().await;
    assert_eq!(pipelines(&forge).await.len(), 1, "nor does the background make one");
    let said = client.git(&["push", &url, "HEAD:four"]).await;
    assert!(said.went_well() && pipelines(&forge).await.len() == 2, "{}", said.complaint());
}

#[actix_web::test]
async fn what_waits_for_its_pipeline_holds_no_variable_in_clear() {
    let (forge, client) = Forge::with_commit(Visibility::Private).await;
    let text = b"a: {script: x, rules: [{if: $A == 'clear text'}]}\n";
    let sha = client.commit_file(".gitlab-ci.yml", text, "Add jobs").await;
    client.run("push -o ci.skip origin HEAD:one").await.ok();
    let (project, user) = (forge.project, Some(forge.app.user("alice").id));
    forge.app.announced();

    // As in a push whose server ended before it had made the pipeline.
    let moved = MovedRef {
        name: "refs/heads/two".to_owned(),
        action: PushAction::Created,
        before: None,
        after: Some(sha),
        commit_count: 0,
        commit_title: None,
    };
    let push = Event::RefsMoved {
        project,
        user,
        becomes_default: None,
        moves: vec![moved],
        options: ["ci.variable=A=clear text", "x"].map(str::to_owned).to_vec(),
        head: None,
        growth: Growth::By(0),
        by_rebase: false,
        earlier: 0,
    };
    forge.app.write(move |tx| tx.emit(push));

    assert!(forge.app.queued().iter().any(|text| text.contains("\"sealed\":\"1:")));
    let told = format!("{:?} {:?}", forge.app.queued(), forge.app.announced());
    assert!(!told.contains("clear text") && told.contains("refs/heads/two"), "{told}");
    forge.app.clock.advance(time::Duration::minutes(1));
    forge.app.work().await;
    assert_eq!(pipelines(&forge).await[0]["ref"], "two");
}
