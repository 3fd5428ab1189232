//! Accounts: who may have one, and how they prove it.

use super::form::{Form, Preset, Setting, pattern, special, switch, typed, whole, within};

/// The longest time without activity, in days, that may be asked for before an account is deactivated.
pub const LONGEST_DORMANT_DAYS: i64 = 36_500;

const BITS: Form = Form::Whole { least: i64::MIN, most: i64::MAX, optional: false };
/// What is too short is refused in words of its own.
const DORMANT_DAYS: Form =
    Form::Whole { least: i64::MIN, most: LONGEST_DORMANT_DAYS, optional: false };
const DOMAINS: Form = Form::List { most: 10_000 };

pub(super) const ROWS: &[Setting] = &[
    typed("can_create_group", Form::Switch),
    switch("deactivate_dormant_users", false).acts(),
    typed("deactivate_dormant_users_period", DORMANT_DAYS),
    typed("default_projects_limit", Form::Whole { least: 0, most: i64::MAX, optional: false }),
    typed("domain_allowlist", DOMAINS),
    typed("domain_denylist", DOMAINS),
    typed("domain_denylist_enabled", Form::Switch),
    typed("dsa_key_restriction", BITS),
    typed("ecdsa_key_restriction", BITS),
    typed("ecdsa_sk_key_restriction", BITS),
    typed("ed25519_key_restriction", BITS),
    typed("ed25519_sk_key_restriction", BITS),
    typed("rsa_key_restriction", BITS),
    special(
        "email_confirmation_setting",
        Form::Choice { words: &["off", "soft", "hard"], empty: &[] },
        Preset::Typed,
    )
    .acts(),
    switch("email_restrictions_enabled", false).acts(),
    pattern("email_restrictions").acts(),
    typed("minimum_password_length", Form::Whole { least: 8, most: 128, optional: false }),
    switch("notify_on_unknown_sign_in", true).acts(),
    switch("password_authentication_enabled_for_git", true).acts(),
    switch("password_authentication_enabled_for_web", true).acts(),
    switch("require_admin_approval_after_user_signup", true).acts(),
    switch("require_two_factor_authentication", false).needs(&["two_factor_grace_period"]),
    whole("two_factor_grace_period", 48),
    within("session_expire_delay", 10_080, 0, i64::MAX).acts(),
    switch("signup_enabled", true).acts(),
    switch("unique_ips_limit_enabled", false)
        .needs(&["unique_ips_limit_per_user", "unique_ips_limit_time_window"])
        .acts(),
    within("unique_ips_limit_per_user", 10, 1, i64::MAX).acts(),
    whole("unique_ips_limit_time_window", 3600).acts(),
    switch("updating_name_disabled_for_users", false),
    switch("user_deactivation_emails_enabled", true).acts(),
    switch("user_default_external", false).acts(),
    pattern("user_default_internal_regex").acts(),
    switch("user_defaults_to_private_profile", false).acts(),
    switch("user_oauth_applications", true).acts(),
    special(
        "enabled_git_access_protocol",
        Form::Choice { words: &["ssh", "http", "", "nil", "all"], empty: &["", "nil", "all"] },
        Preset::None,
    )
    .acts(),
];
