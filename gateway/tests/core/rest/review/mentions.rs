//! What follows when texts name people and items, and who learns of it.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
};
use serde_json::{Value, json};

use crate::support::{Person, TestApp};

async fn say(person: &Person<'_>, item: &str, body: &str) -> Value {
    person.post(&format!("{item}/notes"), json!({ "body": body })).await.created()
}

async fn told(person: &Person<'_>, item: &str) -> Vec<Value> {
    person.get(&format!("{item}/notes?activity_filter=only_activity")).await.each("body")
}

#[actix_web::test]
async fn who_is_mentioned_is_asked_to_look() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    for name in ["bob", "eve", "code"] {
        app.person(name);
    }

    let note = say(&ada, &issue, "@Bob see what @eve and @ada and @nobody said in `@code`").await;

    let asked = |action: &str| vec![(action.to_owned(), "Issue".to_owned())];
    assert_eq!(app.asked_of("bob"), asked("directly_addressed"));
    assert_eq!(app.asked_of("eve"), asked("mentioned"));
    assert_eq!((app.asked_of("ada"), app.asked_of("code")), (vec![], vec![]));
    say(&app.person("bob"), &issue, "I did").await;
    assert_eq!(app.asked_of("bob"), [], "who answers has looked");
    ada.delete(&format!("{issue}/notes/{}", note["id"])).await.with(204);
    assert_eq!(app.asked_of("eve"), []);
}

#[actix_web::test]
async fn who_may_not_read_is_not_asked() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let plain = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    let hidden = app.confidential_issue(project, &ada);
    let hidden = format!("/projects/{project}/issues/{hidden}");
    app.person("eve");
    app.member(project, "gus", Guest);
    app.member(project, "rita", Reporter);

    say(&ada, &plain, "@eve").await;
    say(&ada, &hidden, "@gus @rita").await;

    assert_eq!((app.asked_of("eve"), app.asked_of("gus")), (vec![], vec![]));
    assert_eq!(app.asked_of("rita").len(), 1);
}

#[actix_web::test]
async fn an_item_is_told_once_who_names_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let other = app.project(&ada, "other", Public);
    let issue = format!("/projects/{project}/issues/{}", app.issue(project, &ada));
    let near = format!("/projects/{project}/merge_requests/{}", app.merge_request(project, &ada));
    let far = format!("/projects/{other}/issues/{}", app.issue(other, &ada));

    say(&ada, &near, "for #1").await;
    say(&ada, &near, "again #1").await;
    say(&ada, &far, "as ada/forge#1 and forge#1 and http://forge.test/ada/forge/-/issues/1").await;
    say(&ada, &issue, "I am #1").await;

    let expected = ["mentioned in issue ada/other#1", "mentioned in merge request !1"];
    assert_eq!(told(&ada, &issue).await, expected);
}

#[actix_web::test]
async fn nobody_is_told_of_what_they_may_not_read() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let open = app.project(&ada, "open", Public);
    let closed = app.project(&ada, "closed", Private);
    let issue = format!("/projects/{open}/issues/{}", app.issue(open, &ada));
    let secret = format!("/projects/{closed}/issues/{}", app.issue(closed, &ada));
    let hidden = app.confidential_issue(open, &ada);

    say(&ada, &secret, "ada/open#1").await;
    say(&ada, &format!("/projects/{open}/issues/{hidden}"), "#1").await;
    ada.post(&format!("{issue}/notes"), json!({ "body": "#2", "internal": true })).await.created();

    let expected = ["mentioned in issue #2", "mentioned in issue ada/closed#1"];
    assert_eq!(told(&ada, &issue).await, expected);
    assert_eq!(told(&eve, &issue).await, Vec::<Value>::new());
    let listed = eve.get(&format!("{issue}/notes")).await;
    assert_eq!(listed.header("x-total"), Some("0"));
    let ids = ada.get(&format!("{issue}/notes?activity_filter=only_activity")).await.each("id");
    eve.get(&format!("{issue}/notes/{}", ids[0])).await.with(404);
    assert_eq!(eve.get(&format!("{issue}/discussions")).await.ok(), json!([]));
    let own = format!("/projects/{open}/issues/{hidden}");
    assert_eq!(told(&ada, &own).await, Vec::<Value>::new(), "an internal note tells nobody");
    say(&eve, &issue, "ada/closed#1 #2").await;
    assert_eq!(told(&ada, &secret).await, Vec::<Value>::new(), "nor what its author cannot read");
}
