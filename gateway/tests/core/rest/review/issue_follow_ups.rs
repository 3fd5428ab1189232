//! Issues that go on with what threads of a merge request began.

use kernel::Visibility::Public;
use serde_json::json;

use crate::support::TestApp;

#[actix_web::test]
async fn an_issue_goes_on_with_the_threads_of_a_merge_request() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let request = app.merge_request(project, &ada);
    let issues = format!("/projects/{project}/issues");
    let discussions = format!("/projects/{project}/merge_requests/{request}/discussions");
    let first = ada.post(&discussions, json!({ "body": "One\nmore" })).await.created();
    let reply = format!("{discussions}/{}/notes", first["id"].as_str().unwrap_or_default());
    ada.post(&reply, json!({ "body": "Yes" })).await.created();
    let second = ada.post(&discussions, json!({ "body": "Two" })).await.created();
    let only = json!({ "title": "Later", "merge_request_to_resolve_discussions_of": request, "discussion_to_resolve": first["id"] });

    let issue = ada.post(&issues, only).await.created();

    let note = &first["notes"][0]["id"];
    let expected = format!(
        "The following discussion from !1 should be addressed:\n\n- [ ] @ada started a \
         [discussion](http://forge.test/ada/forge/-/merge_requests/1#note_{note}): (+1 comment)\n\n    > One\n    > more"
    );
    assert_eq!(issue["description"], expected);
    assert_eq!(app.unresolved_threads(project, request), 1);
    let thread =
        ada.get(&format!("{discussions}/{}", first["id"].as_str().unwrap_or_default())).await.ok();
    assert_eq!(
        (&thread["notes"][1]["resolved"], &thread["notes"][2]["body"]),
        (&json!(true), &json!("created #1 to continue this discussion"))
    );
    let all = json!({ "title": "All", "description": "Mine", "merge_request_to_resolve_discussions_of": request });
    assert_eq!(ada.post(&issues, all).await.created()["description"], "Mine");
    assert_eq!(app.unresolved_threads(project, request), 0);
    let lone = json!({ "title": "x", "discussion_to_resolve": second["id"] });
    let missing = json!({ "error": "merge_request_to_resolve_discussions_of is missing" });
    ada.post(&issues, lone).await.refused(400, missing);
    let absent = json!({ "title": "x", "merge_request_to_resolve_discussions_of": 99 });
    ada.post(&issues, absent).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn who_may_not_settle_threads_leaves_them_open() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let request = app.merge_request(project, &ada);
    let issues = format!("/projects/{project}/issues");
    let discussions = format!("/projects/{project}/merge_requests/{request}/discussions");
    ada.post(&discussions, json!({ "body": "One" })).await.created();
    let all = json!({ "title": "All", "merge_request_to_resolve_discussions_of": request });

    let issue = app.person("eve").post(&issues, all.clone()).await.created();

    assert!(issue["description"].as_str().is_some_and(|text| text.contains("> One")));
    assert_eq!(app.unresolved_threads(project, request), 1);
    ada.put(&format!("/projects/{project}"), json!({ "merge_requests_access_level": "private" }))
        .await
        .ok();
    app.person("eve").post(&issues, all).await.refused(404, json!({ "message": "404 Not found" }));
}
