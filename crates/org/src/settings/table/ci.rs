//! Pipelines, runners, artifacts.

use super::form::{
    Form, Preset, Setting, choices, list, optional, short, special, switch, text, typed, url, whole,
};

const ANY: Form = Form::Whole { least: i64::MIN, most: i64::MAX, optional: false };

pub(super) const ROWS: &[Setting] = &[
    short("archive_builds_in_human_readable").acts(),
    text("auto_devops_domain").acts(),
    switch("auto_devops_enabled", true).acts(),
    typed("ci_max_includes", ANY),
    typed("default_artifacts_expire_in", Form::Text { most: 255 }),
    short("default_ci_config_path").acts(),
    optional("external_pipeline_validation_service_timeout", 1, 60).acts(),
    text("external_pipeline_validation_service_token").sealed().acts(),
    url("external_pipeline_validation_service_url").acts(),
    typed("git_push_pipeline_limit", ANY),
    typed("keep_latest_artifact", Form::Switch),
    typed("max_artifacts_size", ANY),
    whole("max_pages_size", 100),
    whole("max_terraform_state_size_bytes", 0),
    typed("max_yaml_depth", ANY),
    typed("max_yaml_size_bytes", ANY),
    switch("pages_domain_verification_enabled", true),
    typed("pipeline_limit_per_project_user_sha", ANY),
    switch("protected_ci_variables", true),
    optional("runner_token_expiration_interval", 7200, i64::MAX).acts(),
    optional("group_runner_token_expiration_interval", 7200, i64::MAX).acts(),
    optional("project_runner_token_expiration_interval", 7200, i64::MAX).acts(),
    switch("shared_runners_enabled", true).needs(&["shared_runners_text"]).acts(),
    text("shared_runners_text"),
    whole("shared_runners_minutes", 0),
    switch("suggest_pipeline_enabled", true),
    whole("terminal_max_session_time", 0),
    choices("valid_runner_registrars", &["project", "group"], &["project", "group"]).acts(),
    list("protected_paths", 100)
        .preset(Preset::Words(&[
            "/users/password",
            "/users/sign_in",
            "/api/v3/session.json",
            "/api/v3/session",
            "/api/v4/session.json",
            "/api/v4/session",
            "/users",
            "/users/confirmation",
            "/unsubscribes/",
            "/import/github/personal_access_token",
            "/admin/session",
        ]))
        .acts(),
    special("repository_storages_weighted", Form::Weights, Preset::Json(r#"{"default":100}"#))
        .acts(),
];
