//! Integrations: `gateway/src/rest/admin/integrations.rs`.

use admin::{
    hook::HookStore as _,
    integration::{Kind, ParameterType, Rule},
};
use kernel::{AccessLevel::Maintainer, Visibility::Private};
use serde_json::{Value, json};

use super::receiver::keys;
use crate::support::{Person, TestApp};

fn set_up(app: &TestApp) -> (Person<'_>, String) {
    let ada = app.person("ada");
    let project = app.project(&ada, "engine", Private);
    (app.member(project, "mia", Maintainer), format!("/projects/{project}/integrations"))
}

#[actix_web::test]
async fn an_integration_is_set_shown_and_switched_off() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let one = format!("{path}/unify-circuit");
    mia.get(&one).await.refused(404, json!({ "message": "404 Integration Not Found" }));
    let given = json!({ "webhook": "https://c.example.com/s3cret", "push_events": false });

    let set = mia.put(&one, given).await.ok();

    assert_eq!(
        set["properties"],
        json!({ "notify_only_broken_pipelines": true, "branches_to_be_notified": "default" })
    );
    assert_eq!((&set["slug"], &set["active"]), (&json!("unify-circuit"), &json!(true)));
    assert_eq!((&set["push_events"], &set["issues_events"]), (&json!(false), &json!(true)));
    assert_eq!(mia.get(&one.replace('-', "_")).await.ok(), set);
    assert_eq!(mia.get(&one.replace("integrations", "services")).await.ok(), set);
    let listed = mia.get(&path).await.ok();
    assert!(listed[0].get("properties").is_none());
    assert_eq!(keys(&listed[0])[..4], ["id", "title", "slug", "created_at"]);
    assert!(app.write(|tx| tx.has_receivers()));
    mia.delete(&one).await.with(204);
    assert!(!app.write(|tx| tx.has_receivers()));
    assert_eq!(mia.get(&path).await.ok(), json!([]));
    let kept = mia.get(&one).await.ok();
    assert_eq!((&kept["active"], &kept["push_events"]), (&json!(false), &json!(false)));
    assert_eq!(kept["properties"], set["properties"]);
}

/// A value that a parameter takes.
fn sample(rule: Rule, kind: ParameterType) -> Value {
    match (kind, rule) {
        (ParameterType::Bool, _) => json!(true),
        (ParameterType::Integer, _) => json!(7),
        (_, Rule::Url) => json!("https://a.example.com/s3cret"),
        (_, Rule::IssueUrl) => json!("https://a.example.com/:id"),
        (_, Rule::ConfluenceUrl) => json!("https://a.atlassian.net/wiki"),
        (_, Rule::LinearUrl) => json!("https://linear.app/crew"),
        (_, Rule::Branches) => json!("all"),
        (_, Rule::Host) => json!("a.example.com"),
        (_, Rule::HostLabel) => json!("crew"),
        (_, Rule::Digits) => json!("7"),
        (_, Rule::Tags) => json!("team:a"),
        (_, Rule::Any | Rule::Word | Rule::Lines) => json!("s3cret"),
    }
}

#[actix_web::test]
async fn every_kind_takes_its_parameters_and_shows_no_secret() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    for kind in Kind::all() {
        let one = format!("{path}/{}", kind.slug);
        let values =
            kind.parameters.iter().map(|one| (one.name.to_owned(), sample(one.rule, one.kind)));
        let all: serde_json::Map<String, Value> = values.collect();

        let set = mia.put(&one, Value::Object(all.clone())).await.ok();

        for parameter in kind.parameters {
            let shown = set["properties"].get(parameter.name);
            let expected = (!parameter.secret).then(|| &all[parameter.name]);
            assert_eq!(shown, expected, "{} {}", kind.slug, parameter.name);
        }
        for required in kind.parameters.iter().filter(|one| one.required) {
            let mut without = all.clone();
            without.remove(required.name);
            let refusal = json!({ "error": format!("{} is missing", required.name) });
            mia.put(&one, Value::Object(without)).await.refused(400, refusal);
        }
    }
    assert_eq!(mia.get(&path).await.ok().as_array().map(Vec::len), Some(Kind::all().len()));
}

#[actix_web::test]
async fn bad_values_and_unknown_kinds_are_refused() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let bad = json!({ "message": "400 Bad Request" });
    for url in ["nothing", "ftp://x", "http://127.0.0.1/", "http://10.0.0.1/x"] {
        let given = json!({ "webhook": url });
        mia.put(&format!("{path}/pumble"), given).await.refused(400, bad.clone());
    }
    let inner =
        json!({ "project_url": "https://t.example.com", "issues_url": "http://127.0.0.1/:id" });
    mia.put(&format!("{path}/youtrack"), inner).await.refused(400, bad);
    let odd =
        json!({ "webhook": "https://x.example.com", "notify_only_broken_pipelines": "maybe" });
    let refusal = json!({ "error": "notify_only_broken_pipelines is invalid" });
    mia.put(&format!("{path}/pumble"), odd).await.refused(400, refusal);
    let unknown = format!("{path}/nothing");
    mia.put(&unknown, json!({})).await.refused(404, json!({ "error": "404 Not Found" }));
    let refusal = json!({ "error": "slug does not have a valid value" });
    mia.get(&unknown).await.refused(400, refusal.clone());
    mia.delete(&unknown).await.refused(400, refusal);
    mia.get(&format!("{path}/pumble")).await.with(404);
}

#[actix_web::test]
async fn a_kind_that_nobody_knows_has_no_route_whoever_asks() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let services = path.replace("integrations", "services");
    let homes = [path.as_str(), &services, "/projects/999/integrations", "/projects/999/services"];
    let others = ["/groups/999/integrations", "/admin/integrations"];

    for home in homes.into_iter().chain(others) {
        for person in [&mia, &app.person("eve"), &app.anonymous()] {
            for body in [json!({}), json!({ "push_events": "maybe", "slug": "pumble" })] {
                let answer = person.put(&format!("{home}/bogus"), body).await;
                answer.refused(404, json!({ "error": "404 Not Found" }));
            }
        }
    }
    let known = json!({ "webhook": "https://c.example.com/x" });
    let answer = app.anonymous().put(&format!("{path}/pumble"), known).await;
    answer.refused(401, json!({ "message": "401 Unauthorized" }));
}

#[actix_web::test]
async fn what_is_missing_is_told_with_what_is_wrong_before_the_project_is_looked_up() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let odd =
        json!({ "username": ["ci"], "enable_ssl_verification": "maybe", "push_events": "maybe" });
    let text = "bamboo_url is missing, enable_ssl_verification is invalid, build_key is missing, \
                username is invalid, password is missing, push_events is invalid";
    let refusal = json!({ "error": text });
    mia.put(&format!("{path}/bamboo"), odd.clone()).await.refused(400, refusal.clone());
    let eve = app.person("eve");
    eve.put(&format!("{path}/bamboo"), odd.clone()).await.refused(400, refusal.clone());
    eve.put("/projects/999/integrations/bamboo", odd).await.refused(400, refusal);
    let inherited = json!({ "use_inherited_settings": true });
    assert_eq!(mia.put(&format!("{path}/bamboo"), inherited).await.ok()["slug"], "bamboo");
}

#[actix_web::test]
async fn what_would_break_a_request_is_refused() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let bad = json!({ "message": "400 Bad Request" });
    for (slug, given) in [
        ("pivotaltracker", json!({ "token": "a\r\nX-Other: b" })),
        ("asana", json!({ "api_key": "a\nb" })),
        ("assembla", json!({ "token": "t", "subdomain": "x.example/" })),
        ("campfire", json!({ "token": "t", "room": "1/../2" })),
        ("datadog", json!({ "api_key": "k", "datadog_tags": "team" })),
        ("datadog", json!({ "api_key": "k", "datadog_site": "x.example/@y" })),
        ("datadog", json!({ "api_key": "k", "datadog_site": "" })),
    ] {
        mia.put(&format!("{path}/{slug}"), given).await.refused(400, bad.clone());
        mia.get(&format!("{path}/{slug}")).await.with(404);
    }
    let given = json!({ "api_key": "k", "user_key": "u", "priority": "0" });
    let refusal = json!({ "error": "device is missing, sound is missing" });
    mia.put(&format!("{path}/pushover"), given).await.refused(400, refusal);
}

#[actix_web::test]
async fn secrets_do_not_follow_to_another_address_and_old_names_are_taken() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    let one = format!("{path}/bamboo");
    let new = json!({ "build_server_url": "https://b.example.com", "build_key": "K", "username": "u", "password": "p" });
    let set = mia.put(&one, new).await.ok();
    assert_eq!(set["properties"]["bamboo_url"], "https://b.example.com");
    let url = format!("{path}/assembla");
    mia.put(&url, json!({ "token": "t", "subdomain": "a" })).await.ok();
    mia.put(&url, json!({ "subdomain": "b" }))
        .await
        .refused(400, json!({ "error": "token is missing" }));
}

#[actix_web::test]
async fn a_project_inherits_what_its_group_sets() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let group = ada.group("crew", None).await;
    let new = json!({ "name": "engine", "namespace_id": group });
    let project = ada.post("/projects", new).await.created()["id"].clone();
    let given = json!({ "webhook": "https://c.example.com/x", "branches_to_be_notified": "all" });
    ada.put(&format!("/groups/{group}/integrations/pumble"), given).await.ok();
    let one = format!("/projects/{project}/integrations/pumble");

    let inherited = ada.get(&one).await.ok();

    assert_eq!((&inherited["inherited"], &inherited["active"]), (&json!(true), &json!(true)));
    assert_eq!(inherited["properties"]["branches_to_be_notified"], "all");
    ada.delete(&one).await.with(204);
    assert_eq!(ada.get(&format!("/projects/{project}/integrations")).await.ok(), json!([]));
    let again = ada.put(&one, json!({ "use_inherited_settings": true })).await.ok();
    assert_eq!((&again["inherited"], &again["active"]), (&json!(true), &json!(true)));
}

#[actix_web::test]
async fn slash_commands_are_heard_from_who_knows_the_token() {
    let app = TestApp::new();
    let (mia, path) = set_up(&app);
    mia.put(&format!("{path}/slack-slash-commands"), json!({ "token": "t0p" })).await.ok();
    let trigger = format!("{path}/slack_slash_commands/trigger");
    let nobody = app.anonymous();
    let dashed = trigger.replace('_', "-");
    nobody.post(&dashed, json!({ "token": "t0p" })).await.ok();

    let reply = nobody.post(&trigger, json!({ "token": "t0p", "text": "help" })).await.ok();

    assert_eq!(reply["response_type"], "ephemeral");
    let refusal = json!({ "message": "404 Integration Not Found" });
    nobody.post(&trigger, json!({ "token": "no" })).await.refused(404, refusal);
    nobody.post(&trigger, json!({})).await.refused(400, json!({ "error": "token is missing" }));
}
