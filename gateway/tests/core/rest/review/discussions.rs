//! Discussions of issues and merge requests.

use kernel::{
    AccessLevel::{Developer, Reporter},
    Visibility::Public,
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let iid = app.merge_request(project, &ada);
    (ada, project, format!("/projects/{project}/merge_requests/{iid}/discussions"))
}

async fn thread(person: &Person<'_>, discussions: &str, body: &str) -> String {
    let made = person.post(discussions, json!({ "body": body })).await.created();
    format!("{discussions}/{}", made["id"].as_str().unwrap_or_default())
}

#[actix_web::test]
async fn a_thread_is_begun_answered_and_ends_with_its_last_note() {
    let app = TestApp::new();
    let (ada, _, discussions) = set_up(&app).await;

    let one = thread(&ada, &discussions, "why?").await;
    let shown = ada.get(&one).await.ok();
    assert_eq!(shown["id"].as_str().map(str::len), Some(40));
    assert_eq!(
        (&shown["individual_note"], &shown["notes"][0]["type"]),
        (&json!(false), &json!("DiscussionNote"))
    );
    let reply = ada.post(&format!("{one}/notes"), json!({ "body": "so" })).await.created();
    assert_eq!((&reply["type"], &reply["resolvable"]), (&json!("DiscussionNote"), &json!(true)));
    assert_eq!(ada.get(&format!("{one}/notes")).await.each("body"), ["why?", "so"]);

    let note = format!("{one}/notes/{}", reply["id"]);
    assert_eq!(ada.get(&note).await.ok()["body"], "so");
    assert_eq!(ada.put(&note, json!({ "body": "thus" })).await.ok()["body"], "thus");
    ada.delete(&note).await.with(204);
    let left = ada.get(&one).await.ok();
    assert_eq!(left["notes"].as_array().map(Vec::len), Some(1));
    ada.delete(&format!("{one}/notes/{}", left["notes"][0]["id"])).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Discussion Not Found" }));
    assert_eq!(ada.get(&discussions).await.ok(), json!([]));
}

#[actix_web::test]
async fn a_reply_makes_a_thread_of_a_plain_comment() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    ada.post(&format!("{issue}/notes"), json!({ "body": "hm" })).await.created();
    let discussions = format!("{issue}/discussions");
    let alone = ada.get(&discussions).await.ok()[0].clone();
    assert_eq!(
        (&alone["individual_note"], &alone["notes"][0]["type"]),
        (&json!(true), &Value::Null)
    );

    let one = format!("{discussions}/{}", alone["id"].as_str().unwrap_or_default());
    ada.post(&format!("{one}/notes"), json!({ "body": "ha" })).await.created();

    let joined = ada.get(&one).await.ok();
    assert_eq!(joined["individual_note"], false);
    let types: Vec<_> = (0..2).map(|at| joined["notes"][at]["type"].clone()).collect();
    assert_eq!(types, ["DiscussionNote", "DiscussionNote"]);
    assert_eq!(joined["notes"][0]["resolvable"], false, "those of issues are not settled");
    let refusal = json!({ "message": "400 Bad request - Note is not resolvable" });
    let note = format!("{one}/notes/{}", joined["notes"][0]["id"]);
    ada.put(&note, json!({ "resolved": true })).await.refused(400, refusal);
}

#[actix_web::test]
async fn discussions_come_by_page_oldest_first() {
    let app = TestApp::new();
    let (ada, _, discussions) = set_up(&app).await;
    let first = thread(&ada, &discussions, "a").await;
    for body in ["b", "c"] {
        thread(&ada, &discussions, body).await;
    }
    ada.post(&format!("{first}/notes"), json!({ "body": "late" })).await.created();

    let page = ada.get(&format!("{discussions}?per_page=2")).await;
    assert_eq!(page.header("x-total"), Some("3"));
    let page = page.ok();
    let bodies: Vec<_> = (0..2).map(|at| page[at]["notes"][0]["body"].clone()).collect();
    assert_eq!(bodies, ["a", "b"]);
    assert_eq!(page[0]["notes"][1]["body"], "late");
}

#[actix_web::test]
async fn threads_are_settled_by_developers_and_the_author() {
    let app = TestApp::new();
    let (ada, project, discussions) = set_up(&app).await;
    let one = thread(&ada, &discussions, "a").await;
    thread(&ada, &discussions, "b").await;
    assert_eq!(app.unresolved_threads(project, 1), 2);
    let yes = json!({ "resolved": true });
    let no = json!({ "message": "403 Forbidden" });
    app.member(project, "rita", Reporter).put(&one, yes.clone()).await.refused(403, no);
    let missing = json!({ "error": "resolved is missing" });
    ada.put(&one, json!({})).await.refused(400, missing);

    let developer = app.member(project, "dev", Developer);
    let settled = developer.put(&one, yes).await.ok()["notes"][0].clone();
    assert_eq!(
        (&settled["resolved"], &settled["resolved_by"]["username"]),
        (&json!(true), &json!("dev"))
    );
    assert_eq!(app.unresolved_threads(project, 1), 1);
    let reply = developer.post(&format!("{one}/notes"), json!({ "body": "ok" })).await.created();
    assert_eq!((&reply["resolved"], app.unresolved_threads(project, 1)), (&json!(true), 1));
    let note = format!("{one}/notes/{}", settled["id"]);
    let open = ada.put(&note, json!({ "resolved": false })).await.ok();
    assert_eq!((&open["resolved"], &open["resolved_at"]), (&json!(false), &Value::Null));
    assert_eq!(app.unresolved_threads(project, 1), 2);
}

#[actix_web::test]
async fn what_a_reply_cannot_do_is_refused() {
    let app = TestApp::new();
    let (ada, project, discussions) = set_up(&app).await;
    let issue = app.issue(project, &ada);
    let notes = format!("/projects/{project}/issues/{issue}/notes");
    ada.post(&notes, json!({ "body": "!1" })).await.created();
    let told = ada.get(&discussions).await.ok()[0].clone();
    let told = format!("{discussions}/{}", told["id"].as_str().unwrap_or_default());

    let refusal = json!({ "message": "400 Bad request - Discussion can not be replied to." });
    ada.post(&format!("{told}/notes"), json!({ "body": "?" })).await.refused(400, refusal);
    let absent = json!({ "message": "404 Discussion Not Found" });
    ada.post(&format!("{discussions}/none/notes"), json!({ "body": "?" }))
        .await
        .refused(404, absent);
    let one = thread(&ada, &discussions, "a").await;
    let note = ada.get(&one).await.ok()["notes"][0]["id"].clone();
    let both = json!({ "error": "body, resolved are mutually exclusive" });
    let sent = json!({ "body": "b", "resolved": true });
    ada.put(&format!("{one}/notes/{note}"), sent).await.refused(400, both);
    let elsewhere = format!("{told}/notes/{note}");
    ada.put(&elsewhere, json!({ "body": "b" }))
        .await
        .refused(404, json!({ "message": "404 Note Not Found" }));
}
