//! Webhooks and integrations in archives of projects: `crates/admin/src/hook/archive.rs` and
//! `crates/admin/src/integration/archive.rs`.

use kernel::Visibility::Private;
use serde_json::{Value, json};
use time::Duration;

use super::{
    archive_failures::{rewritten, with_fields, with_lines},
    archives::{count_nothing, exported, imported, send_archive},
    imports::work,
    receiver::{Receiver, deliver},
};
use crate::support::{Person, TestApp};

const URL: &str = "https://ci.example.com/hook";

/// A value without the ids of its project and its own.
fn without_ids(mut one: Value) -> Value {
    let fields = one.as_object_mut().expect("an object");
    for name in ["id", "project_id"] {
        fields.remove(name);
    }
    one
}

/// All webhooks of a project, each as it is told alone.
async fn hooks(person: &Person<'_>, project: &Value) -> Vec<Value> {
    let path = format!("/projects/{project}/hooks");
    let mut all = Vec::new();
    for id in person.get(&path).await.each("id") {
        all.push(person.get(&format!("{path}/{id}")).await.ok());
    }
    all
}

async fn open_issue(person: &Person<'_>, project: &Value) {
    let path = format!("/projects/{project}/issues");
    person.post(&path, json!({ "title": "It leaks" })).await.created();
}

/// A project of hers with a webhook, and its archive.
async fn archive_with(ada: &Person<'_>, hook: Value) -> (Value, Vec<u8>) {
    let project = json!(ada.app.project(ada, "engine", Private));
    ada.post(&format!("/projects/{project}/hooks"), hook).await.created();
    let archive = exported(ada, &project).await;
    (project, archive)
}

#[actix_web::test]
async fn a_webhook_without_secrets_comes_back_as_it_was() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let hook = json!({
        "url": URL, "name": "CI", "description": "Builds", "push_events": false,
        "note_events": true, "releases_events": true, "enable_ssl_verification": false,
        "branch_filter_strategy": "regex", "push_events_branch_filter": "^v",
        "custom_webhook_template": "{\"kind\": \"{{object_kind}}\"}",
    });
    let (project, archive) = archive_with(&ada, hook).await;
    app.clock.advance(Duration::hours(1));

    let done = imported(&ada, &archive, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let [before, after] = [hooks(&ada, &project).await, hooks(&ada, &done["id"]).await];
    assert_eq!(after.len(), 1);
    assert_eq!(without_ids(after[0].clone()), without_ids(before[0].clone()));
    assert_eq!(after[0]["project_id"], done["id"]);
}

#[actix_web::test]
async fn webhooks_are_told_nothing_of_an_import_and_everything_after_it() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let root = app.admin();
    let project = root.filled_project("Engine", "private").await;
    let flags = ["push_events", "issues_events", "member_events", "note_events", "emoji_events"];
    let path = format!("/projects/{project}/hooks");
    root.post(&path, receiver.hook(&flags)).await.created();
    open_issue(&root, &project).await;
    deliver(&app).await;
    receiver.told();

    let done = imported(&root, &exported(&root, &project).await, "copy").await;
    deliver(&app).await;

    assert_eq!(done["import_status"], "finished", "{done}");
    assert!(receiver.told().is_empty());
    open_issue(&root, &done["id"]).await;
    deliver(&app).await;
    let told = receiver.told();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].body["project"]["id"], done["id"]);
}

#[actix_web::test]
async fn a_webhook_that_had_secrets_is_off_until_it_has_all_of_them() {
    let (app, receiver) = (TestApp::reaching("127.0.0.1"), Receiver::new());
    let ada = app.person("ada");
    let mut hook = receiver.hook(&["issues_events"]);
    hook["url"] = json!(receiver.url("{key}/hook"));
    hook["token"] = json!("t0p");
    hook["url_variables"] = json!([{ "key": "key", "value": "one" }]);
    hook["custom_headers"] = json!([{ "key": "X-Own", "value": "two" }]);
    let (_, archive) = archive_with(&ada, hook).await;
    let project = imported(&ada, &archive, "copy").await["id"].clone();
    let id = hooks(&ada, &project).await[0]["id"].clone();
    let one = format!("/projects/{project}/hooks/{id}");
    let status = async || ada.get(&one).await.ok()["alert_status"].clone();

    open_issue(&ada, &project).await;
    deliver(&app).await;

    assert!(receiver.told().is_empty());
    let told = ada.post(&format!("{one}/test/issues_events"), json!({})).await.with(422);
    let missing = "token, url_variables[key], custom_headers[X-Own]";
    assert!(told.to_string().contains(missing), "{told}");
    ada.put(&one, json!({ "token": "three" })).await.ok();
    ada.put(&format!("{one}/url_variables/key"), json!({ "value": "four" })).await.with(204);
    assert_eq!(status().await, "disabled");
    ada.put(&format!("{one}/custom_headers/X-Own"), json!({ "value": "five" })).await.with(204);
    assert_eq!(status().await, "executable");
    open_issue(&ada, &project).await;
    deliver(&app).await;
    let told = receiver.told();
    assert_eq!(told[0].path, "/four/hook");
    let sent = ["X-Gitlab-Token", "X-Own"].map(|name| told[0].header(name));
    assert_eq!(sent, [Some("three"), Some("five")]);
}

#[actix_web::test]
async fn names_of_secrets_come_along_and_can_be_removed() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let pairs = |name: &str| json!([{ "key": name, "value": "x" }]);
    let hook =
        json!({ "url": URL, "url_variables": pairs("spare"), "custom_headers": pairs("X-Own") });
    let (_, archive) = archive_with(&ada, hook).await;
    let project = imported(&ada, &archive, "copy").await["id"].clone();
    let hook = hooks(&ada, &project).await[0].clone();
    let one = format!("/projects/{project}/hooks/{}", hook["id"]);

    assert_eq!(hook["url_variables"], json!([{ "key": "spare" }]));
    assert_eq!(hook["custom_headers"], json!([{ "key": "X-Own" }]));
    ada.delete(&format!("{one}/url_variables/spare")).await.with(204);
    ada.delete(&format!("{one}/url_variables/spare")).await.with(404);
    assert_eq!(ada.put(&one, json!({ "name": "CI" })).await.ok()["alert_status"], "disabled");
    ada.delete(&format!("{one}/custom_headers/X-Own")).await.with(204);
    let shown = ada.get(&one).await.ok();
    assert_eq!((&shown["custom_headers"], &shown["url_variables"]), (&json!([]), &json!([])));
    assert_eq!(shown["alert_status"], "executable");
}

#[actix_web::test]
async fn no_secret_of_a_webhook_or_integration_is_in_an_archive() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    let base = format!("/projects/{project}");
    let hook = json!({
        "url": "https://ada:s3cret@ci.example.com/{key}?token=s3cret&s3cret", "token": "s3cret",
        "url_variables": [{ "key": "key", "value": "s3cret" }],
        "custom_headers": [{ "key": "X-Own", "value": "s3cret" }],
    });
    ada.post(&format!("{base}/hooks"), hook).await.created();
    let jenkins = json!({ "jenkins_url": "https://ada:s3cret@ci.example.com", "project_name": "tea",
                          "username": "ada", "password": "s3cret" });
    ada.put(&format!("{base}/integrations/jenkins"), jenkins).await.ok();

    let archive = rewritten(&exported(&ada, &project).await, |path, content| {
        assert!(!String::from_utf8_lossy(&content).contains("s3cret"), "{path}");
        (path, content)
    });

    let done = imported(&ada, &archive, "copy").await;
    let hooks = hooks(&ada, &done["id"]).await;
    let url = "https://{credentials}@ci.example.com/{key}?token={token}&{value}";
    assert_eq!((&hooks[0]["url"], &hooks[0]["alert_status"]), (&json!(url), &json!("disabled")));
    let path = format!("/projects/{}/integrations/jenkins", done["id"]);
    let jenkins = ada.get(&path).await.ok();
    assert_eq!(jenkins["active"], false, "{jenkins}");
    assert_eq!(jenkins["properties"]["jenkins_url"], Value::Null);
}

#[actix_web::test]
async fn a_webhook_whose_address_is_not_gone_to_here_is_off() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let (_, archive) = archive_with(&ada, json!({ "url": URL })).await;
    let inner = json!({ "url": "http://127.0.0.1/hook" });

    let done = imported(&ada, &with_fields(&archive, "/hooks.ndjson", &inner), "copy").await;

    let hooks = hooks(&ada, &done["id"]).await;
    assert_eq!(hooks[0]["alert_status"], "disabled");
    let one = format!("/projects/{}/hooks/{}", done["id"], hooks[0]["id"]);
    ada.put(&one, json!({ "name": "CI" })).await.with(422);
}

#[actix_web::test]
async fn webhooks_that_could_not_be_made_are_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let (_, archive) = archive_with(&ada, json!({ "url": URL })).await;
    let list = "/hooks.ndjson";
    let mut all: Vec<(Vec<u8>, &str)> = [
        (json!({ "url": "nothing" }), "Invalid url given"),
        (json!({ "url": "https://{host}/ x" }), "Invalid url given"),
        (json!({ "name": "x".repeat(256) }), "name is too long"),
        (json!({ "events": ["commit_events"] }), "Invalid event given"),
        (json!({ "events": ["tea"] }), "it is not as this version writes it"),
        (json!({ "url_variables": ["1x"] }), "Illegal key or value"),
        (json!({ "custom_headers": ["Content-Length"] }), "custom_headers must be"),
        (json!({ "push_events_branch_filter": "a b" }), "Invalid branch filter given"),
        (json!({ "description": "\0" }), "a character that texts cannot have"),
    ]
    .into_iter()
    .map(|(fields, told)| (with_fields(&archive, list, &fields), told))
    .collect();
    let many = with_lines(&archive, list, |row| vec![row.to_string(); 101].join("\n"));
    all.push((many, "has too many lines"));
    for (number, (hostile, told)) in all.into_iter().enumerate() {
        let done = imported(&ada, &hostile, &format!("copy-{number}")).await;
        assert_eq!(done["import_status"], "failed", "{told}: {done}");
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[actix_web::test]
async fn an_integration_comes_back_and_one_that_had_secrets_is_off() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    let base = format!("/projects/{project}/integrations");
    let settings = [
        ("external-wiki", json!({ "external_wiki_url": "https://wiki.example.com" })),
        ("pumble", json!({ "webhook": "https://c.example.com/x", "push_events": false })),
        (
            "jenkins",
            json!({ "jenkins_url": "https://ci.example.com", "project_name": "tea",
                            "username": "ada", "password": "x", "tag_push_events": false }),
        ),
    ];
    for (slug, given) in settings.clone() {
        ada.put(&format!("{base}/{slug}"), given).await.ok();
    }
    app.clock.advance(Duration::hours(1));

    let done = imported(&ada, &exported(&ada, &project).await, "copy").await;

    assert_eq!(done["import_status"], "finished", "{done}");
    let copy = format!("/projects/{}/integrations", done["id"]);
    assert_eq!(ada.get(&copy).await.each("slug"), ["external-wiki"]);
    for (slug, _) in &settings {
        let mut before = without_ids(ada.get(&format!("{base}/{slug}")).await.ok());
        before["active"] = json!(*slug == "external-wiki");
        assert_eq!(without_ids(ada.get(&format!("{copy}/{slug}")).await.ok()), before, "{slug}");
    }
    let again = ada.put(&format!("{copy}/pumble"), settings[1].1.clone()).await.ok();
    assert_eq!((&again["active"], &again["push_events"]), (&json!(true), &json!(false)));
}

#[actix_web::test]
async fn an_integration_inherits_where_something_above_gives_one_of_its_kind() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let group = ada.post("/groups", json!({ "name": "Tools", "path": "tools" })).await.created();
    let wiki = json!({ "external_wiki_url": "https://wiki.example.com" });
    let place = "integrations/external-wiki";
    ada.put(&format!("/groups/{}/{place}", group["id"]), wiki).await.ok();
    let new = json!({ "name": "engine", "namespace_id": group["id"] });
    let project = ada.post("/projects", new).await.created()["id"].clone();
    let inherit = json!({ "use_inherited_settings": true });
    ada.put(&format!("/projects/{project}/{place}"), inherit).await.ok();
    let archive = exported(&ada, &project).await;

    let inside = [("path", "copy"), ("namespace", "tools")];
    let inside = send_archive(&ada, "/projects/import", &archive, &inside).await.created();
    work(&app).await;
    let outside = imported(&ada, &archive, "copy").await;

    for (copy, inherits) in [(&inside["id"], true), (&outside["id"], false)] {
        let shown = ada.get(&format!("/projects/{copy}/{place}")).await.ok();
        assert_eq!((&shown["inherited"], &shown["active"]), (&json!(inherits), &json!(inherits)));
    }
}

#[actix_web::test]
async fn integrations_that_could_not_be_set_are_refused() {
    let app = TestApp::new();
    count_nothing(&app).await;
    let ada = app.person("ada");
    let project = json!(app.project(&ada, "engine", Private));
    let path = format!("/projects/{project}/integrations/unify-circuit");
    ada.put(&path, json!({ "webhook": "https://c.example.com/x" })).await.ok();
    let archive = exported(&ada, &project).await;
    let list = "/integrations.ndjson";
    let with = |fields: Value| with_fields(&archive, list, &fields);
    let twice = with_lines(&archive, list, |row| {
        let mut second = row.clone();
        second["slug"] = json!("unify_circuit");
        format!("{row}\n{second}")
    });
    for (number, (hostile, told)) in [
        (twice, "its kind is not known, or comes twice"),
        (with(json!({ "slug": "tea" })), "its kind is not known, or comes twice"),
        (
            with(json!({ "properties": { "webhook": "https://c.example.com" } })),
            "webhook is invalid",
        ),
        (
            with(json!({ "properties": { "branches_to_be_notified": "some" } })),
            "branches_to_be_notified is invalid",
        ),
        (
            with(json!({ "properties": { "notify_only_broken_pipelines": "yes" } })),
            "notify_only_broken_pipelines is invalid",
        ),
        (with(json!({ "events": ["tea"] })), "it is not as this version writes it"),
    ]
    .into_iter()
    .enumerate()
    {
        let done = imported(&ada, &hostile, &format!("copy-{number}")).await;
        assert_eq!(done["import_status"], "failed", "{told}: {done}");
        let error = done["import_error"].as_str().unwrap_or_default();
        assert!(error.contains(told), "{told}: {error}");
    }
}
