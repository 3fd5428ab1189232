//! What is said about epics.

use serde_json::{Value, json};

use super::epics::{epic, issue, set_up};
use crate::support::TestApp;

#[actix_web::test]
async fn notes_of_an_epic_are_written_changed_and_taken_back() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let notes = format!("/groups/{group}/epics/1/notes");

    let made = ada.post(&notes, json!({ "body": "Roses" })).await.created();

    assert_eq!(
        (&made["noteable_type"], &made["noteable_iid"], &made["resolvable"]),
        (&json!("Epic"), &json!(1), &json!(false))
    );
    let one = format!("{notes}/{}", made["id"]);
    assert_eq!(ada.put(&one, json!({ "body": "Tulips" })).await.ok()["body"], "Tulips");
    assert_eq!(ada.get(&one).await.ok()["body"], "Tulips");
    assert_eq!(ada.get(&notes).await.each("body"), ["Tulips"]);
    let blank = json!({ "message": "400 Bad request - Note {:note=>[\"can't be blank\"]}" });
    ada.post(&notes, json!({ "body": " " })).await.refused(400, blank);
    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Note Not Found" }));
    let none = ada.get(&format!("/groups/{group}/epics/9/notes")).await;
    none.refused(404, json!({ "message": "404 Epic Not Found" }));
}

#[actix_web::test]
async fn discussions_of_an_epic_are_begun_and_answered() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let discussions = format!("/groups/{group}/epics/1/discussions");

    let begun = ada.post(&discussions, json!({ "body": "Roses?" })).await.created();
    let one = format!("{discussions}/{}", begun["id"].as_str().expect("a name"));
    let reply = ada.post(&format!("{one}/notes"), json!({ "body": "Tulips" })).await.created();

    assert_eq!(reply["type"], "DiscussionNote");
    assert_eq!(ada.get(&format!("{one}/notes")).await.each("body"), ["Roses?", "Tulips"]);
    let note = format!("{one}/notes/{}", reply["id"]);
    assert_eq!(ada.put(&note, json!({ "body": "Lilies" })).await.ok()["body"], "Lilies");
    ada.put(&note, json!({ "resolved": true })).await.with(400);
    ada.delete(&note).await.with(204);
    assert_eq!(ada.get(&one).await.ok()["notes"].as_array().map(Vec::len), Some(1));
    assert_eq!(ada.get(&discussions).await.each("individual_note"), [false]);
}

#[actix_web::test]
async fn what_is_said_about_an_epic_is_for_those_who_read_it() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    epic(&ada, group, json!({ "title": "Secret", "confidential": true })).await;
    let notes = |iid: i64| format!("/groups/{group}/epics/{iid}/notes");
    let (rob, rita, eve) = (app.person("rob"), app.person("rita"), app.person("eve"));
    for (name, role) in [("rob", 10), ("rita", 20)] {
        ada.adds(name, role, &format!("/groups/{group}")).await;
    }
    let inner = json!({ "body": "Between us", "internal": true });
    rob.post(&notes(1), inner.clone()).await.with(403);
    rita.post(&notes(1), inner).await.created();
    ada.post(&notes(2), json!({ "body": "Hush" })).await.created();

    assert_eq!(rob.post(&notes(1), json!({ "body": "Hello" })).await.created()["internal"], false);
    assert_eq!(rob.get(&notes(1)).await.each("body"), ["Hello"]);
    assert_eq!(rita.get(&notes(1)).await.each("body"), ["Hello", "Between us"]);
    assert_eq!(rita.get(&notes(2)).await.each("body"), ["Hush"]);
    rob.get(&notes(2)).await.with(404);
    rob.post(&notes(2), json!({ "body": "Hello" })).await.with(404);
    eve.get(&notes(1)).await.with(404);
    app.anonymous().get(&notes(1)).await.with(401);
}

#[actix_web::test]
async fn who_is_mentioned_about_an_epic_is_asked_if_they_may_read_it() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    issue(&ada, project, json!({ "title": "Dig" })).await;
    let rita = app.person("rita");
    app.person("eve");
    ada.adds("rita", 20, &format!("/groups/{group}")).await;
    let text = "See orchid/site#1, @rita and @eve";
    let made = epic(&ada, group, json!({ "title": "Garden", "description": text })).await;
    let notes = format!("/groups/{group}/epics/1/notes");
    ada.post(&notes, json!({ "body": "@rita look" })).await.created();

    assert_eq!(app.asked_of("eve"), []);
    let asked = rita.get("/todos?type=Epic").await.ok();
    let actions: Vec<&Value> =
        asked.as_array().expect("some").iter().map(|todo| &todo["action_name"]).collect();
    assert_eq!(actions, [&json!("directly_addressed"), &json!("mentioned")]);
    let first = &asked[0];
    assert_eq!((&first["group"]["id"], first.get("project")), (&json!(group), None));
    assert_eq!((&first["target"]["id"], &first["target_type"]), (&made["id"], &json!("Epic")));
    let url = "http://forge.test/groups/orchid/-/epics/1#note_";
    assert!(first["target_url"].as_str().is_some_and(|found| found.starts_with(url)));
    assert_eq!(rita.get(&format!("/todos?group_id={group}")).await.each("id").len(), 2);
    let told = ada.get(&format!("/projects/{project}/issues/1/notes")).await.each("body");
    assert_eq!(told, ["mentioned in epic orchid&1"]);
    rita.post(&notes, json!({ "body": "I did" })).await.created();
    assert_eq!(app.asked_of("rita"), [], "who answers is done");
}

#[actix_web::test]
async fn what_happens_to_an_epic_is_announced_and_told() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    app.announced();
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let path = format!("/groups/{group}/epics/1");
    ada.put(&path, json!({ "title": "Park", "state_event": "close" })).await.ok();
    ada.put(&path, json!({ "state_event": "close" })).await.ok();
    ada.put(&path, json!({ "state_event": "reopen" })).await.ok();

    let told = ada.get(&format!("{path}/notes?sort=asc")).await.each("body");
    assert_eq!(told, ["changed title from **{-Garden-}** to **{+Park+}**", "closed", "reopened"]);
    ada.delete(&path).await.with(204);
    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(
        kinds,
        ["epic.opened", "epic.updated", "epic.closed", "epic.reopened", "epic.removed"]
    );
}

#[actix_web::test]
async fn what_was_said_about_an_issue_goes_with_it_into_its_epic() {
    let app = TestApp::new();
    let (ada, group, project) = set_up(&app, "private").await;
    issue(&ada, project, json!({ "title": "Dig" })).await;
    let notes = format!("/projects/{project}/issues/1/notes");
    ada.post(&notes, json!({ "body": "Deep" })).await.created();
    ada.post(&notes, json!({ "body": "Here", "internal": true })).await.created();

    ada.post(&notes, json!({ "body": "/promote" })).await.with(202);

    let copied = ada.get(&format!("/groups/{group}/epics/1/notes")).await;
    assert_eq!(copied.each("body"), ["Here", "Deep"]);
    let internal = ada.get(&format!("/groups/{group}/epics/1/notes")).await.each("internal");
    assert_eq!(internal, [true, false]);
}

#[actix_web::test]
async fn names_of_epics_become_links_for_who_may_read_them() {
    let app = TestApp::new();
    let (ada, group, _) = set_up(&app, "private").await;
    epic(&ada, group, json!({ "title": "Garden" })).await;
    let text = json!({ "text": "see orchid&1", "gfm": true });
    let link = "http://forge.test/groups/orchid/-/epics/1";

    let shown = ada.post("/markdown", text.clone()).await.created();
    let hidden = app.person("eve").post("/markdown", text).await.created();

    assert!(shown["html"].as_str().is_some_and(|html| html.contains(link)), "{shown}");
    assert!(hidden["html"].as_str().is_some_and(|html| !html.contains(link)), "{hidden}");
}
