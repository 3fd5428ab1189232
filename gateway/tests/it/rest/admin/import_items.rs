//! What imports bring along of single items: all pages of it, files that texts name, and what happened.

use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::{
    imports::{SINCE, begin, finish, issue, pull, user, work},
    source::{ImportSource, SourceFault},
};
use crate::support::{Person, TestApp};

/// Imports with stages that are done on request; the path of the project.
async fn begin_with(app: &TestApp, ada: &Person<'_>, source: &ImportSource, stage: &str) -> String {
    let mut wanted = source.wanted("ada");
    wanted["optional_stages"] = json!({ stage: true });
    let made = ada.post("/import/github", wanted).await.created();
    work(app).await;
    format!("/projects/{}", made["id"])
}

/// The values of a parameter in the requests for a path.
fn asked(source: &ImportSource, path: &str, parameter: &str) -> Vec<String> {
    let requests = source.requests();
    let of_path =
        requests.iter().filter_map(|one| one.split_once('?')).filter(|one| one.0.ends_with(path));
    let values = of_path.flat_map(|(_, query)| query.split('&').map(str::to_owned));
    values
        .filter_map(|pair| pair.strip_prefix(parameter)?.strip_prefix('=').map(str::to_owned))
        .collect()
}

#[actix_web::test]
async fn all_pages_of_reviews_come_once_although_the_source_breaks_between_them() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let review = |id: i64| {
        let body = format!("Thought {id}");
        json!({ "id": id, "user": user("bo"), "state": "COMMENTED", "body": body, "submitted_at": SINCE })
    };
    source.lists("pulls", vec![pull(&source)]);
    source.has("/api/v3/repos/mia/tea/pulls/2", json!({ "number": 2, "merged_by": null }));
    source.lists("pulls/2/reviews", (1..=250).map(review).collect());
    source.breaks_after(1, "pulls/2/reviews", SourceFault::Half);

    let project = begin(&app, &ada, &source).await;
    finish(&app).await;

    let status = ada.get(&format!("{project}/import")).await.ok();
    assert_eq!(status["import_status"], "finished", "{status}");
    let stats = &status["stats"];
    let counts =
        (&stats["fetched"]["pull_request_review"], &stats["imported"]["pull_request_review"]);
    assert_eq!(counts, (&json!(250), &json!(250)));
    assert_eq!(asked(&source, "/pulls/2/reviews", "page"), ["1", "2", "2", "3"]);
}

#[actix_web::test]
async fn activities_of_a_server_go_on_with_the_page_at_which_it_broke() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::server());
    let ada = app.person("ada");
    let mia = json!({ "slug": "mia", "emailAddress": "mia@source.test" });
    let comment = |id: i64| {
        json!({
            "action": "COMMENTED", "commentAction": "ADDED", "user": mia,
            "comment": { "id": id, "text": format!("Thought {id}"), "author": mia },
        })
    };
    source.server_lists(
        "pull-requests",
        vec![json!({ "id": 2, "title": "Fix it", "state": "DECLINED" })],
    );
    source.server_lists("pull-requests/2/activities", (1..=250).map(comment).collect());
    source.breaks_after(1, "pull-requests/2/activities", SourceFault::Half);
    let wanted = json!({
        "server_url": source.url(""), "server_username": "mia", "personal_access_token": "s3",
        "server_project": "TEA", "server_repo": "pot",
    });

    let made = ada.post("/import/remote_server", wanted).await.created();
    finish(&app).await;

    let notes = format!("/projects/{}/merge_requests/2/notes?per_page=100&page=3", made["id"]);
    assert_eq!(ada.get(&notes).await.each("id").len(), 50);
    assert_eq!(asked(&source, "/activities", "start"), ["0", "100", "100", "200"]);
}

#[actix_web::test]
async fn files_come_along_however_many_a_text_names_and_those_of_releases_too() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let address = |name: &str| source.url(&format!("/user-attachments/assets/{name}"));
    let mut names: Vec<String> = (0..45).map(|number| format!("{number}.png")).collect();
    for name in &names {
        source.has(&format!("/user-attachments/assets/{name}"), json!("a picture"));
    }
    let release = json!({ "id": 1, "tag_name": "v1", "name": "One", "body": address("0.png") });
    source.lists("releases", vec![release]);
    names.insert(0, "gone.png".to_owned());
    let mut named = issue(1, "Leak");
    named["body"] = json!(names.iter().map(|name| address(name)).collect::<Vec<_>>().join(" "));
    source.lists("issues", vec![named]);

    let project = begin_with(&app, &ada, &source, "attachments_import").await;

    let text = ada.get(&format!("{project}/issues/1")).await.ok()["description"].to_string();
    assert_eq!((text.matches("/uploads/").count(), text.matches("127.0.0.1").count()), (45, 1));
    let release = ada.get(&format!("{project}/releases/v1")).await.ok();
    assert!(release["description"].as_str().expect("a text").starts_with("/uploads/"));
    let status = ada.get(&format!("{project}/import")).await.ok();
    assert_eq!(status["stats"]["imported"]["attachment"], 46, "{status}");
    let failed: Vec<&Value> = status["failed_relations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| &one["source"])
        .collect();
    assert_eq!(failed, [&json!(address("gone.png"))]);
    assert_eq!(source.requests().iter().filter(|one| one.ends_with("/gone.png")).count(), 1);
}

#[actix_web::test]
async fn files_of_a_step_that_is_done_again_are_kept_once() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    let paths = ["leak.png", "rust.png"].map(|name| format!("/user-attachments/assets/{name}"));
    for path in &paths {
        source.has(path, json!("a picture"));
    }
    source.breaks_at(&paths[1], SourceFault::Status(503));
    let mut named = issue(1, "Leak");
    named["body"] = json!(paths.each_ref().map(|path| source.url(path)).join(" "));
    source.lists("issues", vec![named]);

    let project = begin_with(&app, &ada, &source, "attachments_import").await;
    finish(&app).await;

    let requests = source.requests();
    assert_eq!(requests.iter().filter(|path| *path == &paths[0]).count(), 2, "{requests:?}");
    assert_eq!(app.state.uploads.list("").count().await, 2);
    let issue = ada.get(&format!("{project}/issues/1")).await.ok();
    let mut words = issue["description"].as_str().expect("a text").split_whitespace();
    let place = words.find(|word| word.ends_with("/leak.png")).expect("an address");
    assert_eq!(ada.get(&format!("{project}{place}")).await.bytes, b"\"a picture\"");
}

#[actix_web::test]
async fn what_happened_to_an_item_leaves_the_traces_that_it_leaves_here() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let (ada, bo) = (app.person("ada"), app.person("bo"));
    source.has("/api/v3/users/bo", json!({ "login": "bo", "email": "bo@example.com" }));
    source.lists("issues", vec![issue(1, "Leak")]);
    let event = |id: i64, name: &str, key: &str, value: Value| {
        json!({
            "id": id, "event": name, "actor": user("bo"), "issue": { "number": 1 },
            "created_at": format!("2020-01-02T03:04:0{id}Z"), key: value,
        })
    };
    let mut all = vec![
        event(1, "renamed", "rename", json!({ "from": "Drip", "to": "Leak" })),
        event(2, "assigned", "assignee", user("bo")),
        event(3, "unassigned", "assignee", user("mia")),
        event(4, "labeled", "label", json!({ "name": "bug" })),
        event(5, "subscribed", "performed_via", Value::Null),
        event(6, "closed", "commit_id", Value::Null),
    ];
    all.reverse();
    source.lists("issues/events", all);

    let project = begin(&app, &ada, &source).await;

    let notes = ada.get(&format!("{project}/issues/1/notes?sort=asc")).await.ok();
    let said: Vec<&Value> =
        notes.as_array().expect("a list").iter().map(|one| &one["body"]).collect();
    let renamed = "changed title from **{-Drip-}** to **{+Leak+}**";
    assert_eq!(said, [renamed, "assigned to @bo", "unassigned `@mia`", "closed"]);
    let first = (&notes[0]["author"]["username"], &notes[0]["system"], &notes[0]["created_at"]);
    assert_eq!(first, (&json!(bo.username), &json!(true), &json!("2020-01-02T03:04:01.000Z")));
    let states = ada.get(&format!("{project}/issues/1/resource_state_events")).await.each("state");
    assert_eq!(states, ["closed"]);
    let stats = ada.get(&format!("{project}/import")).await.ok()["stats"].clone();
    let counts = (&stats["fetched"]["issue_event"], &stats["imported"]["issue_event"]);
    assert_eq!(counts, (&json!(5), &json!(5)), "nobody subscribes here by an import");
}

#[actix_web::test]
async fn a_timeline_tells_of_reviewers_and_of_items_that_refer_to_each_other() {
    let (app, source) = (TestApp::reaching("127.0.0.1"), ImportSource::hosted());
    let ada = app.person("ada");
    source.lists("issues", vec![issue(1, "Leak")]);
    source.lists("pulls", vec![pull(&source)]);
    let reference = |repository: &str| {
        let issue = json!({
            "number": 2, "pull_request": {}, "repository": { "full_name": repository },
        });
        json!({
            "event": "cross-referenced", "actor": user("bo"), "created_at": SINCE,
            "source": { "type": "issue", "issue": issue },
        })
    };
    let comment = json!({ "id": 6, "event": "commented", "user": user("bo"), "body": "Nice" });
    source.lists("issues/1/timeline", vec![comment, reference("mia/tea"), reference("bo/cup")]);
    let requested = json!({
        "id": 7, "event": "review_requested", "actor": user("bo"), "created_at": SINCE,
        "requested_reviewer": user("mia"),
    });
    source.lists("issues/2/timeline", vec![requested]);

    let project = begin_with(&app, &ada, &source, "single_endpoint_issue_events_import").await;

    let notes = ada.get(&format!("{project}/issues/1/notes")).await.each("body");
    assert_eq!(notes, ["mentioned in merge request !2"]);
    let notes = ada.get(&format!("{project}/merge_requests/2/notes")).await.each("body");
    assert_eq!(notes, ["requested review from `@mia`"]);
    let stats = ada.get(&format!("{project}/import")).await.ok()["stats"].clone();
    assert_eq!(stats["fetched"]["issue_event"], 2, "comments and what lies elsewhere are none");
}
