//! Webhooks: what is taken, what is kept, and what is forgotten.

use std::collections::BTreeMap;

use admin::{
    flags::Flag,
    hook::{
        HookStore as _,
        actions::{HookChange, Pairs, create, list, read, remove, set_pair, update},
    },
};
use kernel::{AccessLevel, Ts, error::Kind, ids::HookId, page::PageRequest};

use crate::world::{FakeRule, test, to};

fn pairs(all: &[(&str, &str)]) -> Option<BTreeMap<String, String>> {
    Some(all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

#[test]
fn webhooks_are_for_maintainers() {
    test(|_, world| {
        assert_eq!(world.as_member(AccessLevel::Developer).unwrap_err().kind, Kind::Forbidden);
        assert!(world.as_member(AccessLevel::Maintainer).is_ok());
        Ok(())
    });
}

#[test]
fn a_webhook_of_a_project_begins_with_pushes_and_a_system_hook_with_repositories() {
    test(|tx, world| {
        let change =
            HookChange { url: Some("https://a.example.com".into()), ..HookChange::default() };
        let of_project = world.hook(tx, change.clone())?;
        let of_system = create(tx, &world.administers(), (&world.vault, &FakeRule), change)?;
        assert!(of_project.flags.has(Flag::Push) && !of_project.flags.has(Flag::TagPush));
        assert!(!of_system.flags.has(Flag::Push) && of_system.flags.has(Flag::RepositoryUpdate));
        assert!(of_project.enable_ssl_verification);
        Ok(())
    });
}

#[test]
fn addresses_that_lead_nowhere_or_inside_are_refused() {
    test(|tx, world| {
        for url in [
            "",
            "a.example.com",
            "ftp://a.example.com",
            "https://inner.example.com",
            "https://a/{key}",
        ] {
            let refused = world.hook(tx, to(url)).unwrap_err();
            assert_eq!(refused.kind, Kind::Unprocessable, "{url}");
            assert_eq!(refused.to_string(), "Invalid url given", "{url}");
        }
        Ok(())
    });
}

#[test]
fn a_value_does_not_lead_an_address_inside() {
    test(|tx, world| {
        let hook = world.hook(
            tx,
            HookChange {
                url_variables: pairs(&[("host", "https://a.example.com")]),
                ..to("{host}/x")
            },
        )?;
        let inside = ("host", Some("https://inner.example.com"));
        let rule = (&world.vault, &FakeRule);
        let refused = set_pair(tx, &world.hooks(), rule, (hook.id, Pairs::UrlVariables), inside);
        assert_eq!(refused.unwrap_err().to_string(), "Illegal key or value");
        Ok(())
    });
}

#[test]
fn texts_that_no_request_can_carry_are_refused() {
    test(|tx, world| {
        let url = "https://a.example.com";
        for change in [
            HookChange { token: Some(Some("a\nb".to_owned())), ..to(url) },
            HookChange { token: Some(Some("x".repeat(1 << 20))), ..to(url) },
            HookChange { custom_headers: pairs(&[("Content-Length", "0")]), ..to(url) },
            HookChange { custom_headers: pairs(&[("X-A", "b\r\nX-C: d")]), ..to(url) },
            HookChange { push_events_branch_filter: Some(Some("a b".to_owned())), ..to(url) },
        ] {
            let text = format!("{change:?}");
            let refused = world.hook(tx, change).unwrap_err();
            assert_eq!(refused.kind, Kind::Unprocessable, "{}", &text[..text.len().min(200)]);
        }
        assert!(list(tx, &world.hooks(), PageRequest::default())?.items.is_empty());
        Ok(())
    });
}

#[test]
fn secrets_are_sealed_and_do_not_follow_to_another_receiver() {
    test(|tx, world| {
        let token =
            HookChange { token: Some(Some("t0p".to_owned())), ..to("https://a.example.com/x") };
        let hook = world.hook(tx, token)?;
        assert!(!hook.sealed.contains("t0p") && !hook.sealed.contains("example"));
        assert_eq!(hook.secrets(&world.vault)?.token.as_deref(), Some("t0p"));
        let rule = (&world.vault, &FakeRule);
        let named = HookChange { name: Some(Some("CI".to_owned())), ..HookChange::default() };
        let same = update(tx, &world.hooks(), rule, hook.id, named)?;
        assert_eq!(same.secrets(&world.vault)?.token.as_deref(), Some("t0p"));
        let moved = update(tx, &world.hooks(), rule, hook.id, to("https://b.example.com/x"))?;
        assert_eq!(moved.secrets(&world.vault)?.token, None);
        Ok(())
    });
}

#[test]
fn values_of_an_address_are_added_to_those_that_are_there() {
    test(|tx, world| {
        let url = "https://a.example.com/{one}/{two}";
        let both = pairs(&[("one", "1"), ("two", "2")]);
        let hook = world.hook(tx, HookChange { url_variables: both, ..to(url) })?;
        let change = HookChange { url_variables: pairs(&[("two", "3")]), ..HookChange::default() };
        let changed = update(tx, &world.hooks(), (&world.vault, &FakeRule), hook.id, change)?;
        assert_eq!(changed.secrets(&world.vault)?.address(), "https://a.example.com/1/3");
        Ok(())
    });
}

#[test]
fn a_value_that_the_address_names_stays() {
    test(|tx, world| {
        let hook = world.hook(
            tx,
            HookChange {
                url_variables: pairs(&[("key", "x")]),
                ..to("https://a.example.com/{key}")
            },
        )?;
        let at = (hook.id, Pairs::UrlVariables);
        let rule = (&world.vault, &FakeRule);
        let needed = set_pair(tx, &world.hooks(), rule, at, ("key", None)).unwrap_err();
        assert_eq!(needed.to_string(), "Invalid url given");
        let unknown = set_pair(tx, &world.hooks(), rule, at, ("other", None)).unwrap_err();
        assert!(unknown.is_not_found("URL variable"));
        Ok(())
    });
}

#[test]
fn a_webhook_is_found_in_its_own_home_alone() {
    test(|tx, world| {
        let hook = world.hook(tx, to("https://a.example.com"))?;
        assert!(read(tx, &world.administers(), hook.id).is_err());
        assert!(read(tx, &world.hooks(), HookId(hook.id.0 + 1)).is_err());
        assert_eq!(read(tx, &world.hooks(), hook.id)?.uuid, hook.uuid);
        Ok(())
    });
}

#[test]
fn a_project_has_a_hundred_webhooks() {
    test(|tx, world| {
        for _ in 0..100 {
            world.hook(tx, to("https://a.example.com"))?;
        }
        let refused = world.hook(tx, to("https://a.example.com")).unwrap_err();
        assert!(format!("{refused:?}").contains("(100) exceeded"), "{refused:?}");
        Ok(())
    });
}

#[test]
fn a_webhook_that_changed_meanwhile_is_not_removed() {
    test(|tx, world| {
        let hook = world.hook(tx, to("https://a.example.com"))?;
        let before = Ts::from_unix(tx.now.unix() - 1);
        let refused = remove(tx, &world.hooks(), hook.id, Some(before)).unwrap_err();
        assert_eq!(refused.kind, Kind::Precondition);
        remove(tx, &world.hooks(), hook.id, None)?;
        assert!(tx.hooks_with(&[hook.id])?.is_empty());
        Ok(())
    });
}
