//! Comments on issues and merge requests.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

/// A public project of `ada`'s with an issue: the project, the path of the issue.
async fn set_up<'a>(app: &'a TestApp) -> (Person<'a>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = app.issue(project, &ada);
    (ada, project, format!("/projects/{project}/issues/{issue}"))
}

async fn say(person: &Person<'_>, item: &str, body: &str) -> Value {
    person.post(&format!("{item}/notes"), json!({ "body": body })).await.created()
}

async fn bodies(person: &Person<'_>, path: &str) -> Vec<Value> {
    person.get(path).await.each("body")
}

#[actix_web::test]
async fn a_note_is_made_shown_changed_and_removed() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;

    let made = say(&ada, &issue, "First *post*").await;
    let one = format!("{issue}/notes/{}", made["id"]);
    assert_eq!((&made["body"], &made["type"]), (&json!("First *post*"), &Value::Null));
    assert_eq!((&made["noteable_type"], &made["noteable_iid"]), (&json!("Issue"), &json!(1)));
    assert_eq!((&made["system"], &made["resolvable"]), (&json!(false), &json!(false)));
    assert_eq!((&made["internal"], &made["commands_changes"]), (&json!(false), &json!({})));
    assert_eq!(made["author"]["username"], "ada");
    assert!(made.get("resolved").is_none() && made.get("position").is_none());
    assert_eq!(ada.get(&one).await.ok(), made);
    assert_eq!(app.notes_count(project, 1), 1);

    let changed = ada.put(&one, json!({ "body": "Second" })).await.ok();
    assert_eq!(changed["body"], "Second");
    ada.delete(&one).await.with(204);
    ada.get(&one).await.refused(404, json!({ "message": "404 Note Not Found" }));
    assert_eq!(app.notes_count(project, 1), 0);
}

#[actix_web::test]
async fn notes_are_listed_newest_first_by_page_and_kind() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    let first = say(&ada, &issue, "one").await;
    app.clock.advance(time::Duration::minutes(1));
    say(&ada, &issue, "two").await;
    let merge_request = app.merge_request(project, &ada);
    say(&ada, &format!("/projects/{project}/merge_requests/{merge_request}"), "See #1").await;
    app.clock.advance(time::Duration::minutes(1));
    let notes = format!("{issue}/notes");
    ada.put(&format!("{notes}/{}", first["id"]), json!({ "body": "1" })).await.ok();

    let mention = "mentioned in merge request !1";
    assert_eq!(bodies(&ada, &notes).await, [mention, "two", "1"]);
    assert_eq!(bodies(&ada, &format!("{notes}?sort=asc")).await, ["1", "two", mention]);
    assert_eq!(bodies(&ada, &format!("{notes}?order_by=updated_at")).await, ["1", mention, "two"]);
    assert_eq!(bodies(&ada, &format!("{notes}?activity_filter=only_comments")).await, ["two", "1"]);
    assert_eq!(bodies(&ada, &format!("{notes}?activity_filter=only_activity")).await, [mention]);
    let page = ada.get(&format!("{notes}?per_page=2&page=2")).await;
    assert_eq!(page.header("x-total"), Some("3"));
    assert_eq!(page.each("body"), ["1"]);
    let refusal = json!({ "error": "sort does not have a valid value" });
    ada.get(&format!("{notes}?sort=up")).await.refused(400, refusal);
}

#[actix_web::test]
async fn what_cannot_be_said_is_refused_and_nothing_kept() {
    let app = TestApp::new();
    let (ada, _, issue) = set_up(&app).await;
    let notes = format!("{issue}/notes");

    let blank = json!({ "message": "400 Bad request - Note {:note=>[\"can't be blank\"]}" });
    ada.post(&notes, json!({ "body": " \n" })).await.refused(400, blank);
    let missing = json!({ "error": "body is missing" });
    ada.post(&notes, json!({})).await.refused(400, missing);
    let long = "x".repeat(1_000_001);
    assert_eq!(ada.post(&notes, json!({ "body": long })).await.status, 400);
    assert_eq!(bodies(&ada, &notes).await, Vec::<Value>::new());
    app.anonymous().get(&notes).await.refused(401, json!({ "message": "401 Unauthorized" }));
    let absent = json!({ "message": "404 Issue Not Found" });
    ada.get(&notes.replace("issues/1", "issues/9")).await.refused(404, absent);
}

#[actix_web::test]
async fn only_authors_and_maintainers_change_notes_and_nobody_those_of_the_system() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    let eve = app.person("eve");
    let note = format!("{issue}/notes/{}", say(&eve, &issue, "mine").await["id"]);
    let merge_request =
        format!("/projects/{project}/merge_requests/{}", app.merge_request(project, &ada));
    say(&ada, &merge_request, "#1").await;
    let told = ada.get(&format!("{issue}/notes?activity_filter=only_activity")).await.each("id");
    let told = format!("{issue}/notes/{}", told[0]);

    let no = || json!({ "message": "403 Forbidden" });
    let other = json!({ "body": "yours" });
    let developer = app.member(project, "dev", Developer);
    developer.put(&note, other.clone()).await.refused(403, no());
    developer.delete(&note).await.refused(403, no());
    ada.put(&told, other.clone()).await.refused(403, no());
    ada.delete(&told).await.refused(403, no());
    let late = eve.sending("If-Unmodified-Since", "Mon, 01 Jan 2001 00:00:00 GMT");
    late.delete(&note).await.with(412);
    let changed = app.member(project, "max", Maintainer).put(&note, other).await.ok();
    assert_eq!(
        (&changed["body"], &changed["author"]["username"]),
        (&json!("yours"), &json!("eve"))
    );
}

#[actix_web::test]
async fn internal_notes_are_for_reporters_and_not_counted() {
    let app = TestApp::new();
    let (_, project, issue) = set_up(&app).await;
    let (rita, gus) = (app.member(project, "rita", Reporter), app.member(project, "gus", Guest));
    let notes = format!("{issue}/notes");

    let made =
        rita.post(&notes, json!({ "body": "@gus psst", "confidential": true })).await.created();
    assert_eq!((&made["internal"], &made["confidential"]), (&json!(true), &json!(true)));
    gus.post(&notes, json!({ "body": "x", "internal": true }))
        .await
        .refused(403, json!({ "message": "403 Forbidden" }));

    assert_eq!(bodies(&gus, &notes).await, Vec::<Value>::new());
    gus.get(&format!("{notes}/{}", made["id"])).await.with(404);
    gus.get(&format!("{notes}/{}/award_emoji", made["id"])).await.with(404);
    assert_eq!(gus.get(&format!("{issue}/discussions")).await.ok(), json!([]));
    assert_eq!(app.asked_of("gus"), []);
    assert_eq!(app.notes_count(project, 1), 0);
    assert_eq!(bodies(&rita, &notes).await, ["@gus psst"]);
}

#[actix_web::test]
async fn in_a_locked_discussion_members_alone_speak() {
    let app = TestApp::new();
    let (_, project, issue) = set_up(&app).await;
    let eve = app.person("eve");
    say(&eve, &issue, "before").await;
    app.lock_issue(project, 1);

    let no = json!({ "message": "403 Forbidden" });
    eve.post(&format!("{issue}/notes"), json!({ "body": "after" })).await.refused(403, no);
    let emoji = json!({ "message": "404 Award Emoji Not Found" });
    eve.post(&format!("{issue}/award_emoji"), json!({ "name": "rocket" }))
        .await
        .refused(404, emoji);
    say(&app.member(project, "gus", Guest), &issue, "after").await;
}

#[actix_web::test]
async fn a_confidential_issue_says_nothing_to_outsiders() {
    let app = TestApp::new();
    let (ada, project, _) = set_up(&app).await;
    let hidden = app.confidential_issue(project, &ada);
    let hidden = format!("/projects/{project}/issues/{hidden}");
    let note = say(&ada, &hidden, "secret").await["id"].clone();
    let absent = json!({ "message": "404 Issue Not Found" });

    for outsider in [app.person("eve"), app.member(project, "gus", Guest)] {
        outsider.get(&format!("{hidden}/notes")).await.refused(404, absent.clone());
        outsider.get(&format!("{hidden}/notes/{note}")).await.refused(404, absent.clone());
        outsider.get(&format!("{hidden}/discussions")).await.refused(404, absent.clone());
        outsider
            .post(&format!("{hidden}/notes"), json!({ "body": "?" }))
            .await
            .refused(404, absent.clone());
        outsider.get(&format!("{hidden}/award_emoji")).await.with(404);
    }
    let own = app.confidential_issue(project, &app.person("eve"));
    say(&app.person("eve"), &format!("/projects/{project}/issues/{own}"), "mine").await;
}

#[actix_web::test]
async fn merge_requests_of_private_projects_are_for_reporters() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let notes =
        format!("/projects/{project}/merge_requests/{}/notes", app.merge_request(project, &ada));

    let no = json!({ "message": "404 Not found" });
    app.member(project, "gus", Guest).get(&notes).await.refused(404, no);
    let made =
        app.member(project, "rita", Reporter).post(&notes, json!({ "body": "ok" })).await.created();
    assert_eq!(made["noteable_type"], "MergeRequest");
}

#[actix_web::test]
async fn owners_alone_say_when_something_was_said() {
    let app = TestApp::new();
    let (ada, _, issue) = set_up(&app).await;
    let notes = format!("{issue}/notes");
    let past = json!({ "body": "then", "created_at": "2001-02-03T04:05:06Z" });

    let dated = ada.post(&notes, past.clone()).await.created();
    assert_eq!(dated["created_at"], "2001-02-03T04:05:06.000Z");
    let now = app.person("eve").post(&notes, past).await.created();
    assert_ne!(now["created_at"], dated["created_at"]);
}

#[actix_web::test]
async fn whoever_speaks_too_often_has_to_wait() {
    let limits = gateway::app::Limits { notes_per_minute: 2, ..Default::default() };
    let app = TestApp::with_limits(limits);
    let (ada, _, issue) = set_up(&app).await;
    for _ in 0..2 {
        say(&ada, &issue, "again").await;
    }

    let refused = ada.post(&format!("{issue}/notes"), json!({ "body": "one more" })).await;
    assert!(refused.header("retry-after").is_some());
    let text = "This endpoint has been requested too many times. Try again later.";
    refused.refused(429, json!({ "message": { "error": text } }));
}

#[actix_web::test]
async fn a_note_is_announced() {
    let app = TestApp::new();
    let (ada, _, issue) = set_up(&app).await;
    app.announced();

    let note = say(&ada, &issue, "hear").await["id"].clone();
    ada.delete(&format!("{issue}/notes/{note}")).await.with(204);

    let kinds: Vec<String> = app.announced().into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["note.created", "note.deleted"]);
}

#[actix_web::test]
async fn what_somebody_said_stays_unless_they_go_with_everything() {
    let app = TestApp::new();
    let (ada, project, issue) = set_up(&app).await;
    let (bob, eve) = (app.person("bob"), app.person("eve"));
    let kept = say(&bob, &issue, "I was bob").await["id"].clone();
    let gone = say(&eve, &issue, "I was eve").await["id"].clone();
    let root = app.admin();

    root.delete(&format!("/users/{}", app.user("bob").id)).await.with(204);
    root.delete(&format!("/users/{}?hard_delete=true", app.user("eve").id)).await.with(204);
    app.work().await;

    let kept = ada.get(&format!("{issue}/notes/{kept}")).await.ok();
    assert_eq!(kept["author"]["username"], "ghost");
    ada.get(&format!("{issue}/notes/{gone}")).await.with(404);
    assert_eq!(app.notes_count(project, 1), 1);
}
