//! Reactions to issues, merge requests and notes.

use kernel::{AccessLevel::Owner, Visibility::Public};
use serde_json::{Value, json};

use super::epics::{epic, set_up};
use crate::support::TestApp;

#[actix_web::test]
async fn a_reaction_is_given_shown_counted_and_taken_back() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let emoji = format!("/projects/{project}/issues/{}/award_emoji", app.issue(project, &ada));

    let made = ada.post(&emoji, json!({ "name": "+1" })).await.created();
    assert_eq!((&made["name"], &made["awardable_type"]), (&json!("thumbsup"), &json!("Issue")));
    assert_eq!(made["user"]["username"], "ada");
    app.person("eve").post(&emoji, json!({ "name": "thumbsdown" })).await.created();
    assert_eq!(app.votes(project, 1), (1, 1));
    assert_eq!(app.anonymous().get(&emoji).await.each("name"), ["thumbsup", "thumbsdown"]);
    assert_eq!(ada.get(&format!("{emoji}?per_page=1&page=2")).await.each("name"), ["thumbsdown"]);
    let one = format!("{emoji}/{}", made["id"]);
    assert_eq!(ada.get(&one).await.ok(), made);

    let early = ada.sending("If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT");
    early.delete(&one).await.refused(412, json!({ "message": "412 Precondition Failed" }));
    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Award Emoji Not Found" }));
    assert_eq!(app.votes(project, 1), (0, 1));
}

#[actix_web::test]
async fn a_reaction_must_be_one_and_be_given_once_by_everybody() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let emoji = format!(
        "/projects/{project}/merge_requests/{}/award_emoji",
        app.merge_request(project, &ada)
    );
    let made = ada.post(&emoji, json!({ "name": "rocket" })).await.created();

    let taken = json!({ "message": "404 Award Emoji Name has already been taken Not Found" });
    ada.post(&emoji, json!({ "name": ":rocket:" })).await.refused(404, taken);
    let unknown = json!({ "message": "404 Award Emoji Name is not a valid emoji name Not Found" });
    ada.post(&emoji, json!({ "name": "nonsense" })).await.refused(404, unknown);
    let one = format!("{emoji}/{}", made["id"]);
    let foreign = json!({ "message": "401 Unauthorized" });
    app.member(project, "olga", Owner).delete(&one).await.refused(401, foreign);
    app.admin().delete(&one).await.with(204);
}

#[actix_web::test]
async fn notes_have_reactions_of_their_own() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    let note = ada.post(&format!("{issue}/notes"), json!({ "body": "a" })).await.created();
    let emoji = format!("{issue}/notes/{}/award_emoji", note["id"]);

    let made = ada.post(&emoji, json!({ "name": "tada" })).await.created();

    assert_eq!((&made["awardable_type"], &made["awardable_id"]), (&json!("Note"), &note["id"]));
    assert_eq!(ada.get(&format!("{issue}/award_emoji")).await.each("name"), Vec::<Value>::new());
    let other = format!("{issue}/award_emoji?note_id={}", note["id"]);
    assert_eq!(ada.get(&other).await.each("name"), Vec::<Value>::new());
    assert_eq!(ada.get(&emoji).await.each("name"), ["tada"]);
    ada.delete(&format!("{emoji}/{}", made["id"])).await.with(204);
}

#[actix_web::test]
async fn epics_and_what_is_said_of_them_are_reacted_to() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "public").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let one = format!("/groups/{group}/epics/1");

    let made = ada.post(&format!("{one}/award_emoji"), json!({ "name": "+1" })).await.created();

    assert_eq!(made["awardable_type"], "Epic");
    let emoji = format!("{one}/award_emoji");
    assert_eq!(app.anonymous().get(&emoji).await.each("name"), ["thumbsup"]);
    let shown = ada.get(&one).await.ok();
    assert_eq!((&shown["upvotes"], &shown["downvotes"]), (&json!(1), &json!(0)));
    ada.delete(&format!("{emoji}/{}", made["id"])).await.with(204);
    assert_eq!(ada.get(&one).await.ok()["upvotes"], 0);
    let note = ada.post(&format!("{one}/notes"), json!({ "body": "Yes" })).await.created();
    let emoji = format!("{one}/notes/{}/award_emoji", note["id"]);
    ada.post(&emoji, json!({ "name": "rocket" })).await.created();
    assert_eq!(ada.get(&emoji).await.each("awardable_type"), ["Note"]);
    app.anonymous().get(&emoji).await.refused(401, json!({ "message": "401 Unauthorized" }));
}
