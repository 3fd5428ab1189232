//! The table against the contract's facts, and values at its bounds.

use std::collections::{BTreeSet, HashMap, HashSet};

use kernel::Faults;
use serde_json::{Value, json};

use super::{ALIASES, EXCLUSIVE, Form, Setting, all, check, default, find, find_alias};
use crate::settings::{SettingValues, Settings};

/// What people read of the settings.
const DOCS: &str = include_str!("../../../../../docs/api.md");

/// The settings that the contract describes itself, under their current names; all others are named by clients alone.
const DESCRIBED: &str = "\
    abuse_notification_email admin_mode after_sign_out_path after_sign_up_text allow_group_owners_to_manage_ldap \
    allow_local_requests_from_system_hooks allow_local_requests_from_web_hooks_and_services \
    archive_builds_in_human_readable asset_proxy_allowlist asset_proxy_enabled asset_proxy_secret_key \
    asset_proxy_url authorized_keys_enabled auto_devops_domain auto_devops_enabled \
    automatic_purchased_storage_allocation can_create_group check_namespace_plan commit_email_hostname \
    container_expiration_policies_enable_historic_entries container_registry_cleanup_tags_service_max_list_size \
    container_registry_delete_tags_service_timeout container_registry_expiration_policies_caching \
    container_registry_expiration_policies_worker_capacity container_registry_token_expire_delay \
    default_branch_protection default_ci_config_path default_group_visibility default_project_visibility \
    default_projects_limit default_snippet_visibility delayed_group_deletion delayed_project_deletion \
    deletion_adjourned_period domain_allowlist domain_denylist domain_denylist_enabled dsa_key_restriction \
    ecdsa_key_restriction ecdsa_sk_key_restriction ed25519_key_restriction ed25519_sk_key_restriction enforce_terms \
    external_authorization_service_default_label external_authorization_service_enabled \
    external_authorization_service_timeout external_authorization_service_url \
    external_pipeline_validation_service_timeout external_pipeline_validation_service_token \
    external_pipeline_validation_service_url file_template_project_id first_day_of_week geo_node_allowed_ips \
    geo_status_timeout group_owners_can_manage_default_branch_protection home_page_url issues_create_limit \
    keep_latest_artifact local_markdown_version maven_package_requests_forwarding max_attachment_size \
    max_export_size max_import_size npm_package_requests_forwarding outbound_local_requests_whitelist \
    package_registry_cleanup_policies_worker_capacity password_authentication_enabled_for_web \
    personal_access_token_prefix polling_interval_multiplier pypi_package_requests_forwarding \
    rate_limiting_response_text raw_blob_request_limit repository_storages_weighted \
    require_admin_approval_after_user_signup restricted_visibility_levels rsa_key_restriction session_expire_delay \
    sign_in_text signup_enabled snippet_size_limit terminal_max_session_time terms user_oauth_applications \
    user_show_add_ssh_key_message wiki_page_max_content_bytes";
/// Of a hundred of these, so many may be stored for clients alone.
const MOST_STORED: usize = 15;

#[test]
fn each_name_is_there_once() {
    let mut seen = HashSet::new();
    let names = all().map(|setting| setting.name).chain(ALIASES.iter().map(|alias| alias.name));
    let twice: Vec<&str> = names.filter(|name| !seen.insert(*name)).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn what_a_row_names_is_a_row() {
    for setting in all() {
        for needed in setting.needs {
            assert!(find(needed).is_some(), "{} needs {needed}", setting.name);
        }
    }
    for alias in ALIASES {
        assert!(find(alias.of).is_some(), "{} of {}", alias.name, alias.of);
    }
    for name in EXCLUSIVE {
        assert!(find(name).is_some() || find_alias(name).is_some(), "{name}");
    }
}

#[test]
fn every_field_is_a_row_and_every_default_is_valid() {
    let fields = serde_json::to_value(Settings::default()).unwrap();
    let beside = ["plan_limits"];
    for name in fields.as_object().unwrap().keys().filter(|name| !beside.contains(&name.as_str())) {
        assert!(find(name).is_some(), "{name} is no row");
    }
    for setting in all() {
        let value = default(setting.name);
        let mut faults = Faults::default();
        // A limit that nobody has set is the configuration's.
        if !value.is_null() {
            check(setting, value, &mut faults);
        }
        assert!(faults.is_empty(), "{}: {faults:?}", setting.name);
        let known = match setting.form {
            Form::Choice { words, .. } => value.as_str().is_none_or(|word| words.contains(&word)),
            Form::Number(numbers) => value.as_i64().is_some_and(|it| numbers.contains(&it)),
            _ => true,
        };
        assert!(known, "{}", setting.name);
    }
}

fn given(values: &Value) -> SettingValues {
    let values = values.as_object().unwrap().iter();
    SettingValues(values.map(|(name, value)| (find(name).unwrap(), value.clone())).collect())
}

fn told(settings: &Settings, values: &Value) -> Vec<(String, Vec<String>)> {
    let refused = settings.changed(&given(values), |_, clear| Ok(clear.to_owned())).unwrap_err();
    match refused.into_message() {
        kernel::error::Message::Fields(fields) => fields,
        other => panic!("{other:?}"),
    }
}

#[test]
fn values_out_of_bounds_are_told_apart() {
    for (name, value, text) in [
        ("polling_interval_multiplier", json!(-1.0), "must be greater than or equal to 0"),
        ("issues_create_limit", json!(-1), "must be greater than or equal to 0"),
        ("gitaly_timeout_fast", Value::Null, "is not a number"),
        ("signup_enabled", Value::Null, "must be a boolean value"),
        ("home_page_url", json!("nowhere"), "must be a valid URL"),
        ("email_confirmation_setting", Value::Null, "can't be blank"),
        ("whats_new_variant", Value::Null, "can't be blank"),
        ("polling_interval_multiplier", Value::Null, "is not a number"),
        ("external_authorization_service_timeout", json!(0.0), "must be greater than 0"),
        ("external_authorization_service_timeout", json!(11), "must be less than or equal to 10"),
        ("deactivate_dormant_users_period", json!(36_501), "must be less than or equal to 36500"),
        (
            "default_ci_config_path",
            json!("a/../b"),
            "cannot include leading slash or directory traversal.",
        ),
        (
            "restricted_visibility_levels",
            json!(["secret"]),
            "'secret' is not a valid visibility level",
        ),
        (
            "restricted_visibility_levels",
            json!(["private"]),
            "cannot be set to a restricted visibility level",
        ),
        (
            "repository_storages_weighted",
            json!({ "default": 101 }),
            "value for 'default' must be between 0 and 100",
        ),
        (
            "domain_denylist_enabled",
            json!(true),
            "Domain denylist cannot be empty if denylist is enabled.",
        ),
        ("email_restrictions", json!("("), "is not a valid regexp"),
        ("mailgun_signing_key", json!("x".repeat(256)), "is too long (maximum is 255 characters)"),
        (
            "outbound_local_requests_whitelist",
            json!(vec!["a"; 1001]),
            "is too long (maximum is 1000 entries)",
        ),
        ("gitaly_timeout_fast", json!(31), "must be greater than or equal to 31"),
        ("asset_proxy_enabled", json!(true), "can't be blank"),
        (
            "deactivate_dormant_users_period",
            json!(89),
            "'89' days of inactivity must be greater than or equal to 90",
        ),
    ] {
        assert_told(name, &value, text);
    }
}

fn assert_told(name: &str, value: &Value, text: &str) {
    let fields = told(&Settings::default(), &json!({ name: value }));
    let is_told = fields.iter().any(|(_, texts)| texts.contains(&text.to_owned()));
    assert!(is_told, "{name}: {fields:?}");
}

#[test]
fn an_address_has_a_scheme_of_the_web_and_a_size_is_positive() {
    let blocked = "is blocked: Only allowed schemes are http, https";
    for address in ["ftp://a.example", "javascript:alert(1)", "JavaScript://%0aalert(1)"] {
        for name in ["home_page_url", "after_sign_out_path", "help_page_support_url", "grafana_url"]
        {
            assert_told(name, &json!(address), blocked);
        }
    }
    for address in ["nowhere", " https://a.example", "https:a.example", "//a.example"] {
        for name in ["home_page_url", "help_page_documentation_base_url", "grafana_url"] {
            assert_told(name, &json!(address), "must be a valid URL");
        }
    }
    for place in ["/-/grafana", "/charts", "https://charts.example/x", ""] {
        let new = given(&json!({ "grafana_url": place }));
        let changed = Settings::default().changed(&new, |_, clear| Ok(clear.to_owned()));
        assert!(changed.is_ok(), "{place}");
    }
    assert_told("snippet_size_limit", &json!(0), "must be greater than 0");
}

#[test]
fn the_addresses_of_the_search_are_a_list_of_the_web() {
    let name = "elasticsearch_url";
    let changed = |settings: &Settings, list: &str| {
        settings.changed(&given(&json!({ name: list })), |_, clear| Ok(clear.to_owned()))
    };
    for list in [
        "https://a.example",
        "http://us:pw@a.example:9200,https://b.example/x",
        "http://localhost:9200, http://[::1]:9201",
        "",
    ] {
        let (settings, _) = changed(&Settings::default(), list).unwrap();
        assert_eq!(settings.value(name).unwrap(), list);
    }
    for list in [
        "nowhere",
        "ftp://a.example",
        "javascript:alert(1)",
        "http://",
        "http://a.example,nowhere",
        "http://a.example,,http://b.example",
        "http://a.example http://b.example",
    ] {
        assert_told(name, &json!(list), "only supports valid HTTP(S) URLs.");
        let mut older = Settings::default();
        older.other.insert(name.to_owned(), json!(list));
        assert!(changed(&older, list).is_ok(), "{list} was stored before");
    }
}

#[test]
fn what_is_null_by_default_takes_null() {
    let nulls = json!({ "enabled_git_access_protocol": null, "external_authorization_service_timeout": null });
    let kept = Settings::default().changed(&given(&nulls), |_, clear| Ok(clear.to_owned()));
    let (_, changes) = kept.unwrap();
    assert!(changes.is_empty(), "{changes:?}");
}

#[test]
fn a_secret_is_stored_sealed_and_in_no_change() {
    let new = given(&json!({ "akismet_api_key": "hunter2", "home_page_url": "https://a.example" }));
    let sealed = |_: &Setting, clear: &str| Ok(format!("sealed {}", clear.len()));
    let (settings, changes) = Settings::default().changed(&new, sealed).unwrap();
    assert_eq!(settings.other["akismet_api_key"], "sealed 7");
    let told = serde_json::to_string(&changes).unwrap();
    assert!(told.contains("akismet_api_key") && !told.contains("sealed"), "{told}");
    assert!(told.contains("https://a.example"), "{told}");
}

#[test]
fn only_what_somebody_set_is_stored() {
    let (settings, changes) = Settings::default()
        .changed(&given(&json!({ "signup_enabled": true, "first_day_of_week": 1 })), |_, clear| {
            Ok(clear.to_owned())
        })
        .unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(settings.other.len(), 1);
    let document = settings.document().unwrap();
    assert_eq!(document.len(), all().count());
    assert_eq!(document["first_day_of_week"], 1);
}

/// The rows of the table in the documentation: name, what it says, and why or by which test.
fn documented() -> HashMap<&'static str, (&'static str, &'static str)> {
    let rows = DOCS.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let name = cells.next()?.strip_suffix('`')?;
        let (kind, rest) = (cells.next()?, cells.next()?.strip_suffix(" |")?);
        ["acts", "stored"].contains(&kind).then_some((name, (kind, rest)))
    });
    rows.collect()
}

#[test]
fn the_documentation_says_of_each_setting_whether_it_acts() {
    let documented = documented();
    for setting in all() {
        let Some((kind, rest)) = documented.get(setting.name) else {
            panic!("docs/api.md lacks {}", setting.name);
        };
        let wanted = if setting.acts { "acts" } else { "stored" };
        assert_eq!(*kind, wanted, "{}", setting.name);
        assert!(rest.len() > 3, "{}", setting.name);
    }
    let rows: BTreeSet<&str> = all().map(|setting| setting.name).collect();
    let unknown: Vec<_> = documented.keys().filter(|name| !rows.contains(**name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn few_of_the_settings_that_the_contract_describes_are_only_stored() {
    let documented = documented();
    let described: Vec<&str> = DESCRIBED.split_whitespace().collect();
    let kind = |name: &str| documented.get(name).map(|(kind, _)| *kind);
    let unknown: Vec<_> = described.iter().filter(|name| kind(name).is_none()).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let stored: Vec<_> = described.iter().filter(|name| kind(name) == Some("stored")).collect();
    assert!(stored.len() * 100 <= described.len() * MOST_STORED, "{stored:?}");
}
