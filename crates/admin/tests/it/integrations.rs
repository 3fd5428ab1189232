//! Integrations: what is taken, what is sealed, and what stays.

use admin::integration::{
    IntegrationStore as _,
    actions::{disable, find_by_token, list, read},
};
use kernel::{Ts, error::Kind};
use serde_json::{Value, json};

use crate::world::{kind, test};

fn jenkins(url: &str, more: &Value) -> Value {
    let mut all = json!({ "jenkins_url": url, "project_name": "engine", "username": "ci" });
    for (name, value) in more.as_object().into_iter().flatten() {
        all[name] = value.clone();
    }
    all
}

#[test]
fn required_parameters_are_sent_each_time() {
    test(|tx, world| {
        let refused = world.set(tx, "bamboo", &json!({ "username": "ci" })).unwrap_err();
        let text = "bamboo_url is missing, build_key is missing, password is missing";
        assert_eq!((refused.kind, refused.to_string().as_str()), (Kind::BadRequest, text));
        assert!(tx.integrations_of(admin::owner::Owner::Project(world.project))?.is_empty());
        Ok(())
    });
}

#[test]
fn values_that_break_a_rule_are_refused_without_details() {
    test(|tx, world| {
        for (slug, settings) in [
            ("jenkins", jenkins("ci.example.com", &json!({}))),
            ("jenkins", jenkins("https://inner.example.com", &json!({}))),
            ("jenkins", jenkins("https://ci.example.com", &json!({ "password": "a\r\nb" }))),
            (
                "redmine",
                json!({ "project_url": "https://a.example.com", "new_issue_url": "https://a.example.com", "issues_url": "https://a.example.com" }),
            ),
            ("datadog", json!({ "api_key": "k", "datadog_site": "" })),
            ("datadog", json!({ "api_key": "k-1" })),
            (
                "pumble",
                json!({ "webhook": "https://a.example.com", "branches_to_be_notified": "some" }),
            ),
            ("asana", json!({ "api_key": Value::Null })),
        ] {
            let refused = world.set(tx, slug, &settings).unwrap_err();
            assert_eq!(refused.to_string(), "400 Bad Request", "{slug} {settings}");
        }
        Ok(())
    });
}

#[test]
fn secrets_are_sealed_and_go_with_another_address() {
    test(|tx, world| {
        let first = jenkins("https://ci.example.com", &json!({ "password": "s3cret" }));
        let made = world.set(tx, "jenkins", &first)?.row;
        assert!(!made.properties.contains("s3cret") && !made.sealed.contains("s3cret"));
        assert!(made.active);
        let same = world.set(tx, "jenkins", &jenkins("https://ci.example.com", &json!({})))?.row;
        assert_eq!(same.values(&world.vault)?["password"], "s3cret");
        let moved = world.set(tx, "jenkins", &jenkins("https://ci2.example.com", &json!({})))?.row;
        assert_eq!(moved.values(&world.vault)?["password"], Value::Null);
        Ok(())
    });
}

#[test]
fn a_required_secret_is_needed_again_at_another_address() {
    test(|tx, world| {
        let bamboo = |url: &str, password: Value| json!({ "bamboo_url": url, "build_key": "KEY", "username": "ci", "password": password });
        world.set(tx, "bamboo", &bamboo("https://a.example.com", json!("x")))?;
        assert!(world.set(tx, "bamboo", &bamboo("https://b.example.com", Value::Null)).is_err());
        Ok(())
    });
}

#[test]
fn what_is_switched_off_keeps_its_settings() {
    test(|tx, world| {
        let grant = world.integrations();
        world.set(tx, "asana", &json!({ "api_key": "k", "restrict_to_branch": "main" }))?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        let own = (&world.vault, &[world.group][..]);
        let changed = disable(tx, &grant, own, kind("asana"), Some(before)).unwrap_err();
        assert_eq!(changed.kind, Kind::Precondition);
        disable(tx, &grant, own, kind("asana"), None)?;
        assert!(list(tx, &grant, &[world.group])?.is_empty());
        let kept = read(tx, &grant, &[world.group], kind("asana"))?.row;
        assert_eq!(
            (kept.active, kept.properties()?["restrict_to_branch"].as_str()),
            (false, Some("main"))
        );
        Ok(())
    });
}

#[test]
fn what_was_never_set_is_not_there() {
    test(|tx, world| {
        let grant = world.integrations();
        assert!(read(tx, &grant, &[], kind("asana")).unwrap_err().is_not_found("Integration"));
        let gone = disable(tx, &grant, (&world.vault, &[]), kind("asana"), None).unwrap_err();
        assert!(gone.is_not_found("Integration"));
        Ok(())
    });
}

#[test]
fn only_the_token_of_an_active_integration_opens_the_door() {
    test(|tx, world| {
        let slug = kind("slack-slash-commands");
        let home = (admin::owner::Owner::Project(world.project), &[world.group][..]);
        world.set(tx, "slack-slash-commands", &json!({ "token": "t0p" }))?;
        assert!(find_by_token(tx, &world.vault, home, slug, "t0p").is_ok());
        for wrong in ["", "t0", "t0p ", "T0P"] {
            assert!(find_by_token(tx, &world.vault, home, slug, wrong).is_err(), "{wrong}");
        }
        disable(tx, &world.integrations(), (&world.vault, &[]), slug, None)?;
        assert!(find_by_token(tx, &world.vault, home, slug, "t0p").is_err());
        Ok(())
    });
}
