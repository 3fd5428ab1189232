//! Webhooks and system hooks: `gateway/src/rest/admin/hooks.rs`.

use kernel::{
    AccessLevel::{Developer, Maintainer, Owner},
    Visibility::Private,
};
use serde_json::{Value, json};

use super::receiver::keys;
use crate::support::{Person, TestApp};

const URL: &str = "https://ci.example.com/hook";

fn set_up(app: &TestApp) -> (Person<'_>, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    (app.member(project, "mia", Maintainer), format!("/projects/{project}/hooks"))
}

#[actix_web::test]
async fn a_hook_is_made_changed_and_taken_away() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);

    let made = mia.post(&path, json!({ "url": URL, "token": "t0p", "note_events": true })).await;

    let made = made.created();
    let first = ["id", "url", "name", "description", "created_at", "push_events"];
    assert_eq!(keys(&made)[..6], first);
    assert!(made.get("token").is_none() && !made.to_string().contains("t0p"));
    for (flag, on) in [("push_events", true), ("note_events", true), ("issues_events", false)] {
        assert_eq!(made[flag], on, "{flag}");
    }
    assert_eq!(
        (&made["alert_status"], &made["disabled_until"]),
        (&json!("executable"), &Value::Null)
    );
    let one = format!("{path}/{}", made["id"]);
    let changed = mia.put(&one, json!({ "push_events": false, "job_events": "true" })).await.ok();
    assert_eq!((&changed["push_events"], &changed["job_events"]), (&json!(false), &json!(true)));
    assert_eq!(mia.get(&path).await.each("id"), [made["id"].clone()]);
    assert!(mia.get(&path).await.ok()[0].get("url_variables").is_none());
    mia.delete(&one).await.with(204);
    mia.get(&one).await.refused(404, json!({ "message": "404 Not found" }));
}

#[actix_web::test]
async fn what_cannot_be_is_refused_in_the_words_of_the_contract() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let url = json!({ "error": "Invalid url given" });
    for bad in [
        "ftp://x",
        "nothing",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "https://x.example.com/{key}",
    ] {
        mia.post(&path, json!({ "url": bad })).await.refused(422, url.clone());
    }
    mia.post(&path, json!({})).await.refused(400, json!({ "error": "url is missing" }));
    let filter = json!({ "url": URL, "push_events_branch_filter": "a b" });
    let refusal = json!({ "error": "Invalid branch filter given" });
    mia.post(&path, filter).await.refused(422, refusal.clone());
    let filter = json!({ "url": URL, "push_events_branch_filter": "/main" });
    mia.post(&path, filter).await.refused(422, refusal);
    let token = json!({ "message": { "token": ["cannot contain line breaks"] } });
    for bad in ["a\nb", "a\rb", "a\r\n"] {
        mia.post(&path, json!({ "url": URL, "token": bad })).await.refused(422, token.clone());
    }
    let token = json!({ "message": { "token": ["cannot contain control characters"] } });
    mia.post(&path, json!({ "url": URL, "token": "a\u{1}" })).await.refused(422, token);
    let long = json!({ "url": URL, "token": "x".repeat(8_193) });
    mia.post(&path, long).await.with(422);
    let made = mia.post(&path, json!({ "url": URL })).await.created();
    let one = format!("{path}/{}", made["id"]);
    mia.put(&one, json!({})).await.refused(400, json!({ "error": "No parameters provided" }));
    assert_eq!(mia.get(&path).await.each("url"), [URL]);
}

#[actix_web::test]
async fn a_header_that_says_where_a_request_ends_is_none_of_ones_own() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let made = mia.post(&path, json!({ "url": URL })).await.created();
    let refusal = json!({ "error": "Illegal key or value" });
    for name in ["Content-Length", "transfer-encoding", "Connection", "Expect", "TE", "X Y"] {
        let one = format!("{path}/{}/custom_headers/{}", made["id"], name.replace(' ', "%20"));
        mia.put(&one, json!({ "value": "3" })).await.refused(422, refusal.clone());
        let new = json!({ "url": URL, "custom_headers": [{ "key": name, "value": "3" }] });
        mia.post(&path, new).await.with(422);
    }
    let one = format!("{path}/{}/custom_headers/Authorization", made["id"]);
    mia.put(&one, json!({ "value": "Bearer x" })).await.with(204);
}

#[actix_web::test]
async fn url_variables_are_set_merged_and_never_shown() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let new = json!({ "url": "https://x.example.com/{key}", "url_variables": [{ "key": "key", "value": "s3cret" }] });
    let made = mia.post(&path, new).await.created();
    assert_eq!(made["url_variables"], json!([{ "key": "key" }]));
    let one = format!("{path}/{}", made["id"]);

    mia.put(&format!("{one}/url_variables/other"), json!({ "value": "x" })).await.with(204);

    let shown = mia.get(&one).await.ok();
    assert_eq!(shown["url_variables"], json!([{ "key": "key" }, { "key": "other" }]));
    assert!(!shown.to_string().contains("s3cret"));
    let illegal = json!({ "error": "Illegal key or value" });
    mia.put(&format!("{one}/url_variables/1x"), json!({ "value": "x" }))
        .await
        .refused(422, illegal);
    mia.delete(&format!("{one}/url_variables/other")).await.with(204);
    let gone = json!({ "message": "404 URL variable Not Found" });
    mia.delete(&format!("{one}/url_variables/other")).await.refused(404, gone);
    mia.put(&format!("{one}/custom_headers/X-Own"), json!({ "value": "v" })).await.with(204);
    assert_eq!(mia.get(&one).await.ok()["custom_headers"], json!([{ "key": "X-Own" }]));
    let moved = json!({ "url": "https://y.example.com/" });
    assert_eq!(mia.put(&one, moved).await.ok()["url_variables"], json!([]));
}

#[actix_web::test]
async fn headers_do_not_follow_a_url_variable_to_another_host() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let pair = |key: &str, value: &str| json!([{ "key": key, "value": value }]);
    let mut new = json!({ "url": "https://{place}.example.com/x", "token": "t0p" });
    new["url_variables"] = pair("place", "a");
    new["custom_headers"] = pair("X-Own", "v");
    let made = mia.post(&path, new).await.created();
    let one = format!("{path}/{}", made["id"]);
    let own = json!([{ "key": "X-Own" }]);

    let same = json!({ "url_variables": pair("other", "x") });
    assert_eq!(mia.put(&one, same).await.ok()["custom_headers"], own);
    mia.put(&format!("{one}/url_variables/place"), json!({ "value": "b" })).await.with(204);
    assert_eq!(mia.get(&one).await.ok()["custom_headers"], json!([]));
    let given =
        json!({ "url_variables": pair("place", "c"), "custom_headers": pair("X-Own", "w") });
    assert_eq!(mia.put(&one, given).await.ok()["custom_headers"], own);
    let moved = json!({ "url_variables": pair("place", "d") });
    assert_eq!(mia.put(&one, moved).await.ok()["custom_headers"], json!([]));
}

#[actix_web::test]
async fn an_address_with_spaces_around_it_is_no_other_address() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let url = "https://x.example.com/{key}";
    let mut new = json!({ "url": url, "token": "t0p" });
    new["url_variables"] = json!([{ "key": "key", "value": "s3cret" }]);
    let made = mia.post(&path, new).await.created();

    let one = format!("{path}/{}", made["id"]);
    let kept = mia.put(&one, json!({ "url": format!(" {url} ") })).await.ok();

    assert_eq!((&kept["url"], &kept["url_variables"]), (&json!(url), &json!([{ "key": "key" }])));
    let project = path.trim_end_matches("/hooks");
    let events = app.admin().get(&format!("{project}/audit_events")).await.each("event_name");
    let changed = events.iter().any(|name| name == "webhook_updated");
    assert!(!changed, "the token and the values stay: {events:?}");
}

#[actix_web::test]
async fn hooks_of_groups_are_for_owners_and_system_hooks_for_administrators() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("crew", None).await;
    let path = format!("/groups/{group}/hooks");

    let made = ada.post(&path, json!({ "url": URL, "subgroup_events": true })).await.created();

    assert_eq!((&made["group_id"], &made["subgroup_events"]), (&json!(group), &json!(true)));
    assert!(made.get("project_id").is_none() && made.get("push_events_branch_filter").is_none());
    let source = org::member::Source::Group(kernel::ids::NamespaceId(group));
    app.member_of(source, "max", Maintainer).get(&path).await.with(403);
    app.member_of(source, "ole", Owner).get(&path).await.ok();
    let admin = app.admin();
    let system = admin.post("/hooks", json!({ "url": URL })).await.created();
    assert_eq!(
        (&system["repository_update_events"], &system["push_events"]),
        (&json!(true), &json!(false))
    );
    let id = &system["id"];
    admin.put(&format!("/hooks/{id}"), json!({ "push_events": true })).await.ok();
    assert_eq!(admin.get("/hooks").await.each("push_events"), [true]);
    ada.get("/hooks").await.with(403);
    admin.delete(&format!("/hooks/{id}")).await.with(204);
    admin.get(&format!("/hooks/{id}")).await.with(404);
}

#[actix_web::test]
async fn hooks_are_for_maintainers() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let project = path.split('/').nth(2).and_then(|id| id.parse().ok()).expect("an id");
    let dev = app.member(kernel::ids::ProjectId(project), "dev", Developer);
    mia.get(&path).await.ok();
    dev.get(&path).await.with(403);
    app.person("eve").get(&path).await.with(404);
    app.anonymous().get(&path).await.with(401);
}
