//! Lines of notes that change what the note is about.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility::Public,
    ids::ProjectId,
};
use review::issue::IssueState;
use serde_json::{Value, json};

use crate::support::{Answer, Person, TestApp};

async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = app.issue(project, &ada);
    (ada, project, format!("/projects/{project}/issues/{issue}"))
}

async fn say(person: &Person<'_>, item: &str, body: &str) -> Answer {
    person.post(&format!("{item}/notes"), json!({ "body": body })).await
}

#[actix_web::test]
async fn commands_alone_are_done_and_leave_no_note() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    let labels = format!("/projects/{project}/labels");
    let bug = ada.post(&labels, json!({ "name": "two words", "color": "red" })).await.created();

    let text = "/close\n/label ~\"two words\" ~unknown\n/weight 3\n/due 2030-01-02";
    let done = say(&ada, &issue, text).await.with(202);

    let changes = json!({ "state_event": "close", "add_label_ids": [bug["id"]], "weight": 3,
                          "due_date": "2030-01-02" });
    assert_eq!(done["commands_changes"], changes);
    assert_eq!(done["summary"][0], "Closed this issue.");
    let kept = app.kept_issue(project, 1);
    assert_eq!((kept.state, kept.weight), (IssueState::Closed, Some(3)));
    let comments = ada.get(&format!("{issue}/notes?activity_filter=only_comments")).await;
    assert_eq!(comments.each("id"), Vec::<Value>::new());
    let events = ada.get(&format!("{issue}/resource_label_events")).await.ok();
    assert_eq!(
        (&events[0]["label"]["name"], &events[0]["action"]),
        (&json!("two words"), &json!("add"))
    );
    assert_eq!(ada.get(&format!("{issue}/resource_state_events")).await.each("state"), ["closed"]);
}

#[actix_web::test]
async fn text_beside_commands_is_said_without_them() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;

    let said = say(&ada, &issue, "Done!\n/close\n```\n/reopen\n```").await.created();

    assert_eq!(said["body"], "Done!\n```\n/reopen\n```");
    assert_eq!(said["commands_changes"], json!({ "state_event": "close" }));
    assert_eq!(app.kept_issue(project, 1).state, IssueState::Closed);
    let again = ada.get(&format!("{issue}/notes/{}", said["id"])).await.ok();
    assert_eq!(again["commands_changes"], json!({}));
}

#[actix_web::test]
async fn commands_without_effect_are_refused() {
    let app = TestApp::new();
    let (ada, _, issue) = set_up(&app).await;

    let refusal = json!({ "message": "400 Bad request - Failed to apply commands." });
    say(&ada, &issue, "/reopen").await.refused(400, refusal);
    say(&ada, &issue, "/label ~unknown").await.with(400);
    say(&ada, &issue, "/weight heavy").await.with(400);
}

#[actix_web::test]
async fn only_what_somebody_may_is_done() {
    let app = TestApp::new();
    let (_, project, issue) = set_up(&app).await;
    let eve = app.person("eve");

    let said = say(&eve, &issue, "Hm\n/close\n/confidential\n/title Mine\n/todo").await.created();

    assert_eq!(said["commands_changes"], json!({ "todo_event": "add" }));
    let kept = app.kept_issue(project, 1);
    assert_eq!((kept.state, kept.confidential), (IssueState::Opened, false));
    assert_eq!(app.asked_of("eve").len(), 1);
    let rita = app.member(project, "rita", Reporter);
    say(&rita, &issue, "/confidential\n/title Ours").await.with(202);
    let kept = app.kept_issue(project, 1);
    assert_eq!((kept.title.as_str(), kept.confidential), ("Ours", true));
}

#[actix_web::test]
async fn people_milestones_and_reactions_are_set_by_commands() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    app.member(project, "dev", Developer);
    let milestones = format!("/projects/{project}/milestones");
    let milestone = ada.post(&milestones, json!({ "title": "Next one" })).await.created();

    let text = "/assign @dev me @nobody\n/milestone %\"Next one\"\n/award :tada:\n/lock";
    let done = say(&ada, &issue, text).await.with(202)["commands_changes"].clone();

    let ids = json!([app.user("ada").id.0, app.user("dev").id.0]);
    assert_eq!((&done["assignee_ids"], &done["milestone_id"]), (&ids, &milestone["id"]));
    assert_eq!((&done["emoji_award"], &done["discussion_locked"]), (&json!("tada"), &json!(true)));
    assert_eq!(app.asked_of("dev"), [("assigned".to_owned(), "Issue".to_owned())]);
    assert_eq!(ada.get(&format!("{issue}/award_emoji")).await.each("name"), ["tada"]);
    assert_eq!(app.kept_issue(project, 1).discussion_locked, Some(true));
    say(&ada, &issue, "/unassign\n/remove_milestone\n/unlock").await.with(202);
    assert_eq!(app.kept_issue(project, 1).milestone_id, None);
}

#[actix_web::test]
async fn merge_requests_are_drafted_and_closed_by_commands() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = ada.filled_project("Engine", "public").await;
    ada.commit(&project, "topic", "topic.txt").await;
    ada.propose(&project, "topic", "Add it").await;
    let id = ProjectId(project.as_i64().expect("an id"));
    let request = format!("/projects/{project}/merge_requests/1");

    let done = say(&ada, &request, "/draft\n/assign_reviewer me").await.with(202);
    assert_eq!(done["commands_changes"]["wip_event"], "draft");
    assert!(app.kept_merge_request(id, 1).draft);
    say(&ada, &request, "/ready").await.with(202);
    assert!(!app.kept_merge_request(id, 1).draft);
    say(&ada, &request, "/weight 2").await.created();
    say(&ada, &request, "/close").await.with(202);
    assert_eq!(app.kept_merge_request(id, 1).state.to_string(), "closed");
    assert_eq!(
        ada.get(&format!("{request}/resource_state_events")).await.each("state"),
        ["closed"]
    );
}

#[actix_web::test]
async fn replies_and_changed_notes_hold_commands_too() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    let discussions = format!("{issue}/discussions");
    let begun = ada.post(&discussions, json!({ "body": "So" })).await.created();
    let one = format!("{discussions}/{}", begun["id"].as_str().unwrap_or_default());

    ada.post(&format!("{one}/notes"), json!({ "body": "/close" })).await.with(202);
    assert_eq!(app.kept_issue(project, 1).state, IssueState::Closed);
    ada.post(&discussions, json!({ "body": "/reopen" })).await.with(202);
    assert_eq!(app.kept_issue(project, 1).state, IssueState::Opened);
    let note = format!("{issue}/notes/{}", begun["notes"][0]["id"]);
    ada.put(&note, json!({ "body": "/close" })).await.with(202);
    ada.get(&note).await.with(404);
}

#[actix_web::test]
async fn descriptions_hold_commands_too() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issues = format!("/projects/{project}/issues");

    let new = json!({ "title": "A", "description": "Text\n/weight 4\n/confidential" });
    let made = ada.post(&issues, new).await.created();

    assert_eq!((&made["description"], &made["weight"]), (&json!("Text"), &json!(4)));
    assert_eq!(made["confidential"], true);
    let change = json!({ "description": "/close" });
    let changed = ada.put(&format!("{issues}/{}", made["iid"]), change).await.ok();
    assert_eq!((&changed["state"], &changed["description"]), (&json!("closed"), &Value::Null));
}

#[actix_web::test]
async fn a_description_mentions_people_and_issues() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    app.person("bob");
    let new = json!({ "title": "B", "description": "@bob like #1" });
    let made = ada.post(&format!("/projects/{project}/issues"), new).await.created();

    assert_eq!(app.asked_of("bob").len(), 1);
    let told = ada.get(&format!("{issue}/notes?activity_filter=only_activity")).await;
    assert_eq!(told.each("body"), ["mentioned in issue #2"]);
    let bob = app.person("bob").get(&format!("/projects/{project}/issues/{}", made["iid"])).await;
    assert_eq!(bob.ok()["subscribed"], true, "who is mentioned hears of it");
}

#[actix_web::test]
async fn time_links_and_moves_are_made_by_commands() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    app.issue(project, &ada);
    let other = app.project(&ada, "other", Public);

    let text = "/estimate 1d\n/spend 1h 30m\n/relate #2\n/title Gone\n/move ada/other";
    let done = say(&ada, &issue, text).await.with(202)["commands_changes"].clone();

    assert_eq!(
        (&done["time_estimate"], &done["spend_time"]["duration"]),
        (&json!(28800), &json!(5400))
    );
    assert_eq!(done["related_issues"].as_array().map(Vec::len), Some(1));
    assert_eq!(done["target_project"], json!(other.0));
    assert_eq!(app.kept_issue(project, 1).state, IssueState::Closed);
    assert_eq!(app.kept_issue(other, 1).title, "Gone");
    say(&ada, &issue, "/move ada/nowhere").await.with(400);
}
