//! Notes, discussions, reactions, to-dos and time by GraphQL.

use kernel::{
    AccessLevel::Reporter,
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use super::review::{REFUSED, ask, mutate, nodes, refusal};
use crate::support::TestApp;

fn issue_gid(app: &TestApp, project: kernel::ids::ProjectId) -> String {
    format!("gid://gitlab/Issue/{}", app.kept_issue(project, 1).id)
}

#[actix_web::test]
async fn a_note_is_said_answered_changed_and_taken_back() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Public);
    app.issue(project, &ada);
    let issue = issue_gid(&app, project);
    let input = format!(r#"noteableId: "{issue}", body: "Hello""#);
    let said = mutate(
        &ada,
        "createNote",
        &input,
        "note { id body system discussion { id } userPermissions { adminNote } }",
    )
    .await;
    let note = said["note"].clone();
    assert_eq!((&note["body"], &note["system"]), (&json!("Hello"), &json!(false)));
    assert_eq!(note["userPermissions"]["adminNote"], true);

    let thread = note["discussion"]["id"].as_str().expect("a discussion");
    let input = format!(r#"noteableId: "{issue}", body: "And you?", discussionId: "{thread}""#);
    mutate(&eve, "createNote", &input, "note { id }").await;
    let query = format!(
        r#"{{ issue(id: "{issue}") {{ userNotesCount userDiscussionsCount
           discussions {{ nodes {{ id notes {{ nodes {{ body author {{ username }} }} }} }} }} }} }}"#
    );
    let shown = ask(&ada, &query).await["issue"].clone();
    assert_eq!((&shown["userNotesCount"], &shown["userDiscussionsCount"]), (&json!(2), &json!(1)));
    assert_eq!(nodes(&shown["discussions"]["nodes"][0]["notes"], "body"), ["Hello", "And you?"]);

    let id = note["id"].as_str().expect("an id");
    let changed =
        mutate(&ada, "updateNote", &format!(r#"id: "{id}", body: "Hi""#), "note { body }").await;
    assert_eq!(changed["note"]["body"], "Hi");
    let foreign = format!(r#"mutation {{ destroyNote(input: {{ id: "{id}" }}) {{ errors }} }}"#);
    assert_eq!(refusal(&eve, &foreign).await, REFUSED);
    let gone = mutate(&ada, "destroyNote", &format!(r#"id: "{id}""#), "note { id }").await;
    assert_eq!(gone, json!({ "errors": [], "note": null }));
}

#[actix_web::test]
async fn quick_actions_alone_leave_no_note() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    app.issue(project, &ada);
    let issue = issue_gid(&app, project);
    let said = mutate(
        &ada,
        "createNote",
        &format!(r#"noteableId: "{issue}", body: "/close""#),
        "note { id }",
    )
    .await;
    assert_eq!(said, json!({ "errors": [], "note": null }));
    let query = format!(r#"{{ issue(id: "{issue}") {{ state }} }}"#);
    assert_eq!(ask(&ada, &query).await["issue"]["state"], "closed");
    let blank =
        mutate(&ada, "createNote", &format!(r#"noteableId: "{issue}", body: " ""#), "note { id }")
            .await;
    assert_eq!(blank["errors"], json!(["Note can't be blank"]));
    let query =
        "mutation($input: CreateNoteInput!) { createNote(input: $input) { errors note { id } } }";
    let input = json!({ "noteableId": issue, "body": "x".repeat(1_000_001) });
    let long = json!({ "query": query, "variables": { "input": input } });
    let refused = ada.post("//api/graphql", long).await.ok()["data"]["createNote"].clone();
    let said = "Note is too long (maximum is 1000000 characters)";
    assert_eq!(refused, json!({ "errors": [said], "note": null }));
}

#[actix_web::test]
async fn internal_notes_are_for_members_from_reporter_on() {
    let app = TestApp::new();
    let (ada, bob, eve) = (app.person("ada"), app.person("bob"), app.person("eve"));
    let project = app.project(&ada, "forge", Public);
    app.member(project, "bob", Reporter);
    app.issue(project, &ada);
    let issue = issue_gid(&app, project);
    let input = format!(r#"noteableId: "{issue}", body: "Among us", internal: true"#);
    mutate(&bob, "createNote", &input, "note { internal }").await;
    let query = format!(r#"{{ issue(id: "{issue}") {{ notes {{ nodes {{ body }} }} }} }}"#);
    assert_eq!(nodes(&ask(&ada, &query).await["issue"]["notes"], "body"), ["Among us"]);
    assert_eq!(nodes(&ask(&eve, &query).await["issue"]["notes"], "body"), Vec::<Value>::new());
}

#[actix_web::test]
async fn a_thread_of_a_merge_request_is_resolved() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    app.merge_request(project, &ada);
    let request = format!("gid://gitlab/MergeRequest/{}", app.kept_merge_request(project, 1).id);
    let input = format!(r#"noteableId: "{request}", body: "Why?""#);
    let said =
        mutate(&ada, "createDiscussion", &input, "note { resolvable discussion { id resolved } }")
            .await;
    assert_eq!(
        (&said["note"]["resolvable"], &said["note"]["discussion"]["resolved"]),
        (&json!(true), &json!(false))
    );
    let thread = said["note"]["discussion"]["id"].as_str().expect("a discussion");
    let input = format!(r#"id: "{thread}", resolve: true"#);
    let settled = mutate(
        &ada,
        "discussionToggleResolve",
        &input,
        "discussion { resolved resolvedBy { username } }",
    )
    .await;
    assert_eq!(
        settled["discussion"],
        json!({ "resolved": true, "resolvedBy": { "username": "ada" } })
    );
}

#[actix_web::test]
async fn reactions_are_given_and_taken_back() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    app.issue(project, &ada);
    let issue = issue_gid(&app, project);
    let input = format!(r#"awardableId: "{issue}", name: "thumbsup""#);
    let payload = "awardEmoji { name emoji unicode user { username } }";
    let given = mutate(&ada, "awardEmojiAdd", &input, payload).await;
    let user = json!({ "username": "ada" });
    assert_eq!(
        given["awardEmoji"],
        json!({ "name": "thumbsup", "emoji": "👍", "unicode": "1f44d", "user": user })
    );
    let again = mutate(&ada, "awardEmojiAdd", &input, "awardEmoji { name }").await;
    assert_eq!(again["errors"], json!(["Name has already been taken"]));
    let toggled = mutate(&ada, "awardEmojiToggle", &input, "toggledOn").await;
    assert_eq!(toggled, json!({ "errors": [], "toggledOn": false }));
    let query = format!(r#"{{ issue(id: "{issue}") {{ upvotes }} }}"#);
    assert_eq!(ask(&ada, &query).await["issue"]["upvotes"], 0);
}

#[actix_web::test]
async fn a_to_do_is_made_done_and_restored() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Public);
    app.issue(project, &ada);
    let issue = issue_gid(&app, project);
    let made = mutate(
        &ada,
        "todoCreate",
        &format!(r#"targetId: "{issue}""#),
        "todo { id action state targetType target { webUrl } }",
    )
    .await;
    let todo = made["todo"].clone();
    assert_eq!(
        (&todo["action"], &todo["state"], &todo["targetType"]),
        (&json!("marked"), &json!("pending"), &json!("ISSUE"))
    );
    assert_eq!(todo["target"]["webUrl"], "http://forge.test/ada/forge/-/issues/1");
    let id = todo["id"].as_str().expect("an id");
    let one = format!(r#"{{ todo(id: "{id}") {{ state }} }}"#);
    assert_eq!(ask(&ada, &one).await["todo"]["state"], "pending");
    assert_eq!(ask(&eve, &one).await["todo"], Value::Null);
    let pending = "{ currentUser { todos { count nodes { state } } } }";
    assert_eq!(ask(&ada, pending).await["currentUser"]["todos"]["count"], 1);
    let foreign = format!(r#"mutation {{ todoMarkDone(input: {{ id: "{id}" }}) {{ errors }} }}"#);
    assert_eq!(refusal(&eve, &foreign).await, REFUSED);
    let done = mutate(&ada, "todoMarkDone", &format!(r#"id: "{id}""#), "todo { state }").await;
    assert_eq!(done["todo"]["state"], "done");
    let restored = mutate(&ada, "todoRestore", &format!(r#"id: "{id}""#), "todo { state }").await;
    assert_eq!(restored["todo"]["state"], "pending");
    let all = mutate(&ada, "todosMarkAllDone", "", "todos { state }").await;
    assert_eq!(all["todos"], json!([{ "state": "done" }]));
    let others = r#"{ user(username: "ada") { todos { count } } }"#;
    assert_eq!(ask(&eve, others).await["user"]["todos"]["count"], 0);
}

#[actix_web::test]
async fn time_is_recorded_and_taken_back() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Private);
    app.issue(project, &ada);
    let issue = issue_gid(&app, project);
    let input = format!(r#"issuableId: "{issue}", timeSpent: "1h 30m", summary: "Dug""#);
    let made =
        mutate(&ada, "timelogCreate", &input, "timelog { id timeSpent summary user { username } }")
            .await;
    assert_eq!(
        (&made["timelog"]["timeSpent"], &made["timelog"]["summary"]),
        (&json!(5400), &json!("Dug"))
    );
    let query = format!(
        r#"{{ issue(id: "{issue}") {{ totalTimeSpent humanTotalTimeSpent timelogs {{ totalSpentTime count }} }} }}"#
    );
    let shown = ask(&ada, &query).await["issue"].clone();
    assert_eq!(
        (&shown["totalTimeSpent"], &shown["humanTotalTimeSpent"]),
        (&json!(5400), &json!("1h 30m"))
    );
    assert_eq!(shown["timelogs"], json!({ "totalSpentTime": 5400, "count": 1 }));
    let everywhere = r#"{ timelogs(username: "ada") { totalSpentTime count } }"#;
    assert_eq!(
        ask(&ada, everywhere).await["timelogs"],
        json!({ "totalSpentTime": 5400, "count": 1 })
    );
    assert_eq!(ask(&eve, everywhere).await["timelogs"]["count"], 0);
    let bad = format!(r#"issuableId: "{issue}", timeSpent: "soon", summary: """#);
    let refused = mutate(&ada, "timelogCreate", &bad, "timelog { id }").await;
    assert_eq!(
        refused["errors"],
        json!(["Time spent must be formatted correctly. For example: 1h 30m."])
    );
    let id = made["timelog"]["id"].as_str().expect("an id");
    mutate(&ada, "timelogDelete", &format!(r#"id: "{id}""#), "timelog { id }").await;
    assert_eq!(ask(&ada, &query).await["issue"]["totalTimeSpent"], 0);
}

#[actix_web::test]
async fn a_note_on_an_image_is_moved() {
    use db::schema::notes;
    use diesel::prelude::*;
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    app.merge_request(project, &ada);
    let place = format!("/projects/{project}/merge_requests/1/notes");
    let made = ada.post(&place, json!({ "body": "Here" })).await.created();
    let id = made["id"].as_i64().expect("an id");
    let input = format!(r#"id: "gid://gitlab/Note/{id}", position: {{ x: 5 }}"#);
    let payload = "note { body position { x y width positionType } }";
    let plain = mutate(&ada, "updateImageDiffNote", &input, payload).await;
    assert_eq!(plain["errors"], json!(["Resource is not an ImageDiffNote"]));
    let sha = "a".repeat(40);
    let position = json!({ "base_sha": sha, "start_sha": sha, "head_sha": sha, "old_path": "a.png",
        "new_path": "a.png", "position_type": "image", "width": 10, "height": 10, "x": 1.0, "y": 1.0 });
    app.write(move |tx| {
        let row =
            diesel::update(notes::table.find(id)).set(notes::position.eq(position.to_string()));
        db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("Note")))?;
        Ok(())
    });
    let moved = mutate(&ada, "updateImageDiffNote", &input, payload).await["note"].clone();
    let expected = json!({ "x": 5, "y": 1, "width": 10, "positionType": "image" });
    assert_eq!(moved["position"], expected);
    let input = format!(r#"{input}, body: "There""#);
    let said = mutate(&ada, "updateImageDiffNote", &input, payload).await["note"].clone();
    assert_eq!(said["body"], "There");
}
