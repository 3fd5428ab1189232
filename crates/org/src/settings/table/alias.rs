//! Older and other names of settings.

/// A name that stands for another setting.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    pub name: &'static str,
    pub of: &'static str,
    /// Whether answers have it, too.
    pub shown: bool,
    pub translation: Translation,
}

/// The conversion of a value given under a deprecated name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    Same,
    /// Text with one entry a line, or entries between commas or semicolons.
    Lines,
    /// A list of storages: each gets the weight 100.
    Storages,
    /// A switch: only `false` counts, and clears the text.
    Clears,
}

const fn same(name: &'static str, of: &'static str) -> Alias {
    Alias { name, of, shown: true, translation: Translation::Same }
}

const fn input(name: &'static str, of: &'static str, translation: Translation) -> Alias {
    Alias { name, of, shown: false, translation }
}

pub const ALIASES: &[Alias] = &[
    input("admin_notification_email", "abuse_notification_email", Translation::Same),
    same(
        "allow_local_requests_from_hooks_and_services",
        "allow_local_requests_from_web_hooks_and_services",
    ),
    same("asset_proxy_whitelist", "asset_proxy_allowlist"),
    same("password_authentication_enabled", "password_authentication_enabled_for_web"),
    same("signin_enabled", "password_authentication_enabled_for_web"),
    same("throttle_unauthenticated_web_enabled", "throttle_unauthenticated_enabled"),
    same(
        "throttle_unauthenticated_web_requests_per_period",
        "throttle_unauthenticated_requests_per_period",
    ),
    same(
        "throttle_unauthenticated_web_period_in_seconds",
        "throttle_unauthenticated_period_in_seconds",
    ),
    input("domain_allowlist_raw", "domain_allowlist", Translation::Lines),
    input("domain_denylist_raw", "domain_denylist", Translation::Lines),
    input(
        "outbound_local_requests_allowlist_raw",
        "outbound_local_requests_whitelist",
        Translation::Lines,
    ),
    input("protected_paths_raw", "protected_paths", Translation::Lines),
    input("repository_storages", "repository_storages_weighted", Translation::Storages),
    input(
        "performance_bar_allowed_group_id",
        "performance_bar_allowed_group_path",
        Translation::Same,
    ),
    input("performance_bar_enabled", "performance_bar_allowed_group_path", Translation::Clears),
];

/// Settings that one request may name under one of these names only.
pub const EXCLUSIVE: &[&str] = &[
    "password_authentication_enabled",
    "password_authentication_enabled_for_web",
    "signin_enabled",
];

pub fn find(name: &str) -> Option<&'static Alias> {
    ALIASES.iter().find(|alias| alias.name == name)
}
