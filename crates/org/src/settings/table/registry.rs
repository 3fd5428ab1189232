//! Registries of containers and packages. There are none here: requests for packages are forwarded, and tokens are given
//! for a registry of images that others run; the rest is kept for clients.

use super::form::{Preset, Setting, choice, decimal, switch, text, whole, within};

pub(super) const ROWS: &[Setting] = &[
    switch("container_expiration_policies_enable_historic_entries", false),
    whole("container_registry_cleanup_tags_service_max_list_size", 200),
    whole("container_registry_delete_tags_service_timeout", 250),
    switch("container_registry_expiration_policies_caching", true),
    whole("container_registry_expiration_policies_worker_capacity", 4),
    within("container_registry_token_expire_delay", 5, 1, i64::MAX).acts(),
    text("container_registry_import_created_before")
        .preset(Preset::Text("2022-01-23T00:00:00.000Z")),
    whole("container_registry_import_max_retries", 3),
    whole("container_registry_import_max_step_duration", 300),
    whole("container_registry_import_max_tags_count", 100),
    decimal("container_registry_pre_import_tags_rate", Preset::Decimal(0.5), 0.0, f64::MAX),
    whole("container_registry_pre_import_timeout", 1800),
    whole("container_registry_import_start_max_retries", 50),
    choice(
        "container_registry_import_target_plan",
        "free",
        &["free", "premium", "premium_trial", "ultimate", "ultimate_trial"],
    ),
    whole("container_registry_import_timeout", 600),
    switch("maven_package_requests_forwarding", true).acts(),
    switch("npm_package_requests_forwarding", true).acts(),
    switch("pypi_package_requests_forwarding", true).acts(),
    whole("package_registry_cleanup_policies_worker_capacity", 2),
];
