//! Issues that have to do with each other.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn issue(person: &Person<'_>, project: ProjectId, title: &str) -> Value {
    let new = json!({ "title": title });
    person.post(&format!("/projects/{project}/issues"), new).await.created()
}

#[actix_web::test]
async fn a_link_is_made_seen_from_both_ends_and_taken_away() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (one, two) = (issue(&ada, project, "one").await, issue(&ada, project, "two").await);
    let links = |iid: &Value| format!("/projects/{project}/issues/{iid}/links");
    let target = json!({ "target_project_id": project.0, "target_issue_iid": two["iid"],
                         "link_type": "blocks" });

    let made = ada.post(&links(&one["iid"]), target.clone()).await.created();
    assert_eq!(
        (&made["source_issue"]["iid"], &made["target_issue"]["iid"]),
        (&json!(1), &json!(2))
    );
    assert_eq!(
        (&made["link_type"], &made["source_issue"]["blocking_issues_count"]),
        (&json!("blocks"), &json!(1))
    );
    let from_one = ada.get(&links(&one["iid"])).await.ok();
    assert_eq!(
        (&from_one[0]["title"], &from_one[0]["link_type"]),
        (&json!("two"), &json!("blocks"))
    );
    let from_two = ada.get(&links(&two["iid"])).await.ok();
    assert_eq!(from_two[0]["link_type"], "is_blocked_by");
    assert_eq!(from_two[0]["issue_link_id"], made["id"]);
    let again = ada
        .post(
            &links(&two["iid"]),
            json!({ "target_project_id": "ada/forge", "target_issue_iid": 1 }),
        )
        .await;
    again.refused(409, json!({ "message": "Issue(s) already assigned" }));

    let close = json!({ "state_event": "close" });
    ada.put(&format!("/projects/{project}/issues/2"), close).await.ok();
    let first = format!("/projects/{project}/issues/1");
    assert_eq!(ada.get(&first).await.ok()["blocking_issues_count"], 0, "nothing open waits for it");
    let link = format!("{}/{}", links(&two["iid"]), made["id"]);
    assert_eq!(ada.get(&link).await.ok()["link_type"], "blocks");
    app.anonymous().get(&link).await.refused(401, json!({ "message": "401 Unauthorized" }));
    assert_eq!(ada.delete(&link).await.ok()["id"], made["id"]);
    ada.get(&link).await.refused(404, json!({ "message": "404 Not found" }));
    assert_eq!(ada.get(&links(&one["iid"])).await.ok(), json!([]));
}

#[actix_web::test]
async fn what_is_linked_is_called_as_seen_from_the_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (forge, site) = (app.project(&ada, "forge", Private), app.project(&ada, "site", Private));
    issue(&ada, forge, "one").await;
    issue(&ada, site, "two").await;
    let links = format!("/projects/{forge}/issues/1/links");
    let target = json!({ "target_project_id": site.0, "target_issue_iid": 1 });

    let made = ada.post(&links, target).await.created();

    let relative = |issue: &Value| issue["references"]["relative"].clone();
    assert_eq!(relative(&made["source_issue"]), "#1");
    assert_eq!(relative(&made["target_issue"]), "site#1");
    assert_eq!(relative(&ada.get(&links).await.ok()[0]), "site#1");
}

#[actix_web::test]
async fn a_link_needs_a_role_in_both_projects_and_another_issue() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (near, far) = (app.project(&ada, "near", Public), app.project(&ada, "far", Private));
    issue(&ada, near, "one").await;
    issue(&ada, far, "two").await;
    let rita = app.member(near, "rita", Reporter);
    let links = format!("/projects/{near}/issues/1/links");
    let to = |project: ProjectId, iid: i64| json!({ "target_project_id": project.0, "target_issue_iid": iid });

    let nothing = json!({ "message": "No matching issue found. Make sure that you are adding a valid issue URL." });
    rita.post(&links, to(far, 1)).await.refused(404, nothing.clone());
    rita.post(&links, to(near, 9)).await.refused(404, nothing);
    app.member(far, "rita", Guest);
    let refused = json!({ "message": "Couldn't link issues. You must have at least the Guest role in both projects." });
    rita.post(&links, to(far, 1)).await.refused(403, refused);
    let itself = json!({ "message": "#1 cannot be added: cannot be related to itself" });
    ada.post(&links, to(near, 1)).await.refused(422, itself);

    let made = ada.post(&links, to(far, 1)).await.created();
    let eve = app.person("eve");
    assert_eq!(eve.get(&links).await.ok(), json!([]), "the other end is not for everybody");
    let hidden = eve.get(&format!("{links}/{}", made["id"])).await;
    hidden.refused(404, json!({ "message": "No Issue Link found" }));
}

#[actix_web::test]
async fn a_project_given_as_null_is_the_issues_own() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    issue(&ada, project, "one").await;
    issue(&ada, project, "two").await;
    let links = format!("/projects/{project}/issues/1/links");
    let target = |project: Value| json!({ "target_project_id": project, "target_issue_iid": "2" });

    assert_eq!(ada.post(&links, target(json!(""))).await.status, 404);
    let missing = json!({ "error": "target_project_id is missing" });
    ada.post(&links, json!({ "target_issue_iid": 2 })).await.refused(400, missing);
    let made = ada.post(&links, target(Value::Null)).await.created();
    assert_eq!(made["target_issue"]["title"], "two");
    // A text that must be given was given: the record says what is wrong with it.
    let blank = json!({ "message": { "title": ["can't be blank"] } });
    let issues = format!("/projects/{project}/issues");
    ada.post(&issues, json!({ "title": null })).await.refused(400, blank);
}
