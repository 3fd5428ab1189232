//! What the installation is set to.

use actix_web::http::Method;
use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::TestApp;

const PATH: &str = "/application/settings";

#[actix_web::test]
async fn administrators_change_what_new_things_are_like() {
    let app = TestApp::new();
    let root = app.admin();

    let before = root.get(PATH).await.ok();
    let wanted = json!({ "default_group_visibility": "public", "personal_access_token_prefix": "fw-", "minimum_password_length": 12 });
    let after = root.put(PATH, wanted).await.ok();

    assert_eq!(
        (&before["default_branch_name"], &before["default_branch_protection"]),
        (&Value::Null, &json!(2))
    );
    assert_eq!(after["minimum_password_length"], 12);
    let group = root.post("/groups", json!({ "name": "Open", "path": "open" })).await.created();
    assert_eq!(group["visibility"], "public");
    let tokens = format!("/users/{}/personal_access_tokens", app.user("root").id);
    let token = root.post(&tokens, json!({ "name": "x", "scopes": ["api"] })).await.created();
    assert!(token["token"].as_str().is_some_and(|secret| secret.starts_with("fw-")));
}

#[actix_web::test]
async fn settings_that_cannot_be_are_refused_and_change_nothing() {
    let app = TestApp::new();
    let root = app.admin();

    let short =
        json!({ "message": { "minimum_password_length": ["must be greater than or equal to 8"] } });
    root.put(PATH, json!({ "minimum_password_length": 1 })).await.refused(400, short);
    let odd = json!({ "error": "default_branch_protection does not have a valid value" });
    root.put(PATH, json!({ "default_branch_protection": 9 })).await.refused(400, odd);
    let nowhere =
        json!({ "message": { "elasticsearch_url": ["only supports valid HTTP(S) URLs."] } });
    let list = json!({ "elasticsearch_url": "https://a.example,nowhere" });
    root.put(PATH, list).await.refused(400, nowhere);
    assert_eq!(root.put(PATH, json!({})).await.status, 400);
    assert_eq!(root.get(PATH).await.ok()["minimum_password_length"], 8);
    assert_eq!(app.person("ada").get(PATH).await.status, 403);
    assert_eq!(app.anonymous().get(PATH).await.status, 401);
}

#[actix_web::test]
async fn all_settings_are_told_and_taken_back() {
    let app = TestApp::new();
    let root = app.admin();
    let all = root.get(PATH).await.ok();
    let names = all.as_object().expect("an object").len();
    assert!(names > 250, "{names}");

    // As tools do that keep the settings in a file.
    let mut values = all.clone();
    let own = values.as_object_mut().expect("an object");
    for name in [
        "id",
        "created_at",
        "updated_at",
        "signin_enabled",
        "password_authentication_enabled",
        "shared_runners_enabled",
    ] {
        own.remove(name);
    }
    let told = root.put(PATH, values).await.ok();
    let mut wrong = Vec::new();
    for (name, value) in all.as_object().expect("an object") {
        if name != "updated_at" && told[name] != *value {
            wrong.push(format!("{name}: {value} {}", told[name]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[actix_web::test]
async fn settings_are_taken_from_a_query_and_a_form() {
    let app = TestApp::new();
    let root = app.admin();
    let told = root
        .put(&format!("{PATH}?first_day_of_week=1&import_sources=github,git"), json!({}))
        .await
        .ok();
    assert_eq!(
        (&told["first_day_of_week"], &told["import_sources"]),
        (&json!(1), &json!(["github", "git"]))
    );
    let form = b"first_day_of_week=6&asset_proxy_allowlist[]=a.example&kroki_formats[bpmn]=true";
    let kind = "application/x-www-form-urlencoded";
    let told = root.send_bytes(Method::PUT, PATH, kind, form).await.ok();
    assert_eq!(
        (&told["first_day_of_week"], &told["asset_proxy_allowlist"]),
        (&json!(6), &json!(["a.example", app.state.urls.host_name()]))
    );
    assert_eq!(told["kroki_formats"]["bpmn"], true);
    assert_eq!(told["asset_proxy_whitelist"], told["asset_proxy_allowlist"]);
}

#[actix_web::test]
async fn formats_that_are_not_named_stay_as_they_are() {
    let app = TestApp::new();
    let root = app.admin();
    for (given, bpmn, blockdiag) in [
        (json!({ "bpmn": true }), true, false),
        (json!({ "blockdiag": true, "unknown": true }), true, true),
        (json!({ "unknown": true }), true, true),
        (json!({ "bpmn": false }), false, true),
    ] {
        let told = root.put(PATH, json!({ "kroki_formats": given })).await.ok();
        let wanted = json!({ "bpmn": bpmn, "blockdiag": blockdiag, "excalidraw": false });
        assert_eq!(told["kroki_formats"], wanted, "{given}");
    }
}

#[actix_web::test]
async fn the_own_host_is_always_in_the_list_of_the_asset_proxy() {
    let app = TestApp::new();
    let (root, own) = (app.admin(), app.state.urls.host_name());
    assert_eq!(root.get(PATH).await.ok()["asset_proxy_allowlist"], json!([own]));
    for (given, wanted) in [
        (json!([]), json!([own])),
        (json!(["a.example"]), json!(["a.example", own])),
        (json!([own, "a.example"]), json!([own, "a.example"])),
    ] {
        let told = root.put(PATH, json!({ "asset_proxy_allowlist": given })).await.ok();
        assert_eq!(told["asset_proxy_allowlist"], wanted);
    }
}

#[actix_web::test]
async fn addresses_lead_to_the_web_and_lose_the_blanks_around_them() {
    let app = TestApp::new();
    let root = app.admin();
    let told = root.put(PATH, json!({ "home_page_url": " https://a.example " })).await.ok();
    assert_eq!(told["home_page_url"], "https://a.example");
    let blocked = "is blocked: Only allowed schemes are http, https";
    for name in ["home_page_url", "after_sign_out_path", "help_page_support_url", "grafana_url"] {
        let told = json!({ "message": { name: [blocked] } });
        root.put(PATH, json!({ name: "javascript:alert(1)" })).await.refused(400, told);
    }
    let path = root.put(PATH, json!({ "grafana_url": "/charts" })).await.ok();
    assert_eq!(path["grafana_url"], "/charts");
}

#[actix_web::test]
async fn older_names_follow_the_newer_ones() {
    let app = TestApp::new();
    let root = app.admin();
    let older = json!({ "signin_enabled": false, "admin_notification_email": "a@b.example",
        "throttle_unauthenticated_web_requests_per_period": 7, "domain_denylist_raw": "a.test\nb.test;c.test" });
    let told = root.put(PATH, older).await.ok();
    for name in [
        "signin_enabled",
        "password_authentication_enabled",
        "password_authentication_enabled_for_web",
    ] {
        assert_eq!(told[name], false, "{name}");
    }
    assert_eq!(told["abuse_notification_email"], "a@b.example");
    assert_eq!(told["throttle_unauthenticated_requests_per_period"], 7);
    assert_eq!(told["domain_denylist"], json!(["a.test", "b.test", "c.test"]));
    let both = json!({ "signin_enabled": true, "password_authentication_enabled_for_web": true });
    let text = "password_authentication_enabled_for_web, signin_enabled are mutually exclusive";
    root.put(PATH, both).await.refused(400, json!({ "error": text }));
}

#[actix_web::test]
async fn a_switch_needs_its_partners() {
    let app = TestApp::new();
    let root = app.admin();
    for (switch, told) in [
        ("recaptcha_enabled", "recaptcha_private_key is missing, recaptcha_site_key is missing"),
        ("enforce_terms", "terms is missing"),
        ("shared_runners_enabled", "shared_runners_text is missing"),
    ] {
        root.put(PATH, json!({ switch: true })).await.refused(400, json!({ "error": told }));
        root.put(PATH, json!({ switch: false })).await.ok();
    }
}

#[actix_web::test]
async fn secrets_are_sealed_and_two_of_them_are_never_told() {
    let app = TestApp::new();
    let root = app.admin();
    let secrets = json!({ "akismet_api_key": "hunter2", "asset_proxy_secret_key": "hunter3" });
    let told = root.put(PATH, secrets).await.ok();

    assert_eq!(
        (&told["akismet_api_key"], told.get("asset_proxy_secret_key")),
        (&json!("hunter2"), None)
    );
    let stored = app.write(|tx| {
        use org::settings::store::SettingsStore as _;
        let settings = tx.settings()?;
        Ok(serde_json::to_string(&settings).expect("text"))
    });
    assert!(stored.contains("akismet_api_key") && !stored.contains("hunter"), "{stored}");
    let audited = root.get("/audit_events?entity_type=Gitlab::Audit::InstanceScope").await.ok();
    assert!(!audited.to_string().contains("hunter"), "{audited}");
    let announced: Vec<Value> =
        app.announced().into_iter().map(|(kind, text)| json!([kind, text])).collect();
    assert!(!json!(announced).to_string().contains("hunter"));
}

#[actix_web::test]
async fn null_is_refused_where_a_setting_always_has_a_value() {
    let app = TestApp::new();
    let root = app.admin();
    for (name, text) in [
        ("email_confirmation_setting", "can't be blank"),
        ("whats_new_variant", "can't be blank"),
        ("polling_interval_multiplier", "is not a number"),
        ("max_artifacts_size", "is not a number"),
    ] {
        let told = json!({ "message": { name: [text] } });
        root.put(PATH, json!({ name: null })).await.refused(400, told);
    }
    root.put(PATH, json!({ "enabled_git_access_protocol": null })).await.ok();
    let lists = root.put(PATH, json!({ "domain_allowlist": null })).await.ok();
    assert_eq!(lists["domain_allowlist"], json!([]));
}

#[actix_web::test]
async fn both_protocols_of_git_are_told_as_null_whichever_word_asks_for_them() {
    let app = TestApp::new();
    let root = app.admin();
    for word in ["", "nil", "all"] {
        root.put(PATH, json!({ "enabled_git_access_protocol": "ssh" })).await.ok();
        let told = root.put(PATH, json!({ "enabled_git_access_protocol": word })).await.ok();
        assert_eq!(told["enabled_git_access_protocol"], Value::Null, "{word}");
    }
    let told = root.put(PATH, json!({ "enabled_git_access_protocol": "http" })).await.ok();
    assert_eq!(told["enabled_git_access_protocol"], "http");
    let odd = json!({ "error": "enabled_git_access_protocol does not have a valid value" });
    root.put(PATH, json!({ "enabled_git_access_protocol": "ftp" })).await.refused(400, odd);
}

#[actix_web::test]
async fn attachments_have_a_hundred_megabytes_where_nobody_says_otherwise() {
    let app = TestApp::new();
    let root = app.admin();
    assert_eq!(root.get(PATH).await.ok()["max_attachment_size"], 100);
    let told = root.put(PATH, json!({ "max_attachment_size": 10 })).await.ok();
    assert_eq!(told["max_attachment_size"], 10);
    for (value, text) in [(json!(0), "must be greater than 0"), (json!(null), "is not a number")] {
        let fault = json!({ "message": { "max_attachment_size": [text] } });
        root.put(PATH, json!({ "max_attachment_size": value })).await.refused(400, fault);
    }
}

#[actix_web::test]
async fn partners_count_under_their_older_names() {
    let app = TestApp::new();
    let root = app.admin();
    let older = json!({ "throttle_unauthenticated_web_enabled": true,
        "throttle_unauthenticated_web_requests_per_period": 70,
        "throttle_unauthenticated_web_period_in_seconds": 60 });
    let told = root.put(PATH, older).await.ok();
    assert_eq!(
        (
            &told["throttle_unauthenticated_enabled"],
            &told["throttle_unauthenticated_requests_per_period"]
        ),
        (&json!(true), &json!(70))
    );
    let alone = json!({ "throttle_unauthenticated_web_enabled": true });
    assert_eq!(root.put(PATH, alone).await.status, 400);
}

#[actix_web::test]
async fn changes_at_the_same_moment_are_all_kept() {
    let app = TestApp::new();
    let root = app.admin();
    let changes = [
        (PATH, json!({ "first_day_of_week": 1 })),
        (PATH, json!({ "terminal_max_session_time": 7 })),
        (PATH, json!({ "max_pages_size": 8 })),
        ("/application/plan_limits", json!({ "plan_name": "default", "dotenv_size": 9 })),
    ];
    let calls = changes.iter().map(|(path, change)| root.put(path, change.clone()));
    for answer in join_all(calls).await {
        answer.ok();
    }
    let kept = root.get(PATH).await.ok();
    assert_eq!(
        (&kept["first_day_of_week"], &kept["terminal_max_session_time"], &kept["max_pages_size"]),
        (&json!(1), &json!(7), &json!(8))
    );
    assert_eq!(root.get("/application/plan_limits").await.ok()["dotenv_size"], 9);
}
