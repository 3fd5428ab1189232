//! Merge requests by GraphQL.

use kernel::{
    AccessLevel::Developer,
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::TestApp;

const AT: &str = r#"projectPath: "ada/forge", iid: "1""#;

#[actix_web::test]
async fn a_merge_request_tells_what_its_rest_record_tells() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let iid = app.merge_request(project, &ada);
    let rest = ada.get(&format!("/projects/{project}/merge_requests/{iid}")).await.ok();
    let query = r#"{ project(fullPath: "ada/forge") { mergeRequest(iid: "1") { iid title state draft sourceBranch
        targetBranch mergeStatusEnum reference webUrl approved approvalsRequired approvalsLeft subscribed
        author { username mergeRequestInteraction { canMerge canUpdate reviewed } }
        targetProject { fullPath } userPermissions { updateMergeRequest readMergeRequest } } } }"#;
    let shown = ask(&ada, query).await["project"]["mergeRequest"].clone();
    for (field, rest_field) in [
        ("title", "title"),
        ("state", "state"),
        ("draft", "draft"),
        ("sourceBranch", "source_branch"),
        ("targetBranch", "target_branch"),
        ("webUrl", "web_url"),
        ("reference", "reference"),
    ] {
        assert_eq!(shown[field], rest[rest_field], "{field}");
    }
    assert_eq!(
        (&shown["approved"], &shown["approvalsRequired"], &shown["approvalsLeft"]),
        (&json!(true), &json!(0), &json!(0))
    );
    let interaction = json!({ "canMerge": true, "canUpdate": true, "reviewed": false });
    assert_eq!(
        shown["author"],
        json!({ "username": "ada", "mergeRequestInteraction": interaction })
    );
    assert_eq!(shown["targetProject"]["fullPath"], "ada/forge");
    let may = json!({ "updateMergeRequest": true, "readMergeRequest": true });
    assert_eq!(shown["userPermissions"], may);
}

#[actix_web::test]
async fn merge_requests_are_listed_by_branches_people_and_state() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Private);
    app.merge_request(project, &ada);
    let branch = app.kept_merge_request(project, 1).source_branch;
    let listed = async |filters: &str| {
        let query = format!(
            r#"{{ project(fullPath: "ada/forge") {{ mergeRequests{filters} {{ count nodes {{ iid }} }} }} }}"#
        );
        nodes(&ask(&ada, &query).await["project"]["mergeRequests"], "iid")
    };
    assert_eq!(listed("").await, ["1"]);
    assert_eq!(listed(&format!(r#"(sourceBranches: "{branch}")"#)).await, ["1"]);
    assert_eq!(listed(r#"(sourceBranches: ["other"])"#).await, Vec::<Value>::new());
    assert_eq!(listed("(state: opened)").await, ["1"]);
    assert_eq!(listed("(state: merged)").await, Vec::<Value>::new());
    assert_eq!(listed(r#"(authorUsername: "ada", draft: false)"#).await, ["1"]);
    assert_eq!(listed(r#"(not: { labels: ["red"] }, sort: MERGED_AT_DESC)"#).await, ["1"]);
    let own = "{ currentUser { authoredMergeRequests { nodes { iid } } assignedMergeRequests { nodes { iid } } } }";
    let own = ask(&ada, own).await["currentUser"].clone();
    assert_eq!(nodes(&own["authoredMergeRequests"], "iid"), ["1"]);
    assert_eq!(nodes(&own["assignedMergeRequests"], "iid"), Vec::<Value>::new());
    let id = app.kept_merge_request(project, 1).id;
    let hidden = format!(r#"{{ mergeRequest(id: "gid://gitlab/MergeRequest/{id}") {{ iid }} }}"#);
    assert_eq!(ask(&eve, &hidden).await["mergeRequest"], Value::Null);
}

#[actix_web::test]
async fn a_merge_request_is_changed_by_mutations() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let project = app.project(&ada, "forge", Public);
    app.member(project, "bob", Developer);
    app.merge_request(project, &ada);
    let eve = app.person("eve");
    let draft = mutate(
        &ada,
        "mergeRequestSetDraft",
        &format!("{AT}, draft: true"),
        "mergeRequest { draft }",
    )
    .await;
    assert_eq!(draft, json!({ "errors": [], "mergeRequest": { "draft": true } }));
    let input = format!(r#"{AT}, reviewerUsernames: ["bob"]"#);
    let payload = "mergeRequest { reviewers { nodes { username \
                   mergeRequestInteraction { reviewState } } } }";
    let asked = mutate(&ada, "mergeRequestSetReviewers", &input, payload).await;
    let asked = asked["mergeRequest"]["reviewers"]["nodes"][0].clone();
    assert_eq!(
        (&asked["username"], &asked["mergeRequestInteraction"]["reviewState"]),
        (&json!("bob"), &json!("UNREVIEWED"))
    );
    let locked = mutate(
        &bob,
        "mergeRequestSetLocked",
        &format!("{AT}, locked: true"),
        "mergeRequest { discussionLocked }",
    )
    .await;
    assert_eq!(locked["mergeRequest"]["discussionLocked"], true);
    let closed = mutate(
        &ada,
        "mergeRequestUpdate",
        &format!(r#"{AT}, title: "Other", state: CLOSED"#),
        "mergeRequest { title state }",
    )
    .await;
    assert_eq!(closed["mergeRequest"], json!({ "title": "Other", "state": "closed" }));
    let foreign = format!(
        "mutation {{ mergeRequestSetLocked(input: {{ {AT}, locked: false }}) {{ errors }} }}"
    );
    assert_eq!(refusal(&eve, &foreign).await, REFUSED);
}

#[actix_web::test]
async fn a_merge_at_another_commit_is_refused_in_the_payload() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    app.merge_request(project, &ada);
    let input = format!(r#"{AT}, sha: "0000000000000000000000000000000000000000""#);
    let refused = mutate(&ada, "mergeRequestAccept", &input, "mergeRequest { state }").await;
    assert_eq!(refused["errors"], json!(["The merge-head is not at the anticipated SHA"]));
    assert_eq!(refused["mergeRequest"]["state"], "opened");
}

#[actix_web::test]
async fn the_time_to_merge_is_that_of_the_whole_list() {
    use db::schema::merge_requests;
    use diesel::prelude::*;
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    for _ in 0..3 {
        app.merge_request(project, &ada);
    }
    let query =
        r#"{ project(fullPath: "ada/forge") { mergeRequests(first: 1) { totalTimeToMerge } } }"#;
    let shown = ask(&ada, query).await["project"]["mergeRequests"].clone();
    assert_eq!(shown["totalTimeToMerge"], Value::Null);
    app.write(|tx| {
        let merged = (
            merge_requests::state.eq("merged"),
            merge_requests::merged_at.eq((merge_requests::created_at + 2_000_000).nullable()),
        );
        let rows =
            diesel::update(merge_requests::table.filter(merge_requests::iid.le(2))).set(merged);
        db::each_backend!(tx, |conn| rows.execute(conn).map_err(db::error("Row")))?;
        Ok(())
    });
    let shown = ask(&ada, query).await["project"]["mergeRequests"].clone();
    assert_eq!(shown["totalTimeToMerge"], 4.0);
}
