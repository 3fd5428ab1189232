//! Trackers elsewhere and letters: what texts name becomes links, and what is pushed is told.

use kernel::{Visibility::Private, ids::ProjectId};
use serde_json::{Value, json};

use super::receiver::{Receiver, deliver};
use crate::support::{MailSink, Person, TestApp, ci::commit};

fn set_up(app: &TestApp) -> (Person<'_>, ProjectId, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    (ada, project, format!("/projects/{project}"))
}

async fn rendered(person: &Person<'_>, text: &str) -> String {
    let body = json!({ "text": text, "gfm": true, "project": "ada/engine" });
    let answer = person.post("/markdown", body).await.created();
    answer["html"].as_str().expect("HTML").to_owned()
}

fn addresses(tracker: &str) -> Value {
    json!({
        "new_issue_url": format!("{tracker}/new"),
        "issues_url": format!("{tracker}/:id"),
        "project_url": tracker,
    })
}

#[actix_web::test]
async fn issues_of_a_tracker_elsewhere_become_links() {
    let app = TestApp::new();
    let (ada, _, path) = set_up(&app);
    ada.post(&format!("{path}/issues"), json!({ "title": "Own" })).await.created();
    let tracker = format!("{path}/integrations/redmine");
    ada.put(&tracker, addresses("https://t.example.com/issues")).await.ok();

    let html = rendered(&ada, "ABC-12, #1, `ABC-3`").await;

    let link = "<a href=\"https://t.example.com/issues/12\" title=\"Issue in Redmine\" class=\"gfm gfm-issue\">\
                ABC-12</a>";
    assert!(html.contains(link), "{html}");
    assert!(html.contains("/ada/engine/-/issues/1\""), "{html}");
    assert!(!html.contains("issues/3\""), "code names nothing: {html}");
    ada.put(&path, json!({ "issues_access_level": "disabled" })).await.ok();
    assert!(rendered(&ada, "#1").await.contains("https://t.example.com/issues/1\""));
    ada.delete(&tracker).await.with(204);
    assert!(!rendered(&ada, "ABC-12").await.contains("<a"));
}

#[actix_web::test]
async fn a_push_is_written_of_to_everybody_named() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let (ada, project, path) = set_up(&app);
    commit(&ada, project, "main", "one", "1\n").await;
    let given = json!({ "recipients": "bob@x.test cyd@x.test", "branches_to_be_notified": "all" });
    ada.put(&format!("{path}/integrations/emails-on-push"), given).await.ok();

    commit(&ada, project, "main", "two", "2\n").await;
    deliver(&app).await;
    app.work().await;

    let letters = sink.take();
    assert_eq!(letters.len(), 2, "{letters:?}");
    let text = &letters[0].data;
    assert!(text.contains("Subject: [Git][ada/engine][main] two"), "{text}");
    assert!(text.contains("ada pushed to branch main") && text.contains("-1\n+2"), "{text}");
    assert!(text.contains("forge@forge.test"), "{text}");
    deliver(&app).await;
    app.work().await;
    assert!(sink.take().is_empty());
}

#[actix_web::test]
async fn letters_leave_changes_out_where_that_is_set() {
    let sink = MailSink::start();
    let app = TestApp::with_mail_to(&sink);
    let (ada, project, path) = set_up(&app);
    commit(&ada, project, "main", "one", "1\n").await;
    let given = json!({ "recipients": "bob@x.test", "disable_diffs": true });
    ada.put(&format!("{path}/integrations/emails-on-push"), given).await.ok();

    commit(&ada, project, "main", "two", "2\n").await;
    deliver(&app).await;
    app.work().await;

    let letters = sink.take();
    let [letter] = letters.as_slice() else { panic!("{letters:?}") };
    assert!(!letter.data.contains("Changes:"), "{}", letter.data);
}

#[actix_web::test]
async fn jira_is_told_of_commits_and_moves_what_they_solve() {
    let (app, jira) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    commit(&ada, project, "main", "one", "1\n").await;
    let given = json!({
        "url": jira.url("jira"), "username": "f", "password": "s3cret", "jira_issue_transition_id": "31",
    });
    ada.put(&format!("{path}/integrations/jira"), given).await.ok();
    deliver(&app).await;
    jira.says(&json!({ "fields": { "comment": { "comments": [] }, "resolution": null } }));

    commit(&ada, project, "main", "Fixes AB-1", "2\n").await;
    deliver(&app).await;

    let told = jira.told();
    let paths: Vec<&str> = told.iter().map(|one| one.path.as_str()).collect();
    let issue = "/jira/rest/api/2/issue/AB-1";
    let expected = ["?fields=comment,resolution", "/comment", "/remotelink", "/transitions"];
    assert_eq!(paths, expected.map(|tail| format!("{issue}{tail}")));
    assert_eq!(told[0].header("Authorization"), Some("Basic ZjpzM2NyZXQ="));
    let comment = told[1].body["body"].as_str().expect("a comment");
    assert!(
        comment.starts_with("ada mentioned this issue in [a commit|http://forge.test/ada/engine")
    );
    assert_eq!(told[3].body, json!({ "transition": { "id": "31" } }));
}

#[actix_web::test]
async fn jira_hears_nothing_twice_and_later_what_it_missed() {
    let (app, jira) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let (ada, project, path) = set_up(&app);
    commit(&ada, project, "main", "one", "1\n").await;
    let given = json!({ "url": jira.url("jira"), "username": "f", "password": "s3cret" });
    ada.put(&format!("{path}/integrations/jira"), given).await.ok();
    deliver(&app).await;
    jira.answers(503);
    let id = commit(&ada, project, "main", "See AB-1", "2\n").await;
    deliver(&app).await;
    assert_eq!(jira.told().len(), 1);

    jira.answers(200);
    let url = format!("http://forge.test/ada/engine/-/commit/{id}");
    let said = json!([{ "body": format!("in [a commit|{url}]") }]);
    jira.says(&json!({ "fields": { "comment": { "comments": said } } }));
    app.clock.advance(time::Duration::minutes(10));
    deliver(&app).await;

    let paths: Vec<String> = jira.told().into_iter().map(|one| one.path).collect();
    assert!(paths.len() == 2 && paths[1].ends_with("/remotelink"), "{paths:?}");
}
