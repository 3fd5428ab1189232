//! The queries that clients send, as they send them. Their texts are in `clients/`;
//! `xtask/clients/graphql_calls.mjs` holds them against the schema.

use kernel::Visibility::{Private, Public};
use serde_json::{Value, json};

use super::review::nodes;
use crate::support::{Person, TestApp};

const ENDPOINT: &str = "//api/graphql";

/// The text of a client's query, by the name of its file.
macro_rules! client {
    ($name:literal) => {
        include_str!(concat!("clients/", $name, ".graphql"))
    };
}

/// Sends a query as clients do, and answers with its data. Most clients take any `errors` as a failure.
async fn send(
    person: &Person<'_>,
    query: &str,
    operation: Option<&str>,
    variables: Value,
) -> Value {
    let body = json!({ "query": query, "operationName": operation, "variables": variables });
    let answer = person.post(ENDPOINT, body).await.ok();
    assert_eq!(answer.get("errors"), None, "{query}");
    answer["data"].clone()
}

async fn ask(person: &Person<'_>, query: &str, variables: Value) -> Value {
    send(person, query, None, variables).await
}

#[actix_web::test]
async fn the_command_line_finds_the_merge_request_of_a_branch() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.merge_request(project, &ada);
    let id = app.kept_merge_request(project, 1).id;
    let data = ask(&ada, client!("glab_branch_merge_requests"), Value::Null).await;
    let expected = json!({ "id": format!("gid://gitlab/MergeRequest/{id}"), "iid": "1" });
    assert_eq!(data["project"]["mergeRequests"]["nodes"], json!([expected]));
}

#[actix_web::test]
async fn the_command_line_pages_through_discussions() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.merge_request(project, &ada);
    let place = format!("/projects/{project}/merge_requests/1/discussions");
    for body in ["Why?", "How?"] {
        ada.post(&place, json!({ "body": body })).await.created();
    }
    let mut variables = json!({ "project": "ada/forge", "iid": "1", "endCursor": null });
    for (body, more) in [("Why?", true), ("How?", false)] {
        let data = ask(&ada, client!("glab_discussions"), variables.clone()).await;
        let page = &data["project"]["mergeRequest"]["discussions"];
        let note = &page["nodes"][0]["notes"]["nodes"][0];
        assert_eq!((&note["body"], &note["system"]), (&json!(body), &json!(false)));
        assert_eq!((&note["resolvable"], &note["resolved"]), (&json!(true), &json!(false)));
        assert_eq!(note["discussion"]["id"], page["nodes"][0]["id"]);
        assert_eq!(
            (&note["position"], &page["pageInfo"]["hasNextPage"]),
            (&Value::Null, &json!(more))
        );
        variables["endCursor"] = page["pageInfo"]["endCursor"].clone();
    }
}

#[actix_web::test]
async fn the_command_line_lists_work_items_of_projects_and_groups() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("orchid", None).await;
    let new = json!({ "name": "site", "namespace_id": group });
    let project = ada.post("/projects", new).await.created()["id"].clone();
    let issues = format!("/projects/{project}/issues");
    ada.post(&issues, json!({ "title": "Leak" })).await.created();
    let variables = json!({ "projectPath": "orchid/site", "first": 20, "types": ["ISSUE"] });
    let data = ask(&ada, client!("glab_project_work_items"), variables).await;
    let item = data["project"]["workItems"]["nodes"][0].clone();
    assert_eq!(
        (&item["iid"], &item["title"], &item["state"]),
        (&json!("1"), &json!("Leak"), &json!("OPEN"))
    );
    assert_eq!(item["workItemType"]["name"], "Issue");
    assert_eq!(item["author"]["username"], "ada");

    let variables = json!({ "groupPath": "orchid", "state": "opened", "first": 20 });
    let data = ask(&ada, client!("glab_group_work_items"), variables).await;
    assert_eq!(data["group"]["workItems"]["nodes"], json!([item]));
    let variables = json!({ "groupPath": "nowhere" });
    let data = ask(&ada, client!("glab_group_work_items"), variables).await;
    assert_eq!(data, json!({ "group": null }));
}

#[actix_web::test]
async fn the_command_line_makes_changes_and_deletes_a_work_item() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let kind = "gid://gitlab/WorkItems::Type/1";
    let input = json!({ "projectPath": "ada/forge", "title": "Leak", "workItemTypeId": kind });
    let made = ask(&ada, client!("glab_create_work_item"), json!({ "input": input })).await;
    let item = made["workItemCreate"]["workItem"].clone();
    assert_eq!((&item["iid"], &item["title"]), (&json!("1"), &json!("Leak")));

    let change = client!("glab_change_work_item");
    let input = json!({ "id": item["id"], "title": "Dry", "stateEvent": "CLOSE" });
    let done = send(&ada, change, Some("UpdateWorkItem"), json!({ "input": input })).await;
    let expected = json!({ "workItem": { "state": "CLOSED", "title": "Dry" }, "errors": [] });
    assert_eq!(done["workItemUpdate"], expected);
    let done = send(&ada, change, Some("DeleteWorkItem"), json!({ "id": item["id"] })).await;
    assert_eq!(done["workItemDelete"], json!({ "errors": [] }));
    assert_eq!(ada.get(&format!("/projects/{project}/issues/1")).await.status, 404);
}

#[actix_web::test]
async fn an_editor_learns_whose_token_it_has() {
    let app = TestApp::new();
    let data = ask(&app.person("ada"), client!("editor_user_and_version"), json!({})).await;
    assert_eq!(data["currentUser"]["username"], "ada");
    assert_eq!(data["currentUser"]["id"], format!("gid://gitlab/User/{}", app.user("ada").id));
    assert!(data["metadata"]["version"].is_string());
    let nobody = ask(&app.anonymous(), client!("editor_user_and_version"), json!({})).await;
    assert_eq!(nobody, json!({ "currentUser": null, "metadata": null }));
}

#[actix_web::test]
async fn an_editor_opens_a_project() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let id = ada.filled_project("forge", "private").await;
    let listed =
        ask(&ada, client!("editor_projects"), json!({ "search": "forg", "limit": 20 })).await;
    let found = listed["projects"]["nodes"][0].clone();
    assert_eq!(found["id"], format!("gid://gitlab/Project/{id}"));
    assert_eq!(found["httpUrlToRepo"], "http://forge.test/ada/forge.git");

    let query = client!("editor_project");
    let opened = ask(&ada, query, json!({ "projectPath": "ada/forge" })).await["project"].clone();
    for field in ["id", "name", "description", "fullPath", "webUrl", "group", "wikiEnabled"] {
        assert_eq!(opened[field], found[field], "{field}");
    }
    assert_eq!(opened["repository"], json!({ "empty": false, "rootRef": "main" }));
    let unseen = ask(&app.person("eve"), query, json!({ "projectPath": "ada/forge" })).await;
    assert_eq!(unseen, json!({ "project": null }));
}

#[actix_web::test]
async fn an_editor_talks_about_a_merge_request() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.merge_request(project, &ada);
    let place = json!({ "projectPath": "ada/forge", "iid": "1" });
    let threads = async || ask(&ada, client!("editor_discussions"), place.clone()).await;
    let request = threads().await["project"]["mergeRequest"]["id"].clone();

    let notes = client!("editor_notes");
    let new = json!({ "issuableId": request, "body": "Why?", "replyId": null });
    let first = send(&ada, notes, Some("CreateNote"), new).await["createNote"]["note"].clone();
    assert_eq!(first["body"], "Why?");
    ada.post(
        &format!("/projects/{project}/merge_requests/1/discussions"),
        json!({ "body": "How?" }),
    )
    .await
    .created();
    let shown = threads().await["project"]["mergeRequest"]["discussions"].clone();
    let thread = shown["nodes"][1].clone();
    assert_eq!((&thread["resolvable"], &thread["resolved"]), (&json!(true), &json!(false)));

    let reply = json!({ "issuableId": request, "body": "So!", "replyId": thread["replyId"] });
    let reply = send(&ada, notes, Some("CreateNote"), reply).await["createNote"]["note"].clone();
    let change = json!({ "noteId": reply["id"], "body": "So." });
    let changed = send(&ada, notes, Some("UpdateNote"), change).await;
    assert_eq!(changed["updateNote"], json!({ "errors": [], "note": { "body": "So." } }));
    let resolve = json!({ "replyId": thread["replyId"], "resolved": true });
    let resolved = send(&ada, notes, Some("SetResolved"), resolve).await;
    assert_eq!(resolved["discussionToggleResolve"]["discussion"]["resolved"], true);
    send(&ada, notes, Some("DeleteNote"), json!({ "noteId": first["id"] })).await;
    let shown = threads().await["project"]["mergeRequest"]["discussions"]["nodes"].clone();
    assert_eq!(shown.as_array().map(Vec::len), Some(2));
    assert_eq!(nodes(&shown[0]["notes"], "body"), ["How?", "So."]);
    assert_eq!(nodes(&shown[1]["notes"], "body"), ["resolved all threads"]);
}

#[actix_web::test]
async fn an_editor_reads_what_was_said_about_an_issue() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    app.issue(project, &ada);
    let place = format!("/projects/{project}/issues/1/notes");
    ada.post(&place, json!({ "body": "**Bold**" })).await.created();
    let variables = json!({ "projectPath": "ada/forge", "iid": "1", "afterCursor": null });
    let data = ask(&ada, client!("editor_issue_discussions"), variables).await;
    let note = data["project"]["issue"]["discussions"]["nodes"][0]["notes"]["nodes"][0].clone();
    assert_eq!((&note["body"], &note["author"]["username"]), (&json!("**Bold**"), &json!("ada")));
    assert!(note["bodyHtml"].as_str().is_some_and(|html| html.contains("<strong>Bold</strong>")));
    let variables = json!({ "projectPath": "ada/forge" });
    let none =
        ask(&ada, client!("editor_snippets"), variables).await["project"]["snippets"].clone();
    assert_eq!((&none["nodes"], &none["pageInfo"]["hasNextPage"]), (&json!([]), &json!(false)));
}

#[actix_web::test]
async fn a_bot_pages_through_merge_requests() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    for _ in 0..3 {
        app.merge_request(project, &ada);
    }
    let (mut found, mut after) = (Vec::new(), Value::Null);
    loop {
        let variables = json!({ "path": "ada/forge", "after": after });
        let data = ask(&ada, client!("renovate_merge_requests"), variables).await;
        let page = data["project"]["mergeRequests"].clone();
        found.extend(nodes(&page, "iid"));
        after = page["pageInfo"]["endCursor"].clone();
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
    }
    assert_eq!(found, ["1", "2", "3"]);
}

#[actix_web::test]
async fn a_provider_reads_the_user_and_namespaces() {
    let app = TestApp::new();
    let ada = app.person("ada");
    ada.group("orchid", None).await;
    let user =
        ask(&ada, client!("terraform_current_user"), Value::Null).await["currentUser"].clone();
    assert_eq!((&user["username"], &user["bot"]), (&json!("ada"), &json!(false)));
    assert_eq!(user["groupCount"], 1);
    assert!(user["namespace"]["id"].is_string());
    let query = client!("terraform_namespace");
    let data = ask(&ada, query, json!({ "fullPath": "orchid" })).await;
    let expected = json!({ "fullPath": "orchid", "complianceFrameworks": { "nodes": [] } });
    assert_eq!(data["namespace"], expected);
    assert_eq!(ask(&ada, query, json!({ "fullPath": "none" })).await["namespace"], Value::Null);
}

#[actix_web::test]
async fn a_portal_copies_the_members_of_a_group() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("orchid", None).await;
    ada.adds("bob", 30, &format!("/groups/{group}")).await;
    let variables = json!({ "group": "orchid", "relations": ["DIRECT"] });
    let data = ask(&ada, client!("portal_group_members"), variables).await;
    let members = data["group"]["groupMembers"]["nodes"].as_array().expect("members").clone();
    let told =
        |one: &Value| (one["user"]["username"].clone(), one["accessLevel"]["stringValue"].clone());
    let told: Vec<_> = members.iter().map(told).collect();
    let (owner, developer) = ((json!("ada"), json!("OWNER")), (json!("bob"), json!("DEVELOPER")));
    assert!(told.len() == 2 && told.contains(&owner) && told.contains(&developer), "{told:?}");
}

#[actix_web::test]
async fn a_client_with_a_cache_asks_for_types_and_edges_and_sends_several_queries() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    for _ in 0..2 {
        app.issue(project, &ada);
    }
    let variables = json!({ "fullPath": "ada/forge", "first": 1 });
    let one = json!({ "query": client!("relay_issues"), "variables": variables });
    let answers = ada.post(ENDPOINT, json!([one, one])).await.ok();
    let shown = answers[0]["data"]["project"].clone();
    assert_eq!(shown["__typename"], "Project");
    assert_eq!(shown["issues"]["__typename"], "IssueConnection");
    assert_eq!(shown["issues"]["edges"][0]["__typename"], "IssueEdge");
    assert_eq!(shown["issues"]["edges"][0]["node"]["__typename"], "Issue");
    assert_eq!(shown["issues"]["pageInfo"]["__typename"], "PageInfo");
    assert_eq!(shown["issues"]["edges"][0]["cursor"], shown["issues"]["pageInfo"]["endCursor"]);
    assert_eq!(answers[1], answers[0]);
}
