//! Labels of one scope, of which an item has one.

use serde_json::{Value, json};

use super::epics::{epic, issue, set_up};
use crate::support::{Person, TestApp};

async fn labels(person: &Person<'_>, path: &str) -> Value {
    person.get(path).await.ok()["labels"].clone()
}

#[actix_web::test]
async fn an_issue_has_one_label_of_a_scope_the_last_that_was_named() {
    let app = TestApp::new();
    let (ada, _, project) = set_up(&app, "private").await;

    let both = json!({ "title": "One", "labels": "p::1,bug,p::2,q::1" });
    let made = issue(&ada, project, both).await;

    assert_eq!(made["labels"], json!(["bug", "p::2", "q::1"]));
    let one = format!("/projects/{project}/issues/1");
    for (change, left) in [
        (json!({ "add_labels": "p::1" }), json!(["bug", "p::1", "q::1"])),
        (
            json!({ "add_labels": "a::b::1,a::c::1" }),
            json!(["a::b::1", "a::c::1", "bug", "p::1", "q::1"]),
        ),
        (json!({ "labels": "p::2,p::1,p::3", "remove_labels": "p::3" }), json!(["p::1"])),
        (json!({ "add_labels": "p::2", "remove_labels": "p::1" }), json!(["p::2"])),
    ] {
        assert_eq!(ada.put(&one, change).await.ok()["labels"], left);
    }
    let said = json!({ "body": "/label ~\"p::3\" ~\"p::1\"" });
    ada.post(&format!("{one}/notes"), said).await.with(202);
    assert_eq!(labels(&ada, &one).await, json!(["p::1"]));
}

#[actix_web::test]
async fn merge_requests_and_epics_have_one_label_of_a_scope_too() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    let made = epic(&ada, group, json!({ "title": "Garden", "labels": "p::1,p::2" })).await;
    assert_eq!(made["labels"], json!(["p::2"]));
    let one = format!("/groups/{group}/epics/1");
    ada.put(&one, json!({ "add_labels": "p::1" })).await.ok();
    assert_eq!(labels(&ada, &one).await, json!(["p::1"]));

    let project = ada.filled_project("Engine", "private").await;
    ada.commit(&project, "topic", "topic.txt").await;
    let new = json!({ "title": "x", "source_branch": "topic", "target_branch": "main", "labels": "p::1,p::2" });
    let requests = format!("/projects/{project}/merge_requests");
    assert_eq!(ada.post(&requests, new).await.created()["labels"], json!(["p::2"]));
    let one = format!("{requests}/1");
    assert_eq!(
        ada.put(&one, json!({ "add_labels": "p::1" })).await.ok()["labels"],
        json!(["p::1"])
    );
}
